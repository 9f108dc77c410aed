//! Recognition of Claude Code's records.
//!
//! Its stream has `session_id` on nearly every record, its transcripts have `sessionId`, in newer versions beside `session_id`. Other runners imitate both. A record with a
//! field that no version of Claude Code writes is therefore not recognised, nor is one of a kind that others write as well
//! and that has neither a field of Claude Code's own nor its order; a later record decides.

use super::transcript;
use crate::decode::Record;
use crate::json::{Json, Kind, Object};

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
    if !transcript::is_entry(fields) || is_foreign_entry(fields) {
        None
    } else if transcript::session_of(fields).is_some() {
        Some("type and the session of a transcript line")
    } else {
        (kind == "summary" && fields.str("leafUuid").is_some()).then_some("a summary with a leafUuid")
    }
}

fn frame(fields: &Object<'_>) -> Option<&'static str> {
    let is_object = |key: &str| fields.get(key).is_some_and(|value| value.kind() == Kind::Object);
    let kind = fields.str("type")?;
    if transcript::is_entry(fields) {
        return None;
    }
    match &*kind {
        "control_request" => return asks(&fields.object("request")?),
        "control_response" => return responds(&fields.object("response")?),
        _ => {}
    }
    fields.str("session_id").filter(|id| !id.is_empty())?;
    match &*kind {
        "assistant" => (is_object("message") && is_assistant(fields)).then_some("type, session_id and message"),
        "user" => {
            let is_it = is_object("message") && is_own(fields, "message") && !is_prompt_of_client(fields);
            is_it.then_some("type, session_id and message")
        }
        "stream_event" => {
            let is_goal = fields.object("event").is_some_and(|event| event.get("goal_state").is_some());
            let is_event = is_object("event") && is_own(fields, "event") && !is_goal;
            is_event.then_some("type, session_id and event")
        }
        "system" => {
            let is_system = fields.str("subtype").is_some() && !is_foreign_system(fields);
            is_system.then_some("type, subtype and session_id")
        }
        "result" => is_result(fields).then_some("a result with a session_id"),
        "command_lifecycle" | "rate_limit_event" | "tool_progress" | "tool_use_summary" | "prompt_suggestion"
        | "auth_status" => fields.str("uuid").map(|_| "type, session_id and uuid"),
        _ => None,
    }
}

/// Fields of records that Claude Code alone writes.
const OWN: &[&str] = &[
    "agent_id",
    "api_message_id",
    "isReplay",
    "isSynthetic",
    "request_id",
    "tool_result_meta",
    "tool_use_result",
    "ttft_ms",
];

/// Whether a record has a field of Claude Code's own, or its order: the content comes first.
fn is_own(fields: &Object<'_>, content: &str) -> bool {
    OWN.iter().any(|key| fields.get(key).is_some()) || fields.iter().map(|(name, _)| name).take(2).eq(["type", content])
}

/// Whether a user record is what a client writes to its runner, which other runners read in the same form.
fn is_prompt_of_client(fields: &Object<'_>) -> bool {
    let message = fields.object("message").unwrap_or_default();
    let is_result =
        |block: Json<'_>| block.object().is_some_and(|block| block.str("type").as_deref() == Some("tool_result"));
    let is_marked = fields.get("uuid").is_some() || OWN.iter().any(|key| fields.get(key).is_some());
    !is_marked && !message.items("content").into_iter().any(is_result)
}

fn is_assistant(fields: &Object<'_>) -> bool {
    let message = fields.object("message").unwrap_or_default();
    let id = message.str("id");
    let counts_total = message.object("usage").is_some_and(|usage| usage.get("total_tokens").is_some());
    let is_foreign = counts_total || (id.is_some() && id == fields.str("uuid"));
    let is_marked = id.as_deref().is_some_and(|id| id.starts_with("msg_"))
        || message.get("stop_sequence").is_some()
        || is_own(fields, "message");
    // The first versions have no `uuid`, and the provider's ids are no UUIDs.
    let is_uuid = id.is_some_and(|id| uuid::Uuid::try_parse(&id).is_ok());
    !is_foreign && (is_marked || (fields.get("uuid").is_none() && !is_uuid))
}

fn is_foreign_system(fields: &Object<'_>) -> bool {
    let is_version_of_another = |name: &str| name.ends_with("_code_version") && name != "claude_code_version";
    ["data", "parent_tool_use_id", "permission_mode"].iter().any(|key| fields.get(key).is_some())
        || fields.iter().any(|(name, _)| is_version_of_another(name))
}

fn is_foreign_entry(fields: &Object<'_>) -> bool {
    // Transcripts have no result.
    fields.str("type").as_deref() == Some("result")
        || ["provenance", "systemPayload", "toolCallResult", "usageMetadata"]
            .iter()
            .any(|key| fields.get(key).is_some())
        || fields.object("message").is_some_and(|message| message.get("parts").is_some())
}

/// A question of the runner.
fn asks(request: &Object<'_>) -> Option<&'static str> {
    let is_null = |key: &str| request.get(key).is_some_and(Json::is_null);
    let choices = request.items("permission_suggestions").into_iter().filter_map(Json::object);
    let is_foreign = is_null("blocked_path")
        || is_null("permission_suggestions")
        || choices.into_iter().any(|choice| choice.get("label").is_some());
    // What a client asks its runner, other runners read in the same form.
    let is_of_client = ["initialize", "interrupt", "set_model", "set_permission_mode"];
    let subtype = request.str("subtype").filter(|subtype| !is_foreign && !is_of_client.contains(&&**subtype));
    subtype.map(|_| "a control message with a subtype")
}

/// An answer. One without content may be from any runner with this protocol.
fn responds(response: &Object<'_>) -> Option<&'static str> {
    let answer = response.object("response")?;
    let is_foreign = ["subtype", "status", "allowed", "session_id"].iter().any(|key| answer.get(key).is_some())
        || answer.object("capabilities").is_some();
    response.str("subtype").filter(|_| !is_foreign).map(|_| "a control message with a subtype")
}

fn is_result(fields: &Object<'_>) -> bool {
    let usage = fields.object("usage").unwrap_or_default();
    let is_foreign = ["structured_result", "stats"].iter().any(|key| fields.get(key).is_some())
        || fields.object("error").is_some()
        || usage.get("total_tokens").is_some();
    let own = ["total_cost_usd", "total_cost", "cost_usd", "modelUsage", "stop_reason", "terminal_reason"];
    // The first versions have neither of these.
    let is_bare = ["uuid", "permission_denials"].iter().all(|key| fields.get(key).is_none());
    let is_own = is_bare || own.iter().any(|key| fields.get(key).is_some());
    fields.str("type").as_deref() == Some("result")
        && fields.str("session_id").is_some()
        && (fields.str("subtype").is_some() || fields.bool("is_error").is_some())
        && is_own
        && !is_foreign
}
