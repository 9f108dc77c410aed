//! Where a session's words go.

use super::answer::Answer;
use super::calls::Calls;
use crate::json::Json;
use crate::ledger::{Ledger, Place};
use uuid::Uuid;

/// Everything that a part needs to become frames.
pub(super) struct Stage<'a> {
    /// The book.
    pub(super) ledger: &'a mut Ledger,
    /// The run, and the task call in whose name a child session speaks.
    pub(super) place: Place,
    /// The session's id: it keeps equal call ids of different sessions apart.
    pub(super) scope: Uuid,
    /// The run's calls.
    pub(super) calls: &'a mut Calls,
    /// The run's newest whole text.
    pub(super) answer: &'a mut Answer,
    /// 0 for the root session, 1 for its children, and so on.
    pub(super) depth: u32,
    /// The records are of the first release.
    pub(super) old: bool,
    /// The session failed or was stopped: its last words are cut off, and no answer.
    pub(super) failing: bool,
    /// The child session of the task call that is read still has words to say.
    pub(super) child_speaks: bool,
}

impl<'a> Stage<'a> {
    /// The stage of a root session's run; `None` where the run is over.
    pub(super) fn main(
        ledger: &'a mut Ledger,
        run: crate::sequence::StreamKey,
        calls: &'a mut Calls,
        answer: &'a mut Answer,
    ) -> Option<Self> {
        let scope = ledger.stream(run)?.session.id;
        Some(Self {
            ledger,
            place: Place::main(run),
            scope,
            calls,
            answer,
            depth: 0,
            old: false,
            failing: false,
            child_speaks: false,
        })
    }

    /// Whether the main thread speaks.
    pub(super) fn is_main(&self) -> bool {
        self.place.parent.is_none()
    }
}

/// A JSON object that has something in it.
pub(super) fn filled(json: Option<Json<'_>>) -> Option<Json<'_>> {
    json.filter(|json| json.object().is_some_and(|object| !object.is_empty()))
}
