//! Small records of Claude Code, and short forms of the resulting frames.

use crate::support;
use framegate_translators::frame::{Body, Frame, StreamKind, TaskEvent};
use framegate_translators::runners::runner;
use serde_json::{Value, json};

pub const SESSION: &str = "11111111-1111-4111-8111-111111111111";

pub fn frames(records: &[Value]) -> Vec<Frame> {
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    support::frames(runner("claude-code").unwrap(), lines.concat().as_bytes())
}

/// The frames except the records, one line each.
pub fn frame_lines(records: &[Value]) -> Vec<String> {
    frames(records).iter().filter_map(line).collect()
}

pub fn line(frame: &Frame) -> Option<String> {
    let indent = if frame.parent_tool_id.is_some() { "  " } else { "" };
    let stream = match frame.stream.kind {
        StreamKind::Session => "",
        StreamKind::Thread => "thread ",
        StreamKind::Task => "task ",
        StreamKind::Artifact => "artifact ",
    };
    let text = match &frame.body {
        Body::ProviderEvent(record) if record.errors.is_empty() => return None,
        Body::ProviderEvent(record) => format!("record error {}", record.errors.join("; ")),
        Body::OutputTextDelta(_) | Body::ReasoningDelta(_) | Body::ToolCallProposed(_) => return None,
        Body::SessionStarted { input } => format!("start {input:?}"),
        Body::SessionEnded(end) => format!(
            "end {} {} {:?}",
            end.reason.as_str(),
            end.error_code.as_deref().unwrap_or("-"),
            end.final_text.as_deref().unwrap_or("-")
        ),
        Body::TurnStarted { .. } => "turn".to_owned(),
        Body::TurnEnded { stop_reason, .. } => format!("turn over {}", stop_reason.as_deref().unwrap_or("-")),
        Body::UserMessage(message) => format!("user {:?} {}", message.text, message.attachments.len()),
        Body::OutputTextCompleted(block) => format!("text {} {:?}", block.block_index, block.text),
        Body::ReasoningCompleted { block, .. } => format!("thought {} {:?}", block.block_index, block.text),
        Body::ToolStarted { call, .. } => format!("call {} {} {}", call.tool.call_id, call.name, call.args.get()),
        Body::ToolStdout { tool, chunk } => format!("output {} {chunk:?}", tool.call_id),
        Body::ToolEnded { tool, exit_code, .. } => format!("returned {} {exit_code}", tool.call_id),
        Body::ToolFailed { tool, error } => format!("failed {} {error:?}", tool.call_id),
        Body::UsageReported(usage) => format!(
            "usage {} {}/{} {:?}",
            usage.scope.as_str(),
            usage.input_tokens,
            usage.output_tokens,
            usage.cost_usd
        ),
        Body::ApprovalRequested(ask) => format!("ask {}", ask.approval_id),
        Body::ApprovalResolved(answer) => format!("answer {} {}", answer.approval_id, answer.decision.as_str()),
        Body::PlanUpdated { entries } => {
            let entries: Vec<_> = entries.iter().map(|entry| format!("{} {}", entry.status, entry.content)).collect();
            format!("plan {}", entries.join(", "))
        }
        Body::LogEmitted { level, message } => format!("{} {message}", level.as_str()),
        Body::ErrorReported(error) => format!("error {} {} {}", error.scope.as_str(), error.code, error.message),
        Body::SubagentStarted { subagent_id, depth, .. } => format!("agent {subagent_id} at {depth}"),
        Body::SubagentEnded { subagent_id, status, .. } => format!("agent {subagent_id} {status}"),
        Body::HistoryCompacted { summary, .. } => format!("compacted {}", summary.as_deref().unwrap_or("-")),
        Body::Task(event) => match &**event {
            TaskEvent::Spawned { tool_name, .. } => format!("spawned {tool_name}"),
            TaskEvent::Status { status, .. } => status.as_str().to_owned(),
            _ => frame.body.kind().to_owned(),
        },
        body => body.kind().to_owned(),
    };
    Some(format!("{stream}{indent}{text}"))
}

pub fn with_session(mut record: Value) -> Value {
    record["session_id"] = json!(SESSION);
    record
}

pub fn init() -> Value {
    with_session(json!({"type": "system", "subtype": "init", "model": "m"}))
}

pub fn assistant_message(id: &str, block: Value, parent: Option<&str>) -> Value {
    let message = json!({"id": id, "model": "m", "content": [block], "stop_reason": null, "usage": {"input_tokens": 1, "output_tokens": 1}});
    with_session(json!({"type": "assistant", "message": message, "parent_tool_use_id": parent}))
}

pub fn text(id: &str, text: &str) -> Value {
    assistant_message(id, json!({"type": "text", "text": text}), None)
}

pub fn call(id: &str, call_id: &str, name: &str, input: Value) -> Value {
    assistant_message(id, json!({"type": "tool_use", "id": call_id, "name": name, "input": input}), None)
}

pub fn returned(call_id: &str, content: Value, is_error: bool, parent: Option<&str>) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error});
    with_session(json!({"type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": parent}))
}

pub fn event(event: Value) -> Value {
    with_session(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}))
}

pub fn system(mut fields: Value) -> Value {
    fields["type"] = json!("system");
    with_session(fields)
}

pub fn result(text: &str) -> Value {
    with_session(json!({"type": "result", "subtype": "success", "is_error": false, "result": text}))
}

pub fn entry(kind: &str, message: Value, sidechain: bool) -> Value {
    json!({"type": kind, "message": message, "isSidechain": sidechain, "sessionId": SESSION, "uuid": "u", "timestamp": "2026-01-01T00:00:00Z"})
}
