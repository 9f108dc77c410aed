//! Approvals: an `mcp_approval_request` item for each question, an `mcp_approval_response` item for each answer.
//!
//! Input: questions and answers. Output: items that are complete at once. Never: an answer to a question that is not open.

use super::calls::arguments;
use super::encode::Response;
use super::items::{Answer, Item, Question, quoted};
use crate::encode::Events;
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, SharedStr};
use crate::hash::HashMap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The unanswered questions, and the item of each.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Questions(HashMap<SharedStr, u64>);

impl Response {
    /// The runner asks a question.
    pub(super) fn asked(&mut self, request: &ApprovalRequested, parent: Option<Uuid>, out: &mut Events) {
        let question = Question {
            approval_id: request.approval_id.clone(),
            name: request.tool_name.clone(),
            arguments: arguments(&request.args),
            parent: parent.and_then(|parent| self.calls.item(&parent)),
        };
        let index = self.add_whole(Item::Question(question), out);
        self.questions.0.insert(request.approval_id.clone(), index);
        if let Some(call) = request.tool_id.and_then(|tool| self.calls.item(&tool)) {
            self.items.update_call(call, |call| call.question = Some(index));
        }
    }

    /// A question was decided.
    pub(super) fn answered(&mut self, answer: &ApprovalResolved, out: &mut Events) {
        let Some(question) = self.questions.0.remove(&answer.approval_id) else { return };
        let word = match answer.decision {
            Decision::TimedOut | Decision::Cancelled => Some(answer.decision.as_str()),
            Decision::Approved | Decision::Rejected => None,
        };
        let answer = Answer {
            question,
            approve: answer.decision == Decision::Approved,
            reason: answer.reason.as_deref().or(word).map(quoted),
        };
        self.add_whole(Item::Answer(answer), out);
    }
}
