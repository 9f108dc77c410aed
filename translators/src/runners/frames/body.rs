//! The fields of each frame type (`spec/frames.md` with the extensions of v2), read back into the frame's body.
//!
//! Input: the type and the fields of a frame. Output: its body. What v1 does not write is derived: the call's id is that of the
//! tool, and a text belongs to the only block of its stream. Never: a body without a field that its type requires.

use super::fields::{Fields, Read, Wrong};
use super::{files, tasks};
use crate::frame::{
    ApprovalRequested, ApprovalResolved, Attachment, BlockDelta, BlockText, Body, EndReason, ErrorReported, Figures,
    PlanEntry, ProviderEvent, ProviderStatus, RecordSource, SessionEnded, SharedStr, Tool, ToolCall, ToolKind, Usage,
    UserMessage,
};

/// The message of a text whose frame does not name one.
const ONLY_MESSAGE: &str = "message";

/// The text of a provider's record that ends its stream.
const DONE: &str = "[DONE]";

/// The words of `reason` that another writer uses for an interruption.
const CANCELLED: &str = "cancelled";

/// The body of a frame; `None` if the type is unknown.
pub(super) fn read(kind: &str, fields: Fields<'_, '_>) -> Read<Option<Body>> {
    Ok(Some(match kind {
        // Older writers name it `prompt`, or leave it out.
        "session_started" => Body::SessionStarted {
            input: fields.nullable_text("input")?.or(fields.nullable_text("prompt")?).unwrap_or_default(),
        },
        "session_ended" => Body::SessionEnded(Box::new(session_ended(fields)?)),
        "turn_started" => {
            Body::TurnStarted { turn_index: fields.number("turn_index")?, model: fields.nullable_name("model")? }
        }
        "turn_ended" => Body::TurnEnded {
            turn_index: fields.number("turn_index")?,
            stop_reason: fields.nullable_name("stop_reason")?,
            duration_ms: fields.nullable_number("duration_ms")?,
        },
        "user_message" => Body::UserMessage(Box::new(UserMessage {
            message_id: fields.name("message_id")?,
            text: fields.text("text")?,
            attachments: fields.list("attachments", attachment)?,
        })),
        "output_text_delta" => Body::OutputTextDelta(block_delta(fields)?),
        "output_text_completed" => Body::OutputTextCompleted(block_text(fields)?),
        "reasoning_delta" => Body::ReasoningDelta(block_delta(fields)?),
        "reasoning_completed" => {
            Body::ReasoningCompleted { block: block_text(fields)?, opaque: fields.nullable_record("opaque")? }
        }
        "tool_input_delta" => {
            Body::ToolInputDelta { tool: tool(fields)?, name: fields.name("name")?, delta: fields.text("delta")? }
        }
        "tool_call_proposed" => Body::ToolCallProposed(Box::new(tool_call(fields)?)),
        "tool_started" => {
            Body::ToolStarted { call: Box::new(tool_call(fields)?), timeout_ms: fields.nullable_number("timeout_ms")? }
        }
        "tool_stdout" => {
            let (tool, chunk) = (tool(fields)?, fields.text("chunk")?);
            match fields.nullable_text("position")?.as_deref() {
                Some("front") => Body::ToolStdoutFront { tool, chunk },
                Some("tail") => Body::ToolStdoutTail { tool, chunk },
                _ => Body::ToolStdout { tool, chunk },
            }
        }
        "tool_stderr" => Body::ToolStderr { tool: tool(fields)?, chunk: fields.text("chunk")? },
        "tool_ended" => Body::ToolEnded {
            tool: tool(fields)?,
            exit_code: fields.exit_code("exit_code")?,
            duration_ms: fields.number("duration_ms")?,
            artifacts: fields.nullable_record("artifacts")?,
        },
        "tool_failed" => Body::ToolFailed { tool: tool(fields)?, error: fields.text("error")? },
        "provider_event" => Body::ProviderEvent(Box::new(provider_event(fields)?)),
        "usage_reported" => Body::UsageReported(Box::new(usage(fields)?)),
        "approval_requested" => Body::ApprovalRequested(Box::new(ApprovalRequested {
            approval_id: fields.filled("approval_id")?,
            tool_id: fields.nullable_tool_id("tool_id")?,
            tool_name: fields.name("tool_name")?,
            args: fields.args("args")?,
            reason: fields.nullable_text("reason")?,
        })),
        "approval_resolved" => Body::ApprovalResolved(Box::new(ApprovalResolved {
            approval_id: fields.filled("approval_id")?,
            decision: fields.word("decision", "approved, rejected, timed_out or cancelled")?,
            by: fields.nullable_name("by")?,
            reason: fields.nullable_text("reason")?,
            scope: fields.nullable_name("scope")?,
        })),
        "plan_updated" => Body::PlanUpdated { entries: fields.list("entries", plan_entry)? },
        "status_changed" => Body::StatusChanged {
            old_status: fields.name("old_status")?,
            new_status: fields.name("new_status")?,
            reason: fields.nullable_text("reason")?,
        },
        "log_emitted" => Body::LogEmitted {
            level: fields.word("level", "debug, info, warn or error")?,
            message: fields.text("message")?,
        },
        "error_reported" => Body::ErrorReported(Box::new(ErrorReported {
            scope: fields.word("scope", "run, turn or provider")?,
            code: fields.filled("code")?,
            message: fields.text("message")?,
            retryable: fields.flag("retryable")?,
            attempt: fields.nullable_number("attempt")?,
            max_attempts: fields.nullable_number("max_attempts")?,
            http_status: http_status(fields)?,
        })),
        "subagent_started" => Body::SubagentStarted {
            subagent_id: fields.name("subagent_id")?,
            tool_id: fields.nullable_tool_id("tool_id")?,
            agent: fields.nullable_name("agent")?,
            task: fields.nullable_text("task")?,
            depth: depth(fields)?,
        },
        "subagent_ended" => Body::SubagentEnded {
            subagent_id: fields.name("subagent_id")?,
            status: fields.name("status")?,
            summary: fields.nullable_text("summary")?,
        },
        "history_compacted" => Body::HistoryCompacted {
            trigger: fields.nullable_name("trigger")?,
            tokens_before: fields.nullable_number("tokens_before")?,
            tokens_after: fields.nullable_number("tokens_after")?,
            summary: fields.nullable_text("summary")?,
        },
        "gap_detected" => Body::GapDetected {
            first_seq: fields.nullable_number("first_seq")?,
            last_seq: fields.nullable_number("last_seq")?,
            reason: fields.text("reason")?,
        },
        _ => match tasks::read(kind, fields)? {
            Some(event) => Body::Task(Box::new(event)),
            None => return files::read(kind, fields),
        },
    }))
}

