//! Recognition of Gemini CLI's records.
//!
//! Input: a record. Output: why it must be Gemini CLI's. The types of the stream are words that other runners also use, so a record needs a
//! time in words and a field of its own as well. Never: a record with a session's or a message's id in the spelling of another runner.

use super::chat;
use crate::decode::Record;
use crate::json::{Kind, Object};

/// A record of `--output-format stream-json`.
pub(super) fn stream_json(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    fields.str("timestamp")?;
    let own: &[&str] = match &*fields.str("type")? {
        "init" => &["type", "timestamp", "session_id", "model"],
        "message" => &["type", "timestamp", "role", "content", "delta"],
        "tool_use" => &["type", "timestamp", "tool_name", "tool_id", "parameters"],
        "tool_result" => &["type", "timestamp", "tool_id", "status", "output", "error"],
        "error" => &["type", "timestamp", "severity", "message"],
        "result" => &["type", "timestamp", "status", "error", "stats"],
        _ => return None,
    };
    if fields.iter().any(|(name, _)| !own.contains(&name)) {
        return None;
    }
    let has = |key: &str| fields.get(key).is_some_and(|value| value.kind() == Kind::String);
    match &*fields.str("type")? {
        "init" => (has("session_id") && has("model")).then_some("an init with a session_id, a model and a time"),
        "message" => (has("role") && has("content")).then_some("a message with a role, content and a time"),
        "tool_use" => (has("tool_id") && has("tool_name")).then_some("a tool_use with tool_id and tool_name"),
        "tool_result" => (has("tool_id") && has("status")).then_some("a tool_result with tool_id and status"),
        "error" => (has("severity") && has("message")).then_some("an error with a severity"),
        _ => (has("status") && fields.object("stats").is_some()).then_some("a result with status and stats"),
    }
}

/// The only record of `--output-format json`.
pub(super) fn json(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    let own = ["session_id", "response", "stats", "error", "warnings", "auth_method", "user_email"];
    if record.index > 0 || fields.str("session_id").is_none() || fields.iter().any(|(name, _)| !own.contains(&name)) {
        return None;
    }
    let is_counted = fields.object("stats").is_some_and(|stats| stats.object("models").is_some());
    let has_error = fields.object("error").is_some_and(|error| error.str("type").is_some());
    (is_counted || has_error).then_some("a document with a session_id, and stats by model or an error")
}

/// A line of a chat file.
pub(super) fn chat(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    if !chat::is_entry(fields) {
        return None;
    }
    if let Some(set) = fields.object("$set") {
        return (fields.len() == 1 && is_change(&set)).then_some("a $set of a chat file");
    }
    if fields.get("$rewindTo").is_some() {
        return (fields.len() == 1).then_some("a $rewindTo of a chat file");
    }
    if fields.get("projectHash").is_some() {
        return fields.get("startTime").map(|_| "a head with sessionId and projectHash");
    }
    fields.str("timestamp")?;
    match &*fields.str("type")? {
        "gemini" => Some("a message of the type gemini"),
        "user" | "info" | "warning" | "error" => {
            let own = ["id", "timestamp", "type", "content", "displayContent"];
            fields.iter().all(|(name, _)| own.contains(&name)).then_some("a message with an id, content and a time")
        }
        _ => None,
    }
}

fn is_change(set: &Object<'_>) -> bool {
    ["lastUpdated", "messages", "sessionId", "summary"].iter().any(|key| set.get(key).is_some())
}
