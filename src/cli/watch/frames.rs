//! Frames from the events of `frames.v2`.
//!
//! Input: the JSON of an event. Output: its frame, as far as text needs it: without the record of the runner, which the frames after it
//! describe, and without the runner's name, which no event has. Never: an error because of an event of a later version, which is left out.

use framegate_translators::frame::{
    ApprovalRequested, ApprovalResolved, ArtifactWritten, Attachment, BlockDelta, BlockText, Body, CheckpointAction,
    Decision, EndReason, ErrorReported, ErrorScope, ExecutionMode, FileChangeKind, FileChanged, Frame, LogLevel,
    OutputStream, PlanEntry, Provider, Session, SessionEnded, SharedStr, SkillEvent, SkillMode, Stream, StreamKind,
    TaskEvent, TaskStatus, Tool, ToolCall, ToolKind, Usage, UsageScope, UserMessage,
};
use framegate_translators::json::{Json, Object, RawJson, empty_object};
use std::sync::Arc;
use uuid::Uuid;

/// The event types that are read, and that a feed is asked for.
pub(super) const TYPES: &[&str] = &[
    "session_started",
    "session_ended",
    "turn_started",
    "user_message",
    "output_text_delta",
    "output_text_completed",
    "reasoning_delta",
    "reasoning_completed",
    "tool_call_proposed",
    "tool_started",
    "tool_stdout",
    "tool_stderr",
    "tool_ended",
    "tool_failed",
    "file_changed",
    "usage_reported",
    "approval_requested",
    "approval_resolved",
    "plan_updated",
    "log_emitted",
    "error_reported",
    "subagent_started",
    "subagent_ended",
    "history_compacted",
    "gap_detected",
    "checkpoint_created",
    "checkpoint_rewound",
    "checkpoint_failed",
    "artifact_written",
    "skill_invoked",
    "skill_warning",
    "tool_task_spawned",
    "tool_task_status",
    "tool_task_output_delta",
];

/// No event has the runner's name.
const PROVIDER: Provider = Provider { name: "", title: "" };

/// The frame of an event; `None` if it is of another type, or not an event of `frames.v2`.
pub(super) fn read(event: &[u8]) -> Option<Frame> {
    let event = Object::parse(std::str::from_utf8(event).ok()?)?;
    let kind = event.str("type")?;
    if !TYPES.contains(&&*kind) {
        return None;
    }
    let body = body(&kind, &event)?;
    let stream_kind = event.str("stream_kind")?;
    let stream_kind = StreamKind::ALL.into_iter().find(|kind| kind.as_str() == stream_kind)?;
    let id = id(&event, "stream_id")?;
    let session = Arc::new(Session { id, name: Arc::from("") });
    let stream = Arc::new(Stream { kind: stream_kind, id, session, origin_run: None, provider: PROVIDER });
    Some(Frame {
        stream,
        seq: event.u64("seq")?,
        timestamp_ms: event.u64("timestamp_ms")?,
        parent_tool_id: self::id(&event, "parent_tool_id"),
        given_id: None,
        body,
    })
}

fn id(event: &Object<'_>, key: &str) -> Option<Uuid> {
    Uuid::try_parse(&event.str(key)?).ok()
}

fn text(event: &Object<'_>, key: &str) -> String {
    event.str(key).map(String::from).unwrap_or_default()
}

fn optional(event: &Object<'_>, key: &str) -> Option<String> {
    event.str(key).map(String::from)
}

fn shared(event: &Object<'_>, key: &str) -> SharedStr {
    SharedStr::from(&*event.str(key).unwrap_or_default())
}

fn optional_shared(event: &Object<'_>, key: &str) -> Option<SharedStr> {
    event.str(key).map(|text| SharedStr::from(&*text))
}

fn small(event: &Object<'_>, key: &str) -> Option<u32> {
    event.u64(key).and_then(|count| u32::try_from(count).ok())
}

fn code(event: &Object<'_>, key: &str) -> Option<i32> {
    event.i64(key).and_then(|code| i32::try_from(code).ok())
}

fn raw(event: &Object<'_>, key: &str) -> RawJson {
    event.get(key).map_or_else(empty_object, Json::to_raw)
}

/// The value that has this name.
fn word<T: Copy>(all: &[T], name: fn(T) -> &'static str, event: &Object<'_>, key: &str) -> Option<T> {
    let given = event.str(key)?;
    all.iter().copied().find(|one| name(*one) == given)
}

