//! Questions to a person: permissions and forms.
//!
//! Input: the agent's questions, the client's answers if they are there, what becomes of the tools in question. Output:
//! `approval_requested` and `approval_resolved`. Never: an approval that was not given.

use super::super::elicitation;
use super::super::json_rpc::request_id;
use super::calls::{Place, Told};
use super::permission;
use super::requests::{AgentRequest, Question};
use super::sessions::Turn;
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, SharedStr};
use crate::host::SETTLED;
use crate::json::{Json, Object};
use crate::normalizer::Normalizer;
use crate::sequence::StreamKey;
use std::borrow::Cow;

/// What became of a tool.
pub(super) struct Outcome<'t> {
    pub(super) is_ok: bool,
    pub(super) has_code: bool,
    pub(super) text: &'t str,
    /// Whether it had output before its end.
    pub(super) has_output: bool,
}

/// The maximum number of open questions about one call that its outcome answers. Further ones are open until the turn ends.
const MOST_QUESTIONS: usize = 64;

/// Words in the output of a tool that was not allowed to run.
const REFUSALS: &[&str] = &["reject", "refus", "denied", "declin", "not allowed", "did not approve", "cancel"];

/// Words of the operating system, which refused something that the tool did.
const OF_SYSTEM: &[&str] = &["eacces", "eperm", "os error"];

/// Those that a command which was allowed to run hardly prints when it fails.
const PLAIN_REFUSALS: &[&str] = &["reject", "declin", "not allowed", "did not approve"];

/// Resolves a question by what became of its tool, because the answer is not in the input. Returns whether the tool was not
/// allowed to run. A question that the host has answered stays as it is, and its answer counts.
pub(super) fn by_outcome(
    approval_id: SharedStr,
    stream: StreamKey,
    outcome: &Outcome<'_>,
    normalizer: &mut Normalizer,
) -> bool {
    let text = outcome.text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if !normalizer.approval_waits(stream, &approval_id) {
        return normalizer.approval_refused(stream, &approval_id)
            || (!outcome.is_ok && !outcome.has_code && has(PLAIN_REFUSALS));
    }
    let (decision, reason) = match outcome {
        Outcome { is_ok: true, .. } | Outcome { has_code: true, .. } => (Decision::Approved, None),
        _ if has(REFUSALS) && !has(OF_SYSTEM) => (Decision::Rejected, None),
        _ => (Decision::Cancelled, Some(SETTLED.to_owned())),
    };
    resolve(approval_id, stream, decision, None, reason, normalizer);
    let is_silent = outcome.text.is_empty() && !outcome.has_output;
    decision == Decision::Rejected || (decision == Decision::Cancelled && is_silent)
}

/// Resolves a question about a tool that runs now, because no answers are in the input.
pub(super) fn by_start(approval_id: SharedStr, stream: StreamKey, normalizer: &mut Normalizer) {
    if normalizer.approval_waits(stream, &approval_id) {
        resolve(approval_id, stream, Decision::Approved, None, None, normalizer);
    }
}

fn resolve(
    approval_id: SharedStr,
    stream: StreamKey,
    decision: Decision,
    scope: Option<&str>,
    reason: Option<String>,
    normalizer: &mut Normalizer,
) {
    let answer = ApprovalResolved { approval_id, decision, by: None, reason, scope: scope.map(SharedStr::from) };
    normalizer.approval_resolved(stream, answer);
}

