//! Recognition of Codex's records.

use crate::decode::Record;
use crate::json::{Kind, Object};

/// The method families of the app-server protocol.
const METHODS: &[&str] = &[
    "thread/",
    "turn/",
    "item/",
    "rawResponseItem/",
    "account/",
    "remoteControl/",
    "mcpServer/",
    "serverRequest/",
    "codex/event",
];

/// The types of lines in a session file.
const LINES: &[&str] = &[
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "token_usage_record",
    "inter_agent_communication_metadata",
];

/// A line of `codex exec --json`.
pub(super) fn exec(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    if let Some(message) = fields.object("msg") {
        let old = fields.str("id").is_some() && message.str("type").is_some();
        return old.then_some("id and msg, as in older versions");
    }
    let kind = fields.str("type")?;
    match &*kind {
        "thread.started" => fields.str("thread_id").map(|_| "thread.started with a thread_id"),
        // The record has no other field.
        "turn.started" => (fields.len() == 1).then_some("turn.started without other fields"),
        "turn.completed" => is_object(fields, "usage").then_some("turn.completed with usage"),
        "turn.failed" => is_object(fields, "error").then_some("turn.failed with an error"),
        "item.started" | "item.updated" | "item.completed" => {
            fields.object("item")?.str("type").map(|_| "an item event whose item has a type")
        }
        _ => None,
    }
}

/// A message of the app-server protocol.
pub(super) fn app_server(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    if let Some(method) = fields.str("method") {
        let known = is_object(fields, "params") && METHODS.iter().any(|family| method.starts_with(family));
        return known.then_some("a method of the app-server's protocol");
    }
    let result = fields.object("result").filter(|_| fields.some("id").is_some())?;
    let greets = result.str("userAgent").is_some() && result.str("codexHome").is_some();
    greets.then_some("the answer to initialize, with userAgent and codexHome")
}

/// A line of a session file.
pub(super) fn rollout(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    let kind = fields.str("type")?;
    let known = LINES.contains(&&*kind) && is_object(fields, "payload") && fields.str("timestamp").is_some();
    known.then_some("timestamp, type and payload")
}

fn is_object(fields: &Object<'_>, key: &str) -> bool {
    fields.get(key).is_some_and(|value| value.kind() == Kind::Object)
}
