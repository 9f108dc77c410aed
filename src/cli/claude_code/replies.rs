//! The messages that the command itself writes.
//!
//! Input: what they say. Output: messages as Claude Code has them. Never: a number that is not known; totals of a run that did not begin are 0.

use super::fields::Fields;
use framegate_translators::contracts::rfc3339_millis;
use serde_json::{Value, json};

/// The subtype of the result of a run that broke off.
const FAILED: &str = "error_during_execution";

/// The successful answer to a request.
pub(super) fn success(request: &str, response: &Value) -> Fields {
    let response = json!({"subtype": "success", "request_id": request, "response": response});
    Fields::of(&json!({"type": "control_response", "response": response}))
}

/// The answer to a request that failed.
pub(super) fn error(request: &str, error: &str) -> Fields {
    let response = json!({"subtype": "error", "request_id": request, "error": error});
    Fields::of(&json!({"type": "control_response", "response": response}))
}

/// The answer to `initialize`. What the upstream offers is not known.
pub(super) fn initialized() -> Value {
    json!({
        "commands": [],
        "agents": [],
        "output_style": "default",
        "available_output_styles": ["default"],
        "models": [],
        "account": {},
        "pid": std::process::id(),
    })
}

/// The result of a run that did not begin, or of which nothing more is known.
pub(super) fn failure(reason: &str, session: &str, uuid: &str) -> Fields {
    let usage = json!({
        "input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 0,
    });
    let mut result = Fields::of(&json!({"type": "result"}));
    let fields = [
        ("subtype", json!(FAILED)),
        ("is_error", json!(true)),
        ("errors", json!([reason])),
        ("duration_ms", json!(0)),
        ("duration_api_ms", json!(0)),
        ("num_turns", json!(0)),
        ("stop_reason", Value::Null),
        ("total_cost_usd", json!(0)),
        ("usage", usage),
        ("modelUsage", json!({})),
        ("permission_denials", json!([])),
        ("session_id", json!(session)),
        ("uuid", json!(uuid)),
    ];
    for (key, value) in &fields {
        result.set(key, value);
    }
    result
}

/// Turns the result of a run into that of one that had too many turns.
pub(super) fn limit(result: &mut Fields, max_turns: u64) {
    result.set("subtype", &"error_max_turns");
    result.set("is_error", &true);
    result.remove("result");
    result.remove("api_error_type");
    result.set("errors", &[format!("Reached maximum number of turns ({max_turns})")]);
    result.set("terminal_reason", &"max_turns");
}

/// Says what the conversation is doing. `is_for_host`: the SDK reads it, but does not pass it on.
pub(super) fn state(state: &str, is_for_host: bool, session: &str, uuid: &str) -> Fields {
    let mut message = Fields::of(&json!({"type": "system"}));
    message.set("subtype", &"session_state_changed");
    message.set("state", &state);
    if is_for_host {
        message.set("sdk_host_only", &true);
    }
    message.set("session_id", &session);
    message.set("uuid", &uuid);
    message
}

/// Repeats a prompt that was read at `now_ms`.
pub(super) fn repeated(message: &Value, session: &str, uuid: &str, now_ms: u64) -> Fields {
    let mut repeated = Fields::of(&json!({"type": "user"}));
    repeated.set("message", message);
    repeated.set("session_id", &session);
    repeated.set("parent_tool_use_id", &Value::Null);
    repeated.set("uuid", &uuid);
    repeated.set("timestamp", &rfc3339_millis(now_ms));
    repeated.set("isReplay", &true);
    repeated
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::contracts::claude_code::V1;
    use framegate_translators::schema::Schemas;

    #[test]
    fn the_messages_fit_the_schemas_of_the_contract() {
        let id = "8011aeb9-e9e6-4993-8a1a-5c9832203ae1";
        let schemas: Schemas = Schemas::compile(V1.schemas).unwrap();
        let mut limited = failure("x", id, id);
        limit(&mut limited, 3);
        for (kind, message) in [
            ("result", failure("no such session", id, id)),
            ("result", limited),
            ("user", repeated(&json!({"role": "user", "content": [{"type": "text", "text": "hi"}]}), id, id, 1000)),
        ] {
            let line = message.line();
            schemas.check_text(kind, &line).unwrap_or_else(|problems| panic!("{line}: {problems:?}"));
        }
    }
}
