//! Small records of Qwen Code, and short forms of the resulting frames.

use crate::support;
use framegate_translators::frame::{Body, Frame, StreamKind, TaskEvent};
use framegate_translators::runners::{Runner, runner};
use serde_json::{Value, json};

pub const SESSION: &str = "11111111-1111-4111-8111-111111111111";

pub fn qwen() -> &'static Runner {
    runner("qwen-code").unwrap()
}

pub fn lines_of(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

pub fn frames(records: &[Value]) -> Vec<Frame> {
    support::frames(qwen(), &lines_of(records))
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
        Body::ReasoningDelta(_) | Body::ToolCallProposed(_) => return None,
        Body::OutputTextDelta(block) => format!("+ {:?}", block.delta),
        Body::SessionStarted { input } => format!("start {input:?}"),
        Body::SessionEnded(end) => format!(
            "end {} {} {:?}",
            end.reason.as_str(),
            end.error_code.as_deref().unwrap_or("-"),
            end.final_text.as_deref().unwrap_or("-")
        ),
        Body::TurnStarted { .. } => "turn".to_owned(),
        Body::TurnEnded { stop_reason, .. } => format!("turn over {}", stop_reason.as_deref().unwrap_or("-")),
        Body::UserMessage(message) => format!("user {:?}", message.text),
        Body::OutputTextCompleted(block) => format!("text {} {:?}", block.block_index, block.text),
        Body::ReasoningCompleted { block, .. } => format!("thought {} {:?}", block.block_index, block.text),
        Body::ToolInputDelta { tool, delta, .. } => format!("input {} {delta}", tool.call_id),
        Body::ToolStarted { call, .. } => format!("call {} {} {}", call.tool.call_id, call.name, call.args.get()),
        Body::ToolStdout { tool, chunk } => format!("output {} {chunk:?}", tool.call_id),
        Body::ToolEnded { tool, exit_code, .. } => format!("returned {} {exit_code}", tool.call_id),
        Body::ToolFailed { tool, error } => format!("failed {} {error:?}", tool.call_id),
        Body::UsageReported(usage) => {
            format!("usage {} {}/{}", usage.scope.as_str(), usage.input_tokens, usage.output_tokens)
        }
        Body::ApprovalRequested(ask) => format!("ask {} {}", ask.approval_id, ask.reason.as_deref().unwrap_or("-")),
        Body::ApprovalResolved(answer) => format!("answer {} {}", answer.approval_id, answer.decision.as_str()),
        Body::LogEmitted { level, message } => format!("{} {message}", level.as_str()),
        Body::ErrorReported(error) => format!("error {} {} {}", error.scope.as_str(), error.code, error.message),
        Body::SubagentStarted { subagent_id, depth, .. } => format!("agent {subagent_id} at {depth}"),
        Body::SubagentEnded { subagent_id, status, summary } => {
            format!("agent {subagent_id} {status} {:?}", summary.as_deref().unwrap_or("-"))
        }
        Body::HistoryCompacted { trigger, tokens_before, tokens_after, .. } => {
            format!("compacted {trigger:?} {tokens_before:?} {tokens_after:?}")
        }
        Body::Task(event) => match &**event {
            TaskEvent::Spawned { tool_name, .. } => format!("spawned {tool_name}"),
            TaskEvent::Status { status, .. } => status.as_str().to_owned(),
            _ => frame.body.kind().to_owned(),
        },
        body => body.kind().to_owned(),
    };
    Some(format!("{stream}{indent}{text}"))
}

/// A record of the stream.
pub fn record(kind: &str, mut fields: Value) -> Value {
    fields["type"] = json!(kind);
    fields["session_id"] = json!(SESSION);
    fields
}

pub fn init() -> Value {
    record("system", json!({"subtype": "init", "model": "m", "qwen_code_version": "0.24.4"}))
}

pub fn system(subtype: &str, data: Value) -> Value {
    record("system", json!({"subtype": subtype, "parent_tool_use_id": null, "data": data}))
}

