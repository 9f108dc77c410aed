//! Permissions and questions: the runner waits for a person.
//!
//! Input: `permission.*` and `question.*` events. Output: approvals, requested and resolved. Aborted work never receives an
//! answer; the normalizer then closes the approval with its run.

use super::session_context::{SessionContext, filled};
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, SharedStr};
use crate::json::{Json, Object, empty_object, to_raw};

/// Requests a permission. The first release uses `type`, `pattern` and `callID` instead of today's `permission`, `patterns` and
/// `tool.callID`, and asks before it shows the call itself.
pub(super) fn permission(context: &mut SessionContext<'_>, asked: &Object<'_>) {
    let Some(id) = asked.str("id") else { return };
    let permission = asked.str("permission").or_else(|| asked.str("type")).unwrap_or_default();
    let call_id = asked.object("tool").and_then(|tool| tool.str("callID")).or_else(|| asked.str("callID"));
    let tool = call_id.map(|call_id| context.calls.newest(context.normalizer, context.scope, &call_id));
    if let Some(tool) = &tool {
        context.calls.waits(&id, tool);
    }
    let name = tool.as_ref().and_then(|tool| context.normalizer.tool_name(context.target.stream, tool));
    let mut patterns: Vec<_> = asked.items("patterns").into_iter().filter_map(Json::str).collect();
    match asked.get("pattern") {
        Some(pattern) if pattern.str().is_some() => patterns.extend(pattern.str()),
        Some(pattern) => patterns.extend(pattern.items().into_iter().filter_map(Json::str)),
        None => {}
    }
    let reason = match (permission.is_empty(), patterns.is_empty()) {
        (false, false) => Some(format!("{permission}: {}", patterns.join(", "))),
        (false, true) => Some(permission.to_string()),
        (true, false) => Some(patterns.join(", ")),
        (true, true) => None,
    };
    let request = ApprovalRequested {
        approval_id: SharedStr::from(&*id),
        tool_id: tool.map(|tool| tool.id),
        tool_name: name.unwrap_or_else(|| SharedStr::from(&*permission)),
        args: filled(asked.get("metadata")).map_or_else(empty_object, Json::to_raw),
        reason,
    };
    context.normalizer.approval_requested(context.target, request);
}

/// Reports a question that the model asks.
pub(super) fn question(context: &mut SessionContext<'_>, asked: &Object<'_>) {
    let Some(id) = asked.str("id") else { return };
    let call_id = asked.object("tool").and_then(|tool| tool.str("callID"));
    let tool = call_id.map(|call_id| context.calls.newest(context.normalizer, context.scope, &call_id));
    if let Some(tool) = &tool {
        context.calls.waits(&id, tool);
    }
    let questions = asked.get("questions");
    let words: Vec<_> = questions
        .map(Json::items)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|question| Some(question.object()?.str("question")?.into_owned()))
        .collect();
    let args = questions.map_or_else(empty_object, |questions| {
        to_raw(&std::collections::BTreeMap::from([("questions", &*questions.to_raw())]))
    });
    let request = ApprovalRequested {
        approval_id: SharedStr::from(&*id),
        tool_id: tool.map(|tool| tool.id),
        tool_name: SharedStr::from("question"),
        args,
        reason: (!words.is_empty()).then(|| words.join("\n")),
    };
    context.normalizer.approval_requested(context.target, request);
}

/// Handles a granted or rejected permission.
pub(super) fn permission_answered(context: &mut SessionContext<'_>, answer: &Object<'_>) {
    let id = answer.str("requestID").or_else(|| answer.str("permissionID"));
    let reply = answer.str("reply").or_else(|| answer.str("response"));
    let (Some(id), Some(reply)) = (id, reply) else { return };
    let decision = match &*reply {
        "once" | "always" => Decision::Approved,
        "reject" => Decision::Rejected,
        other => return context.normalizer.unknown(format!("unknown reply {other:?}")),
    };
    let scope = (decision == Decision::Approved).then(|| SharedStr::from(&*reply));
    let reason = answer.str("message").filter(|message| !message.is_empty());
    resolve(context, &id, decision, reason.map(std::borrow::Cow::into_owned), scope);
}

/// Handles an answered question.
pub(super) fn question_answered(context: &mut SessionContext<'_>, answer: &Object<'_>) {
    let Some(id) = answer.str("requestID") else { return };
    let words: Vec<_> = answer
        .items("answers")
        .into_iter()
        .map(|choices| choices.items().into_iter().filter_map(Json::str).collect::<Vec<_>>().join(", "))
        .collect();
    let reason = words.join("\n");
    resolve(context, &id, Decision::Approved, (!reason.is_empty()).then_some(reason), Some(SharedStr::from("once")));
}

/// Handles a dismissed question.
pub(super) fn question_rejected(context: &mut SessionContext<'_>, answer: &Object<'_>) {
    if let Some(id) = answer.str("requestID") {
        resolve(context, &id, Decision::Rejected, None, None);
    }
}

fn resolve(
    context: &mut SessionContext<'_>,
    id: &str,
    decision: Decision,
    reason: Option<String>,
    scope: Option<SharedStr>,
) {
    context.calls.answered(id, decision == Decision::Approved);
    let answer = ApprovalResolved { approval_id: SharedStr::from(id), decision, by: None, reason, scope };
    context.normalizer.approval_resolved(context.target.stream, answer);
}
