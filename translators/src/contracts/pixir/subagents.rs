//! The working subagents: the data that their end repeats from their beginning, and which subagent caused a frame.

use super::is_session_id;
use crate::frame::{Frame, SharedStr};
use crate::sequence::uuid_of;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use uuid::Uuid;

/// The properties of a subagent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subagent {
    pub(super) id: SharedStr,
    pub(super) tool_id: Option<Uuid>,
    pub(super) agent: Option<SharedStr>,
    pub(super) task: Option<String>,
    pub(super) depth: u32,
}

/// The working subagents.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subagents {
    open: Vec<Subagent>,
}

impl Subagents {
    /// Adds a subagent that begins.
    pub(super) fn begin(&mut self, subagent: Subagent) {
        self.open.push(subagent);
    }

    /// Removes a subagent that is done.
    pub(super) fn end(&mut self, id: &SharedStr) -> Option<Subagent> {
        let at = self.open.iter().position(|open| open.id == *id)?;
        Some(self.open.swap_remove(at))
    }

    /// Who caused the frame: the subagent's id, or the id of its tool call if the subagent is unknown; `None` for the main
    /// thread.
    pub(super) fn cause_of(&self, frame: &Frame) -> Option<SharedStr> {
        let parent = frame.parent_tool_id?;
        let known = self.open.iter().find(|open| open.tool_id == Some(parent));
        Some(known.map_or_else(|| SharedStr::from(parent.to_string()), |open| open.id.clone()))
    }
}

/// The id of a subagent's own session: the subagent's id if that is a valid session id, otherwise a UUID derived from it.
pub(super) fn child_session_id(subagent_id: &str) -> Cow<'_, str> {
    if is_session_id(subagent_id) { Cow::Borrowed(subagent_id) } else { Cow::Owned(uuid_of(subagent_id).to_string()) }
}
