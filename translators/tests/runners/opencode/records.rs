//! Small records of an event feed, and short forms of the resulting frames.

use crate::support::frames;
use framegate_translators::frame::{Body, Frame, StreamKind};
use framegate_translators::runners::runner;
use serde_json::{Value, json};

/// One line for each frame that is not a record; a child session's lines are indented.
pub fn frame_lines(records: &[Value]) -> Vec<String> {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    input_lines(&lines)
}

pub fn input_lines(input: &str) -> Vec<String> {
    frames(runner("opencode").unwrap(), input.as_bytes()).iter().filter_map(line).collect()
}

pub fn line(frame: &Frame) -> Option<String> {
    let words = match &frame.body {
        Body::ProviderEvent(event) if event.errors.is_empty() => return None,
        Body::ProviderEvent(event) => format!("record error {}", event.errors.join("; ")),
        Body::SessionStarted { input } => format!("run {input:?}"),
        Body::SessionEnded(end) => {
            let code = end.error_code.as_deref().unwrap_or("-");
            format!("end {} {code} {:?}", end.reason.as_str(), end.final_text.as_deref().unwrap_or_default())
        }
        Body::UserMessage(message) => format!("user {:?}", message.text),
        Body::TurnStarted { .. } => "turn".to_owned(),
        Body::TurnEnded { stop_reason, .. } => format!("turn ended {}", stop_reason.as_deref().unwrap_or("-")),
        Body::OutputTextDelta(delta) => format!("delta {:?}", delta.delta),
        Body::OutputTextCompleted(block) => format!("text {:?}", block.text),
        Body::ReasoningCompleted { block, opaque } => {
            format!("reasoning {:?} {}", block.text, opaque.as_ref().map_or("-", |opaque| opaque.get()))
        }
        Body::ToolCallProposed(call) => format!("proposed {}", call.tool.call_id),
        Body::ToolStarted { call, .. } => {
            format!("started {} {} {} {}", call.tool.call_id, call.name, call.kind.as_str(), call.args)
        }
        Body::ToolStdout { chunk, .. } => format!("out {chunk:?}"),
        Body::ToolStderr { chunk, .. } => format!("err {chunk:?}"),
        Body::ToolEnded { tool, exit_code, .. } => format!("ended {} {exit_code}", tool.call_id),
        Body::ToolFailed { tool, error } => format!("failed {} {error:?}", tool.call_id),
        Body::FileChanged(change) => format!("file {} {}", change.kind.as_str(), change.path),
        Body::UsageReported(usage) => format!("usage {} {}", usage.input_tokens, usage.output_tokens),
        Body::ApprovalRequested(request) => format!("asked {} {}", request.approval_id, request.tool_name),
        Body::ApprovalResolved(answer) => format!("answered {} {}", answer.approval_id, answer.decision.as_str()),
        Body::ErrorReported(error) => format!("error {} {:?}", error.code, error.message),
        Body::SubagentStarted { subagent_id, tool_id, .. } => {
            format!("subagent {subagent_id} {}", if tool_id.is_some() { "of a call" } else { "of no call" })
        }
        Body::SubagentEnded { status, summary, .. } => {
            format!("subagent {status} {:?}", summary.as_deref().unwrap_or_default())
        }
        Body::HistoryCompacted { trigger, summary, .. } => {
            format!("compacted {} {:?}", trigger.as_deref().unwrap_or("-"), summary.as_deref().unwrap_or_default())
        }
        other => other.kind().to_owned(),
    };
    let place = match (frame.stream.kind, frame.is_subagent()) {
        (StreamKind::Thread, _) => "thread: ",
        (_, true) => "  ",
        _ => "",
    };
    Some(format!("{place}{words}"))
}

pub fn event(kind: &str, properties: Value) -> Value {
    json!({"id": "evt", "type": kind, "properties": properties})
}

pub fn message(session: &str, id: &str, more: Value) -> Value {
    let mut info = json!({"id": id, "sessionID": session, "role": "assistant", "modelID": "m", "time": {"created": 1}});
    info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event("message.updated", json!({"sessionID": session, "info": info}))
}

pub fn completed(session: &str, id: &str) -> Value {
    message(session, id, json!({"finish": "stop", "time": {"created": 1, "completed": 2}}))
}

pub fn part(session: &str, message: &str, id: &str, more: Value) -> Value {
    let mut part = json!({"id": id, "sessionID": session, "messageID": message});
    part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event("message.part.updated", json!({"sessionID": session, "part": part}))
}

pub fn user_message(session: &str, id: &str, text: &str) -> Vec<Value> {
    let info = json!({"id": id, "sessionID": session, "role": "user", "time": {"created": 1}});
    vec![
        event("message.updated", json!({"sessionID": session, "info": info})),
        part(session, id, &format!("{id}-p"), json!({"type": "text", "text": text})),
    ]
}

pub fn status(session: &str, kind: &str) -> Value {
    event("session.status", json!({"sessionID": session, "status": {"type": kind}}))
}

pub fn idle(session: &str) -> Vec<Value> {
    vec![status(session, "idle"), event("session.idle", json!({"sessionID": session}))]
}

pub fn error(session: &str, name: &str, text: &str) -> Value {
    event("session.error", json!({"sessionID": session, "error": {"name": name, "data": {"message": text}}}))
}

pub fn text_part(session: &str, message: &str, id: &str, text: &str) -> Value {
    part(session, message, id, json!({"type": "text", "text": text, "time": {"start": 1, "end": 2}}))
}

pub fn tool(session: &str, message: &str, id: &str, call: &str, name: &str, state: Value) -> Value {
    part(session, message, id, json!({"type": "tool", "tool": name, "callID": call, "state": state}))
}

pub fn running(input: Value) -> Value {
    json!({"status": "running", "input": input, "time": {"start": 1}})
}

pub fn completed_state(input: Value, output: &str, metadata: Value) -> Value {
    json!({"status": "completed", "input": input, "output": output, "title": "", "metadata": metadata, "time": {"start": 1, "end": 2}})
}

pub fn failed_state(text: &str) -> Value {
    json!({"status": "error", "input": {"a": 1}, "error": text, "time": {"start": 1, "end": 2}})
}

pub fn list(parts: impl IntoIterator<Item = Vec<Value>>) -> Vec<Value> {
    parts.into_iter().flatten().collect()
}
