//! The JSON of frames. Fields that may be null are always written.

use crate::contracts::wire::as_object;
use crate::encode::{Kept, ObjectWriter};
use crate::frame::{
    Attachment, BlockDelta, BlockText, Body, Frame, PlanEntry, ProviderEvent, SkillEvent, Stream, TaskEvent, Tool,
    ToolCall,
};

/// Which envelope and fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

/// The fields of the envelope that all frames of a stream share.
pub(super) fn shared_fields(stream: &Stream, version: Version) -> Kept {
    Kept::new(|map| {
        // On v2 an alias of the stream's id, for readers of v1.
        map.id("session_id", &stream.id);
        if version == Version::V2 {
            map.word("stream_kind", stream.kind.as_str());
            map.id("stream_id", &stream.id);
        }
    })
}

/// Writes a frame's fields.
pub(super) fn write(map: &mut ObjectWriter<'_>, frame: &Frame, shared: &Kept, seq: u64, version: Version) {
    let v2 = version == Version::V2;
    map.id("id", &frame.id());
    map.kept(shared);
    map.entry("timestamp_ms", &frame.timestamp_ms);
    map.entry("seq", &seq);
    map.word("type", frame.body.kind());
    if let (true, Some(parent)) = (v2, frame.parent_tool_id) {
        map.id("parent_tool_id", &parent);
    }
    body(map, frame, v2);
}

