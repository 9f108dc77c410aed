//! The open calls of a run, and the questions about them.
//!
//! Input: calls, their output, questions and answers. Output: the state of each call that has no result. Never: a call that is over, again.

use super::output::{Due, Output, Piece};
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, SharedStr};
use crate::hash::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use uuid::Uuid;

/// How many calls that are over are remembered.
const ENDED: usize = 128;

/// The open calls of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calls {
    open: HashMap<Uuid, Call>,
    /// The unanswered questions, with the calls that they are about.
    asked: HashMap<SharedStr, Option<Uuid>>,
    /// The latest calls that are over. A runner may repeat what it said about them, which the client would append to them.
    ended: VecDeque<Uuid>,
    opened: u64,
    pub(super) due: Due,
}

/// A call without a result.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) subagent: Option<Uuid>,
    /// The arguments are not complete.
    pub(super) is_streaming: bool,
    /// A piece of the arguments was emitted.
    pub(super) has_pieces: bool,
    /// The call was refused.
    pub(super) refused: bool,
    pub(super) output: Output,
    order: u64,
}

impl Calls {
    /// The number of bytes of output held.
    pub(super) fn held_bytes(&self) -> usize {
        self.open.values().map(|call| call.output.held_bytes()).sum()
    }

    pub(super) fn is_open(&self, call: &Uuid) -> bool {
        self.open.contains_key(call)
    }

    /// Whether a call is open or over.
    pub(super) fn is_known(&self, call: &Uuid) -> bool {
        self.is_open(call) || self.ended.contains(call)
    }

    pub(super) fn get_mut(&mut self, call: &Uuid) -> Option<&mut Call> {
        self.open.get_mut(call)
    }

    /// A call begins; its arguments follow.
    pub(super) fn begin(&mut self, call: Uuid, subagent: Option<Uuid>) -> &mut Call {
        let order = self.opened;
        self.opened += 1;
        let new = Call { subagent, is_streaming: true, order, ..Call::default() };
        self.open.entry(call).insert_entry(new).into_mut()
    }

    /// Adds to a call's output; live output may become due.
    pub(super) fn add_output(&mut self, call: &Uuid, piece: Piece<'_>, now_ms: u64) {
        if let Some(open) = self.open.get_mut(call) {
            open.output.add(piece);
            self.due.add(*call, &mut open.output, now_ms);
        }
    }

    /// A call is over.
    pub(super) fn end(&mut self, call: &Uuid) -> Option<Call> {
        let ended = self.open.remove(call)?;
        self.due.remove(&ended.output);
        if self.ended.len() == ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back(*call);
        Some(ended)
    }

    /// Registers a question.
    pub(super) fn ask(&mut self, request: &ApprovalRequested) {
        self.asked.insert(request.approval_id.clone(), request.tool_id);
    }

    /// Resolves a question: a call may be refused now.
    pub(super) fn answer(&mut self, answer: &ApprovalResolved) {
        let about = self.asked.remove(&answer.approval_id).flatten();
        if let Some(call) = about.and_then(|call| self.open.get_mut(&call)) {
            call.refused = answer.decision != Decision::Approved;
        }
    }

    /// Takes what is left, in the order of its beginning.
    pub(super) fn take_all(&mut self) -> Vec<(Uuid, Call)> {
        let mut left: Vec<(Uuid, Call)> = self.open.drain().collect();
        left.sort_unstable_by_key(|(_, call)| call.order);
        self.asked.clear();
        self.due = Due::default();
        left
    }
}
