//! The known records of each surface: one schema per kind, and the kind of a record.
//!
//! Input: a record. Output: its kind, which is the name of its schema. Never: a read of any part of the record but the fields that
//! tell its kind. A kind without a schema is still returned; it shows that the runner has something new.

use crate::decode::Record;
use crate::json::Json;
use crate::schema::{SchemaFile, schemas};
use std::borrow::Cow;

/// The records of `--output-format stream-json`.
pub(super) static STREAM_JSON: &[SchemaFile] = schemas!("runners/gemini-cli/stream-json":
    "error", "init", "message.assistant", "message.user", "result", "tool_result", "tool_use",
);

/// The output of `--output-format json`.
pub(super) static JSON: &[SchemaFile] = schemas!("runners/gemini-cli/json": "document");

/// The lines of a chat file.
pub(super) static CHAT: &[SchemaFile] =
    schemas!("runners/gemini-cli/chat": "error", "gemini", "head", "info", "rewind", "set", "user", "warning");

/// The kind of a record of the stream.
pub(super) fn kind_of_record<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    let kind = word(record.fields.get("type"))?;
    if kind != "message" {
        return Some(kind);
    }
    match &*word(record.fields.get("role"))? {
        "assistant" => Some(Cow::Borrowed("message.assistant")),
        "user" => Some(Cow::Borrowed("message.user")),
        role => Some(Cow::Owned(format!("message.{role}"))),
    }
}

/// The kind of the only record of `--output-format json`.
pub(super) fn kind_of_document<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    if record.fields.get("type").is_some() {
        return kind_of_record(record);
    }
    // The head of a chat file and its changes have no type either.
    kind_of_line(record).or(Some(Cow::Borrowed("document")))
}

/// The kind of a line of a chat file.
pub(super) fn kind_of_line<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    let has = |key: &str| record.fields.get(key).is_some();
    if has("$set") {
        Some(Cow::Borrowed("set"))
    } else if has("$rewindTo") {
        Some(Cow::Borrowed("rewind"))
    } else if has("projectHash") {
        Some(Cow::Borrowed("head"))
    } else {
        word(record.fields.get("type"))
    }
}

fn word(value: Option<Json<'_>>) -> Option<Cow<'_, str>> {
    value?.str().filter(|word| !word.is_empty())
}
