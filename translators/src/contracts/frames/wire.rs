//! The JSON of frames. Fields that may be null are always written.

use crate::contracts::wire::as_object;
use crate::encode::ObjectWriter;
use crate::frame::{
    Attachment, BlockDelta, BlockText, Body, Frame, PlanEntry, ProviderEvent, SkillEvent, TaskEvent, Tool, ToolCall,
};
use std::borrow::Cow;
use std::ops::Range;

/// Which envelope and fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

/// Writes a frame; gives where in the buffer the record of a `provider_event` stands.
pub(super) fn write(frame: &Frame, seq: u64, version: Version, out: &mut Vec<u8>) -> Range<usize> {
    let v2 = version == Version::V2;
    let mut map = ObjectWriter::begin(out);
    map.entry("id", &frame.id());
    // On v2 an alias of the stream's id, for readers of v1.
    map.entry("session_id", &frame.stream.id);
    if v2 {
        map.entry("stream_kind", frame.stream.kind.as_str());
        map.entry("stream_id", &frame.stream.id);
    }
    map.entry("timestamp_ms", &frame.timestamp_ms);
    map.entry("seq", &seq);
    map.entry("type", frame.body.kind());
    if let (true, Some(parent)) = (v2, frame.parent_tool_id) {
        map.entry("parent_tool_id", &parent);
    }
    body(&mut map, frame, v2);
    map.end()
}

