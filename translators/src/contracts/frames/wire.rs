//! The JSON of frames. Fields that may be null are always written.

use crate::contracts::wire::as_object;
use crate::frame::{
    Attachment, BlockDelta, BlockText, Body, Frame, PlanEntry, ProviderEvent, SkillEvent, TaskEvent, Tool, ToolCall,
};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;

/// Which envelope and fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

pub(super) struct Wire<'a> {
    pub(super) frame: &'a Frame,
    pub(super) seq: u64,
    pub(super) version: Version,
}

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (frame, v2) = (self.frame, self.version == Version::V2);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &frame.id())?;
        // On v2 an alias of the stream's id, for readers of v1.
        map.serialize_entry("session_id", &frame.stream.id)?;
        if v2 {
            map.serialize_entry("stream_kind", frame.stream.kind.as_str())?;
            map.serialize_entry("stream_id", &frame.stream.id)?;
        }
        map.serialize_entry("timestamp_ms", &frame.timestamp_ms)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("type", frame.body.kind())?;
        if let (true, Some(parent)) = (v2, frame.parent_tool_id) {
            map.serialize_entry("parent_tool_id", &parent)?;
        }
        body(&mut map, frame, v2)?;
        map.end()
    }
}

fn body<M: SerializeMap>(map: &mut M, frame: &Frame, v2: bool) -> Result<(), M::Error> {
    match &frame.body {
        Body::SessionStarted { input } => map.serialize_entry("input", input),
        Body::SessionEnded(end) => {
            map.serialize_entry("reason", end.reason.as_str())?;
            if v2 {
                map.serialize_entry("final_text", &end.final_text)?;
                map.serialize_entry("error_code", &end.error_code.as_deref())?;
                map.serialize_entry("message", &end.message)?;
            }
            Ok(())
        }
        Body::TurnStarted { turn_index, model } => {
            map.serialize_entry("turn_index", turn_index)?;
            map.serialize_entry("model", &model.as_deref())
        }
        Body::TurnEnded { turn_index, stop_reason, duration_ms } => {
            map.serialize_entry("turn_index", turn_index)?;
            map.serialize_entry("stop_reason", &stop_reason.as_deref())?;
            map.serialize_entry("duration_ms", duration_ms)
        }
        Body::UserMessage(message) => {
            map.serialize_entry("message_id", &*message.message_id)?;
            map.serialize_entry("text", &message.text)?;
            map.serialize_entry("attachments", &List(&message.attachments))
        }
        Body::OutputTextDelta(block) | Body::ReasoningDelta(block) => block_delta(map, block, v2),
        Body::OutputTextCompleted(block) => block_text(map, block),
        Body::ReasoningCompleted { block, opaque } => {
            block_text(map, block)?;
            map.serialize_entry("opaque", &opaque.as_deref())
        }
        Body::ToolInputDelta { tool, name, delta } => {
            tool_ids(map, tool, v2)?;
            map.serialize_entry("name", &**name)?;
            map.serialize_entry("delta", delta)
        }
        Body::ToolCallProposed(call) => tool_call(map, call, v2),
        Body::ToolStarted { call, timeout_ms } => {
            tool_call(map, call, v2)?;
            map.serialize_entry("timeout_ms", timeout_ms)
        }
        Body::ToolStdout { tool, chunk } | Body::ToolStderr { tool, chunk } => {
            tool_ids(map, tool, v2)?;
            map.serialize_entry("chunk", chunk)
        }
        Body::ToolStdoutFront { tool, chunk } => {
            tool_ids(map, tool, v2)?;
            map.serialize_entry("chunk", chunk)?;
            if v2 { map.serialize_entry("position", "front") } else { Ok(()) }
        }
        Body::ToolEnded { tool, exit_code, duration_ms, artifacts } => {
            tool_ids(map, tool, v2)?;
            map.serialize_entry("exit_code", exit_code)?;
            map.serialize_entry("duration_ms", duration_ms)?;
            map.serialize_entry("artifacts", &artifacts.as_deref())
        }
        Body::ToolFailed { tool, error } => {
            tool_ids(map, tool, v2)?;
            map.serialize_entry("error", error)
        }
        Body::ProviderEvent(record) => provider_event(map, frame.stream.provider, record),
        Body::CheckpointCreated { checkpoint_id, label, created_at_ms, files, auto, tool_name } => {
            map.serialize_entry("checkpoint_id", checkpoint_id)?;
            map.serialize_entry("label", label)?;
            map.serialize_entry("created_at_ms", created_at_ms)?;
            map.serialize_entry("files", files)?;
            map.serialize_entry("auto", auto)?;
            map.serialize_entry("tool_name", &tool_name.as_deref())
        }
        Body::CheckpointRewound { checkpoint_id, label, files } => {
            map.serialize_entry("checkpoint_id", checkpoint_id)?;
            map.serialize_entry("label", label)?;
            map.serialize_entry("files", files)
        }
        Body::CheckpointFailed { action, error } => {
            map.serialize_entry("action", action.as_str())?;
            map.serialize_entry("error", error)
        }
        Body::FileChanged(change) => {
            map.serialize_entry("tool_id", &change.tool_id)?;
            map.serialize_entry("path", &change.path)?;
            map.serialize_entry("kind", change.kind.as_str())?;
            map.serialize_entry("diff", &change.diff)?;
            map.serialize_entry("artifact_id", &change.artifact_id.as_deref())
        }
        Body::UsageReported(usage) => {
            map.serialize_entry("scope", usage.scope.as_str())?;
            map.serialize_entry("model", &usage.model.as_deref())?;
            map.serialize_entry("input_tokens", &usage.input_tokens)?;
            map.serialize_entry("output_tokens", &usage.output_tokens)?;
            map.serialize_entry("cache_read_tokens", &usage.cache_read_tokens)?;
            map.serialize_entry("cache_creation_tokens", &usage.cache_creation_tokens)?;
            map.serialize_entry("reasoning_tokens", &usage.reasoning_tokens)?;
            map.serialize_entry("cost_usd", &usage.cost_usd)
        }
        Body::ApprovalRequested(request) => {
            map.serialize_entry("approval_id", &*request.approval_id)?;
            map.serialize_entry("tool_id", &request.tool_id)?;
            map.serialize_entry("tool_name", &*request.tool_name)?;
            map.serialize_entry("args", &*request.args)?;
            map.serialize_entry("reason", &request.reason)
        }
        Body::ApprovalResolved(answer) => {
            map.serialize_entry("approval_id", &*answer.approval_id)?;
            map.serialize_entry("decision", answer.decision.as_str())?;
            map.serialize_entry("by", &answer.by.as_deref())?;
            map.serialize_entry("reason", &answer.reason)?;
            map.serialize_entry("scope", &answer.scope.as_deref())
        }
        Body::PlanUpdated { entries } => map.serialize_entry("entries", &List(entries)),
        Body::StatusChanged { old_status, new_status, reason } => {
            map.serialize_entry("old_status", &**old_status)?;
            map.serialize_entry("new_status", &**new_status)?;
            map.serialize_entry("reason", reason)
        }
        Body::LogEmitted { level, message } => {
            map.serialize_entry("level", level.as_str())?;
            map.serialize_entry("message", message)
        }
        Body::ErrorReported(error) => {
            map.serialize_entry("scope", error.scope.as_str())?;
            map.serialize_entry("code", &*error.code)?;
            map.serialize_entry("message", &error.message)?;
            map.serialize_entry("retryable", &error.retryable)?;
            map.serialize_entry("attempt", &error.attempt)?;
            map.serialize_entry("max_attempts", &error.max_attempts)?;
            map.serialize_entry("http_status", &error.http_status)
        }
        Body::SubagentStarted { subagent_id, tool_id, agent, task, depth } => {
            map.serialize_entry("subagent_id", &**subagent_id)?;
            map.serialize_entry("tool_id", tool_id)?;
            map.serialize_entry("agent", &agent.as_deref())?;
            map.serialize_entry("task", task)?;
            map.serialize_entry("depth", depth)
        }
        Body::SubagentEnded { subagent_id, status, summary } => {
            map.serialize_entry("subagent_id", &**subagent_id)?;
            map.serialize_entry("status", &**status)?;
            map.serialize_entry("summary", summary)
        }
        Body::HistoryCompacted { trigger, tokens_before, tokens_after, summary } => {
            map.serialize_entry("trigger", &trigger.as_deref())?;
            map.serialize_entry("tokens_before", tokens_before)?;
            map.serialize_entry("tokens_after", tokens_after)?;
            map.serialize_entry("summary", summary)
        }
        Body::GapDetected { first_seq, last_seq, reason } => {
            map.serialize_entry("first_seq", first_seq)?;
            map.serialize_entry("last_seq", last_seq)?;
            map.serialize_entry("reason", reason)
        }
        Body::Task(event) => task(map, event),
        Body::ArtifactWritten(artifact) => {
            map.serialize_entry("artifact_id", &*artifact.artifact_id)?;
            map.serialize_entry("kind", &*artifact.kind)?;
            map.serialize_entry("bytes", &artifact.bytes)?;
            map.serialize_entry("digest", &*artifact.digest)?;
            map.serialize_entry("preview", &artifact.preview)
        }
        Body::Skill(event) => skill(map, event),
    }
}

