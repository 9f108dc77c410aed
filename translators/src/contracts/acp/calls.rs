//! The open calls of a run, and the questions that wait.
//!
//! Input: calls, their output and changes, questions and answers. Output: the state of each call that is not over. Never: a call
//! that is over, again: the protocol's calls end once.

use crate::contracts::live_output::{Due, Output, Piece};
use crate::frame::{FileChanged, SharedStr};
use crate::hash::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use uuid::Uuid;

/// How many calls that are over are remembered.
const ENDED: usize = 128;

/// Maximum bytes of diffs that are held for a call. Later changes are only named.
const MAX_DIFFS: usize = 1 << 18;

/// Maximum number of changes that are held for a call.
const MAX_CHANGES: usize = 256;

/// The open calls of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calls {
    open: HashMap<Uuid, Call>,
    /// The questions that wait.
    asked: HashMap<SharedStr, Question>,
    /// The latest calls that are over. A runner may repeat what it said about them.
    ended: VecDeque<Uuid>,
    opened: u64,
    pub(super) due: Due,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Stage {
    /// Only a question named it.
    Asked,
    /// Its arguments are streamed.
    Streaming,
    Proposed,
    Running,
}

/// A call without a result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) stage: Stage,
    /// The call was refused.
    pub(super) refused: bool,
    /// The client sees the change that the call proposes.
    pub(super) has_change: bool,
    pub(super) output: Output,
    /// The files that the call changed.
    pub(super) changes: Vec<FileChanged>,
    diff_bytes: usize,
    order: u64,
}

/// A question that waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    /// The call that it is about.
    pub(super) call: Uuid,
    /// The call exists only for the question.
    pub(super) is_own: bool,
    order: u64,
}

impl Call {
    fn held_bytes(&self) -> usize {
        self.output.held_bytes() + self.diff_bytes
    }

    /// The call changed a file.
    pub(super) fn add_change(&mut self, change: &FileChanged) {
        if self.changes.len() == MAX_CHANGES {
            return;
        }
        let bytes = change.diff.as_ref().map_or(0, String::len);
        let fits = self.diff_bytes + bytes <= MAX_DIFFS;
        self.diff_bytes += if fits { bytes } else { 0 };
        self.changes.push(FileChanged { diff: change.diff.clone().filter(|_| fits), ..change.clone() });
    }
}

impl Calls {
    /// The number of bytes of output and diffs held.
    pub(super) fn held_bytes(&self) -> usize {
        self.open.values().map(Call::held_bytes).sum()
    }

    /// Whether a call is over.
    pub(super) fn is_over(&self, call: &Uuid) -> bool {
        self.ended.contains(call)
    }

    pub(super) fn get_mut(&mut self, call: &Uuid) -> Option<&mut Call> {
        self.open.get_mut(call)
    }

    /// A call begins. It must not be over.
    pub(super) fn begin(&mut self, call: Uuid, stage: Stage) -> &mut Call {
        let order = self.opened;
        self.opened += 1;
        let new = Call {
            stage,
            refused: false,
            has_change: false,
            output: Output::default(),
            changes: Vec::new(),
            diff_bytes: 0,
            order,
        };
        self.open.entry(call).insert_entry(new).into_mut()
    }

    /// Adds to a call's output; live output may become due. It would replace the change that the client sees.
    pub(super) fn add_output(&mut self, call: &Uuid, piece: Piece<'_>, now_ms: u64) {
        if let Some(open) = self.open.get_mut(call) {
            open.output.add(piece);
            if !open.has_change {
                self.due.add(*call, &mut open.output, now_ms);
            }
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

    /// Whether a question with that id waits.
    pub(super) fn is_asked(&self, approval_id: &str) -> bool {
        self.asked.contains_key(approval_id)
    }

    /// A question about a call waits.
    pub(super) fn ask(&mut self, approval_id: &SharedStr, call: Uuid, is_own: bool) {
        let order = self.opened;
        self.opened += 1;
        self.asked.insert(approval_id.clone(), Question { call, is_own, order });
    }

    /// A question was decided.
    pub(super) fn answer(&mut self, approval_id: &str) -> Option<Question> {
        self.asked.remove(approval_id)
    }

    /// Takes the questions that wait about a call, or about any, in their order.
    pub(super) fn take_questions(&mut self, about: Option<&Uuid>) -> Vec<SharedStr> {
        let is_meant = |question: &Question| about.is_none_or(|call| question.call == *call);
        let mut left: Vec<(SharedStr, u64)> = self
            .asked
            .iter()
            .filter(|(_, question)| is_meant(question))
            .map(|(approval_id, question)| (approval_id.clone(), question.order))
            .collect();
        left.sort_unstable_by_key(|(_, order)| *order);
        for (approval_id, _) in &left {
            self.asked.remove(approval_id);
        }
        left.into_iter().map(|(approval_id, _)| approval_id).collect()
    }

    /// The open calls, in the order of their beginning.
    pub(super) fn left(&self) -> Vec<Uuid> {
        let mut left: Vec<(Uuid, u64)> = self.open.iter().map(|(id, call)| (*id, call.order)).collect();
        left.sort_unstable_by_key(|(_, order)| *order);
        left.into_iter().map(|(id, _)| id).collect()
    }
}
