//! The subagents that work: what their end repeats of their beginning, and who stands behind a frame.

use super::is_session_id;
use crate::frame::{Frame, Name};
use crate::sequence::uuid_of;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use uuid::Uuid;

/// What is known of a subagent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subagent {
    pub(super) id: Name,
    pub(super) tool_id: Option<Uuid>,
    pub(super) agent: Option<Name>,
    pub(super) task: Option<String>,
    pub(super) depth: u32,
}

/// The subagents that work.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subagents {
    open: Vec<Subagent>,
}

impl Subagents {
    /// One begins.
    pub(super) fn begin(&mut self, subagent: Subagent) {
        self.open.push(subagent);
    }

    /// One is done.
    pub(super) fn end(&mut self, id: &Name) -> Option<Subagent> {
        let at = self.open.iter().position(|open| open.id == *id)?;
        Some(self.open.swap_remove(at))
    }

    /// Who caused the frame: the subagent's id, or that of its tool call where no subagent was told; `None` for the main
    /// thread.
    pub(super) fn behind(&self, frame: &Frame) -> Option<Name> {
        let parent = frame.parent_tool_id?;
        let known = self.open.iter().find(|open| open.tool_id == Some(parent));
        Some(known.map_or_else(|| Name::from(parent.to_string()), |open| open.id.clone()))
    }
}

/// The session that a subagent has for itself. Its own id names it, where that can.
pub(super) fn child_session_id(subagent_id: &str) -> Cow<'_, str> {
    if is_session_id(subagent_id) { Cow::Borrowed(subagent_id) } else { Cow::Owned(uuid_of(subagent_id).to_string()) }
}