fn block_delta<M: SerializeMap>(map: &mut M, block: &BlockDelta, v2: bool) -> Result<(), M::Error> {
    if v2 {
        map.serialize_entry("message_id", &*block.message_id)?;
        map.serialize_entry("block_index", &block.block_index)?;
    }
    map.serialize_entry("delta", &block.delta)
}

fn block_text<M: SerializeMap>(map: &mut M, block: &BlockText) -> Result<(), M::Error> {
    map.serialize_entry("message_id", &*block.message_id)?;
    map.serialize_entry("block_index", &block.block_index)?;
    map.serialize_entry("text", &block.text)
}

fn tool_ids<M: SerializeMap>(map: &mut M, tool: &Tool, v2: bool) -> Result<(), M::Error> {
    map.serialize_entry("tool_id", &tool.id)?;
    if v2 {
        map.serialize_entry("call_id", &*tool.call_id)?;
    }
    Ok(())
}

fn tool_call<M: SerializeMap>(map: &mut M, call: &ToolCall, v2: bool) -> Result<(), M::Error> {
    tool_ids(map, &call.tool, v2)?;
    map.serialize_entry("name", &*call.name)?;
    if v2 {
        map.serialize_entry("kind", call.kind.as_str())?;
    }
    // v1 has objects only.
    if v2 { map.serialize_entry("args", &*call.args) } else { map.serialize_entry("args", &as_object(&call.args)) }
}

