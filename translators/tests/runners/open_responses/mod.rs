//! Cases that the format of Open Responses allows and no recording covers: small streams, written by hand.

mod calls;
mod ends;
mod texts;

use framegate_translators::frame::{Body, Frame, StreamKind};
use framegate_translators::runners::runner;
use serde_json::{Value, json};

fn frames_of(events: &[Value]) -> Vec<Frame> {
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    crate::support::frames(runner("open-responses").unwrap(), lines.join("\n").as_bytes())
}

/// The frames in a short form, without those that every run has. `~` marks frames of the thread.
fn frame_lines(events: &[Value]) -> Vec<String> {
    frames_of(events).iter().filter_map(line).collect()
}

fn line(frame: &Frame) -> Option<String> {
    let text = match &frame.body {
        Body::OutputTextDelta(block) => format!("text {}/{} +{}", block.message_id, block.block_index, block.delta),
        Body::OutputTextCompleted(block) => format!("text {}/{} ={}", block.message_id, block.block_index, block.text),
        Body::ReasoningDelta(block) => format!("think {}/{} +{}", block.message_id, block.block_index, block.delta),
        Body::ReasoningCompleted { block, opaque } => {
            let opaque = if opaque.is_some() { " opaque" } else { "" };
            format!("think {}/{} ={}{opaque}", block.message_id, block.block_index, block.text)
        }
        Body::ToolInputDelta { tool, name, delta } => format!("input {} {name} {delta}", tool.call_id),
        Body::ToolCallProposed(call) => {
            format!("propose {} {} {} {}", call.tool.call_id, call.name, call.kind.as_str(), call.args)
        }
        Body::ToolStarted { call, .. } => format!("start {} {}", call.tool.call_id, call.args),
        Body::ToolStdout { tool, chunk } => format!("out {} {chunk}", tool.call_id),
        Body::ToolStderr { tool, chunk } => format!("err {} {chunk}", tool.call_id),
        Body::ToolEnded { tool, exit_code, .. } => format!("ended {} {exit_code}", tool.call_id),
        Body::ToolFailed { tool, error } => format!("failed {} {error}", tool.call_id),
        Body::ApprovalRequested(ask) => format!("ask {} {} {}", ask.approval_id, ask.tool_name, ask.args),
        Body::ApprovalResolved(answer) => format!("answer {} {}", answer.approval_id, answer.decision.as_str()),
        Body::ErrorReported(error) => {
            format!("error {} {} {} {}", error.scope.as_str(), error.code, error.message, error.retryable)
        }
        Body::UsageReported(usage) => format!(
            "usage {} {} {:?} {:?} {:?} {:?}",
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_tokens,
            usage.cache_creation_tokens,
            usage.reasoning_tokens,
            usage.cost_usd
        ),
        Body::UserMessage(message) => format!("user {}", message.text),
        Body::HistoryCompacted { .. } => "compacted".to_owned(),
        Body::LogEmitted { message, .. } => format!("log {message}"),
        Body::SessionEnded(end) => match &end.error_code {
            Some(code) => format!("end {} {code} {:?}", end.reason.as_str(), end.final_text),
            None => format!("end {} {:?}", end.reason.as_str(), end.final_text),
        },
        Body::ProviderEvent(_) if frame.stream.kind == StreamKind::Thread => "record".to_owned(),
        _ => return None,
    };
    Some(if frame.stream.kind == StreamKind::Thread { format!("~{text}") } else { text })
}

fn created() -> Value {
    json!({"type": "response.created", "response": {"id": "r", "model": "m", "status": "in_progress"}})
}

fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": output}})
}

fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

/// The frames of one response with these items, each sent as a whole.
fn items(items: &[Value]) -> Vec<String> {
    let mut events = vec![created()];
    events.extend(items.iter().enumerate().map(|(index, item)| done(index as u64, item.clone())));
    events.push(completed(json!(items)));
    frame_lines(&events)
}