fn body(kind: &str, event: &Object<'_>) -> Option<Body> {
    Some(match kind {
        "session_started" => Body::SessionStarted { input: text(event, "input") },
        "session_ended" => Body::SessionEnded(Box::new(SessionEnded {
            reason: word(&REASONS, EndReason::as_str, event, "reason")?,
            final_text: optional(event, "final_text"),
            error_code: optional_shared(event, "error_code"),
            message: optional(event, "message"),
        })),
        "turn_started" => Body::TurnStarted {
            turn_index: small(event, "turn_index").unwrap_or_default(),
            model: optional_shared(event, "model"),
        },
        "user_message" => Body::UserMessage(Box::new(UserMessage {
            message_id: shared(event, "message_id"),
            text: text(event, "text"),
            attachments: event
                .items("attachments")
                .into_iter()
                .filter_map(Json::object)
                .map(|item| attachment(&item))
                .collect(),
        })),
        "output_text_delta" => Body::OutputTextDelta(delta(event)),
        "reasoning_delta" => Body::ReasoningDelta(delta(event)),
        "output_text_completed" => Body::OutputTextCompleted(block(event)),
        "reasoning_completed" => Body::ReasoningCompleted { block: block(event), opaque: None },
        "file_changed" => Body::FileChanged(Box::new(FileChanged {
            tool_id: id(event, "tool_id"),
            path: text(event, "path"),
            kind: word(&CHANGES, FileChangeKind::as_str, event, "kind")?,
            diff: optional(event, "diff"),
            artifact_id: optional_shared(event, "artifact_id"),
        })),
        "usage_reported" => Body::UsageReported(Box::new(usage(event)?)),
        "approval_requested" => Body::ApprovalRequested(Box::new(ApprovalRequested {
            approval_id: shared(event, "approval_id"),
            tool_id: id(event, "tool_id"),
            tool_name: shared(event, "tool_name"),
            args: raw(event, "args"),
            reason: optional(event, "reason"),
        })),
        "approval_resolved" => Body::ApprovalResolved(Box::new(ApprovalResolved {
            approval_id: shared(event, "approval_id"),
            decision: word(&DECISIONS, Decision::as_str, event, "decision")?,
            by: optional_shared(event, "by"),
            reason: optional(event, "reason"),
            scope: optional_shared(event, "scope"),
        })),
        "plan_updated" => Body::PlanUpdated {
            entries: event
                .items("entries")
                .into_iter()
                .filter_map(Json::object)
                .map(|entry| plan_entry(&entry))
                .collect(),
        },
        "log_emitted" => Body::LogEmitted {
            level: word(&LEVELS, LogLevel::as_str, event, "level")?,
            message: text(event, "message"),
        },
        "error_reported" => Body::ErrorReported(Box::new(ErrorReported {
            scope: word(&SCOPES, ErrorScope::as_str, event, "scope")?,
            code: shared(event, "code"),
            message: text(event, "message"),
            retryable: event.bool("retryable").unwrap_or_default(),
            attempt: small(event, "attempt"),
            max_attempts: small(event, "max_attempts"),
            http_status: event.u64("http_status").and_then(|status| u16::try_from(status).ok()),
        })),
        "subagent_started" => Body::SubagentStarted {
            subagent_id: shared(event, "subagent_id"),
            tool_id: id(event, "tool_id"),
            agent: optional_shared(event, "agent"),
            task: optional(event, "task"),
            depth: small(event, "depth").unwrap_or(1),
        },
        "subagent_ended" => Body::SubagentEnded {
            subagent_id: shared(event, "subagent_id"),
            status: shared(event, "status"),
            summary: optional(event, "summary"),
        },
        "history_compacted" => Body::HistoryCompacted {
            trigger: optional_shared(event, "trigger"),
            tokens_before: event.u64("tokens_before"),
            tokens_after: event.u64("tokens_after"),
            summary: None,
        },
        "gap_detected" => Body::GapDetected {
            first_seq: event.u64("first_seq"),
            last_seq: event.u64("last_seq"),
            reason: text(event, "reason"),
        },
        kind if kind.starts_with("tool_task_") => Body::Task(Box::new(task(kind, event)?)),
        kind if kind.starts_with("tool_") => tool(kind, event)?,
        kind => other(kind, event)?,
    })
}

const REASONS: [EndReason; 3] = [EndReason::Completed, EndReason::Failed, EndReason::Interrupted];
const CHANGES: [FileChangeKind; 4] =
    [FileChangeKind::Add, FileChangeKind::Modify, FileChangeKind::Delete, FileChangeKind::Move];
