//! The descriptions of the endpoints for upstreams.

use super::{body, described, merged, problems};
use serde_json::{Value, json};

/// `POST /v1/runs`.
pub(super) fn start_run() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let schema = json!({
        "type": "object",
        "required": ["upstream", "prompt"],
        "additionalProperties": false,
        "properties": {
            "upstream": text("The name of a configured upstream."),
            "prompt": text("What the runner is to do."),
            "session_id": text("The session that goes on: as `GET /v1/runs` gives it, or in the runner's spelling."),
            "cwd": text("The directory that it works in: one of those that the upstream allows, or below."),
            "model": text("The model; absent: the upstream's, else the runner's own."),
        },
    });
    let operation = described(
        "startRun",
        "Start a run by a configured upstream; answered as soon as the runner has begun it.",
        merged(&[
            json!({"201": body("The run goes on.", "application/json", "RunStatus")}),
            problems(&[400, 404, 408, 409, 413, 422, 502, 503], "Problem"),
        ]),
        &[],
    );
    let body = json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}});
    merged(&[operation, body])
}

/// `GET /v1/upstreams`.
pub(super) fn list() -> Value {
    let one = json!({
        "type": "object",
        "required": ["name", "kind", "runner", "takes_prompts", "takes_messages"],
        "properties": {
            "name": {"type": "string"},
            "kind": {"enum": ["command", "sse", "responses"]},
            "runner": {"type": "string", "description": "Whose output it gives."},
            "path": {"type": "string",
                "description": "Where a run is asked for by POST, in the form of that path; absent where runs begin elsewhere alone."},
            "takes_prompts": {"type": "boolean",
                "description": "Whether `POST /v1/runs` starts a run with a prompt."},
            "takes_messages": {"type": "boolean", "description": "Whether runs can be given answers and further prompts."},
            "state": {"enum": ["connecting", "connected", "lost"],
                "description": "How the connection to the feed is; absent where there is no feed."},
            "since_ms": {"type": "integer", "minimum": 0, "description": "Since when: Unix epoch milliseconds."},
            "reason": {"type": "string", "description": "Why it is not connected, by the last attempt."},
        },
    });
    let schema = json!({"type": "object", "required": ["upstreams"], "properties": {"upstreams": {"type": "array", "items": one}}});
    let answer = json!({"200": {"description": "All of them.", "content": {"application/json": {"schema": schema}}}});
    described("listUpstreams", "The configured upstreams.", answer, &[])
}
