//! The known records of each surface: one schema per kind, and the kind of a record.
//!
//! Input: a record. Output: its kind, which is its type and the name of its schema. Never: a read of any other part of the record. A kind
//! without a schema is still returned; it shows that the runner has something new.

use crate::decode::Record;
use crate::json::Object;
use crate::schema::SchemaFile;
use std::borrow::Cow;

macro_rules! schemas {
    ($surface:literal: $($kind:literal),+ $(,)?) => {
        &[$(SchemaFile {
            kind: $kind,
            text: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/schemas/runners/pi/", $surface, "/", $kind, ".schema.json"
            )),
        }),+]
    };
}

/// The records of the JSON and RPC modes.
pub(super) const STREAM: &[SchemaFile] = schemas!("stream":
    "agent_end", "agent_settled", "agent_start", "auto_retry_end", "auto_retry_start",
    "bash_execution_update", "compaction_end", "compaction_start", "entry_appended", "extension_error",
    "extension_ui_request", "message_end", "message_start", "message_update", "queue_update", "response",
    "session", "session_info_changed", "summarization_retry_attempt_start", "summarization_retry_finished",
    "summarization_retry_scheduled", "thinking_level_changed", "tool_execution_end", "tool_execution_start",
    "tool_execution_update", "turn_end", "turn_start",
);

/// The lines of a session file.
pub(super) const SESSION: &[SchemaFile] = schemas!("session":
    "branch_summary", "compaction", "context_edit", "custom", "custom_message", "label", "message",
    "model_change", "session", "session_info", "thinking_level_change", "usage",
);

/// The kind of a record of the stream, or of a line of a session file.
pub(super) fn kind_of_record<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    kind_of(&record.fields)
}

fn kind_of<'a>(fields: &Object<'a>) -> Option<Cow<'a, str>> {
    fields.str("type").filter(|kind| !kind.is_empty())
}
