//! Questions to a person, and their answers. Session files have those about permissions; the stream has the other ones.
//!
//! Input: `permission.requested`, `elicitation.requested`, `user_input.requested`, `exit_plan_mode.requested`, and the `.completed` of
//! each. Output: one question and one answer for each. Never: a denial because no one could answer reported as a person's decision.

use super::super::elicitation;
use super::decoder::{Copilot, Event};
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, SharedStr};
use crate::json::{Json, Object, empty_object};
use crate::normalizer::{Normalizer, Target};
use crate::sequence::StreamKey;

/// A question that awaits its answer.
#[derive(Debug)]
pub(super) struct Question {
    stream: StreamKey,
}

impl Copilot {
    pub(super) fn permission_requested(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        let data = &event.data;
        let request = data.object("permissionRequest").unwrap_or_default();
        let id = SharedStr::from(&*data.str("requestId").unwrap_or_default());
        let call_id = request.str("toolCallId").filter(|id| !id.is_empty());
        let call = match &call_id {
            Some(id) => self.run_of(target.stream).and_then(|run| run.calls.get(&**id)),
            None => None,
        };
        let (target, tool_name, args) = match call {
            Some(call) => (call.target, call.call.name.clone(), call.call.args.clone()),
            None => {
                let kind = request.str("toolName").or_else(|| request.str("kind")).unwrap_or_default();
                (target, SharedStr::from(&*kind), request.get("args").map_or_else(empty_object, Json::to_raw))
            }
        };
        let tool_id = call_id.map(|id| self.tool(normalizer, target.stream, &id).id);
        let reason = request.str("intention").filter(|reason| !reason.is_empty()).map(|reason| reason.into_owned());
        self.asks(target, ApprovalRequested { approval_id: id, tool_id, tool_name, args, reason }, normalizer);
    }

    /// Handles a question that is not about a permission: a form of an MCP server, a question of the model, or its plan.
    pub(super) fn question_asked(&mut self, kind: &str, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        let data = &event.data;
        let (tool, reason) = match kind {
            "elicitation.requested" => (elicitation::TOOL, "message"),
            "user_input.requested" => ("ask_user", "question"),
            _ => ("exit_plan_mode", "summary"),
        };
        let call_id = data.str("toolCallId").filter(|id| !id.is_empty());
        let question = ApprovalRequested {
            approval_id: SharedStr::from(&*data.str("requestId").unwrap_or_default()),
            tool_id: call_id.map(|id| self.tool(normalizer, target.stream, &id).id),
            tool_name: SharedStr::from(tool),
            args: elicitation::args_of(data, &["requestId", "toolCallId"]),
            reason: data.str(reason).filter(|reason| !reason.is_empty()).map(|reason| reason.into_owned()),
        };
        self.asks(target, question, normalizer);
    }

    fn asks(&mut self, target: Target, question: ApprovalRequested, normalizer: &mut Normalizer) {
        self.forget(normalizer);
        if let Some(run) = self.run_of(target.stream) {
            run.questions.insert(question.approval_id.clone(), Question { stream: target.stream });
        }
        normalizer.approval_requested(target, question);
    }

    pub(super) fn permission_completed(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let result = event.data.object("result").unwrap_or_default();
        let kind = result.str("kind").unwrap_or_default();
        let (decision, scope) = decided(&kind).unwrap_or_else(|| {
            normalizer.unknown(format!("unknown decision {kind:?}"));
            (Decision::Cancelled, None)
        });
        self.answers(&event.data, decision, scope, reason(&result), normalizer);
    }

    /// Handles the answer to a question that is not about a permission.
    pub(super) fn question_answered(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let data = &event.data;
        let said = |yes: bool| if yes { Decision::Approved } else { Decision::Rejected };
        let decision = match (data.str("action").as_deref(), data.bool("approved")) {
            (Some("accept"), _) => Decision::Approved,
            (Some("decline"), _) => Decision::Rejected,
            (None, Some(approved)) => said(approved),
            (None, None) if data.some("answer").is_some() => Decision::Approved,
            // The question was closed without an answer.
            _ => Decision::Cancelled,
        };
        let said = data.str("feedback").or_else(|| data.str("answer")).filter(|said| !said.is_empty());
        self.answers(data, decision, None, said.map(|said| said.into_owned()), normalizer);
    }

    fn answers(
        &mut self,
        data: &Object<'_>,
        decision: Decision,
        scope: Option<&str>,
        reason: Option<String>,
        normalizer: &mut Normalizer,
    ) {
        let id = data.str("requestId").unwrap_or_default();
        let question = self.run.as_mut().and_then(|run| run.questions.remove(&*id));
        let Some(Question { stream }) = question else { return };
        let answer = ApprovalResolved {
            approval_id: SharedStr::from(&*id),
            decision,
            by: data.str("decisionSource").map(|source| SharedStr::from(&*source)),
            reason,
            scope: scope.map(SharedStr::from),
        };
        normalizer.approval_resolved(stream, answer);
    }
}

/// The decision, and how far it reaches; `None` if the word is not known.
fn decided(kind: &str) -> Option<(Decision, Option<&'static str>)> {
    Some(match kind {
        "approved" => (Decision::Approved, Some("once")),
        "approved-for-session" => (Decision::Approved, Some("session")),
        "approved-for-location" => (Decision::Approved, Some("always")),
        kind if kind.starts_with("approved-") => (Decision::Approved, None),
        "cancelled" => (Decision::Cancelled, None),
        kind if kind == "denied" || kind.starts_with("denied-") => (Decision::Rejected, None),
        _ => return None,
    })
}

/// Why: a person's words, or else the runner's word for the decision if it is more than yes or no.
fn reason(result: &Object<'_>) -> Option<String> {
    let said = ["feedback", "message", "reason"].iter().find_map(|key| result.str(key));
    let kind = || result.str("kind").filter(|kind| kind.starts_with("denied-"));
    said.filter(|said| !said.is_empty()).or_else(kind).map(|reason| reason.into_owned())
}
