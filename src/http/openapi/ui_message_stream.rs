//! The descriptions of the paths for the AI SDK.

use super::{described, merged, problems};
use serde_json::{Value, json};

/// `POST /ai-sdk/{upstream}`.
pub(in crate::http) fn create() -> Value {
    let schema = json!({
        "type": "object",
        "required": ["id", "messages"],
        "properties": {
            "id": {"type": "string", "minLength": 1, "description": "The client's id of the chat."},
            "messages": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["role"], "properties": {"role": {"type": "string"}}},
                "description": "The chat. It ends with the user's message, or with the assistant's if its questions are answered."},
            "trigger": {"enum": ["submit-message", "regenerate-message"]},
            "model": {"type": "string", "description": "A model of the upstream's runner."},
            "mode": {"type": "string", "description": "A mode of the upstream's runner, as in `GET /v1/upstreams`."},
        },
    });
    let operation = described(
        "createUiMessage",
        "Run a prompt of a chat of the AI SDK, or answer the questions of its run.",
        merged(&[
            chunks(),
            problems(&[400, 403, 404, 408, 409, 410, 413, 422, 429, 500, 502, 503, 504, 507], "Problem"),
        ]),
        &[],
    );
    merged(&[
        operation,
        json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}}),
    ])
}

/// `GET /ai-sdk/{upstream}/{chat_id}/stream`.
pub(in crate::http) fn resume() -> Value {
    described(
        "resumeUiMessage",
        "The message of a chat that is in progress, from its beginning.",
        merged(&[
            chunks(),
            json!({"204": {"description": "No run of the chat is in progress."}}),
            problems(&[400, 404, 410, 429, 500, 503], "Problem"),
        ]),
        &[],
    )
}

fn chunks() -> Value {
    json!({"200": {
        "description": "The run in `ui-message-stream.v1` and `[DONE]`. It ends early at a question that a person must answer.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }})
}
