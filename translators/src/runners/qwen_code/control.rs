//! The control protocol: permission questions become approvals.
//!
//! Input: `control_*` records, and outcomes of calls. Output: questions, and their answers as far as the stream shows them. The host
//! answers on the runner's standard input, so the decision is inferred from what happens to the call. Never: a question that is
//! left unresolved.

use super::super::names::NameMap;
use super::decoder::Qwen;
use super::outcome::{Outcome, Verdict};
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, LogLevel, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, Target};

/// The questions of a run that await their answer.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// The call that a question is about, by the question's id; `None` if the runner names none.
    open: NameMap<Option<SharedStr>>,
    /// The newest question about a call, by the id of the call.
    about: NameMap<SharedStr>,
}

impl Questions {
    fn insert(&mut self, id: SharedStr, call_id: Option<SharedStr>) {
        if let Some(call_id) = &call_id {
            self.about.insert(call_id.clone(), id.clone());
        }
        self.open.insert(id, call_id);
    }

    fn remove(&mut self, id: &str) -> Option<SharedStr> {
        let (id, call_id) = self.open.remove_entry(id)?;
        if let Some(call_id) = call_id.filter(|call_id| self.about.get(call_id) == Some(&id)) {
            self.about.remove(&call_id);
        }
        Some(id)
    }

    /// Forgets the questions for which `waits` is false.
    fn retain(&mut self, waits: impl Fn(&str) -> bool) {
        self.open.retain(|id, _| waits(id));
        self.about.retain(|_, id| waits(id));
    }
}

/// Control requests without a frame: those of the host, and those of the runner to the host's own servers and hooks.
const SILENT: &[&str] = &[
    "hook_callback",
    "initialize",
    "interrupt",
    "mcp_message",
    "mcp_server_status",
    "set_model",
    "set_permission_mode",
    "supported_commands",
];

impl Qwen {
    pub(super) fn control_request(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(request) = fields.object("request") else { return };
        let id = fields.str("request_id").unwrap_or_default();
        match &*request.str("subtype").unwrap_or_default() {
            "can_use_tool" => {}
            // Requests to the host's own servers and of the host do not involve a person.
            known if SILENT.contains(&known) => return,
            other => return normalizer.unknown(format!("unknown control request {other:?}")),
        }
        let call_id = request.str("tool_use_id").filter(|call_id| !call_id.is_empty());
        // A question without a request id or a call id cannot be answered.
        let Some(id) = Some(&*id).filter(|id| !id.is_empty()).or(call_id.as_deref()) else { return };
        let stream = self.runs.ensure(normalizer);
        let approval_id = SharedStr::from(id);
        let call_id = call_id.as_deref().zip(self.runs.run(stream));
        let call_id = call_id.map(|(call_id, run)| SharedStr::from(run.call_ids.newest(call_id)));
        let call = call_id.as_ref().and_then(|call_id| self.runs.run(stream)?.calls.get(call_id));
        let target = call.map_or_else(|| Target::main(stream), |call| call.target);
        let tool_id = call_id.clone().map(|call_id| self.tool(normalizer, stream, call_id).id);
        let ask = ApprovalRequested {
            approval_id: approval_id.clone(),
            tool_id,
            tool_name: SharedStr::from(&*request.str("tool_name").unwrap_or_default()),
            args: request
                .get("input")
                .filter(|input| input.object().is_some())
                .map_or_else(crate::json::empty_object, Json::to_raw),
            reason: described(&request),
        };
        normalizer.approval_requested(target, ask);
        if let Some(run) = self.runs.run(stream) {
            run.questions.insert(approval_id, call_id);
            // The normalizer closes the oldest one beyond its bound.
            if run.questions.open.len() > normalizer.most_open().saturating_mul(2) {
                run.questions.retain(|id| normalizer.approval_waits(stream, id));
            }
        }
    }

    /// Resolves the question about a call when its result arrives.
    pub(super) fn answered(&mut self, target: Target, call_id: &str, outcome: &Outcome, normalizer: &mut Normalizer) {
        let asked = self.runs.run(target.stream).and_then(|run| run.questions.about.get(call_id).cloned());
        let Some(approval_id) = asked else { return };
        let (decision, reason) = match outcome.verdict {
            Verdict::Ended(_) => (Decision::Approved, None),
            _ if outcome.is_interruption() => (Decision::Cancelled, Some(outcome.reason().to_owned())),
            Verdict::Refused | Verdict::Cancelled => (Decision::Rejected, Some(outcome.reason().to_owned())),
        };
        self.resolve(&approval_id, decision, reason, normalizer);
    }

    pub(super) fn control_cancelled(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        if let Some(id) = fields.str("request_id") {
            self.resolve(&id, Decision::Cancelled, None, normalizer);
        }
    }

    /// Handles an answer. The runner answers the host in the form in which the host answers the runner, and recordings of both
    /// directions contain both.
    pub(super) fn control_response(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(response) = fields.object("response") else { return };
        if response.str("subtype").as_deref() == Some("error") {
            let error = response.str("error");
            let error = error.or_else(|| response.object("error").and_then(|error| error.str("message")));
            return self.log(LogLevel::Warn, &error.unwrap_or_default(), normalizer);
        }
        let Some(answer) = response.object("response") else { return };
        if let Some(session) = answer.str("session_id").filter(|session| !session.is_empty()) {
            normalizer.set_session(&session);
        }
        let decision = match (answer.str("behavior").as_deref(), answer.bool("allowed")) {
            (Some("allow"), _) | (_, Some(true)) => Decision::Approved,
            (Some("deny"), _) | (_, Some(false)) => Decision::Rejected,
            _ => return,
        };
        if let Some(id) = response.str("request_id") {
            let reason = answer.str("message").map(|message| message.into_owned());
            self.resolve(&id, decision, reason, normalizer);
        }
    }

    fn resolve(&mut self, id: &str, decision: Decision, reason: Option<String>, normalizer: &mut Normalizer) {
        let Some(run) = self.runs.current(normalizer) else { return };
        let Some(approval_id) = run.questions.remove(id) else { return };
        let answer = ApprovalResolved { approval_id, decision, by: None, reason, scope: None };
        normalizer.approval_resolved(run.key, answer);
    }
}

/// What the runner says about the call beside its arguments: the text of the choice that allows it.
fn described(request: &Object<'_>) -> Option<String> {
    let choices = request.items("permission_suggestions").into_iter().filter_map(Json::object);
    let mut allowing = choices.filter(|choice| choice.str("type").as_deref() == Some("allow"));
    let text = allowing.next()?.str("description")?.into_owned();
    Some(text).filter(|text| !text.is_empty())
}
