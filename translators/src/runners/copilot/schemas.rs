//! The known records of each surface: one schema per kind, and the kind of a record, which is its type.
//!
//! Input: a record. Output: its kind. Never: a read of any other part of the record. A kind without a schema is still returned; it
//! shows that the runner has something new.

use crate::decode::Record;
use crate::schema::{SchemaFile, schemas};
use std::borrow::Cow;

/// The events of `--output-format json`.
pub(super) static JSON: &[SchemaFile] = schemas!("runners/copilot/json":
    "abort", "agent.interrupted", "assistant.idle", "assistant.intent", "assistant.message",
    "assistant.message_delta", "assistant.message_start", "assistant.reasoning", "assistant.reasoning_delta",
    "assistant.streaming_delta", "assistant.tool_call_delta", "assistant.turn_end", "assistant.turn_retry",
    "assistant.turn_start", "assistant.usage", "elicitation.completed", "elicitation.requested",
    "exit_plan_mode.completed", "exit_plan_mode.requested", "hook.end", "hook.progress", "hook.start",
    "model.call_failure", "model.call_final_result", "model.call_finished", "model.call_start", "result",
    "session.background_tasks_changed", "session.context_changed", "session.error", "session.idle",
    "session.info", "session.mcp_server_status_changed", "session.mcp_server_tools_loaded",
    "session.mcp_servers_loaded", "session.mode_changed", "session.permissions_changed",
    "session.plan_changed", "session.session_limits_changed", "session.skills_loaded",
    "session.task_complete", "session.title_changed", "session.todos_changed", "session.tools_updated",
    "session.truncation", "session.usage_info", "session.warning", "skill.invoked", "subagent.completed",
    "subagent.configured", "subagent.deselected", "subagent.failed", "subagent.selected", "subagent.started",
    "system.notification", "tool.execution_complete", "tool.execution_partial_result",
    "tool.execution_progress", "tool.execution_start", "tool.shell_output", "tool.user_requested",
    "user.message", "user_input.completed", "user_input.requested",
);

/// The lines of a session file.
pub(super) static SESSION: &[SchemaFile] = schemas!("runners/copilot/session":
    "abort", "assistant.message", "assistant.turn_end", "assistant.turn_start", "hook.end", "hook.start",
    "permission.completed", "permission.requested", "session.binary_asset", "session.compaction_complete",
    "session.compaction_start", "session.context_changed", "session.error", "session.info",
    "session.mode_changed", "session.model_change", "session.permissions_changed", "session.plan_changed",
    "session.resume", "session.session_limits_changed", "session.shutdown", "session.start",
    "session.task_complete", "session.title_changed", "session.truncation", "session.usage_checkpoint",
    "session.usage_record", "session.warning", "skill.invoked", "subagent.completed", "subagent.configured",
    "subagent.deselected", "subagent.failed", "subagent.selected", "subagent.started", "system.message",
    "system.notification", "tool.execution_complete", "tool.execution_start", "tool.user_requested",
    "user.message",
);

/// The kind of a record.
pub(super) fn kind_of<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    record.fields.str("type").filter(|kind| !kind.is_empty())
}
