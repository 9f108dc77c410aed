//! Records written by hand, and their frames as lines.

use crate::support::frames;
use framegate_translators::frame::{Body, Frame};
use framegate_translators::runners::runner;
use serde_json::{Value, json};

pub fn event(kind: &str, data: Value) -> Value {
    json!({"type": kind, "data": data, "id": "e", "timestamp": "2026-11-23T04:05:00.000Z", "parentId": null})
}

/// An event that the session file does not keep.
pub fn passing(kind: &str, data: Value) -> Value {
    let mut event = event(kind, data);
    event["ephemeral"] = json!(true);
    event
}

pub fn prompt(text: &str) -> Value {
    event("user.message", json!({"content": text, "messageId": "u", "delivery": "idle", "turnId": "0"}))
}

pub fn message(id: &str, text: &str, calls: Value) -> Value {
    event("assistant.message", json!({"messageId": id, "content": text, "toolRequests": calls, "turnId": "0"}))
}

pub fn delta(id: &str, text: &str) -> Value {
    passing("assistant.message_delta", json!({"messageId": id, "deltaContent": text}))
}

pub fn result(code: i64) -> Value {
    json!({"type": "result", "timestamp": "2026-11-23T04:05:00.000Z", "sessionId": "s", "exitCode": code,
        "usage": {"premiumRequests": 0}})
}

pub fn frames_of(records: &[Value]) -> Vec<Frame> {
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    frames(runner("copilot").unwrap(), text.as_bytes())
}

/// The frames that matter here, a line each.
pub fn lines(records: &[Value]) -> Vec<String> {
    frames_of(records).iter().filter_map(line).collect()
}

fn line(frame: &Frame) -> Option<String> {
    Some(match &frame.body {
        Body::OutputTextCompleted(block) => format!("text {:?}", block.text),
        Body::ReasoningCompleted { block, .. } => format!("reasoning {:?}", block.text),
        Body::ToolCallProposed(call) => format!("proposed {}", call.tool.call_id),
        Body::ToolStarted { call, .. } => format!("started {}", call.tool.call_id),
        Body::ToolStdout { tool, chunk } => format!("out {} {chunk:?}", tool.call_id),
        Body::ToolStderr { tool, chunk } => format!("err {} {chunk:?}", tool.call_id),
        Body::ToolEnded { tool, exit_code, .. } => format!("ended {} {exit_code}", tool.call_id),
        Body::ToolFailed { tool, error } => format!("failed {} {error:?}", tool.call_id),
        Body::ApprovalRequested(ask) => {
            format!("ask {} {} {}", ask.approval_id, ask.tool_name, ask.reason.as_deref().unwrap_or("-"))
        }
        Body::ApprovalResolved(answer) => {
            let scope = answer.scope.as_deref().unwrap_or("-");
            format!("answer {} {} {scope}", answer.approval_id, answer.decision.as_str())
        }
        Body::SessionEnded(end) => {
            format!("end {} {}", end.reason.as_str(), end.error_code.as_deref().unwrap_or("-"))
        }
        _ => return None,
    })
}
