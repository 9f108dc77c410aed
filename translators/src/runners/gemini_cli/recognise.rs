//! Recognition of Gemini CLI's records.
//!
//! Input: a record. Output: why it must be Gemini CLI's. The types of the stream are words that other runners also use, so a record needs a
//! time in words and fields of its own as well. Fields that it does not know may be those of a newer version. Never: a record with a
//! session's or a message's id in the spelling of another runner.

use super::{chat, document};
use crate::decode::Record;
use crate::json::{Json, Kind, Object};

/// Fields of other runners' records whose types are words of Gemini CLI's too.
const FOREIGN: &[&str] = &[
    "data",
    "jsonrpc",
    "parentId",
    "parentUuid",
    "parent_tool_use_id",
    "part",
    "payload",
    "sessionID",
    "sessionId",
    "subtype",
    "thread_id",
    "uuid",
];

fn is_foreign(fields: &Object<'_>) -> bool {
    fields.iter().any(|(name, _)| FOREIGN.contains(&name))
}

/// A record of `--output-format stream-json`.
pub(super) fn stream_json(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    let has = |key: &str| fields.get(key).is_some_and(|value| value.kind() == Kind::String);
    let kind = fields.str("type").filter(|_| has("timestamp"))?;
    let reason = match &*kind {
        "init" => (has("session_id") && has("model")).then_some("an init with a session_id, a model and a time"),
        "message" => (has("role") && has("content")).then_some("a message with a role, content and a time"),
        "tool_use" => (has("tool_id") && has("tool_name")).then_some("a tool_use with tool_id and tool_name"),
        "tool_result" => (has("tool_id") && has("status")).then_some("a tool_result with tool_id and status"),
        "error" => (has("severity") && has("message")).then_some("an error with a severity"),
        "result" => (has("status") && fields.object("stats").is_some()).then_some("a result with status and stats"),
        _ => None,
    }?;
    // No record of the stream has an id of its own; with one, it would be a line of a file.
    (fields.get("id").is_none() && !is_foreign(fields)).then_some(reason)
}

/// The only record of `--output-format json`. Text for people may precede it.
pub(super) fn json(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    let names_another = ["id", "object", "event"].iter().any(|key| fields.get(key).is_some());
    if !document::is_document(fields) || names_another || is_foreign(fields) {
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
    if let Some(set) = fields.get("$set") {
        let is_own = fields.get("type").is_none() && set.object().is_some_and(|set| is_change(&set));
        return is_own.then_some("a $set of a chat file");
    }
    if fields.get("$rewindTo").is_some() {
        return fields.get("type").is_none().then_some("a $rewindTo of a chat file");
    }
    if fields.get("projectHash").is_some() {
        return fields.get("startTime").map(|_| "a head with sessionId and projectHash");
    }
    fields.str("timestamp")?;
    match &*fields.str("type")? {
        "gemini" => Some("a message of the type gemini"),
        "user" | "info" | "warning" | "error" => {
            let has_content = fields.get("content").map(Json::kind).is_some_and(is_content);
            let is_own = has_content && fields.get("message").is_none() && !is_foreign(fields);
            is_own.then_some("a message with an id, content and a time")
        }
        _ => None,
    }
}

fn is_content(kind: Kind) -> bool {
    matches!(kind, Kind::String | Kind::Array)
}

fn is_change(set: &Object<'_>) -> bool {
    ["lastUpdated", "messages", "sessionId", "summary"].iter().any(|key| set.get(key).is_some())
}
