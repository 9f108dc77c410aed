//! The descriptions of the endpoints for messages to runs.

use super::{described, merged, problems};
use serde_json::{Value, json};

/// `POST /v1/runs/{run_id}/approvals/{approval_id}`.
pub(in crate::http) fn answer() -> Value {
    let word = json!({"type": "string"});
    let schema = json!({
        "type": "object",
        "required": ["decision"],
        "additionalProperties": false,
        "properties": {
            "decision": {
                "enum": ["approved", "approve", "allow", "rejected", "reject", "deny", "cancelled", "cancel"],
                "description": "`cancelled` also ends the runner's current work, if its protocol can express that.",
            },
            "reason": {"type": "string", "description": "The reason, which the runner and its model can read."},
            "scope": {"enum": ["once", "session", "always"], "description": "How far an approval reaches; once by default."},
            "answers": {
                "type": "array",
                "items": {"anyOf": [word, {"type": "array", "items": word}]},
                "description": "For each question that asks for choices or text: the chosen or written answers.",
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
            "by": {"type": "string", "description": "The token that answered, as in the run's events."},
        },
    });
    let answers = merged(&[
        json!({"200": {"description": "The runner has the answer.", "content": {"application/json": {"schema": answer}}}}),
        problems(&[400, 404, 408, 409, 413, 422, 502, 503, 504], "Problem"),
    ]);
    let operation = described(
        "answerApproval",
        "Answer a question that a run is waiting for. The first answer counts.",
        answers,
        &[],
    );
    let body = json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}});
    merged(&[operation, body])
}

/// `POST /v1/runs/{run_id}/interrupt`.
pub(in crate::http) fn interrupt() -> Value {
    let answer = json!({"type": "object", "required": ["run_id"],
        "properties": {"run_id": {"type": "string", "format": "uuid"}}});
    let answers = merged(&[
        json!({"202": {"description": "The runner was asked to stop; the run's last event says how the run ended.",
            "content": {"application/json": {"schema": answer}}}}),
        problems(&[400, 404, 409, 422, 502, 503, 504], "Problem"),
    ]);
    described(
        "interruptRun",
        "End a run: first by the runner's protocol, then by a signal, then by force.",
        answers,
        &[],
    )
}

/// `POST /v1/sessions/{session_id}/messages`.
pub(in crate::http) fn message() -> Value {
    let schema = json!({"type": "object", "required": ["prompt"], "additionalProperties": false,
        "properties": {"prompt": {"type": "string", "minLength": 1}}});
    let answer = json!({"type": "object", "required": ["session_id"],
        "properties": {"session_id": {"type": "string", "format": "uuid"}}});
    let answers = merged(&[
        json!({"202": {"description": "The runner has received the prompt; the session's events show the result.",
            "content": {"application/json": {"schema": answer}}}}),
        problems(&[400, 404, 408, 409, 413, 422, 429, 502, 503, 504], "Problem"),
    ]);
    let operation = described("sendMessage", "Send the next prompt to a session's runner.", answers, &[]);
    let body = json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}});
    merged(&[operation, body])
}
