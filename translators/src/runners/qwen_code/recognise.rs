//! Recognition of Qwen Code's records.
//!
//! The stream has the shape of another runner's: the same types, and `session_id`, `parent_tool_use_id` and `uuid` on nearly every record.
//! A record is therefore recognised only by what Qwen Code alone writes: fields of its own, or the order of the shared ones.
//! Deltas and results of calls have nothing but the order. A record that also has a field of the other runner is not
//! recognised at all: it was changed, and a later record decides. A time is no such field; a version or a host may add one.

use super::session_file;
use crate::decode::Record;
use crate::json::{Json, Kind, Object};

/// Fields of records that Qwen Code never writes, and that the runner whose stream has the same shape does.
const FOREIGN: &[&str] = &[
    "api_message_id",
    "request_id",
    "isSynthetic",
    "isReplay",
    "tool_use_result",
    "tool_result_meta",
    "apiKeySource",
    "permissionMode",
    "total_cost_usd",
    "modelUsage",
    "terminal_reason",
    "stop_reason",
    "result_index",
];

/// A record of `--output-format stream-json`.
pub(super) fn stream_json(record: &Record<'_>) -> Option<&'static str> {
    frame(&record.fields)
}

/// The only record of `--output-format json`: an array of all records.
pub(super) fn json(record: &Record<'_>) -> Option<&'static str> {
    if record.index > 0 || record.json.kind() != Kind::Array {
        return None;
    }
    let first = record.json.items().first()?.object()?;
    frame(&first).map(|_| "an array whose first item is a record of Qwen Code's stream")
}

/// A line of a session file.
pub(super) fn session(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    if !session_file::is_entry(fields) {
        return None;
    }
    match &*fields.str("type")? {
        "user" | "assistant" | "tool_result" | "system" => {
            let own = ["provenance", "systemPayload", "toolCallResult", "usageMetadata"];
            let has = |key: &str| fields.object("message").is_some_and(|message| message.get(key).is_some());
            let is_own = has("parts") || own.iter().any(|key| fields.get(key).is_some());
            let is_foreign = has("content") || fields.get("userType").is_some();
            (is_own && !is_foreign).then_some("sessionId and a provenance, payload or parts")
        }
        _ => None,
    }
}

fn frame(fields: &Object<'_>) -> Option<&'static str> {
    let kind = fields.str("type")?;
    match &*kind {
        "control_request" => return asks(&fields.object("request")?),
        "control_response" => return responds(&fields.object("response")?),
        _ => {}
    }
    fields.str("session_id").filter(|id| !id.is_empty())?;
    let named = match &*kind {
        "system" => names_version(fields),
        "stream_event" => has_goal(fields),
        _ => None,
    };
    if named.is_some() {
        return named;
    }
    if FOREIGN.iter().any(|key| fields.get(key).is_some()) {
        return None;
    }
    match &*kind {
        "system" => system(fields),
        "assistant" => assistant(fields),
        "user" => {
            let message = fields.object("message")?;
            let is_own = has_order(fields, "message") && !message.items("content").into_iter().any(is_foreign_block);
            is_own.then_some("the order of the fields of a user record")
        }
        "stream_event" => stream_event(fields),
        "result" => result(fields),
        _ => None,
    }
}

/// An init that names the runner. No other field can contradict that but the version of another runner.
fn names_version(fields: &Object<'_>) -> Option<&'static str> {
    let is_own = fields.str("subtype").as_deref() == Some("init")
        && fields.get("qwen_code_version").is_some()
        && !fields.iter().any(|(name, _)| name.ends_with("_code_version") && name != "qwen_code_version");
    is_own.then_some("system.init with qwen_code_version")
}

/// An event about a goal, which Qwen Code alone has.
fn has_goal(fields: &Object<'_>) -> Option<&'static str> {
    let event = fields.object("event")?;
    let is_own = event.str("type").as_deref() == Some("goal_state") && event.get("goal_state").is_some();
    is_own.then_some("a goal_state event")
}

fn system(fields: &Object<'_>) -> Option<&'static str> {
    if &*fields.str("subtype")? == "init" {
        // One with a version was recognised by it, or has those of two runners.
        let is_own = fields.get("qwen_code_version").is_none() && fields.get("permission_mode").is_some();
        return is_own.then_some("system.init with permission_mode");
    }
    let has_data = fields.get("data").is_some_and(|data| data.kind() == Kind::Object);
    (has_data && fields.get("parent_tool_use_id").is_some()).then_some("a system record with data")
}

fn assistant(fields: &Object<'_>) -> Option<&'static str> {
    let message = fields.object("message")?;
    let id = message.str("id")?;
    let usage = message.object("usage").unwrap_or_default();
    let is_foreign = id.starts_with("msg_")
        || message.get("stop_sequence").is_some()
        || usage.get("service_tier").is_some()
        || usage.get("cache_creation_input_tokens").is_some();
    let is_own = usage.get("total_tokens").is_some() || fields.str("uuid").is_some_and(|uuid| uuid == id);
    (is_own && !is_foreign).then_some("an assistant record whose message has the record's id, or total_tokens")
}

fn stream_event(fields: &Object<'_>) -> Option<&'static str> {
    let event = fields.object("event")?;
    event.str("type").filter(|kind| kind != "goal_state")?;
    let has_foreign_message = event.object("message").is_some_and(|message| {
        message.get("usage").is_some() || message.str("id").is_some_and(|id| id.starts_with("msg_"))
    });
    let is_foreign = has_foreign_message || event.get("content_block").is_some_and(is_foreign_block);
    (has_order(fields, "event") && !is_foreign).then_some("the order of the fields of a stream event")
}

fn result(fields: &Object<'_>) -> Option<&'static str> {
    let usage = fields.object("usage").unwrap_or_default();
    let is_foreign = ["service_tier", "cache_creation_input_tokens", "server_tool_use"];
    if is_foreign.iter().any(|key| usage.get(key).is_some()) {
        return None;
    }
    let has_order = order(fields).eq(["type", "subtype", "uuid", "session_id", "is_error"]);
    let is_own = usage.get("total_tokens").is_some() || has_order;
    (is_own && fields.bool("is_error").is_some()).then_some("a result with total_tokens, or in Qwen Code's order")
}

/// A question of the runner. Its choices are texts for people.
fn asks(request: &Object<'_>) -> Option<&'static str> {
    let choices = request.items("permission_suggestions");
    let is_choice = |choice: &Json<'_>| choice.object().is_some_and(|choice| choice.get("label").is_some());
    let is_own = request.str("subtype").as_deref() == Some("can_use_tool") && choices.iter().any(is_choice);
    is_own.then_some("a question with labelled choices")
}

/// An answer of the runner, which repeats what it answers.
fn responds(response: &Object<'_>) -> Option<&'static str> {
    let answer = response.object("response")?;
    let is_own = match answer.str("subtype").as_deref() {
        Some("initialize") => answer.get("capabilities").is_some(),
        Some(_) => true,
        None => answer.str("status").is_some() && answer.str("mode").is_some(),
    };
    is_own.then_some("an answer with a subtype of its own")
}

/// Whether the shared fields have Qwen Code's order. Those of a newer version may follow.
fn has_order(fields: &Object<'_>, last: &str) -> bool {
    order(fields).eq(["type", "uuid", "session_id", "parent_tool_use_id", last])
}

/// The first fields of a record.
fn order<'r>(fields: &'r Object<'_>) -> impl Iterator<Item = &'r str> {
    fields.iter().map(|(name, _)| name).take(5)
}

/// Whether a block is one of another runner's provider.
fn is_foreign_block(block: Json<'_>) -> bool {
    let Some(block) = block.object() else { return false };
    block.get("caller").is_some() || block.get("citations").is_some()
}
