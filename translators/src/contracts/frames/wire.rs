//! The JSON form of frames. Fields that may be null are always written.

use crate::contracts::wire::as_object;
use crate::encode::{ObjectWriter, PreparedFields, key};
use crate::frame::{
    Attachment, BlockDelta, BlockText, Body, Figures, Frame, PlanEntry, ProviderEvent, ProviderStatus, RecordErrors,
    SkillEvent, Stream, TaskEvent, Tool, ToolCall,
};
use data_encoding::HEXLOWER;
use std::sync::LazyLock;
use uuid::Uuid;

/// The version of the envelope and fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

/// The fields that frames of a stream share, serialised once.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    /// The constant fields of the envelope.
    envelope: PreparedFields,
    /// What a `provider_event` begins with if its record was read.
    record: PreparedFields,
}

/// What a `provider_event` has behind its data if that is the whole record, without errors.
static FLAWLESS: LazyLock<PreparedFields> =
    LazyLock::new(|| PreparedFields::new(|map| flaws(map, None, &RecordErrors::NONE, &RecordErrors::NONE)));

impl Shared {
    pub(super) fn new(stream: &Stream, version: Version) -> Self {
        let envelope = PreparedFields::new(|map| {
            // In v2 an alias of the stream's id, for readers of v1.
            map.id(key!("session_id"), &stream.id);
            if version == Version::V2 {
                map.word(key!("stream_kind"), stream.kind.as_str());
                map.id(key!("stream_id"), &stream.id);
            }
        });
        let record = PreparedFields::new(|map| provider(map, stream, ProviderStatus::Event));
        Self { envelope, record }
    }
}

/// Writes a frame's fields.
pub(super) fn write(map: &mut ObjectWriter<'_>, frame: &Frame, shared: &Shared, seq: u64, version: Version) {
    write_as(map, &frame.id(), frame, shared, seq, version);
}

/// Writes a frame's fields with another id.
pub(super) fn write_as(
    map: &mut ObjectWriter<'_>,
    id: &Uuid,
    frame: &Frame,
    shared: &Shared,
    seq: u64,
    version: Version,
) {
    let v2 = version == Version::V2;
    map.id(key!("id"), id);
    map.prepared(&shared.envelope);
    map.entry(key!("timestamp_ms"), &frame.timestamp_ms);
    map.entry(key!("seq"), &seq);
    map.word(key!("type"), frame.body.kind());
    if let (true, Some(parent)) = (v2, frame.parent_tool_id) {
        map.id(key!("parent_tool_id"), &parent);
    }
    body(map, frame, shared, v2);
}

