//! The known records of each surface: one schema per kind, and the kind of a record.
//!
//! Input: a record. Output: its kind ([`record_kinds`](super::super::record_kinds)), which is the name of its schema. Never: a
//! record without a kind because its kind has no schema.

use super::super::record_kinds::{kind_of, kind_of_document};
use crate::decode::Record;
use crate::schema::{SchemaFile, schemas};
use std::borrow::Cow;

/// The records of `--output-format stream-json`.
pub(super) static STREAM_JSON: &[SchemaFile] = schemas!("runners/claude-code/stream-json":
    "active_goal", "assistant", "attachment", "auth_status", "command_lifecycle", "control_cancel_request",
    "control_request", "control_response", "conversation_reset", "keep_alive", "prompt_suggestion",
    "rate_limit_event", "result.error_during_execution", "result.error_max_budget_usd",
    "result.error_max_structured_output_retries", "result.error_max_turns", "result.success",
    "stream_event.content_block_delta", "stream_event.content_block_start", "stream_event.content_block_stop",
    "stream_event.message_delta", "stream_event.message_start", "stream_event.message_stop",
    "system.agents_killed", "system.api_error", "system.api_retry", "system.away_summary",
    "system.background_tasks_changed", "system.bridge_state", "system.checkpoint_done",
    "system.cloud_session_delta", "system.cloud_session_status", "system.code_change_published",
    "system.commands_changed", "system.compact_boundary", "system.control_request_progress", "system.dev_intent",
    "system.elicitation_complete", "system.feedback_draft_queued", "system.file_attachments_missing",
    "system.file_snapshot", "system.files_persisted", "system.hook_progress", "system.hook_response",
    "system.hook_started", "system.informational", "system.inherited_asks_settled", "system.init",
    "system.instruction_size_warning", "system.late_allow_not_run", "system.local_command",
    "system.local_command_output", "system.memory_recall", "system.memory_saved", "system.mirror_error",
    "system.model_consent_fallback", "system.model_fallback", "system.model_refusal_fallback",
    "system.model_refusal_no_fallback", "system.notification", "system.peer_message_hold",
    "system.per_turn_effort_changed", "system.permission_check_status", "system.permission_denied",
    "system.permission_retry", "system.plugin_install", "system.post_turn_summary", "system.rewind_stand_in",
    "system.scheduled_task_fire", "system.session_metadata", "system.session_state_changed",
    "system.session_title_changed", "system.session_writes_lost", "system.shell_cwd", "system.start_folder",
    "system.status", "system.stop_hook_summary", "system.task_list_statuses", "system.task_notification",
    "system.task_progress", "system.task_started", "system.task_summary", "system.task_updated", "system.thinking",
    "system.thinking_tokens", "system.tool_host_result", "system.turn_began_before_init", "system.turn_duration",
    "system.turn_handoff_available", "system.turn_preempted", "system.turn_starting", "system.ui_focus",
    "system.ui_invalidate", "system.ui_log", "system.ui_notify", "system.ui_notify_cancel", "system.ui_panes",
    "system.ui_placed", "system.ui_scroll", "system.ui_status", "system.ui_toast", "system.vcs_state_changed",
    "system.voice_call_talk", "system.worker_shutting_down", "task_assignment", "task_completed", "tombstone",
    "tool_progress", "tool_use_summary", "transcript_mirror", "user",
);

/// The output of `--output-format json`.
pub(super) static JSON: &[SchemaFile] = schemas!("runners/claude-code/json":
    "frames", "result.error_during_execution", "result.error_max_budget_usd",
    "result.error_max_structured_output_retries", "result.error_max_turns", "result.success",
);

/// The lines of a session transcript.
pub(super) static TRANSCRIPT: &[SchemaFile] = schemas!("runners/claude-code/transcript":
    "agent-name", "agent-setting", "ai-title", "api-request", "api-request-blob", "api-request-shape", "assistant",
    "atis-latch", "attachment", "content-replacement", "cost-state", "custom-title", "file-history-snapshot",
    "last-prompt", "mode", "permission-mode", "pr-link", "progress", "queue-operation", "summary",
    "system.agents_killed", "system.api_error", "system.away_summary", "system.compact_boundary",
    "system.informational", "system.local_command", "system.memory_saved", "system.model_fallback",
    "system.model_refusal_fallback", "system.model_refusal_no_fallback", "system.permission_retry",
    "system.scheduled_task_fire", "system.stop_hook_summary", "system.turn_duration", "tag", "task-summary",
    "tools-used", "user", "worktree-state",
);

/// The kind of a stream record or transcript line.
pub(super) fn kind_of_record<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    kind_of(&record.fields, known())
}

/// The kind of the only record of `--output-format json`: a result, or the array of all records.
pub(super) fn kind_of_json<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    kind_of_document("frames", record.json, &record.fields, known())
}

fn known() -> impl Iterator<Item = &'static SchemaFile> {
    STREAM_JSON.iter().chain(TRANSCRIPT)
}