impl Turn {
    /// The agent asks whether a tool may run. The tool may be new, and version 2 may ask about a command instead.
    pub(super) fn permission(
        &mut self,
        session: &SharedStr,
        id: Json<'_>,
        params: &Object<'_>,
        place: &mut Place<'_>,
    ) -> AgentRequest {
        let subject = params.object("subject");
        let of_subject = || subject.as_ref()?.object("toolCall");
        let tool_call = params.object("toolCall").or_else(of_subject);
        let approval_id = request_id(id);
        let title = || tool_call.as_ref()?.str("title");
        let reason = params.str("description").or_else(|| params.str("title")).or_else(title).map(Cow::into_owned);
        let mut request = ApprovalRequested {
            approval_id: approval_id.clone(),
            tool_id: None,
            tool_name: SharedStr::from(""),
            args: crate::json::empty_object(),
            reason,
        };
        let mut call_id = None;
        if let Some(fields) = &tool_call {
            self.tool_update(Told::Question, fields, place);
            if let Some(id) = fields.str("toolCallId")
                && let Some(mut call) = self.take(&id, Told::Question, fields, place)
            {
                self.start(&mut call, place);
                if call.questions.len() < MOST_QUESTIONS {
                    call.questions.push(approval_id.clone());
                }
                let shown =
                    fields.some("rawInput").filter(|input| input.object().is_some_and(|input| !input.is_empty()));
                (request.tool_id, request.tool_name) = (Some(call.tool.id), call.name());
                request.args = shown.map_or_else(|| call.args(), Json::to_raw);
                call_id = Some(call.id.clone());
                self.put(call);
            }
        } else if let Some(subject) = &subject {
            request.tool_name = subject.str("type").map_or_else(|| SharedStr::from(""), |word| SharedStr::from(&*word));
            request.args = elicitation::args_of(subject, &["type"]);
        }
        place.normalizer.approval_requested(place.target, request);
        AgentRequest::Permission(Question {
            approval_id,
            session: session.clone(),
            stream: place.target.stream,
            call: call_id,
            options: permission::options(params),
        })
    }

    /// A question does not wait any more. That decides nothing about the call.
    pub(super) fn withdrawn(&mut self, question: &Question, reason: &str, normalizer: &mut Normalizer) {
        if let Some(call) = question.call.as_deref().and_then(|call| self.call(call)) {
            call.questions.retain(|waiting| *waiting != question.approval_id);
        }
        normalizer.record_on(question.stream);
        let reason = Some(reason.to_owned());
        resolve(question.approval_id.clone(), question.stream, Decision::Cancelled, None, reason, normalizer);
    }

    /// The client answers whether a tool may run.
    pub(super) fn permitted(&mut self, question: Question, result: &Object<'_>, normalizer: &mut Normalizer) {
        let (decision, scope) = permission::decision(result, &question.options).unwrap_or((Decision::Cancelled, None));
        if let Some(call) = question.call.as_deref().and_then(|call| self.call(call)) {
            call.is_denied |= decision != Decision::Approved;
            call.questions.retain(|waiting| *waiting != question.approval_id);
        }
        normalizer.record_on(question.stream);
        resolve(question.approval_id, question.stream, decision, scope, None, normalizer);
    }
}

/// The agent asks for the content of a form, or for a visit of an address.
pub(super) fn elicitation(
    session: &SharedStr,
    id: Json<'_>,
    params: &Object<'_>,
    place: &mut Place<'_>,
) -> AgentRequest {
    let approval_id = request_id(id);
    let call = params.str("toolCallId").map(|call| place.normalizer.tool(place.scope, &call));
    let request = ApprovalRequested {
        approval_id: approval_id.clone(),
        tool_id: call.as_ref().map(|call| call.id),
        tool_name: SharedStr::from(elicitation::TOOL),
        args: elicitation::args_of(params, &["sessionId", "toolCallId", "requestId", "_meta"]),
        reason: params.str("message").map(Cow::into_owned),
    };
    place.normalizer.approval_requested(place.target, request);
    let stream = place.target.stream;
    AgentRequest::Elicitation(Question {
        approval_id,
        session: session.clone(),
        stream,
        call: call.map(|call| call.call_id),
        options: Vec::new(),
    })
}

/// The client answers a form.
pub(super) fn filled_in(question: Question, result: &Object<'_>, normalizer: &mut Normalizer) {
    let decision = match result.str("action").as_deref() {
        Some("accept") => Decision::Approved,
        Some("decline") => Decision::Rejected,
        _ => Decision::Cancelled,
    };
    normalizer.record_on(question.stream);
    resolve(question.approval_id, question.stream, decision, None, None, normalizer);
}
