//! The descriptions of the endpoints for upstreams.

use super::figures::labels;
use super::{body, described, merged, problems};
use crate::http::prompt_files::MAX_FILES;
use framegate_translators::runners::AGENTS;
use serde_json::{Value, json};

/// `POST /v1/runs`.
pub(in crate::http) fn start_run() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let files = json!({
        "type": "array",
        "maxItems": MAX_FILES,
        "description": "Images and files that belong to the prompt, if the runner takes them.",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "media_type": text("The media type. A `data:` URL may have it instead."),
                "data": text("The content, as base64 with padding. Either this or `url`."),
                "url": text("An `http`, `https` or `data:` URL of the content. The runner's model fetches it, not the proxy."),
                "name": text("The file name."),
            },
        },
    });
    let schema = json!({
        "type": "object",
        "required": ["upstream", "prompt"],
        "additionalProperties": false,
        "properties": {
            "upstream": text("The name of a configured upstream."),
            "prompt": text("The task for the runner."),
            "session_id": text("The session to continue: its id as in `GET /v1/runs`, or in the runner's spelling."),
            "cwd": text("The working directory: one that the upstream allows, or a directory below it."),
            "model": text("The model. Default: the upstream's, else the runner's own."),
            "mode": text("A mode of the upstream's runner, as in `GET /v1/upstreams`. Default: the upstream's, else the runner's own."),
            "files": files,
            "labels": labels("What the client says about the run."),
        },
    });
    let operation = described(
        "startRun",
        "Start a run of a configured upstream. The response is sent as soon as the runner has begun the run.",
        merged(&[
            json!({"201": body("The run is open.", "application/json", "RunStatus"),
                "200": body("An earlier request with this key started the run.", "application/json", "RunStatus")}),
            problems(&[400, 403, 404, 408, 409, 410, 413, 422, 429, 502, 503, 507], "Problem"),
        ]),
        &["idempotency_key"],
    );
    let body = json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}});
    merged(&[operation, body])
}

/// `GET /v1/upstreams`.
pub(in crate::http) fn list() -> Value {
    let mode = json!({
        "type": "object",
        "required": ["name", "title"],
        "properties": {
            "name": {"type": "string", "description": "The name by which requests choose it."},
            "title": {"type": "string", "description": "A title for users."},
            "about": {"type": "string", "description": "What the runner does in this mode; absent if the proxy does not know it."},
        },
    });
    let one = json!({
        "type": "object",
        "required": ["name", "kind", "runner", "takes_prompts", "takes_messages", "takes_images", "modes"],
        "properties": {
            "name": {"type": "string"},
            "kind": {"enum": ["command", AGENTS.name, "sse", "responses"]},
            "runner": {"type": "string", "description": "The runner whose output it sends."},
            "path": {"type": "string",
                "description": "The path at which a POST starts a run; absent if runs only begin elsewhere."},
            "takes_prompts": {"type": "boolean",
                "description": "Whether `POST /v1/runs` starts a run with a prompt."},
            "takes_messages": {"type": "boolean", "description": "Whether runs accept answers and further prompts."},
            "takes_images": {"type": "boolean", "description": "Whether prompts may have images."},
            "modes": {"type": "array", "items": mode, "description": "The modes of the runner that requests may choose."},
            "mode": {"type": "string", "description": "The mode of requests that choose none; absent if the runner chooses."},
            "state": {"enum": ["connecting", "connected", "lost"],
                "description": "The state of the connection to the feed; absent if there is no feed."},
            "since_ms": {"type": "integer", "minimum": 0, "description": "Unix epoch milliseconds of the last state change."},
            "reason": {"type": "string", "description": "Why the last connection attempt failed."},
        },
    });
    let schema = json!({"type": "object", "required": ["upstreams"], "properties": {"upstreams": {"type": "array", "items": one}}});
    let answer = json!({"200": {"description": "All configured upstreams.", "content": {"application/json": {"schema": schema}}}});
    described("listUpstreams", "The configured upstreams.", answer, &[])
}