fn body(map: &mut ObjectWriter<'_>, frame: &Frame, v2: bool) {
    match &frame.body {
        Body::SessionStarted { input } => map.entry("input", input),
        Body::SessionEnded(end) => {
            map.entry("reason", end.reason.as_str());
            if v2 {
                map.entry("final_text", &end.final_text);
                map.entry("error_code", &end.error_code.as_deref());
                map.entry("message", &end.message);
            }
        }
        Body::TurnStarted { turn_index, model } => {
            map.entry("turn_index", turn_index);
            map.entry("model", &model.as_deref())
        }
        Body::TurnEnded { turn_index, stop_reason, duration_ms } => {
            map.entry("turn_index", turn_index);
            map.entry("stop_reason", &stop_reason.as_deref());
            map.entry("duration_ms", duration_ms)
        }
        Body::UserMessage(message) => {
            map.entry("message_id", &*message.message_id);
            map.entry("text", &message.text);
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
            map.entry("name", &**name);
            map.entry("delta", delta)
        }
        Body::ToolCallProposed(call) => tool_call(map, call, v2),
        Body::ToolStarted { call, timeout_ms } => {
            tool_call(map, call, v2);
            map.entry("timeout_ms", timeout_ms)
        }
        Body::ToolStdout { tool, chunk } | Body::ToolStderr { tool, chunk } => {
            tool_ids(map, tool, v2);
            map.entry("chunk", chunk)
        }
        Body::ToolStdoutFront { tool, chunk } => {
            tool_ids(map, tool, v2);
            map.entry("chunk", chunk);
            if v2 {
                map.entry("position", "front");
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
            map.entry("error", error)
        }
        Body::ProviderEvent(record) => provider_event(map, frame.stream.provider, record),
        Body::CheckpointCreated { checkpoint_id, label, created_at_ms, files, auto, tool_name } => {
            map.entry("checkpoint_id", checkpoint_id);
            map.entry("label", label);
            map.entry("created_at_ms", created_at_ms);
            map.entry("files", files);
            map.entry("auto", auto);
            map.entry("tool_name", &tool_name.as_deref())
        }
        Body::CheckpointRewound { checkpoint_id, label, files } => {
            map.entry("checkpoint_id", checkpoint_id);
            map.entry("label", label);
            map.entry("files", files)
        }
        Body::CheckpointFailed { action, error } => {
            map.entry("action", action.as_str());
            map.entry("error", error)
        }
        Body::FileChanged(change) => {
            map.entry("tool_id", &change.tool_id);
            map.entry("path", &change.path);
            map.entry("kind", change.kind.as_str());
            map.entry("diff", &change.diff);
            map.entry("artifact_id", &change.artifact_id.as_deref())
        }
        Body::UsageReported(usage) => {
            map.entry("scope", usage.scope.as_str());
            map.entry("model", &usage.model.as_deref());
            map.entry("input_tokens", &usage.input_tokens);
            map.entry("output_tokens", &usage.output_tokens);
            map.entry("cache_read_tokens", &usage.cache_read_tokens);
            map.entry("cache_creation_tokens", &usage.cache_creation_tokens);
            map.entry("reasoning_tokens", &usage.reasoning_tokens);
            map.entry("cost_usd", &usage.cost_usd)
        }
        Body::ApprovalRequested(request) => {
            map.entry("approval_id", &*request.approval_id);
            map.entry("tool_id", &request.tool_id);
            map.entry("tool_name", &*request.tool_name);
            map.entry("args", &*request.args);
            map.entry("reason", &request.reason)
        }
        Body::ApprovalResolved(answer) => {
            map.entry("approval_id", &*answer.approval_id);
            map.entry("decision", answer.decision.as_str());
            map.entry("by", &answer.by.as_deref());
            map.entry("reason", &answer.reason);
            map.entry("scope", &answer.scope.as_deref())
        }
        Body::PlanUpdated { entries } => map.list("entries", entries, plan_entry),
        Body::StatusChanged { old_status, new_status, reason } => {
            map.entry("old_status", &**old_status);
            map.entry("new_status", &**new_status);
            map.entry("reason", reason)
        }
        Body::LogEmitted { level, message } => {
            map.entry("level", level.as_str());
            map.entry("message", message)
        }
        Body::ErrorReported(error) => {
            map.entry("scope", error.scope.as_str());
            map.entry("code", &*error.code);
            map.entry("message", &error.message);
            map.entry("retryable", &error.retryable);
            map.entry("attempt", &error.attempt);
            map.entry("max_attempts", &error.max_attempts);
            map.entry("http_status", &error.http_status)
        }
        Body::SubagentStarted { subagent_id, tool_id, agent, task, depth } => {
            map.entry("subagent_id", &**subagent_id);
            map.entry("tool_id", tool_id);
            map.entry("agent", &agent.as_deref());
            map.entry("task", task);
            map.entry("depth", depth)
        }
        Body::SubagentEnded { subagent_id, status, summary } => {
            map.entry("subagent_id", &**subagent_id);
            map.entry("status", &**status);
            map.entry("summary", summary)
        }
        Body::HistoryCompacted { trigger, tokens_before, tokens_after, summary } => {
            map.entry("trigger", &trigger.as_deref());
            map.entry("tokens_before", tokens_before);
            map.entry("tokens_after", tokens_after);
            map.entry("summary", summary)
        }
        Body::GapDetected { first_seq, last_seq, reason } => {
            map.entry("first_seq", first_seq);
            map.entry("last_seq", last_seq);
            map.entry("reason", reason)
        }
        Body::Task(event) => task(map, event),
        Body::ArtifactWritten(artifact) => {
            map.entry("artifact_id", &*artifact.artifact_id);
            map.entry("kind", &*artifact.kind);
            map.entry("bytes", &artifact.bytes);
            map.entry("digest", &*artifact.digest);
            map.entry("preview", &artifact.preview)
        }
        Body::Skill(event) => skill(map, event),
    }
}

fn block_delta(map: &mut ObjectWriter<'_>, block: &BlockDelta, v2: bool) {
    if v2 {
        map.entry("message_id", &*block.message_id);
        map.entry("block_index", &block.block_index);
    }
    map.entry("delta", &block.delta)
}

fn block_text(map: &mut ObjectWriter<'_>, block: &BlockText) {
    map.entry("message_id", &*block.message_id);
    map.entry("block_index", &block.block_index);
    map.entry("text", &block.text)
}

fn tool_ids(map: &mut ObjectWriter<'_>, tool: &Tool, v2: bool) {
    map.entry("tool_id", &tool.id);
    if v2 {
        map.entry("call_id", &*tool.call_id);
    }
}

fn tool_call(map: &mut ObjectWriter<'_>, call: &ToolCall, v2: bool) {
    tool_ids(map, &call.tool, v2);
    map.entry("name", &*call.name);
    if v2 {
        map.entry("kind", call.kind.as_str());
    }
    // v1 has objects only.
    if v2 { map.entry("args", &*call.args) } else { map.entry("args", &as_object(&call.args)) }
}

fn provider_event(map: &mut ObjectWriter<'_>, provider: &str, record: &ProviderEvent) {
    map.entry("provider", provider);
    map.entry("status", record.status.as_str());
    map.entry("event_name", &record.event_name.as_deref());
    map.raw("data", record.data.as_deref().unwrap_or("null"));
    map.entry("raw", &record.raw.as_deref().map(|raw| -> Cow<'_, str> { String::from_utf8_lossy(raw) }));
    map.entry("errors", &record.errors);
    map.entry("response_errors", &record.response_errors)
}

fn task(map: &mut ObjectWriter<'_>, event: &TaskEvent) {
    match event {
        TaskEvent::Spawned { task_id, tool_name, args, cwd, title, execution_mode, origin_session_id, artifacts } => {
            map.entry("task_id", task_id);
            map.entry("tool_name", &**tool_name);
            map.entry("args", &**args);
            map.entry("cwd", cwd);
            map.entry("title", title);
            map.entry("execution_mode", execution_mode.as_str());
            map.entry("origin_session_id", origin_session_id);
            map.entry("artifacts", &artifacts.as_deref())
        }
        TaskEvent::Status { task_id, status, exit_code, started_at_ms, ended_at_ms, artifacts, error } => {
            map.entry("task_id", task_id);
            map.entry("status", status.as_str());
            map.entry("exit_code", exit_code);
            map.entry("started_at_ms", started_at_ms);
            map.entry("ended_at_ms", ended_at_ms);
            map.entry("artifacts", &artifacts.as_deref());
            map.entry("error", error)
        }
        TaskEvent::CancelRequested { task_id, reason } => {
            map.entry("task_id", task_id);
            map.entry("reason", reason)
        }
        TaskEvent::Cancelled { task_id, reason, wall_time_ms } => {
            map.entry("task_id", task_id);
            map.entry("reason", reason);
            map.entry("wall_time_ms", wall_time_ms)
        }
        TaskEvent::OutputDelta { task_id, stream, chunk, artifacts } => {
            map.entry("task_id", task_id);
            map.entry("stream", stream.as_str());
            map.entry("chunk", chunk);
            map.entry("artifacts", &artifacts.as_deref())
        }
        TaskEvent::StdinWritten { task_id, chunk_b64 } => {
            map.entry("task_id", task_id);
            map.entry("chunk_b64", chunk_b64)
        }
        TaskEvent::Resized { task_id, rows, cols } => {
            map.entry("task_id", task_id);
            map.entry("rows", rows);
            map.entry("cols", cols)
        }
        TaskEvent::Signalled { task_id, signal } => {
            map.entry("task_id", task_id);
            map.entry("signal", signal)
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
            map.entry("name", &**name);
            map.entry("path", path);
            map.entry("digest", digest);
            map.entry("frontmatter", &**frontmatter);
            map.entry("warnings", warnings)
        }
        SkillEvent::Invoked { name, args, mode, effective_allowed_tools } => {
            map.entry("name", &**name);
            map.entry("args", &args.as_deref());
            map.entry("mode", mode.as_str());
            map.entry("effective_allowed_tools", effective_allowed_tools)
        }
        SkillEvent::Warning { name, kind, detail } => {
            map.entry("name", &name.as_deref());
            map.entry("kind", &**kind);
            map.entry("detail", detail)
        }
    }
}

fn attachment(map: &mut ObjectWriter<'_>, item: &Attachment) {
    map.entry("kind", &*item.kind);
    map.entry("mime", &item.mime.as_deref());
    map.entry("artifact_id", &item.artifact_id.as_deref());
    map.entry("name", &item.name);
    map.entry("bytes", &item.bytes)
}

fn plan_entry(map: &mut ObjectWriter<'_>, entry: &PlanEntry) {
    map.entry("content", &entry.content);
    map.entry("status", &*entry.status);
    map.entry("priority", &entry.priority.as_deref())
}