const DECISIONS: [Decision; 4] = [Decision::Approved, Decision::Rejected, Decision::TimedOut, Decision::Cancelled];
const LEVELS: [LogLevel; 4] = [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error];
const SCOPES: [ErrorScope; 3] = [ErrorScope::Run, ErrorScope::Turn, ErrorScope::Provider];
const ACTIONS: [CheckpointAction; 2] = [CheckpointAction::Create, CheckpointAction::Rewind];
const STATES: [TaskStatus; 5] =
    [TaskStatus::Queued, TaskStatus::Running, TaskStatus::Exited, TaskStatus::Cancelled, TaskStatus::Failed];
const KINDS: [ToolKind; 10] = [
    ToolKind::Shell,
    ToolKind::Read,
    ToolKind::Write,
    ToolKind::Edit,
    ToolKind::Search,
    ToolKind::Fetch,
    ToolKind::Mcp,
    ToolKind::Plan,
    ToolKind::Subagent,
    ToolKind::Other,
];

fn delta(event: &Object<'_>) -> BlockDelta {
    BlockDelta {
        message_id: shared(event, "message_id"),
        block_index: small(event, "block_index").unwrap_or_default(),
        delta: text(event, "delta"),
    }
}

fn block(event: &Object<'_>) -> BlockText {
    BlockText {
        message_id: shared(event, "message_id"),
        block_index: small(event, "block_index").unwrap_or_default(),
        text: text(event, "text"),
    }
}

fn attachment(item: &Object<'_>) -> Attachment {
    Attachment {
        kind: shared(item, "kind"),
        mime: optional_shared(item, "mime"),
        artifact_id: optional_shared(item, "artifact_id"),
        name: optional(item, "name"),
        bytes: item.u64("bytes"),
    }
}

fn plan_entry(entry: &Object<'_>) -> PlanEntry {
    PlanEntry {
        content: text(entry, "content"),
        status: shared(entry, "status"),
        priority: optional_shared(entry, "priority"),
    }
}

fn usage(event: &Object<'_>) -> Option<Usage> {
    Some(Usage {
        scope: word(&[UsageScope::Turn, UsageScope::Run], UsageScope::as_str, event, "scope")?,
        model: optional_shared(event, "model"),
        input_tokens: event.u64("input_tokens").unwrap_or_default(),
        output_tokens: event.u64("output_tokens").unwrap_or_default(),
        cache_read_tokens: event.u64("cache_read_tokens"),
        cache_creation_tokens: event.u64("cache_creation_tokens"),
        cache_creation_1h_tokens: event.u64("cache_creation_1h_tokens"),
        reasoning_tokens: event.u64("reasoning_tokens"),
        cost_usd: event.f64("cost_usd"),
        main_thread: None,
        running: None,
        by_model: Vec::new(),
    })
}

fn tool(kind: &str, event: &Object<'_>) -> Option<Body> {
    let tool = Tool { id: id(event, "tool_id")?, call_id: shared(event, "call_id") };
    let chunk = || text(event, "chunk");
    Some(match kind {
        "tool_call_proposed" => Body::ToolCallProposed(Box::new(tool_call(tool, event))),
        "tool_started" => Body::ToolStarted { call: Box::new(tool_call(tool, event)), timeout_ms: None },
        "tool_stdout" if event.str("position").as_deref() == Some("front") => {
            Body::ToolStdoutFront { tool, chunk: chunk() }
        }
        "tool_stdout" => Body::ToolStdout { tool, chunk: chunk() },
        "tool_stderr" => Body::ToolStderr { tool, chunk: chunk() },
        "tool_ended" => Body::ToolEnded {
            tool,
            exit_code: code(event, "exit_code").unwrap_or_default(),
            duration_ms: event.u64("duration_ms").unwrap_or_default(),
            artifacts: event.some("artifacts").map(Json::to_raw),
        },
        "tool_failed" => Body::ToolFailed { tool, error: text(event, "error") },
        _ => return None,
    })
}

fn tool_call(tool: Tool, event: &Object<'_>) -> ToolCall {
    let kind = word(&KINDS, ToolKind::as_str, event, "kind").unwrap_or(ToolKind::Other);
    ToolCall { tool, name: shared(event, "name"), kind, args: raw(event, "args") }
}