fn body(map: &mut ObjectWriter<'_>, frame: &Frame, v2: bool) {
    match &frame.body {
        Body::SessionStarted { input } => map.text("input", input),
        Body::SessionEnded(end) => {
            map.word("reason", end.reason.as_str());
            if v2 {
                map.text_or_null("final_text", end.final_text.as_deref());
                map.text_or_null("error_code", end.error_code.as_deref());
                map.text_or_null("message", end.message.as_deref());
            }
        }
        Body::TurnStarted { turn_index, model } => {
            map.entry("turn_index", turn_index);
            map.text_or_null("model", model.as_deref())
        }
        Body::TurnEnded { turn_index, stop_reason, duration_ms } => {
            map.entry("turn_index", turn_index);
            map.text_or_null("stop_reason", stop_reason.as_deref());
            map.entry("duration_ms", duration_ms)
        }
        Body::UserMessage(message) => {
            map.text("message_id", &message.message_id);
            map.text("text", &message.text);
            map.list("attachments", &message.attachments, attachment)
        }
        Body::OutputTextDelta(block) | Body::ReasoningDelta(block) => block_delta(map, block, v2),
        Body::OutputTextCompleted(block) => block_text(map, block),
        Body::ReasoningCompleted { block, opaque } => {
            block_text(map, block);
            map.entry("opaque", &opaque.as_deref())
        }
        Body::ToolInputDelta { tool, name, delta } => {
            tool_ids(map, tool, v2);
            map.text("name", name);
            map.text("delta", delta)
        }
        Body::ToolCallProposed(call) => tool_call(map, call, v2),
        Body::ToolStarted { call, timeout_ms } => {
            tool_call(map, call, v2);
            map.entry("timeout_ms", timeout_ms)
        }
        Body::ToolStdout { tool, chunk } | Body::ToolStderr { tool, chunk } => {
            tool_ids(map, tool, v2);
            map.text("chunk", chunk)
        }
        Body::ToolStdoutFront { tool, chunk } => {
            tool_ids(map, tool, v2);
            map.text("chunk", chunk);
            if v2 {
                map.word("position", "front");
            }
        }
        Body::ToolEnded { tool, exit_code, duration_ms, artifacts } => {
            tool_ids(map, tool, v2);
            map.entry("exit_code", exit_code);
            map.entry("duration_ms", duration_ms);
            map.entry("artifacts", &artifacts.as_deref())
        }
        Body::ToolFailed { tool, error } => {
            tool_ids(map, tool, v2);
            map.text("error", error)
        }
        Body::ProviderEvent(record) => provider_event(map, frame.stream.provider, record, v2),
        Body::CheckpointCreated { checkpoint_id, label, created_at_ms, files, auto, tool_name } => {
            map.id("checkpoint_id", checkpoint_id);
            map.text("label", label);
            map.entry("created_at_ms", created_at_ms);
            map.entry("files", files);
            map.entry("auto", auto);
            map.text_or_null("tool_name", tool_name.as_deref())
        }
        Body::CheckpointRewound { checkpoint_id, label, files } => {
            map.id("checkpoint_id", checkpoint_id);
            map.text("label", label);
            map.entry("files", files)
        }
        Body::CheckpointFailed { action, error } => {
            map.word("action", action.as_str());
            map.text("error", error)
        }
        Body::FileChanged(change) => {
            map.entry("tool_id", &change.tool_id);
            map.text("path", &change.path);
            map.word("kind", change.kind.as_str());
            map.text_or_null("diff", change.diff.as_deref());
            map.text_or_null("artifact_id", change.artifact_id.as_deref())
        }
        Body::UsageReported(usage) => {
            map.word("scope", usage.scope.as_str());
            map.text_or_null("model", usage.model.as_deref());
            map.entry("input_tokens", &usage.input_tokens);
            map.entry("output_tokens", &usage.output_tokens);
            map.entry("cache_read_tokens", &usage.cache_read_tokens);
            map.entry("cache_creation_tokens", &usage.cache_creation_tokens);
            map.entry("reasoning_tokens", &usage.reasoning_tokens);
            map.entry("cost_usd", &usage.cost_usd)
        }
        Body::ApprovalRequested(request) => {
            map.text("approval_id", &request.approval_id);
            map.entry("tool_id", &request.tool_id);
            map.text("tool_name", &request.tool_name);
            map.raw("args", request.args.get());
            map.text_or_null("reason", request.reason.as_deref())
        }
        Body::ApprovalResolved(answer) => {
            map.text("approval_id", &answer.approval_id);
            map.word("decision", answer.decision.as_str());
            map.text_or_null("by", answer.by.as_deref());
            map.text_or_null("reason", answer.reason.as_deref());
            map.text_or_null("scope", answer.scope.as_deref())
        }
        Body::PlanUpdated { entries } => map.list("entries", entries, plan_entry),
        Body::StatusChanged { old_status, new_status, reason } => {
            map.text("old_status", old_status);
            map.text("new_status", new_status);
            map.text_or_null("reason", reason.as_deref())
        }
        Body::LogEmitted { level, message } => {
            map.word("level", level.as_str());
            map.text("message", message)
        }
        Body::ErrorReported(error) => {
            map.word("scope", error.scope.as_str());
            map.text("code", &error.code);
            map.text("message", &error.message);
            map.entry("retryable", &error.retryable);
            map.entry("attempt", &error.attempt);
            map.entry("max_attempts", &error.max_attempts);
            map.entry("http_status", &error.http_status)
        }
        Body::SubagentStarted { subagent_id, tool_id, agent, task, depth } => {
            map.text("subagent_id", subagent_id);
            map.entry("tool_id", tool_id);
            map.text_or_null("agent", agent.as_deref());
            map.text_or_null("task", task.as_deref());
            map.entry("depth", depth)
        }
        Body::SubagentEnded { subagent_id, status, summary } => {
            map.text("subagent_id", subagent_id);
            map.text("status", status);
            map.text_or_null("summary", summary.as_deref())
        }
        Body::HistoryCompacted { trigger, tokens_before, tokens_after, summary } => {
            map.text_or_null("trigger", trigger.as_deref());
            map.entry("tokens_before", tokens_before);
            map.entry("tokens_after", tokens_after);
            map.text_or_null("summary", summary.as_deref())
        }
        Body::GapDetected { first_seq, last_seq, reason } => {
            map.entry("first_seq", first_seq);
            map.entry("last_seq", last_seq);
            map.text("reason", reason)
        }
        Body::Task(event) => task(map, event),
        Body::ArtifactWritten(artifact) => {
            map.text("artifact_id", &artifact.artifact_id);
            map.text("kind", &artifact.kind);
            map.entry("bytes", &artifact.bytes);
            map.text("digest", &artifact.digest);
            map.text_or_null("preview", artifact.preview.as_deref())
        }
        Body::Skill(event) => skill(map, event),
    }
}

fn block_delta(map: &mut ObjectWriter<'_>, block: &BlockDelta, v2: bool) {
    if v2 {
        map.text("message_id", &block.message_id);
        map.entry("block_index", &block.block_index);
    }
    map.text("delta", &block.delta)
}

fn block_text(map: &mut ObjectWriter<'_>, block: &BlockText) {
    map.text("message_id", &block.message_id);
    map.entry("block_index", &block.block_index);
    map.text("text", &block.text)
}

fn tool_ids(map: &mut ObjectWriter<'_>, tool: &Tool, v2: bool) {
    map.id("tool_id", &tool.id);
    if v2 {
        map.text("call_id", &tool.call_id);
    }
}