fn session_ended(fields: Fields<'_, '_>) -> Read<SessionEnded> {
    let reason = fields.text("reason")?;
    let error_code = fields.nullable_name("error_code")?;
    let known = [EndReason::Completed, EndReason::Failed, EndReason::Interrupted];
    let (reason, error_code) = match known.into_iter().find(|known| known.as_str() == reason) {
        Some(reason) => (reason, error_code),
        None if reason == CANCELLED => (EndReason::Interrupted, error_code),
        // Other writers use a word of their own for a failure.
        None => (EndReason::Failed, error_code.or(Some(SharedStr::from(reason)))),
    };
    Ok(SessionEnded {
        reason,
        final_text: fields.nullable_text("final_text")?,
        error_code,
        message: fields.nullable_text("message")?,
    })
}

fn provider_event(fields: Fields<'_, '_>) -> Read<ProviderEvent> {
    let event_name = fields.nullable_name("event_name")?;
    let source = fields.nullable_whole("source", "how the record arrived")?;
    let source = source.unwrap_or(RecordSource { sse: event_name.is_some(), block: None, raw: None });
    let status: ProviderStatus = fields.word("status", "event, done or invalid_json")?;
    let raw = fields.nullable_text("raw")?.map(|text| text.into_bytes().into_boxed_slice());
    let data = fields.nullable_record("data")?;
    let redacted_paths = fields.nullable_texts("redacted_paths")?.unwrap_or_default();
    let is_place = |path: &String| ["/data", "/raw"].iter().any(|top| is_below(path, top));
    if !redacted_paths.iter().all(is_place) {
        return Err(Wrong { key: "redacted_paths", expected: "a list of places in data or raw" });
    }
    // Older writers leave out the text of the end, which is always the same.
    let is_end = status == ProviderStatus::Done && data.is_none();
    let raw = if is_end && raw.is_none() && source.raw.is_none() { Some(DONE.as_bytes().into()) } else { raw };
    let has_text = raw.is_some() || source.raw.is_some();
    let is_there = match status {
        ProviderStatus::Event => data.is_some() || has_text,
        ProviderStatus::Done | ProviderStatus::InvalidJson => data.is_none() && has_text,
    };
    if !is_there {
        return Err(Wrong { key: "data", expected: "an object, or null if raw has the record" });
    }
    Ok(ProviderEvent {
        status,
        event_name,
        data: data.map(|data| data.get().into()),
        raw: source.raw.or(raw),
        block: source.block,
        sse: source.sse,
        errors: fields.errors("errors")?,
        response_errors: fields.errors("response_errors")?,
        drift: Vec::new(),
        ends_run: None,
        redacted_paths,
    })
}

