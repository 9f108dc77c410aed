//! The context in which a session's records become frames.

use super::answer::Answer;
use super::calls::Calls;
use crate::json::Json;
use crate::normalizer::{Normalizer, Target};
use uuid::Uuid;

/// What the decoder needs to turn a part into frames.
pub(super) struct SessionContext<'a> {
    pub(super) normalizer: &'a mut Normalizer,
    /// The run, and the task call that a child session's output is attributed to.
    pub(super) target: Target,
    /// The session's id. It separates equal call ids of different sessions.
    pub(super) scope: Uuid,
    /// The run's calls.
    pub(super) calls: &'a mut Calls,
    /// The run's newest whole text.
    pub(super) answer: &'a mut Answer,
    /// 0 for the root session, 1 for its children, and so on.
    pub(super) depth: u32,
    /// Whether the records are of the first release.
    pub(super) old: bool,
    /// Whether the session failed or was stopped. Its last texts are then cut off and are no answer.
    pub(super) failing: bool,
    /// Whether the child session of the current task call has unfinished messages.
    pub(super) child_speaks: bool,
    /// The call for which the current task call's child session has ended in this run, if any.
    pub(super) ended_call: Option<Uuid>,
    /// The stand-in id of the current task call, if its child session spoke first.
    pub(super) stand_in: Option<Uuid>,
}

impl<'a> SessionContext<'a> {
    /// The context of a root session's run; `None` if the run is over.
    pub(super) fn main(
        normalizer: &'a mut Normalizer,
        run: crate::sequence::StreamKey,
        calls: &'a mut Calls,
        answer: &'a mut Answer,
    ) -> Option<Self> {
        let scope = normalizer.stream(run)?.session.id;
        Some(Self {
            normalizer,
            target: Target::main(run),
            scope,
            calls,
            answer,
            depth: 0,
            old: false,
            failing: false,
            child_speaks: false,
            ended_call: None,
            stand_in: None,
        })
    }

    /// Whether the output belongs to the main thread.
    pub(super) fn is_main(&self) -> bool {
        self.target.parent.is_none()
    }
}

/// Returns the value if it is a non-empty JSON object.
pub(super) fn filled(json: Option<Json<'_>>) -> Option<Json<'_>> {
    json.filter(|json| json.object().is_some_and(|object| !object.is_empty()))
}
