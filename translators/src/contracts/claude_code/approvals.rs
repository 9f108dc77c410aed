//! Questions: `can_use_tool` requests, their withdrawal, and the denials that the result lists.
//!
//! Input: questions and decisions. Output: a request for each question, and its withdrawal when it is decided. Never: a request
//! that is open at the end of its run.

use super::calls::Calls;
use super::encode::ClaudeCode;
use super::line::{Raw, Text};
use super::writer::Envelope;
use crate::encode::{Events, Value, key};
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, Frame, RawJson, SharedStr};
use crate::hash::HashMap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The maximum number of denials in a result, and of bytes of their arguments.
const MAX_DENIALS: (usize, usize) = (100, 1 << 20);

/// The open questions and the denials of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Approvals {
    open: HashMap<SharedStr, Question>,
    asked: u64,
    denials: Vec<Denial>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    order: u64,
    call: Option<Uuid>,
    denial: Denial,
}

/// A call that was refused.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Denial {
    pub(super) tool_name: SharedStr,
    pub(super) tool_use_id: SharedStr,
    pub(super) tool_input: RawJson,
}

impl Approvals {
    /// The number of bytes held.
    pub(super) fn held_bytes(&self) -> usize {
        let open = self.open.values().map(|question| &question.denial);
        open.chain(&self.denials).map(|denial| denial.tool_input.get().len()).sum()
    }

    /// The refused calls.
    pub(super) fn denials(&self) -> &[Denial] {
        &self.denials
    }

    /// Registers a question; returns the id of its call.
    fn ask(&mut self, request: &ApprovalRequested, calls: &Calls) -> SharedStr {
        // The document requires a call. A question about none has its own id.
        let id = request.tool_id.and_then(|tool| calls.id(&tool)).unwrap_or(&request.approval_id).clone();
        let denial =
            Denial { tool_name: request.tool_name.clone(), tool_use_id: id.clone(), tool_input: request.args.clone() };
        let question = Question { order: self.asked, call: request.tool_id, denial };
        self.asked += 1;
        self.open.insert(request.approval_id.clone(), question);
        id
    }

    /// Resolves a question; returns its call, `None` if the question is not open.
    fn decide(&mut self, answer: &ApprovalResolved) -> Option<Option<Uuid>> {
        let question = self.open.remove(&answer.approval_id)?;
        if answer.decision == Decision::Rejected && self.denials.len() < MAX_DENIALS.0 {
            let mut denial = question.denial;
            let held: usize = self.denials.iter().map(|denial| denial.tool_input.get().len()).sum();
            if held + denial.tool_input.get().len() > MAX_DENIALS.1 {
                denial.tool_input = crate::json::empty_object();
            }
            self.denials.push(denial);
        }
        Some(question.call)
    }

    /// Takes the open questions, in the order in which they were asked.
    fn take_open(&mut self) -> Vec<SharedStr> {
        let mut open: Vec<_> = self.open.drain().map(|(id, question)| (question.order, id)).collect();
        open.sort_unstable();
        open.into_iter().map(|(_, id)| id).collect()
    }
}

impl ClaudeCode {
    pub(super) fn asked(&mut self, request: &ApprovalRequested, frame: &Frame, out: &mut Events) {
        self.begin_session(out);
        let call = self.approvals.ask(request, &self.calls);
        let input = super::blocks::input_of(&request.args);
        let agent = self.calls.parent_of(frame);
        self.writer.message("control_request", Envelope::None, out, |map| {
            Text(&request.approval_id).field(key!("request_id"), map);
            map.object(key!("request"), |map| {
                map.word(key!("subtype"), "can_use_tool");
                Text(&request.tool_name).field(key!("tool_name"), map);
                Raw(&input).field(key!("input"), map);
                Text(&call).field(key!("tool_use_id"), map);
                request.reason.as_deref().map(Text).field(key!("decision_reason"), map);
                agent.as_deref().map(Text).field(key!("agent_id"), map);
            });
        });
    }

    /// A question was decided. The call itself is over when the runner says so.
    pub(super) fn decided(&mut self, answer: &ApprovalResolved, out: &mut Events) {
        let Some(call) = self.approvals.decide(answer) else { return };
        if let Some(call) = call.and_then(|call| self.calls.get_mut(&call)) {
            call.refused = answer.decision != Decision::Approved;
        }
        self.withdraw(&answer.approval_id, out);
    }

    /// The run is over: no question stays open.
    pub(super) fn withdraw_all(&mut self, out: &mut Events) {
        for id in self.approvals.take_open() {
            self.withdraw(&id, out);
        }
    }

    fn withdraw(&mut self, approval_id: &str, out: &mut Events) {
        self.writer.message("control_cancel_request", Envelope::None, out, |map| {
            Text(approval_id).field(key!("request_id"), map);
        });
    }
}