fn task(kind: &str, event: &Object<'_>) -> Option<TaskEvent> {
    let task_id = id(event, "task_id")?;
    Some(match kind {
        "tool_task_spawned" => TaskEvent::Spawned {
            task_id,
            tool_name: shared(event, "tool_name"),
            args: raw(event, "args"),
            cwd: optional(event, "cwd"),
            title: optional(event, "title"),
            execution_mode: ExecutionMode::Pipes,
            origin_session_id: None,
            artifacts: None,
        },
        "tool_task_status" => TaskEvent::Status {
            task_id,
            status: word(&STATES, TaskStatus::as_str, event, "status")?,
            exit_code: code(event, "exit_code"),
            started_at_ms: event.u64("started_at_ms"),
            ended_at_ms: event.u64("ended_at_ms"),
            artifacts: event.some("artifacts").map(Json::to_raw),
            error: optional(event, "error"),
        },
        "tool_task_output_delta" => TaskEvent::OutputDelta {
            task_id,
            stream: OutputStream::Stdout,
            chunk: text(event, "chunk"),
            artifacts: None,
        },
        _ => return None,
    })
}

fn other(kind: &str, event: &Object<'_>) -> Option<Body> {
    let files = || event.items("files").into_iter().filter_map(Json::str).map(String::from).collect();
    Some(match kind {
        "checkpoint_created" => Body::CheckpointCreated {
            checkpoint_id: id(event, "checkpoint_id")?,
            label: text(event, "label"),
            created_at_ms: event.u64("created_at_ms").unwrap_or_default(),
            files: files(),
            auto: event.bool("auto").unwrap_or_default(),
            tool_name: optional_shared(event, "tool_name"),
        },
        "checkpoint_rewound" => Body::CheckpointRewound {
            checkpoint_id: id(event, "checkpoint_id")?,
            label: text(event, "label"),
            files: files(),
        },
        "checkpoint_failed" => Body::CheckpointFailed {
            action: word(&ACTIONS, CheckpointAction::as_str, event, "action")?,
            error: text(event, "error"),
        },
        "artifact_written" => Body::ArtifactWritten(Box::new(ArtifactWritten {
            artifact_id: shared(event, "artifact_id"),
            kind: shared(event, "kind"),
            bytes: event.u64("bytes").unwrap_or_default(),
            digest: shared(event, "digest"),
            preview: None,
        })),
        "skill_invoked" => Body::Skill(Box::new(SkillEvent::Invoked {
            name: shared(event, "name"),
            args: None,
            mode: SkillMode::Auto,
            effective_allowed_tools: None,
        })),
        "skill_warning" => Body::Skill(Box::new(SkillEvent::Warning {
            name: optional_shared(event, "name"),
            kind: shared(event, "kind"),
            detail: text(event, "detail"),
        })),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::terminal::{Look, Terminal};
    use framegate_translators::contracts::contract;
    use framegate_translators::encode::{EncoderOptions, EventRef};
    use framegate_translators::framing::Limits;
    use framegate_translators::pipeline::{Ingest, Translator};
    use framegate_translators::runners::RUNNERS;
    use framegate_translators::sequence::Identity;

    const LOOK: Look = Look { columns: 100, has_colour: true, has_labels: false };

    #[test]
    fn every_type_is_one_of_the_contract() {
        let contract = contract("frames.v2").unwrap();
        for kind in TYPES {
            assert!(contract.schemas.iter().any(|schema| schema.kind == *kind), "{kind}");
        }
    }

    #[test]
    fn the_text_of_events_is_the_text_of_their_frames() {
        let v2 = contract("frames.v2").unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for runner in RUNNERS {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner.name);
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() || path.ends_with("MANIFEST.json") {
                    continue;
                }
                let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
                let mut translator = Translator::new(
                    Ingest::new(runner, None, Limits::default(), identity),
                    v2,
                    EncoderOptions::default(),
                );
                let (mut direct, mut read_back) = (Terminal::new(LOOK), Terminal::new(LOOK));
                let (mut one, mut two) = (String::new(), String::new());
                let mut sink = |frame: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| {
                    direct.frame(frame, &mut one);
                    for event in events {
                        if let Some(frame) = read(event.payload) {
                            seen.insert(event.kind);
                            read_back.frame(&frame, &mut two);
                        }
                    }
                };
                translator.feed(&std::fs::read(&path).unwrap(), 1_700_000_000_000, &mut sink);
                translator.finish(1_700_000_000_000, &mut sink);
                direct.finish(&mut one);
                read_back.finish(&mut two);
                assert_eq!(two, one, "{}", path.display());
            }
        }
        for kind in ["approval_resolved", "file_changed", "subagent_ended", "tool_task_status", "plan_updated"] {
            assert!(seen.contains(kind), "no recording has a {kind}");
        }
    }

    #[test]
    fn what_is_not_an_event_is_left_out() {
        for event in [&b"{}"[..], b"\xff", b"[]", br#"{"type":"later_type"}"#, br#"{"type":"provider_event"}"#] {
            assert!(read(event).is_none());
        }
    }
}
