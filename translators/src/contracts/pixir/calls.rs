//! Open calls, and the approval questions about them.
//!
//! Input: calls, their tools' output, questions and answers. Output: what closes each call, once. Never: a second result.

use crate::contracts::tool_output::{ToolOutput, ToolOutputs};
use crate::frame::{ApprovalRequested, ApprovalResolved, Body, Decision, SharedStr, ToolCall};
use crate::hash::HashMap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The calls of one run without a result.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calls {
    /// By call id, which pairs a result with its call.
    open: HashMap<SharedStr, Call>,
    opened: u64,
    outputs: ToolOutputs,
    asked: HashMap<SharedStr, PendingQuestion>,
}

/// A call without a result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) call_id: SharedStr,
    pub(super) name: SharedStr,
    /// The subagent that made the call; `None` for the main thread.
    pub(super) subagent_id: Option<SharedStr>,
    tool_id: Uuid,
    /// Whether the call was denied.
    pub(super) denied: bool,
    order: u64,
}

/// An unanswered question.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PendingQuestion {
    tool_id: Option<Uuid>,
    tool_name: SharedStr,
}

/// The subject of a question.
#[derive(Clone, Debug, Default)]
pub(super) struct QuestionSubject {
    /// The id of the call, if the question names a known call.
    pub(super) call_id: Option<SharedStr>,
    /// The tool's name.
    pub(super) tool_name: Option<SharedStr>,
}

impl Calls {
    /// How much output is held, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.outputs.held_bytes()
    }

    /// A call is proposed or started; returns whether it is new.
    pub(super) fn begin(&mut self, call: &ToolCall, subagent_id: Option<SharedStr>) -> bool {
        let call_id = &call.tool.call_id;
        if self.open.contains_key(call_id) {
            return false;
        }
        self.opened += 1;
        let open = Call {
            call_id: call_id.clone(),
            name: call.name.clone(),
            subagent_id,
            tool_id: call.tool.id,
            denied: false,
            order: self.opened,
        };
        self.open.insert(call_id.clone(), open);
        true
    }

    /// Processes a tool's frame; returns the call and its output if the frame ends it.
    pub(super) fn frame(&mut self, body: &Body) -> Option<(Call, ToolOutput)> {
        let output = self.outputs.frame(body)?;
        let call = self.open.remove(&output.call_id)?;
        Some((call, output))
    }

    /// Registers a question.
    pub(super) fn ask(&mut self, request: &ApprovalRequested) {
        let asked = PendingQuestion { tool_id: request.tool_id, tool_name: request.tool_name.clone() };
        self.asked.insert(request.approval_id.clone(), asked);
    }

    /// Resolves a question; returns its subject.
    pub(super) fn answer(&mut self, answer: &ApprovalResolved) -> QuestionSubject {
        let Some(asked) = self.asked.remove(&answer.approval_id) else { return QuestionSubject::default() };
        let call = asked.tool_id.and_then(|id| self.open.values_mut().find(|call| call.tool_id == id));
        let call_id = call.map(|call| {
            call.denied |= answer.decision != Decision::Approved;
            call.call_id.clone()
        });
        QuestionSubject { call_id, tool_name: Some(asked.tool_name).filter(|name| !name.is_empty()) }
    }

    /// Takes the remaining calls, in the order in which they were made.
    pub(super) fn take_all(&mut self) -> Vec<Call> {
        let mut left: Vec<Call> = self.open.drain().map(|(_, call)| call).collect();
        left.sort_unstable_by_key(|call| call.order);
        left
    }
}
