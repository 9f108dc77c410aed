//! Recognition of OpenCode's records.

use crate::decode::Record;
use crate::json::{Kind, Object};

/// A line of `opencode run --format json`.
pub(super) fn run(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    let kind = fields.str("type")?;
    fields.str("sessionID")?;
    match &*kind {
        "step_start" | "text" | "reasoning" | "tool_use" | "step_finish" => {
            is_object(fields, "part").then_some("type, sessionID and part")
        }
        "error" => fields.get("error").map(|_| "an error with a sessionID"),
        _ => None,
    }
}

/// An event of `/event`.
pub(super) fn event(record: &Record<'_>) -> Option<&'static str> {
    is_event(&record.fields, "properties").then_some("a dotted type with properties")
}

/// An event of `/global/event`, in its envelope.
pub(super) fn global_event(record: &Record<'_>) -> Option<&'static str> {
    let payload = record.fields.object("payload").filter(|_| record.fields.get("type").is_none())?;
    let known = is_event(&payload, "properties") || payload.object("syncEvent").is_some();
    known.then_some("a payload that is an event with properties")
}

/// An event of `/api/event`.
pub(super) fn next_event(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    let known = is_event(fields, "data") && fields.str("id").is_some_and(|id| id.starts_with("evt_"));
    known.then_some("a dotted type with data, and an id that begins with evt_")
}

/// An exported session.
pub(super) fn export(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    let is_list = fields.get("messages").is_some_and(|messages| messages.kind() == Kind::Array);
    let id = fields.object("info").filter(|_| is_list)?.str("id")?.starts_with("ses_");
    id.then_some("a session's info, and messages")
}

fn is_event(fields: &Object<'_>, body: &str) -> bool {
    fields.str("type").is_some_and(|kind| kind.contains('.')) && is_object(fields, body)
}

fn is_object(fields: &Object<'_>, key: &str) -> bool {
    fields.get(key).is_some_and(|value| value.kind() == Kind::Object)
}