fn body(map: &mut ObjectWriter<'_>, frame: &Frame, shared: &Shared, v2: bool) {
    match &frame.body {
        Body::SessionStarted { input } => {
            map.text(key!("input"), input);
            if v2 {
                let Stream { session, provider, .. } = &*frame.stream;
                map.word(key!("provider"), provider.name);
                map.id(key!("thread_id"), &session.id);
                if !session.name.is_empty() {
                    map.text(key!("thread_name"), &session.name);
                }
            }
        }
        Body::SessionEnded(end) => {
            map.word(key!("reason"), end.reason.as_str());
            if v2 {
                map.text_or_null(key!("final_text"), end.final_text.as_deref());
                map.text_or_null(key!("error_code"), end.error_code.as_deref());
                map.text_or_null(key!("message"), end.message.as_deref());
            }
        }
        Body::TurnStarted { turn_index, model } => {
            map.entry(key!("turn_index"), turn_index);
            map.text_or_null(key!("model"), model.as_deref())
        }
        Body::TurnEnded { turn_index, stop_reason, duration_ms } => {
            map.entry(key!("turn_index"), turn_index);
            map.text_or_null(key!("stop_reason"), stop_reason.as_deref());
            map.entry(key!("duration_ms"), duration_ms)
        }
        Body::UserMessage(message) => {
            map.text(key!("message_id"), &message.message_id);
            map.text(key!("text"), &message.text);
            map.list(key!("attachments"), &message.attachments, attachment)
        }
        Body::OutputTextDelta(block) | Body::ReasoningDelta(block) => block_delta(map, block, v2),
        Body::OutputTextCompleted(block) => block_text(map, block),
        Body::ReasoningCompleted { block, opaque } => {
            block_text(map, block);
            map.entry(key!("opaque"), &opaque.as_deref())
        }
        Body::ToolInputDelta { tool, name, delta } => {
            tool_ids(map, tool, v2);
            map.text(key!("name"), name);
            map.text(key!("delta"), delta)
        }
        Body::ToolCallProposed(call) => tool_call(map, call, v2),
        Body::ToolStarted { call, timeout_ms, .. } => {
            tool_call(map, call, v2);
            map.entry(key!("timeout_ms"), timeout_ms)
        }
        Body::ToolStdout { tool, chunk } | Body::ToolStderr { tool, chunk } => {
            tool_ids(map, tool, v2);
            map.text(key!("chunk"), chunk)
        }
        Body::ToolStdoutTail { tool, chunk } => {
            tool_ids(map, tool, v2);
            map.text(key!("chunk"), chunk);
            if v2 {
                map.word(key!("position"), "tail");
            }
        }
        Body::ToolStdoutFront { tool, chunk } => {
            tool_ids(map, tool, v2);
            map.text(key!("chunk"), chunk);
            if v2 {
                map.word(key!("position"), "front");
            }
        }
        Body::ToolEnded { tool, exit_code, duration_ms, artifacts } => {
            tool_ids(map, tool, v2);
            map.entry(key!("exit_code"), exit_code);
            map.entry(key!("duration_ms"), duration_ms);
            map.entry(key!("artifacts"), &artifacts.as_deref())
        }
        Body::ToolFailed { tool, error } => {
            tool_ids(map, tool, v2);
            map.text(key!("error"), error)
        }
        Body::ProviderEvent(record) => provider_event(map, &frame.stream, record, shared, v2),
        Body::CheckpointCreated { checkpoint_id, label, created_at_ms, files, auto, tool_name } => {
            map.id(key!("checkpoint_id"), checkpoint_id);
            map.text(key!("label"), label);
            map.entry(key!("created_at_ms"), created_at_ms);
            map.entry(key!("files"), files);
            map.entry(key!("auto"), auto);
            map.text_or_null(key!("tool_name"), tool_name.as_deref())
        }
        Body::CheckpointRewound { checkpoint_id, label, files } => {
            map.id(key!("checkpoint_id"), checkpoint_id);
            map.text(key!("label"), label);
            map.entry(key!("files"), files)
        }
        Body::CheckpointFailed { action, error } => {
            map.word(key!("action"), action.as_str());
            map.text(key!("error"), error)
        }
        Body::FileChanged(change) => {
            map.entry(key!("tool_id"), &change.tool_id);
            map.text(key!("path"), &change.path);
            map.word(key!("kind"), change.kind.as_str());
            map.text_or_null(key!("diff"), change.diff.as_deref());
            map.text_or_null(key!("artifact_id"), change.artifact_id.as_deref())
        }
        Body::UsageReported(usage) => {
            map.word(key!("scope"), usage.scope.as_str());
            map.text_or_null(key!("model"), usage.model.as_deref());
            map.entry(key!("input_tokens"), &usage.input_tokens);
            map.entry(key!("output_tokens"), &usage.output_tokens);
            map.entry(key!("cache_read_tokens"), &usage.cache_read_tokens);
            map.entry(key!("cache_creation_tokens"), &usage.cache_creation_tokens);
            hour_writes(map, usage.cache_creation_1h_tokens);
            map.entry(key!("reasoning_tokens"), &usage.reasoning_tokens);
            map.entry(key!("cost_usd"), &usage.cost_usd);
            if let Some(part) = &usage.main_thread {
                map.object(key!("main_thread"), |map| figures(map, part));
            }
        }
        Body::ApprovalRequested(request) => {
            map.text(key!("approval_id"), &request.approval_id);
            map.entry(key!("tool_id"), &request.tool_id);
            map.text(key!("tool_name"), &request.tool_name);
            map.raw(key!("args"), request.args.get());
            map.text_or_null(key!("reason"), request.reason.as_deref())
        }
        Body::ApprovalResolved(answer) => {
            map.text(key!("approval_id"), &answer.approval_id);
            map.word(key!("decision"), answer.decision.as_str());
            map.text_or_null(key!("by"), answer.by.as_deref());
            map.text_or_null(key!("reason"), answer.reason.as_deref());
            map.text_or_null(key!("scope"), answer.scope.as_deref())
        }
        Body::PlanUpdated { entries } => map.list(key!("entries"), entries, plan_entry),
        Body::StatusChanged { old_status, new_status, reason } => {
            map.text(key!("old_status"), old_status);
            map.text(key!("new_status"), new_status);
            map.text_or_null(key!("reason"), reason.as_deref())
        }
        Body::LogEmitted { level, message } => {
            map.word(key!("level"), level.as_str());
            map.text(key!("message"), message)
        }
        Body::ErrorReported(error) => {
            map.word(key!("scope"), error.scope.as_str());
            map.text(key!("code"), &error.code);
            map.text(key!("message"), &error.message);
            map.entry(key!("retryable"), &error.retryable);
            map.entry(key!("attempt"), &error.attempt);
            map.entry(key!("max_attempts"), &error.max_attempts);
            map.entry(key!("http_status"), &error.http_status)
        }
        Body::SubagentStarted { subagent_id, tool_id, agent, task, depth } => {
            map.text(key!("subagent_id"), subagent_id);
            map.entry(key!("tool_id"), tool_id);
            map.text_or_null(key!("agent"), agent.as_deref());
            map.text_or_null(key!("task"), task.as_deref());
            map.entry(key!("depth"), depth)
        }
        Body::SubagentEnded { subagent_id, status, summary } => {
            map.text(key!("subagent_id"), subagent_id);
            map.text(key!("status"), status);
            map.text_or_null(key!("summary"), summary.as_deref())
        }
        Body::HistoryCompacted { trigger, tokens_before, tokens_after, summary } => {
            map.text_or_null(key!("trigger"), trigger.as_deref());
            map.entry(key!("tokens_before"), tokens_before);
            map.entry(key!("tokens_after"), tokens_after);
            map.text_or_null(key!("summary"), summary.as_deref())
        }
        Body::GapDetected { first_seq, last_seq, reason } => {
            map.entry(key!("first_seq"), first_seq);
            map.entry(key!("last_seq"), last_seq);
            map.text(key!("reason"), reason)
        }
        Body::Task(event) => task(map, event),
        Body::ArtifactWritten(artifact) => {
            map.text(key!("artifact_id"), &artifact.artifact_id);
            map.text(key!("kind"), &artifact.kind);
            map.entry(key!("bytes"), &artifact.bytes);
            map.text(key!("digest"), &artifact.digest);
            map.text_or_null(key!("preview"), artifact.preview.as_deref())
        }
        Body::Skill(event) => skill(map, event),
    }
}