fn tool_call(map: &mut ObjectWriter<'_>, call: &ToolCall, v2: bool) {
    tool_ids(map, &call.tool, v2);
    map.text("name", &call.name);
    if v2 {
        map.word("kind", call.kind.as_str());
    }
    // v1 has objects only.
    if v2 { map.raw("args", call.args.get()) } else { map.raw("args", as_object(&call.args).get()) }
}

fn provider_event(map: &mut ObjectWriter<'_>, provider: &str, record: &ProviderEvent, v2: bool) {
    map.text("provider", provider);
    map.word("status", record.status.as_str());
    map.text_or_null("event_name", record.event_name.as_deref());
    map.raw("data", record.data.as_deref().unwrap_or("null"));
    map.text_or_null("raw", record.raw.as_deref().map(String::from_utf8_lossy).as_deref());
    map.entry("errors", &record.errors);
    map.entry("response_errors", &record.response_errors);
    if v2 && !record.redacted_paths.is_empty() {
        map.entry("redacted_paths", &record.redacted_paths);
    }
}

fn task(map: &mut ObjectWriter<'_>, event: &TaskEvent) {
    match event {
        TaskEvent::Spawned { task_id, tool_name, args, cwd, title, execution_mode, origin_session_id, artifacts } => {
            map.id("task_id", task_id);
            map.text("tool_name", tool_name);
            map.raw("args", args.get());
            map.text_or_null("cwd", cwd.as_deref());
            map.text_or_null("title", title.as_deref());
            map.word("execution_mode", execution_mode.as_str());
            map.entry("origin_session_id", origin_session_id);
            map.entry("artifacts", &artifacts.as_deref())
        }
        TaskEvent::Status { task_id, status, exit_code, started_at_ms, ended_at_ms, artifacts, error } => {
            map.id("task_id", task_id);
            map.word("status", status.as_str());
            map.entry("exit_code", exit_code);
            map.entry("started_at_ms", started_at_ms);
            map.entry("ended_at_ms", ended_at_ms);
            map.entry("artifacts", &artifacts.as_deref());
            map.text_or_null("error", error.as_deref())
        }
        TaskEvent::CancelRequested { task_id, reason } => {
            map.id("task_id", task_id);
            map.text("reason", reason)
        }
        TaskEvent::Cancelled { task_id, reason, wall_time_ms } => {
            map.id("task_id", task_id);
            map.text("reason", reason);
            map.entry("wall_time_ms", wall_time_ms)
        }
        TaskEvent::OutputDelta { task_id, stream, chunk, artifacts } => {
            map.id("task_id", task_id);
            map.word("stream", stream.as_str());
            map.text("chunk", chunk);
            map.entry("artifacts", &artifacts.as_deref())
        }
        TaskEvent::StdinWritten { task_id, chunk_b64 } => {
            map.id("task_id", task_id);
            map.text("chunk_b64", chunk_b64)
        }
        TaskEvent::Resized { task_id, rows, cols } => {
            map.id("task_id", task_id);
            map.entry("rows", rows);
            map.entry("cols", cols)
        }
        TaskEvent::Signalled { task_id, signal } => {
            map.id("task_id", task_id);
            map.text("signal", signal)
        }
    }
}

fn skill(map: &mut ObjectWriter<'_>, event: &SkillEvent) {
    match event {
        SkillEvent::CatalogUpdated { count, roots, collisions } => {
            map.entry("count", count);
            map.entry("roots", roots);
            map.entry("collisions", &collisions.as_deref())
        }
        SkillEvent::Loaded { name, path, digest, frontmatter, warnings } => {
            map.text("name", name);
            map.text("path", path);
            map.text("digest", digest);
            map.entry("frontmatter", &**frontmatter);
            map.entry("warnings", warnings)
        }
        SkillEvent::Invoked { name, args, mode, effective_allowed_tools } => {
            map.text("name", name);
            map.entry("args", &args.as_deref());
            map.word("mode", mode.as_str());
            map.entry("effective_allowed_tools", effective_allowed_tools)
        }
        SkillEvent::Warning { name, kind, detail } => {
            map.text_or_null("name", name.as_deref());
            map.text("kind", kind);
            map.text("detail", detail)
        }
    }
}

fn attachment(map: &mut ObjectWriter<'_>, item: &Attachment) {
    map.text("kind", &item.kind);
    map.text_or_null("mime", item.mime.as_deref());
    map.text_or_null("artifact_id", item.artifact_id.as_deref());
    map.entry("name", &item.name);
    map.entry("bytes", &item.bytes)
}

fn plan_entry(map: &mut ObjectWriter<'_>, entry: &PlanEntry) {
    map.text("content", &entry.content);
    map.text("status", &entry.status);
    map.text_or_null("priority", entry.priority.as_deref())
}
