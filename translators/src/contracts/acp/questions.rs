//! Questions: requests that wait until they are decided.

use super::calls::Stage;
use super::data::{self, AboutCall, AboutDecision, AboutQuestion, Choice};
use super::describe::Described;
use super::encode::AcpRun;
use crate::encode::{Events, Word};
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, Frame};
use uuid::Uuid;

/// The answers that a question offers. Their ids are the protocol's kinds.
pub(super) fn choices() -> Vec<Choice> {
    let choice = |kind, name| Choice { option_id: Word(kind), name: Word(name), kind: Word(kind) };
    vec![
        choice("allow_once", "Allow"),
        choice("allow_always", "Allow for the session"),
        choice("reject_once", "Reject"),
    ]
}

impl AcpRun {
    /// The runner asks. A question that waits already is not asked again.
    pub(super) fn asked(&mut self, request: &ApprovalRequested, frame: &Frame, out: &mut Events) {
        if self.calls.is_asked(&request.approval_id) {
            return;
        }
        let described = Described::new(&request.tool_name, None, request.args.get());
        let title = described.title();
        let open = request.tool_id.filter(|call| self.calls.get_mut(call).is_some());
        // The question may be the first that is heard of its call.
        let new = request.tool_id.filter(|call| !self.calls.is_over(call));
        let call = open.or(new).unwrap_or_else(|| self.writer.fresh_id());
        let is_own = open.is_none() && new.is_none();
        if open.is_none() {
            self.announce(call, &title, request, frame, out);
        }
        self.calls.ask(&request.approval_id, call, is_own);
        let data = data::Question {
            tool_call: data::Call {
                title: Some(&title),
                name: Some(&*request.tool_name).filter(|name| !name.is_empty()),
                raw_input: Some(&*request.args).filter(|args| args.get() != "null"),
                ..data::call(call)
            },
            options: choices(),
        };
        let reason = request.reason.as_deref().filter(|reason| !reason.is_empty());
        let about = AboutQuestion { reason, parent_tool_call_id: frame.parent_tool_id };
        self.writer.ask(&request.approval_id, &data, &about, out);
    }

    /// A call that was first heard of in a question.
    fn announce(&mut self, call: Uuid, title: &str, request: &ApprovalRequested, frame: &Frame, out: &mut Events) {
        if !frame.is_subagent() {
            self.begin_content();
        }
        self.calls.begin(call, Stage::Asked);
        let data = data::Call {
            title: Some(title),
            name: Some(&*request.tool_name).filter(|name| !name.is_empty()),
            status: Some(Word("pending")),
            ..data::call(call)
        };
        let about = AboutCall { call_id: None, parent_tool_call_id: frame.parent_tool_id };
        self.writer.update_about("tool_call", &data, &about, out);
    }

    /// A question was decided. The call is over when the runner says so, unless it exists only for the question.
    pub(super) fn answered(&mut self, answer: &ApprovalResolved, out: &mut Events) {
        let Some(question) = self.calls.answer(&answer.approval_id) else { return };
        let about = AboutDecision {
            decision: Word(answer.decision.as_str()),
            by: answer.by.as_deref(),
            reason: answer.reason.as_deref(),
            scope: answer.scope.as_deref(),
        };
        self.writer.cancel(&answer.approval_id, &about, out);
        let approved = answer.decision == Decision::Approved;
        if let Some(call) = self.calls.get_mut(&question.call) {
            call.refused = !approved;
        }
        match (question.is_own, approved) {
            (true, true) => self.finish(&question.call, true, None, out),
            (true, false) => self.refuse(&question.call, out),
            (false, _) => {}
        }
    }

    /// Withdraws what waits about a call that is over.
    pub(super) fn withdraw_questions(&mut self, call: &Uuid, out: &mut Events) {
        for approval_id in self.calls.take_questions(Some(call)) {
            self.withdraw(&approval_id, out);
        }
    }

    /// Withdraws every question that waits: the run is over.
    pub(super) fn withdraw_all(&mut self, out: &mut Events) {
        for approval_id in self.calls.take_questions(None) {
            self.withdraw(&approval_id, out);
        }
    }

    fn withdraw(&mut self, approval_id: &str, out: &mut Events) {
        let about = AboutDecision { decision: Word(Decision::Cancelled.as_str()), by: None, reason: None, scope: None };
        self.writer.cancel(approval_id, &about, out);
    }
}
