//! The known records: one schema per kind, and the kind of a record.
//!
//! Input: a record. Output: its kind, which is its type and the name of its schema. Never: a read of any other part of the record. A kind
//! without a schema is still returned; it shows that the runner has something new.

use crate::decode::Record;
use crate::json::Object;
use crate::schema::{SchemaFile, schemas};
use std::borrow::Cow;

/// The records of the JSON and RPC modes, and the entries of session files. No kind is in both but the head, which is the same.
pub(super) static RECORDS: &[SchemaFile] = schemas!(
    "runners/pi/records":
    "agent_end",
    "agent_settled",
    "agent_start",
    "auto_retry_end",
    "auto_retry_start",
    "bash_execution_update",
    "branch_summary",
    "compaction",
    "compaction_end",
    "compaction_start",
    "context_edit",
    "custom",
    "custom_message",
    "entry_appended",
    "extension_error",
    "extension_ui_request",
    "label",
    "message",
    "message_end",
    "message_start",
    "message_update",
    "model_change",
    "queue_update",
    "response",
    "session",
    "session_info",
    "session_info_changed",
    "summarization_retry_attempt_start",
    "summarization_retry_finished",
    "summarization_retry_scheduled",
    "thinking_level_change",
    "thinking_level_changed",
    "tool_execution_end",
    "tool_execution_start",
    "tool_execution_update",
    "turn_end",
    "turn_start",
    "usage",
);

/// The kind of a record of the stream, or of a line of a session file.
pub(super) fn kind_of_record<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    kind_of(&record.fields)
}

fn kind_of<'a>(fields: &Object<'a>) -> Option<Cow<'a, str>> {
    fields.str("type").filter(|kind| !kind.is_empty())
}
