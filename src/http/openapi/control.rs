//! The descriptions of the endpoints for messages to runs.

use super::{described, merged, problems};
use serde_json::{Value, json};

/// `POST /v1/runs/{run_id}/approvals/{approval_id}`.
pub(super) fn answer() -> Value {
    let word = json!({"type": "string"});
    let schema = json!({
        "type": "object",
        "required": ["decision"],
        "additionalProperties": false,
        "properties": {
            "decision": {
                "enum": ["approved", "approve", "allow", "rejected", "reject", "deny", "cancelled", "cancel"],
                "description": "`cancelled` also ends what the runner is doing, where it has a word for that.",
            },
            "reason": {"type": "string", "description": "Why, for the runner and its model to read."},
            "scope": {"enum": ["once", "session", "always"], "description": "How far a yes reaches; absent: once."},
            "answers": {
                "type": "array",
                "items": {"anyOf": [word, {"type": "array", "items": word}]},
                "description": "Question by question, what was chosen or written, where choices or text are asked for.",
            },
        },
    });
    let answer = json!({
        "type": "object",
        "required": ["run_id", "approval_id", "decision", "by"],
        "properties": {
            "run_id": {"type": "string", "format": "uuid"},
            "approval_id": {"type": "string"},
            "decision": {"enum": ["approved", "rejected", "cancelled"]},
            "by": {"type": "string", "description": "The token that answered, as the run's events tell it."},
        },
    });
    let answers = merged(&[
        json!({"200": {"description": "The runner has the answer.", "content": {"application/json": {"schema": answer}}}}),
        problems(&[400, 404, 408, 409, 413, 422, 502, 503, 504], "Problem"),
    ]);
    let operation =
        described("answerApproval", "Answer a question that a run waits with. The first answer counts.", answers, &[]);
    let body = json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}});
    merged(&[operation, body])
}

/// `POST /v1/runs/{run_id}/interrupt`.
pub(super) fn interrupt() -> Value {
    let answer = json!({"type": "object", "required": ["run_id"],
        "properties": {"run_id": {"type": "string", "format": "uuid"}}});
    let answers = merged(&[
        json!({"202": {"description": "It was told; the run's last event says how it ended.",
            "content": {"application/json": {"schema": answer}}}}),
        problems(&[400, 404, 409, 422, 502, 503, 504], "Problem"),
    ]);
    described(
        "interruptRun",
        "Have a run end: by the runner's own protocol, then by signal, then by force.",
        answers,
        &[],
    )
}

/// `POST /v1/sessions/{session_id}/messages`.
pub(super) fn message() -> Value {
    let schema = json!({"type": "object", "required": ["prompt"], "additionalProperties": false,
        "properties": {"prompt": {"type": "string", "minLength": 1}}});
    let answer = json!({"type": "object", "required": ["session_id"],
        "properties": {"session_id": {"type": "string", "format": "uuid"}}});
    let answers = merged(&[
        json!({"202": {"description": "The runner has it; the session's events tell what comes of it.",
            "content": {"application/json": {"schema": answer}}}}),
        problems(&[400, 404, 408, 409, 413, 422, 502, 503, 504], "Problem"),
    ]);
    let operation = described("sendMessage", "Give a session's runner its next prompt.", answers, &[]);
    let body = json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}});
    merged(&[operation, body])
}
