//! Approvals.
//!
//! Input: questions and answers. Output: `approval.requested`, then `approval.resolved` or `approval.timed_out`;
//! `policy.tool_blocked` if a rule refused rather than a person. Never: a question that is not resolved, or a question about a
//! call that was not proposed. If a runner asks first, or without a call, the question's tool is proposed before the question.

use super::encode::propose;
use super::envelope::EventSink;
use super::tools::Tools;
use crate::encode::{Word, data};
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, SharedStr};
use crate::hash::HashMap;
use crate::json::{Json, Object};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The open questions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Approvals {
    open: HashMap<SharedStr, Question>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    tool_id: Option<Uuid>,
    tool_name: SharedStr,
    asked_ms: u64,
}

data! {
    struct Requested<'a> {
        approval_id: &'a str,
        tool_call_id: &'a str,
        kind: &'a str,
        summary: &'a str,
        policy_reason: Option<&'a str>,
    }

    struct Resolved<'a> {
        approval_id: &'a str,
        decision: Word,
        by: Option<&'a str>,
        comment: Option<&'a str>,
        scope: Option<&'a str>,
    }

    struct TimedOut<'a> {
        approval_id: &'a str,
        after_seconds: u64,
    }

    struct Blocked<'a> {
        tool_call_id: Option<&'a str>,
        tool_name: &'a str,
        reason: &'a str,
    }
}

impl Approvals {
    pub(super) fn ask(
        &mut self,
        request: &ApprovalRequested,
        tools: &mut Tools,
        turn_index: u32,
        sink: &mut EventSink<'_>,
    ) {
        let args = Json::new(&request.args).object().unwrap_or_default();
        let subject = subject_of(&args);
        let summary = subject.as_deref().or(request.reason.as_deref()).unwrap_or(&request.tool_name);
        let (call_id, is_told) = match request.tool_id {
            Some(tool_id) => tools.asked_about(tool_id),
            None => (request.approval_id.clone(), false),
        };
        if !is_told {
            propose(&call_id, &request.tool_name, &request.args, turn_index, sink);
        }
        sink.emit(
            "approval.requested",
            &Requested {
                approval_id: &request.approval_id,
                tool_call_id: &call_id,
                kind: &request.tool_name,
                summary,
                policy_reason: request.reason.as_deref(),
            },
        );
        let question =
            Question { tool_id: request.tool_id, tool_name: request.tool_name.clone(), asked_ms: sink.now_ms };
        self.open.insert(request.approval_id.clone(), question);
    }

    pub(super) fn answer(&mut self, answer: &ApprovalResolved, tools: &mut Tools, sink: &mut EventSink<'_>) {
        let question = self.open.remove(&answer.approval_id);
        let tool_id = question.as_ref().and_then(|question| question.tool_id);
        if answer.decision == Decision::TimedOut {
            let asked_ms = question.as_ref().map_or(sink.now_ms, |question| question.asked_ms);
            let after_seconds = sink.now_ms.saturating_sub(asked_ms) / 1000;
            return sink.emit("approval.timed_out", &TimedOut { approval_id: &answer.approval_id, after_seconds });
        }
        let by = answer.by.as_deref().filter(|by| !by.is_empty());
        sink.emit(
            "approval.resolved",
            &Resolved {
                approval_id: &answer.approval_id,
                decision: Word(answer.decision.as_str()),
                by,
                comment: answer.reason.as_deref(),
                scope: answer.scope.as_deref(),
            },
        );
        let is_refusal = matches!(answer.decision, Decision::Rejected | Decision::Cancelled);
        if !is_refusal {
            return;
        }
        if by.is_some_and(is_rule) {
            let call_id = tool_id.and_then(|tool_id| tools.call_id(tool_id));
            let blocked = Blocked {
                tool_call_id: call_id.as_deref(),
                tool_name: question.as_ref().map_or("", |question| &question.tool_name),
                reason: answer.reason.as_deref().or(by).unwrap_or_default(),
            };
            sink.emit("policy.tool_blocked", &blocked);
        } else if let Some(tool_id) = tool_id {
            tools.refuse(tool_id);
        }
    }
}

/// Whether a rule decided rather than a person.
fn is_rule(by: &str) -> bool {
    matches!(by, "policy" | "rule" | "rules" | "config" | "hook" | "classifier" | "sandbox")
}

/// What a call is about, in a few words: its command, file, address or search pattern.
pub(super) fn subject_of<'a>(args: &'a Object<'_>) -> Option<std::borrow::Cow<'a, str>> {
    ["command", "cmd", "file_path", "filePath", "path", "url", "pattern", "query"]
        .into_iter()
        .find_map(|key| args.get(key).and_then(Json::str))
        .filter(|subject| !subject.is_empty())
}
