//! The control protocol: permission questions become approvals.
//!
//! Input: `control_*` records. Output: questions, and their answers as far as the stream shows them. The host answers on the
//! runner's standard input, so the decision is inferred from what happens to the call. Never: a question that is left
//! unresolved.

use super::super::elicitation;
use super::decoder::Claude;
use super::outcome::{Outcome, Verdict};
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, LogLevel, RawJson, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, Target};

/// A question that awaits its answer.
#[derive(Debug)]
pub(super) struct PendingQuestion {
    approval_id: SharedStr,
    /// The stream and speaker of the call that the question is about.
    pub(super) target: Target,
}

impl Claude {
    pub(super) fn control_request(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(request) = fields.object("request") else { return };
        let id = fields.str("request_id").unwrap_or_default();
        match request.str("subtype").as_deref() {
            Some("can_use_tool") => self.can_use_tool(&id, &request, normalizer),
            Some("elicitation") => self.elicitation(&id, &request, normalizer),
            // Questions from the runner to its host; they do not involve a person.
            _ => {}
        }
    }

    fn can_use_tool(&mut self, id: &str, request: &Object<'_>, normalizer: &mut Normalizer) {
        let call_id = request.str("tool_use_id").filter(|call_id| !call_id.is_empty());
        // A question without a request id or a call id cannot be answered.
        let Some(id) = Some(id).filter(|id| !id.is_empty()).or(call_id.as_deref()) else { return };
        let key = self.key(call_id.as_deref().unwrap_or(id), normalizer).into_owned();
        let key = match call_id.as_deref().filter(|_| !self.calls.contains_key(&*key)) {
            // These records name no session, so the call may be another one's.
            Some(call_id) => {
                let named = self.calls.iter().filter(|(_, call)| *call.tool.call_id == *call_id);
                named.map(|(key, _)| key).min().cloned().unwrap_or_else(|| SharedStr::from(key))
            }
            None => SharedStr::from(key),
        };
        let target = self.calls.get(&key).map(|call| call.target);
        let target = target.unwrap_or_else(|| Target::main(self.runs.stream(normalizer)));
        let tool_id = call_id.as_deref().map(|call_id| self.tool(normalizer, target, call_id).id);
        let reason = request.str("decision_reason").or_else(|| request.str("description"));
        let approval_id = SharedStr::from(id);
        let ask = ApprovalRequested {
            approval_id: approval_id.clone(),
            tool_id,
            tool_name: SharedStr::from(&*request.str("tool_name").unwrap_or_default()),
            args: request
                .get("input")
                .filter(|input| input.object().is_some())
                .map_or_else(crate::json::empty_object, Json::to_raw),
            reason: reason.map(|reason| reason.into_owned()),
        };
        normalizer.approval_requested(target, ask);
        self.asks.insert(key, PendingQuestion { approval_id, target });
    }

    /// Reports an MCP server's question. Whether it can be answered depends on the host: another host may be able to if this
    /// one cannot.
    fn elicitation(&mut self, id: &str, request: &Object<'_>, normalizer: &mut Normalizer) {
        let message = request.str("message").unwrap_or_default();
        if id.is_empty() {
            return self.log(LogLevel::Info, Some(message), normalizer);
        }
        let (approval_id, target) = (SharedStr::from(id), Target::main(self.runs.stream(normalizer)));
        let ask = ApprovalRequested {
            approval_id: approval_id.clone(),
            tool_id: None,
            tool_name: SharedStr::from(elicitation::TOOL),
            args: form_args(request),
            reason: Some(message.into_owned()).filter(|message| !message.is_empty()),
        };
        normalizer.approval_requested(target, ask);
        self.asks.insert(approval_id.clone(), PendingQuestion { approval_id, target });
    }

    /// Resolves the question about a call when the call's result arrives.
    pub(super) fn answered(
        &mut self,
        key: &str,
        verdict: &Verdict,
        outcome: &Outcome<'_>,
        normalizer: &mut Normalizer,
    ) {
        let Some(ask) = self.asks.remove(key) else { return };
        let (decision, reason) = match verdict {
            Verdict::Ended(_) => (Decision::Approved, None),
            Verdict::Refused(error) => (Decision::Rejected, Some(error.clone())),
            Verdict::Cancelled(error) => (Decision::Cancelled, Some(error.clone())),
        };
        let by = outcome.decided_by.as_deref().map(SharedStr::from);
        resolve(&ask, decision, by, reason, normalizer);
    }

    pub(super) fn control_cancelled(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let id = fields.str("request_id");
        if let Some(ask) = id.and_then(|id| self.take_ask(&id)) {
            resolve(&ask, Decision::Cancelled, None, None, normalizer);
        }
    }

    /// Handles an answer. Answers to the runner and from the runner have the same form; recordings of both directions contain
    /// both.
    pub(super) fn control_response(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(response) = fields.object("response") else { return };
        if response.str("subtype").as_deref() == Some("error") {
            return self.log(LogLevel::Warn, response.str("error"), normalizer);
        }
        let Some(answer) = response.object("response") else { return };
        let decision = match answer.str("behavior").or_else(|| answer.str("action")).as_deref() {
            Some("allow" | "accept") => Decision::Approved,
            Some("deny" | "decline") => Decision::Rejected,
            Some("cancel") => Decision::Cancelled,
            _ => return,
        };
        if let Some(ask) = response.str("request_id").and_then(|id| self.take_ask(&id)) {
            let reason = answer.str("message").map(|message| message.into_owned());
            resolve(&ask, decision, None, reason, normalizer);
        }
    }

    fn take_ask(&mut self, approval_id: &str) -> Option<PendingQuestion> {
        let asked = self.asks.iter().filter(|(_, ask)| *ask.approval_id == *approval_id);
        let key = asked.map(|(key, _)| key).min()?.clone();
        self.asks.remove(&key)
    }
}

/// An MCP server's question, as shown to the person who answers it.
pub(super) fn form_args(request: &Object<'_>) -> RawJson {
    elicitation::args_of(request, &["subtype"])
}

fn resolve(
    ask: &PendingQuestion,
    decision: Decision,
    by: Option<SharedStr>,
    reason: Option<String>,
    normalizer: &mut Normalizer,
) {
    let answer = ApprovalResolved { approval_id: ask.approval_id.clone(), decision, by, reason, scope: None };
    normalizer.approval_resolved(ask.target.stream, answer);
}