pub fn retry(preserve_text: bool) -> Value {
    system("retry", json!({"reason": "retry", "discardedToolCalls": 0, "preserveText": preserve_text}))
}

pub fn usage(input: u64, output: u64) -> Value {
    json!({"input_tokens": input, "output_tokens": output, "cache_read_input_tokens": 0, "total_tokens": input + output})
}

pub fn no_usage() -> Value {
    json!({"input_tokens": 0, "output_tokens": 0})
}

pub fn assistant(id: &str, block: Value, usage: Value, parent: Option<&str>) -> Value {
    let message = json!({"id": id, "model": "m", "content": [block], "stop_reason": null, "usage": usage});
    record("assistant", json!({"uuid": id, "message": message, "parent_tool_use_id": parent}))
}

/// A text without figures, whose fate the next record shows.
pub fn text(id: &str, text: &str) -> Value {
    assistant(id, json!({"type": "text", "text": text}), no_usage(), None)
}

/// A text that ends its reply.
pub fn last_text(id: &str, text: &str) -> Value {
    assistant(id, json!({"type": "text", "text": text}), usage(1, 1), None)
}

pub fn call(id: &str, call_id: &str, name: &str, input: Value) -> Value {
    assistant(id, json!({"type": "tool_use", "id": call_id, "name": name, "input": input}), usage(1, 1), None)
}

pub fn returned(call_id: &str, content: &str, is_error: bool, parent: Option<&str>) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error});
    record("user", json!({"message": {"role": "user", "content": [block]}, "parent_tool_use_id": parent}))
}

pub fn notice(text: &str, parent: Option<&str>) -> Value {
    let block = json!({"type": "text", "text": text});
    let message = json!({"role": "user", "content": [block]});
    record("user", json!({"uuid": "u", "message": message, "parent_tool_use_id": parent}))
}

pub fn event(event: Value) -> Value {
    record("stream_event", json!({"event": event, "parent_tool_use_id": null}))
}

pub fn message_start(id: &str) -> Value {
    event(json!({"type": "message_start", "message": {"id": id, "role": "assistant", "model": "m", "content": []}}))
}

pub fn block_start(index: u64, block: Value) -> Value {
    event(json!({"type": "content_block_start", "index": index, "content_block": block}))
}

pub fn text_start() -> Value {
    block_start(0, json!({"type": "text", "text": ""}))
}

pub fn text_delta(text: &str) -> Value {
    event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}))
}

pub fn block_stop() -> Value {
    event(json!({"type": "content_block_stop", "index": 0}))
}

pub fn message_stop() -> Value {
    event(json!({"type": "message_stop"}))
}

pub fn result(text: &str, usage: Value) -> Value {
    record(
        "result",
        json!({"subtype": "success", "is_error": false, "duration_ms": 9, "duration_api_ms": 8, "num_turns": 1,
            "result": text, "usage": usage, "permission_denials": []}),
    )
}

pub fn failed(message: &str) -> Value {
    record(
        "result",
        json!({"subtype": "error_during_execution", "is_error": true, "duration_ms": 9, "duration_api_ms": 8,
            "num_turns": 1, "usage": no_usage(), "permission_denials": [], "error": {"message": message}}),
    )
}

/// A line of a session file.
pub fn entry(kind: &str, mut fields: Value) -> Value {
    fields["type"] = json!(kind);
    fields["sessionId"] = json!(SESSION);
    fields["timestamp"] = json!("2026-11-23T03:48:51.297Z");
    if fields["uuid"].is_null() {
        fields["uuid"] = json!("u");
    }
    fields
}

pub fn prompt(text: &str) -> Value {
    entry("user", json!({"provenance": "real_user", "message": {"role": "user", "parts": [{"text": text}]}}))
}

pub fn reply(parts: Value) -> Value {
    entry("assistant", json!({"model": "m", "message": {"role": "model", "parts": parts}}))
}

pub fn measured(event: Value) -> Value {
    entry("system", json!({"subtype": "ui_telemetry", "systemPayload": {"uiEvent": event}}))
}