fn block_delta(map: &mut ObjectWriter<'_>, block: &BlockDelta, v2: bool) {
    if v2 {
        map.text(key!("message_id"), &block.message_id);
        map.entry(key!("block_index"), &block.block_index);
    }
    map.text(key!("delta"), &block.delta)
}

fn block_text(map: &mut ObjectWriter<'_>, block: &BlockText) {
    map.text(key!("message_id"), &block.message_id);
    map.entry(key!("block_index"), &block.block_index);
    map.text(key!("text"), &block.text)
}

fn tool_ids(map: &mut ObjectWriter<'_>, tool: &Tool, v2: bool) {
    map.id(key!("tool_id"), &tool.id);
    if v2 {
        map.text(key!("call_id"), &tool.call_id);
    }
}

fn tool_call(map: &mut ObjectWriter<'_>, call: &ToolCall, v2: bool) {
    tool_ids(map, &call.tool, v2);
    map.text(key!("name"), &call.name);
    if v2 {
        map.word(key!("kind"), call.kind.as_str());
    }
    // v1 allows only objects.
    if v2 { map.raw(key!("args"), call.args.get()) } else { map.raw(key!("args"), as_object(&call.args).get()) }
}

/// The first fields of a `provider_event`.
fn provider(map: &mut ObjectWriter<'_>, stream: &Stream, status: ProviderStatus) {
    map.text(key!("provider"), stream.provider.name);
    map.word(key!("status"), status.as_str());
}