fn provider_event<M: SerializeMap>(map: &mut M, provider: &str, record: &ProviderEvent) -> Result<(), M::Error> {
    map.serialize_entry("provider", provider)?;
    map.serialize_entry("status", record.status.as_str())?;
    map.serialize_entry("event_name", &record.event_name.as_deref())?;
    map.serialize_entry("data", &record.data)?;
    map.serialize_entry("raw", &record.raw.as_deref().map(|raw| -> Cow<'_, str> { String::from_utf8_lossy(raw) }))?;
    map.serialize_entry("errors", &record.errors)?;
    map.serialize_entry("response_errors", &record.response_errors)
}

fn task<M: SerializeMap>(map: &mut M, event: &TaskEvent) -> Result<(), M::Error> {
    match event {
        TaskEvent::Spawned { task_id, tool_name, args, cwd, title, execution_mode, origin_session_id, artifacts } => {
            map.serialize_entry("task_id", task_id)?;
            map.serialize_entry("tool_name", &**tool_name)?;
            map.serialize_entry("args", &**args)?;
            map.serialize_entry("cwd", cwd)?;
            map.serialize_entry("title", title)?;
            map.serialize_entry("execution_mode", execution_mode.as_str())?;
            map.serialize_entry("origin_session_id", origin_session_id)?;
            map.serialize_entry("artifacts", &artifacts.as_deref())
        }
        TaskEvent::Status { task_id, status, exit_code, started_at_ms, ended_at_ms, artifacts, error } => {
            map.serialize_entry("task_id", task_id)?;
            map.serialize_entry("status", status.as_str())?;
            map.serialize_entry("exit_code", exit_code)?;
            map.serialize_entry("started_at_ms", started_at_ms)?;
            map.serialize_entry("ended_at_ms", ended_at_ms)?;
            map.serialize_entry("artifacts", &artifacts.as_deref())?;
            map.serialize_entry("error", error)
        }
        TaskEvent::CancelRequested { task_id, reason } => {
            map.serialize_entry("task_id", task_id)?;
            map.serialize_entry("reason", reason)
        }
        TaskEvent::Cancelled { task_id, reason, wall_time_ms } => {
            map.serialize_entry("task_id", task_id)?;
            map.serialize_entry("reason", reason)?;
            map.serialize_entry("wall_time_ms", wall_time_ms)
        }
        TaskEvent::OutputDelta { task_id, stream, chunk, artifacts } => {
            map.serialize_entry("task_id", task_id)?;
            map.serialize_entry("stream", stream.as_str())?;
            map.serialize_entry("chunk", chunk)?;
            map.serialize_entry("artifacts", &artifacts.as_deref())
        }
        TaskEvent::StdinWritten { task_id, chunk_b64 } => {
            map.serialize_entry("task_id", task_id)?;
            map.serialize_entry("chunk_b64", chunk_b64)
        }
        TaskEvent::Resized { task_id, rows, cols } => {
            map.serialize_entry("task_id", task_id)?;
            map.serialize_entry("rows", rows)?;
            map.serialize_entry("cols", cols)
        }
        TaskEvent::Signalled { task_id, signal } => {
            map.serialize_entry("task_id", task_id)?;
            map.serialize_entry("signal", signal)
        }
    }
}

fn skill<M: SerializeMap>(map: &mut M, event: &SkillEvent) -> Result<(), M::Error> {
    match event {
        SkillEvent::CatalogUpdated { count, roots, collisions } => {
            map.serialize_entry("count", count)?;
            map.serialize_entry("roots", roots)?;
            map.serialize_entry("collisions", &collisions.as_deref())
        }
        SkillEvent::Loaded { name, path, digest, frontmatter, warnings } => {
            map.serialize_entry("name", &**name)?;
            map.serialize_entry("path", path)?;
            map.serialize_entry("digest", digest)?;
            map.serialize_entry("frontmatter", &**frontmatter)?;
            map.serialize_entry("warnings", warnings)
        }
        SkillEvent::Invoked { name, args, mode, effective_allowed_tools } => {
            map.serialize_entry("name", &**name)?;
            map.serialize_entry("args", &args.as_deref())?;
            map.serialize_entry("mode", mode.as_str())?;
            map.serialize_entry("effective_allowed_tools", effective_allowed_tools)
        }
        SkillEvent::Warning { name, kind, detail } => {
            map.serialize_entry("name", &name.as_deref())?;
            map.serialize_entry("kind", &**kind)?;
            map.serialize_entry("detail", detail)
        }
    }
}

fn attachment<M: SerializeMap>(map: &mut M, item: &Attachment) -> Result<(), M::Error> {
    map.serialize_entry("kind", &*item.kind)?;
    map.serialize_entry("mime", &item.mime.as_deref())?;
    map.serialize_entry("artifact_id", &item.artifact_id.as_deref())?;
    map.serialize_entry("name", &item.name)?;
    map.serialize_entry("bytes", &item.bytes)
}

fn plan_entry<M: SerializeMap>(map: &mut M, entry: &PlanEntry) -> Result<(), M::Error> {
    map.serialize_entry("content", &entry.content)?;
    map.serialize_entry("status", &*entry.status)?;
    map.serialize_entry("priority", &entry.priority.as_deref())
}

/// A list of structs of ours.
struct List<'a, T>(&'a [T]);

macro_rules! list_of {
    ($($item:ty => $fields:path),+) => {$(
        impl Serialize for List<'_, $item> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                struct Item<'a>(&'a $item);
                impl Serialize for Item<'_> {
                    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                        let mut map = serializer.serialize_map(None)?;
                        $fields(&mut map, self.0)?;
                        map.end()
                    }
                }
                serializer.collect_seq(self.0.iter().map(Item))
            }
        }
    )+};
}

list_of!(Attachment => attachment, PlanEntry => plan_entry);
