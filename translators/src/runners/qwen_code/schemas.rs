//! The known records of each surface: one schema per kind, and the kind of a record.
//!
//! Input: a record. Output: its kind ([`record_kinds`](super::super::record_kinds)), which is the name of its schema. Never: a
//! line of a session file taken for a record of the stream, or the reverse.

use super::super::record_kinds::{kind_of, kind_of_document};
use super::session_file;
use crate::decode::Record;
use crate::schema::{SchemaFile, schemas};
use std::borrow::Cow;

/// The records of `--output-format stream-json`.
pub(super) static STREAM_JSON: &[SchemaFile] = schemas!("runners/qwen-code/stream-json":
    "assistant", "control_cancel_request", "control_request", "control_response", "result.error_during_execution",
    "result.success", "stream_event.content_block_delta", "stream_event.content_block_start",
    "stream_event.content_block_stop", "stream_event.goal_state", "stream_event.message_start",
    "stream_event.message_stop", "stream_event.tool_progress", "system.continue_turn_failed", "system.init",
    "system.model_fallback", "system.retry", "system.session_end", "system.session_recording_degraded",
    "system.session_start", "system.task_notification", "system.task_started", "system.vision_bridge",
    "system.vision_bridge_failed", "system.vision_routing", "system.worktree_restored", "system.worktree_started",
    "user",
);

/// The output of `--output-format json`.
pub(super) static JSON: &[SchemaFile] = schemas!("runners/qwen-code/json": "frames");

/// The lines of a session file.
pub(super) static SESSION: &[SchemaFile] = schemas!("runners/qwen-code/session":
    "assistant", "system.agent_bootstrap", "system.agent_launch_prompt", "system.agent_session_ready",
    "system.at_command", "system.attribution_snapshot", "system.background_task_completed",
    "system.branch_checkpoint", "system.chat_compression", "system.custom_title", "system.file_history_snapshot",
    "system.goal_state", "system.goal_turn_end", "system.omni_recall", "system.parent_session", "system.rewind",
    "system.session_artifact_event", "system.session_artifact_snapshot", "system.session_model",
    "system.session_source", "system.session_sources_snapshot", "system.slash_command", "system.turn_result",
    "system.ui_telemetry", "system.user_text_elements", "tool_result", "user",
);

/// The kind of a record of the stream. A line of a session file has one that the stream does not have.
pub(super) fn kind_of_record<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    if session_file::is_entry(&record.fields) {
        return Some(Cow::Owned(format!("session.{}", kind_of(&record.fields, SESSION)?)));
    }
    kind_of(&record.fields, STREAM_JSON)
}

/// The kind of a line of a session file. A record of the stream has one that session files do not have.
pub(super) fn kind_of_entry<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    if session_file::is_entry(&record.fields) {
        return kind_of(&record.fields, SESSION);
    }
    Some(Cow::Owned(format!("stream.{}", kind_of(&record.fields, STREAM_JSON)?)))
}

/// The kind of the only record of `--output-format json`.
pub(super) fn kind_of_json<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    kind_of_document("frames", record.json, &record.fields, STREAM_JSON)
}