/// What `data` does not have of a record, and what is wrong with the record.
fn flaws(map: &mut ObjectWriter<'_>, raw: Option<&[u8]>, errors: &RecordErrors, response_errors: &RecordErrors) {
    map.text_or_null(key!("raw"), raw.map(String::from_utf8_lossy).as_deref());
    map.entry(key!("errors"), errors);
    map.entry(key!("response_errors"), response_errors);
}

fn provider_event(map: &mut ObjectWriter<'_>, stream: &Stream, record: &ProviderEvent, shared: &Shared, v2: bool) {
    match record.status {
        ProviderStatus::Event => map.prepared(&shared.record),
        status => provider(map, stream, status),
    }
    map.text_or_null(key!("event_name"), record.event_name.as_deref());
    map.raw(key!("data"), record.data.as_deref().unwrap_or("null"));
    match (record.raw.as_deref(), &record.errors, &record.response_errors) {
        (None, errors, response_errors) if errors.is_empty() && response_errors.is_empty() => {
            map.prepared(&FLAWLESS);
        }
        (raw, errors, response_errors) => flaws(map, raw, errors, response_errors),
    }
    if v2 && !record.redacted_paths.is_empty() {
        map.entry(key!("redacted_paths"), &record.redacted_paths);
    }
    if v2 && let Some(source) = record.source() {
        map.object(key!("source"), |map| {
            map.entry(key!("sse"), &source.sse);
            if let Some(block) = &source.block {
                match std::str::from_utf8(block) {
                    Ok(text) => map.text(key!("block"), text),
                    Err(_) => map.text(key!("block_hex"), &HEXLOWER.encode(block)),
                }
            }
            if let Some(raw) = &source.raw {
                map.text(key!("raw_hex"), &HEXLOWER.encode(raw));
            }
        });
    }
}

