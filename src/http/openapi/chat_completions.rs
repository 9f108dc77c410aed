//! The description of the Chat Completions API.

use super::{described, merged, problems};
use serde_json::{Value, json};

/// `POST /v1/chat/completions`.
pub(in crate::http) fn create() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let schema = json!({
        "type": "object",
        "required": ["model", "messages"],
        "properties": {
            "model": text("An upstream, alone or followed by `/` and a model of its runner."),
            "messages": {"type": "array", "minItems": 1,
                "description": "The conversation. The user's messages after the last answer are the prompt.",
                "items": {"type": "object", "required": ["role"], "properties": {"role": {"type": "string"}}}},
            "stream": {"type": "boolean", "description": "Whether to answer with chunks as the run goes on."},
            "stream_options": {"type": "object", "properties": {"include_usage": {"type": "boolean"}}},
        },
    });
    let ids = json!({
        "framegate-session": {"description": "The session, as in `GET /v1/runs`.", "schema": {"type": "string", "format": "uuid"}},
        "framegate-run": {"description": "The run, as in `GET /v1/runs`.", "schema": {"type": "string", "format": "uuid"}},
        "framegate-ignored-parameters": {"description": "The parameters that have no effect on a coding agent.",
            "schema": {"type": "string"}},
        "idempotency-replayed": {"description": "`true` if an earlier request started the run.",
            "schema": {"const": "true"}},
    });
    let answer = json!({"200": {
        "description": "The answer of the run: a completion, or chunks in `chat-completions.v1` and `[DONE]`.",
        "headers": ids,
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {"schema": {"type": "string"}},
        },
    }});
    let operation = described(
        "createChatCompletion",
        "Run a prompt in a conversation with a coding agent.",
        merged(&[
            answer,
            problems(&[400, 403, 404, 408, 409, 410, 413, 422, 429, 500, 502, 503, 507], "ResponsesError"),
        ]),
        &["idempotency_key", "framegate_session", "framegate_mode"],
    );
    merged(&[
        operation,
        json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}}),
    ])
}
