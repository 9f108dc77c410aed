//! Recognition of Claude Code's records.
//!
//! Its stream has `session_id` on nearly every record, its transcripts have `sessionId`. No other runner has the former, or the
//! latter on other records than a result.

use super::transcript;
use crate::decode::Record;
use crate::json::{Kind, Object};

/// A record of `--output-format stream-json`.
pub(super) fn stream_json(record: &Record<'_>) -> Option<&'static str> {
    // If the first record is a result, the input is the single result of `--output-format json`.
    if record.index == 0 && is_result(&record.fields) { None } else { frame(&record.fields) }
}

/// The only record of `--output-format json`: the result, or an array of all frames.
pub(super) fn json(record: &Record<'_>) -> Option<&'static str> {
    if record.index > 0 {
        return None;
    }
    if record.json.kind() == Kind::Array {
        let first = record.json.items().first()?.object()?;
        return frame(&first).map(|_| "an array whose first item has Claude Code's type and session_id");
    }
    is_result(&record.fields).then_some("the first record is a result with a session_id")
}

/// A line of a session's transcript.
pub(super) fn transcript(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    let kind = fields.str("type")?;
    if !transcript::is_entry(fields) {
        None
    } else if fields.str("sessionId").is_some() && kind != "result" {
        // Transcripts have no result.
        Some("type and sessionId")
    } else {
        (kind == "summary" && fields.str("leafUuid").is_some()).then_some("a summary with a leafUuid")
    }
}

fn frame(fields: &Object<'_>) -> Option<&'static str> {
    let is_object = |key: &str| fields.get(key).is_some_and(|value| value.kind() == Kind::Object);
    let kind = fields.str("type")?;
    if let "control_request" | "control_response" = &*kind {
        let inner = fields.object(kind.strip_prefix("control_").unwrap_or_default())?;
        return inner.str("subtype").map(|_| "a control message with a subtype");
    }
    fields.str("session_id").filter(|id| !id.is_empty())?;
    match &*kind {
        "assistant" | "user" => is_object("message").then_some("type, session_id and message"),
        "stream_event" => is_object("event").then_some("type, session_id and event"),
        "system" => fields.str("subtype").map(|_| "type, subtype and session_id"),
        "result" => is_result(fields).then_some("a result with a session_id"),
        "command_lifecycle" | "rate_limit_event" | "tool_progress" | "tool_use_summary" | "prompt_suggestion"
        | "auth_status" => fields.str("uuid").map(|_| "type, session_id and uuid"),
        _ => None,
    }
}

fn is_result(fields: &Object<'_>) -> bool {
    fields.str("type").as_deref() == Some("result")
        && fields.str("session_id").is_some()
        && (fields.str("subtype").is_some() || fields.bool("is_error").is_some())
}