/// Whether a JSON pointer is this one, or points into it.
fn is_below(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn http_status(fields: Fields<'_, '_>) -> Read<Option<u16>> {
    let status: Option<u16> = fields.nullable_number("http_status")?;
    let is_one = status.is_none_or(|status| status <= 999);
    if is_one { Ok(status) } else { Err(Wrong { key: "http_status", expected: "at most 999, or null" }) }
}

fn depth(fields: Fields<'_, '_>) -> Read<u32> {
    match fields.number::<u32>("depth")? {
        0 => Err(Wrong { key: "depth", expected: "at least 1" }),
        depth => Ok(depth),
    }
}

fn usage(fields: Fields<'_, '_>) -> Read<Usage> {
    let mut usage = Usage::of(fields.word("scope", "turn or run")?, fields.nullable_name("model")?, &figures(fields)?);
    usage.main_thread = fields.object("main_thread", figures)?.map(Box::new);
    Ok(usage)
}

fn figures(fields: Fields<'_, '_>) -> Read<Figures> {
    Ok(Figures {
        input_tokens: fields.number("input_tokens")?,
        output_tokens: fields.number("output_tokens")?,
        cache_read_tokens: fields.nullable_number("cache_read_tokens")?,
        cache_creation_tokens: fields.nullable_number("cache_creation_tokens")?,
        cache_creation_1h_tokens: fields.nullable_number("cache_creation_1h_tokens")?,
        reasoning_tokens: fields.nullable_number("reasoning_tokens")?,
        cost_usd: fields.nullable_decimal("cost_usd")?,
    })
}

fn block_delta(fields: Fields<'_, '_>) -> Read<BlockDelta> {
    let (message_id, block_index) = block(fields)?;
    Ok(BlockDelta { message_id, block_index, delta: fields.text("delta")? })
}

fn block_text(fields: Fields<'_, '_>) -> Read<BlockText> {
    let (message_id, block_index) = block(fields)?;
    Ok(BlockText { message_id, block_index, text: fields.text("text")? })
}

fn block(fields: Fields<'_, '_>) -> Read<(SharedStr, u32)> {
    let message_id = fields.nullable_name("message_id")?.unwrap_or_else(|| SharedStr::from(ONLY_MESSAGE));
    Ok((message_id, fields.nullable_number("block_index")?.unwrap_or_default()))
}

fn tool(fields: Fields<'_, '_>) -> Read<Tool> {
    let id = fields.tool_id("tool_id")?;
    let call_id = match fields.nullable_name("call_id")? {
        Some(call_id) => call_id,
        None => fields.name("tool_id")?,
    };
    Ok(Tool { id, call_id })
}

fn tool_call(fields: Fields<'_, '_>) -> Read<ToolCall> {
    let kind = match fields.nullable_text("kind")? {
        Some(_) => fields.word("kind", "a kind of tool")?,
        None => ToolKind::Other,
    };
    Ok(ToolCall { tool: tool(fields)?, name: fields.name("name")?, kind, args: fields.args("args")? })
}

fn attachment(fields: Fields<'_, '_>) -> Read<Attachment> {
    Ok(Attachment {
        kind: fields.name("kind")?,
        mime: fields.nullable_name("mime")?,
        artifact_id: fields.nullable_name("artifact_id")?,
        name: fields.nullable_text("name")?,
        bytes: fields.nullable_number("bytes")?,
    })
}

fn plan_entry(fields: Fields<'_, '_>) -> Read<PlanEntry> {
    Ok(PlanEntry {
        content: fields.text("content")?,
        status: fields.name("status")?,
        priority: fields.nullable_name("priority")?,
    })
}
