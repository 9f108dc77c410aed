//! Small records of Gemini CLI, and short forms of the resulting frames.

use crate::support;
use framegate_translators::frame::{Body, Frame};
use framegate_translators::runners::{Runner, runner};
use serde_json::{Value, json};

pub const T: &str = "2026-11-23T03:21:10.328Z";

pub fn gemini() -> &'static Runner {
    runner("gemini-cli").unwrap()
}

pub fn lines_of(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

pub fn frames(records: &[Value]) -> Vec<Frame> {
    support::frames(gemini(), &lines_of(records))
}

/// The frames except the records, one line each.
pub fn frame_lines(records: &[Value]) -> Vec<String> {
    frames(records).iter().filter_map(line).collect()
}

pub fn line(frame: &Frame) -> Option<String> {
    Some(match &frame.body {
        Body::ProviderEvent(record) if record.errors.is_empty() => return None,
        Body::ProviderEvent(record) => format!("record error {}", record.errors.join("; ")),
        Body::ReasoningDelta(_) | Body::ToolCallProposed(_) | Body::OutputTextDelta(_) => return None,
        Body::SessionStarted { input } => format!("start {input:?}"),
        Body::SessionEnded(end) => format!(
            "end {} {} {:?}",
            end.reason.as_str(),
            end.error_code.as_deref().unwrap_or("-"),
            end.final_text.as_deref().unwrap_or("-")
        ),
        Body::TurnStarted { .. } => "turn".to_owned(),
        Body::TurnEnded { .. } => "turn over".to_owned(),
        Body::UserMessage(message) => format!("user {:?}", message.text),
        Body::OutputTextCompleted(block) => format!("text {:?}", block.text),
        Body::ReasoningCompleted { block, .. } => format!("thought {:?}", block.text),
        Body::ToolStarted { call, .. } => format!("call {} {} {}", call.tool.call_id, call.name, call.args.get()),
        Body::ToolStdout { tool, chunk } => format!("output {} {chunk:?}", tool.call_id),
        Body::ToolEnded { tool, exit_code, .. } => format!("returned {} {exit_code}", tool.call_id),
        Body::ToolFailed { tool, error } => format!("failed {} {error:?}", tool.call_id),
        Body::UsageReported(usage) => {
            format!("usage {} {}/{}", usage.scope.as_str(), usage.input_tokens, usage.output_tokens)
        }
        Body::FileChanged(change) => format!("file {} {}", change.kind.as_str(), change.path),
        Body::PlanUpdated { entries } => format!("plan of {}", entries.len()),
        Body::LogEmitted { level, message } => format!("{} {message}", level.as_str()),
        Body::ErrorReported(error) => format!("error {} {}", error.code, error.message),
        Body::SubagentStarted { subagent_id, .. } => format!("agent {subagent_id}"),
        Body::SubagentEnded { subagent_id, status, .. } => format!("agent {subagent_id} {status}"),
        body => body.kind().to_owned(),
    })
}

pub fn init() -> Value {
    json!({"type": "init", "timestamp": T, "session_id": "s", "model": "m"})
}

pub fn prompt(text: &str) -> Value {
    json!({"type": "message", "timestamp": T, "role": "user", "content": text})
}

pub fn says(text: &str) -> Value {
    json!({"type": "message", "timestamp": T, "role": "assistant", "content": text, "delta": true})
}

pub fn call(id: &str, name: &str, args: Value) -> Value {
    json!({"type": "tool_use", "timestamp": T, "tool_name": name, "tool_id": id, "parameters": args})
}

pub fn returned(id: &str, output: &str) -> Value {
    json!({"type": "tool_result", "timestamp": T, "tool_id": id, "status": "success", "output": output})
}

pub fn failed(id: &str, kind: &str, message: &str) -> Value {
    json!({"type": "tool_result", "timestamp": T, "tool_id": id, "status": "error", "output": message,
        "error": {"type": kind, "message": message}})
}

pub fn error(severity: &str, message: &str) -> Value {
    json!({"type": "error", "timestamp": T, "severity": severity, "message": message})
}

pub fn stats(input: u64, output: u64) -> Value {
    json!({"total_tokens": input + output, "input_tokens": input, "output_tokens": output, "cached": 0, "input": input,
        "duration_ms": 1, "tool_calls": 0, "models": {}})
}

pub fn success() -> Value {
    json!({"type": "result", "timestamp": T, "status": "success", "stats": stats(3, 1)})
}

pub fn failure(error: Option<(&str, &str)>) -> Value {
    let mut record = json!({"type": "result", "timestamp": T, "status": "error", "stats": stats(0, 0)});
    if let Some((kind, message)) = error {
        record["error"] = json!({"type": kind, "message": message});
    }
    record
}