fn task(map: &mut ObjectWriter<'_>, event: &TaskEvent) {
    match event {
        TaskEvent::Spawned { task_id, tool_name, args, cwd, title, execution_mode, origin_session_id, artifacts } => {
            map.id(key!("task_id"), task_id);
            map.text(key!("tool_name"), tool_name);
            map.raw(key!("args"), args.get());
            map.text_or_null(key!("cwd"), cwd.as_deref());
            map.text_or_null(key!("title"), title.as_deref());
            map.word(key!("execution_mode"), execution_mode.as_str());
            map.entry(key!("origin_session_id"), origin_session_id);
            map.entry(key!("artifacts"), &artifacts.as_deref())
        }
        TaskEvent::Status { task_id, status, exit_code, started_at_ms, ended_at_ms, artifacts, error } => {
            map.id(key!("task_id"), task_id);
            map.word(key!("status"), status.as_str());
            map.entry(key!("exit_code"), exit_code);
            map.entry(key!("started_at_ms"), started_at_ms);
            map.entry(key!("ended_at_ms"), ended_at_ms);
            map.entry(key!("artifacts"), &artifacts.as_deref());
            map.text_or_null(key!("error"), error.as_deref())
        }
        TaskEvent::CancelRequested { task_id, reason } => {
            map.id(key!("task_id"), task_id);
            map.text(key!("reason"), reason)
        }
        TaskEvent::Cancelled { task_id, reason, wall_time_ms } => {
            map.id(key!("task_id"), task_id);
            map.text(key!("reason"), reason);
            map.entry(key!("wall_time_ms"), wall_time_ms)
        }
        TaskEvent::OutputDelta { task_id, stream, chunk, artifacts } => {
            map.id(key!("task_id"), task_id);
            map.word(key!("stream"), stream.as_str());
            map.text(key!("chunk"), chunk);
            map.entry(key!("artifacts"), &artifacts.as_deref())
        }
        TaskEvent::StdinWritten { task_id, chunk_b64 } => {
            map.id(key!("task_id"), task_id);
            map.text(key!("chunk_b64"), chunk_b64)
        }
        TaskEvent::Resized { task_id, rows, cols } => {
            map.id(key!("task_id"), task_id);
            map.entry(key!("rows"), rows);
            map.entry(key!("cols"), cols)
        }
        TaskEvent::Signalled { task_id, signal } => {
            map.id(key!("task_id"), task_id);
            map.text(key!("signal"), signal)
        }
    }
}

fn skill(map: &mut ObjectWriter<'_>, event: &SkillEvent) {
    match event {
        SkillEvent::CatalogUpdated { count, roots, collisions } => {
            map.entry(key!("count"), count);
            map.entry(key!("roots"), roots);
            map.entry(key!("collisions"), &collisions.as_deref())
        }
        SkillEvent::Loaded { name, path, digest, frontmatter, warnings } => {
            map.text(key!("name"), name);
            map.text(key!("path"), path);
            map.text(key!("digest"), digest);
            map.entry(key!("frontmatter"), &**frontmatter);
            map.entry(key!("warnings"), warnings)
        }
        SkillEvent::Invoked { name, args, mode, effective_allowed_tools } => {
            map.text(key!("name"), name);
            map.entry(key!("args"), &args.as_deref());
            map.word(key!("mode"), mode.as_str());
            map.entry(key!("effective_allowed_tools"), effective_allowed_tools)
        }
        SkillEvent::Warning { name, kind, detail } => {
            map.text_or_null(key!("name"), name.as_deref());
            map.text(key!("kind"), kind);
            map.text(key!("detail"), detail)
        }
    }
}

fn figures(map: &mut ObjectWriter<'_>, figures: &Figures) {
    map.entry(key!("input_tokens"), &figures.input_tokens);
    map.entry(key!("output_tokens"), &figures.output_tokens);
    map.entry(key!("cache_read_tokens"), &figures.cache_read_tokens);
    map.entry(key!("cache_creation_tokens"), &figures.cache_creation_tokens);
    hour_writes(map, figures.cache_creation_1h_tokens);
    map.entry(key!("reasoning_tokens"), &figures.reasoning_tokens);
    map.entry(key!("cost_usd"), &figures.cost_usd);
}

fn hour_writes(map: &mut ObjectWriter<'_>, tokens: Option<u64>) {
    if let Some(tokens) = tokens {
        map.entry(key!("cache_creation_1h_tokens"), &tokens);
    }
}

fn attachment(map: &mut ObjectWriter<'_>, item: &Attachment) {
    map.text(key!("kind"), &item.kind);
    map.text_or_null(key!("mime"), item.mime.as_deref());
    map.text_or_null(key!("artifact_id"), item.artifact_id.as_deref());
    map.entry(key!("name"), &item.name);
    map.entry(key!("bytes"), &item.bytes)
}

fn plan_entry(map: &mut ObjectWriter<'_>, entry: &PlanEntry) {
    map.text(key!("content"), &entry.content);
    map.text(key!("status"), &entry.status);
    map.text_or_null(key!("priority"), entry.priority.as_deref())
}
