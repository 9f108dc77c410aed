//! The known messages: one schema per kind, and the kind of a message.
//!
//! Input: a message of either side. Output: the name of its schema. Never: a verdict; the protocol permits extensions, so unknown
//! fields are drift and no violation.

use crate::decode::Record;
use crate::schema::{SchemaFile, schemas};
use std::borrow::Cow;

/// The method of a request or notification; for `session/update`, with the kind of the update; `response` for an answer.
pub(super) fn kind_of<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    let fields = &record.fields;
    let Some(method) = fields.str("method") else {
        fields.get("id")?;
        if fields.some("error").is_some() {
            return Some(Cow::Borrowed("error"));
        }
        return fields.get("result").map(|_| Cow::Borrowed("response"));
    };
    if method != "session/update" {
        return Some(method);
    }
    let kind =
        fields.object("params").and_then(|params| params.object("update")?.str("sessionUpdate").map(Cow::into_owned));
    Some(kind.map_or(Cow::Borrowed("session/update"), |kind| Cow::Owned(format!("session/update.{kind}"))))
}

/// The messages of both sides.
pub(super) static STDIO: &[SchemaFile] = schemas!(
    "runners/acp/stdio":
    "$/cancel_request",
    "_auth/status_update",
    "authenticate",
    "craft/drainMidTurnQueue",
    "elicitation/complete",
    "elicitation/create",
    "error",
    "fs/read_text_file",
    "fs/write_text_file",
    "initialize",
    "logout",
    "qwen/notify/session/mode-update",
    "response",
    "session/cancel",
    "session/close",
    "session/delete",
    "session/fork",
    "session/list",
    "session/load",
    "session/new",
    "session/prompt",
    "session/request_permission",
    "session/resume",
    "session/set_config_option",
    "session/set_mode",
    "session/set_model",
    "session/update.agent_message",
    "session/update.agent_message_chunk",
    "session/update.agent_thought",
    "session/update.agent_thought_chunk",
    "session/update.available_commands_update",
    "session/update.compaction_summary_chunk",
    "session/update.compaction_update",
    "session/update.config_option_update",
    "session/update.current_mode_update",
    "session/update.notice",
    "session/update.plan",
    "session/update.plan_removed",
    "session/update.plan_update",
    "session/update.session_info_update",
    "session/update.state_update",
    "session/update.terminal_output_chunk",
    "session/update.terminal_update",
    "session/update.tool_call",
    "session/update.tool_call_content_chunk",
    "session/update.tool_call_update",
    "session/update.usage_update",
    "session/update.user_message",
    "session/update.user_message_chunk",
    "terminal/create",
    "terminal/kill",
    "terminal/output",
    "terminal/release",
    "terminal/wait_for_exit",
);
