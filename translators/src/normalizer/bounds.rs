//! Bounds on how much may be open at once.
//!
//! Input: each thing that opens. Output: the frames that close the oldest one in an orderly way when a bound is exceeded, and
//! that say why. The bound on tool calls covers the whole input; the bounds on questions, subagents and text blocks apply to
//! each stream. Never: a record that is left out, or a call that starts again after it was given up.

use super::{Normalizer, Target};
use crate::frame::{ApprovalResolved, Body, Decision, LogLevel, SharedStr};
use crate::sequence::StreamKey;
use std::collections::BTreeMap;

/// The default limit: how many tool calls may be open at once in one input, and how many questions, subagents and text blocks
/// in one stream.
pub const MAX_OPEN_TOOLS: usize = 10_000;

/// The open calls of all streams, oldest first.
#[derive(Debug)]
pub(super) struct OpenCalls {
    most: usize,
    /// The excess was already logged.
    is_reported: bool,
    next: u64,
    order: BTreeMap<u64, (StreamKey, SharedStr)>,
}

impl Default for OpenCalls {
    fn default() -> Self {
        Self { most: MAX_OPEN_TOOLS, is_reported: false, next: 0, order: BTreeMap::new() }
    }
}

impl OpenCalls {
    pub(super) fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn insert(&mut self, order: u64, stream: StreamKey, call_id: SharedStr) {
        self.order.insert(order, (stream, call_id));
    }

    pub(super) fn remove(&mut self, order: u64) {
        self.order.remove(&order);
    }

    fn is_full(&self) -> bool {
        self.order.len() >= self.most
    }
}

impl Normalizer {
    /// Sets the limit.
    pub(crate) fn bound(&mut self, open_tools: usize) {
        self.calls.most = open_tools.max(1);
    }

    /// The limit on open tool calls.
    pub fn most_open(&self) -> usize {
        self.calls.most
    }

    /// Whether the oldest call must be given up for the new one. The first time, this is logged in the run.
    pub(super) fn is_crowded(&mut self, target: Target) -> bool {
        let full = self.calls.is_full();
        if full && !std::mem::replace(&mut self.calls.is_reported, true) {
            let most = self.calls.most;
            let message = format!(
                "more than {most} tool calls are open at once (ingest.max_open_tools): from here on the oldest is given up for each new one"
            );
            self.emit(target, Body::LogEmitted { level: LogLevel::Warn, message });
        }
        full
    }

    pub(super) fn give_up_oldest_call(&mut self) {
        let Some((_, (stream, call_id))) = self.calls.order.pop_first() else { return };
        let Some((tool, parent)) = self.open.get_mut(&stream).and_then(|open| open.give_up_tool(&call_id)) else {
            return;
        };
        let most = self.calls.most;
        let error = format!("given up: more than {most} tool calls were open at once (ingest.max_open_tools)");
        self.emit(Target { stream, parent }, Body::ToolFailed { tool, error });
    }

    /// Closes the oldest question of a stream if there are too many.
    pub(super) fn bound_questions(&mut self, stream: StreamKey) {
        let most = self.calls.most;
        let Some((approval_id, parent)) = self.open.get_mut(&stream).and_then(|open| open.question_too_many(most))
        else {
            return;
        };
        let reason = format!("more than {most} questions were open at once (ingest.max_open_tools)");
        let (decision, reason) = (Decision::Cancelled, Some(reason));
        let answer = ApprovalResolved { approval_id, decision, by: None, reason, scope: None };
        self.emit(Target { stream, parent }, Body::ApprovalResolved(Box::new(answer)));
    }

    /// Closes the oldest subagent of a stream if there are too many.
    pub(super) fn bound_subagents(&mut self, stream: StreamKey) {
        let most = self.calls.most;
        let Some((subagent_id, parent)) = self.open.get_mut(&stream).and_then(|open| open.subagent_too_many(most))
        else {
            return;
        };
        let summary = Some(format!("more than {most} subagents were open at once (ingest.max_open_tools)"));
        let body = Body::SubagentEnded { subagent_id, status: SharedStr::from("interrupted"), summary };
        self.emit(Target { stream, parent }, body);
    }

    /// Closes the oldest text block of a stream if there are too many.
    pub(super) fn bound_blocks(&mut self, stream: StreamKey) {
        let most = self.calls.most;
        let too_many = self.open.get_mut(&stream).filter(|open| open.blocks.len() > most);
        if let Some((parent, bodies)) = too_many.and_then(|open| open.blocks.take_oldest()) {
            self.emit_all(Target { stream, parent }, bodies);
        }
    }
}
