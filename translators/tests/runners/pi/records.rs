//! Records to build inputs from, and short forms of frames to compare.

use crate::support::{events, well_formed};
use framegate_translators::contracts::contract;
use framegate_translators::runners::runner;
use serde_json::{Value, json};

pub const BEGIN: &str = r#"{"type":"agent_start"}"#;
pub const TURN: &str = r#"{"type":"turn_start"}"#;
pub const SETTLED: &str = r#"{"type":"agent_settled"}"#;
pub const AGENT_END: &str = r#"{"type":"agent_end","messages":[],"willRetry":false}"#;
/// The end of an agent run in version 0.73.
pub const OLD_AGENT_END: &str = r#"{"type":"agent_end","messages":[]}"#;

/// A message of the assistant with these blocks; `ending` has its stop reason, and what belongs to it.
pub fn assistant(content: &Value, ending: &Value) -> Value {
    let mut message = json!({"role": "assistant", "content": content, "api": "a", "provider": "p", "model": "m",
        "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}},
        "timestamp": 1_795_405_598_721_u64});
    let fields = message.as_object_mut().unwrap();
    fields.extend(ending.as_object().unwrap().clone());
    message
}

pub fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

pub fn stop() -> Value {
    json!({"stopReason": "stop"})
}

pub fn failed(message: &str) -> Value {
    json!({"stopReason": "error", "errorMessage": message})
}

pub fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1_795_405_598_000_u64})
}

pub fn call(id: &str, name: &str, args: &Value) -> Value {
    json!({"type": "toolCall", "id": id, "name": name, "arguments": args})
}

/// A record about a message: `message_start`, `message_end` or `turn_end`.
pub fn about(kind: &str, message: &Value) -> String {
    match kind {
        "turn_end" => json!({"type": kind, "message": message, "toolResults": []}),
        _ => json!({"type": kind, "message": message}),
    }
    .to_string()
}

/// A whole reply.
pub fn reply(content: &Value, ending: &Value) -> String {
    about("message_end", &assistant(content, ending))
}

pub fn update(event: &Value) -> String {
    json!({"type": "message_update", "assistantMessageEvent": event}).to_string()
}

pub fn tool_start(id: &str, name: &str, args: &Value) -> String {
    json!({"type": "tool_execution_start", "toolCallId": id, "toolName": name, "args": args}).to_string()
}

pub fn tool_update(id: &str, name: &str, output: &str) -> String {
    json!({"type": "tool_execution_update", "toolCallId": id, "toolName": name, "args": {},
        "partialResult": {"content": text(output)}})
    .to_string()
}

pub fn tool_end(id: &str, name: &str, output: &str, is_error: bool) -> String {
    json!({"type": "tool_execution_end", "toolCallId": id, "toolName": name, "result": {"content": text(output)},
        "isError": is_error})
    .to_string()
}

/// The frames of these lines, each in a short form. Records, deltas and turns are left out.
pub fn brief(lines: &[&str]) -> Vec<String> {
    let pi = runner("pi").unwrap();
    let input = lines.join("\n");
    well_formed(&crate::support::frames(pi, input.as_bytes()), &input);
    let frames = events(pi, contract("frames.v2").unwrap(), input.as_bytes());
    frames.iter().filter_map(brief_of).collect()
}

fn brief_of(frame: &Value) -> Option<String> {
    let kind = frame["type"].as_str().unwrap();
    let keys: &[&str] = match kind {
        "provider_event" | "turn_started" | "turn_ended" | "output_text_delta" | "reasoning_delta" => return None,
        "session_ended" => &["reason", "error_code", "final_text"],
        "output_text_completed" | "reasoning_completed" | "user_message" => &["text"],
        "tool_call_proposed" => &["call_id"],
        "tool_started" => &["name"],
        "tool_stdout" => &["chunk"],
        "tool_ended" => &["exit_code"],
        "tool_failed" => &["error"],
        "error_reported" => &["scope", "code", "attempt", "max_attempts"],
        "approval_resolved" => &["decision", "reason"],
        "usage_reported" => &["scope", "input_tokens", "output_tokens"],
        "log_emitted" => &["level", "message"],
        "file_changed" => &["path", "kind"],
        "history_compacted" => &["trigger", "summary"],
        _ => &[],
    };
    let mut brief = kind.to_owned();
    for value in keys.iter().map(|key| &frame[*key]).filter(|value| !value.is_null()) {
        brief.push(' ');
        match value {
            Value::String(word) => brief.push_str(word),
            value => brief.push_str(&value.to_string()),
        }
    }
    Some(brief)
}

/// Those of the short forms that begin with this word.
pub fn of<'b>(brief: &'b [String], word: &str) -> Vec<&'b str> {
    let rest = |line: &'b String| Some(line.strip_prefix(word)?.trim_start());
    brief.iter().filter_map(rest).collect()
}

pub fn check(lines: &[&str], expected: &[&str]) {
    let seen = brief(lines);
    assert_eq!(seen, expected, "\n{seen:#?}");
}
