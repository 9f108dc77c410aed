//! The descriptions of the paths for AG-UI clients.

use super::{described, merged, problems};
use serde_json::{Value, json};

/// `POST /ag-ui/{upstream}`.
pub(in crate::http) fn create() -> Value {
    let list = json!({"type": "array", "items": {"type": "object"}});
    let described_list = |about: &str| merged(&[list.clone(), json!({"description": about})]);
    let schema = json!({
        "type": "object",
        "required": ["threadId", "runId"],
        "properties": {
            "threadId": {"type": "string", "minLength": 1, "description": "The client's id of the thread, or the id of a session."},
            "runId": {"type": "string", "minLength": 1, "description": "The client's id of the run. The same one again is the same run."},
            "messages": described_list("The conversation, or only the new message."),
            "context": described_list("What the agent should know. It precedes the first prompt of a session."),
            "forwardedProps": {"type": "object", "properties": {
                "model": {"type": "string", "description": "A model of the upstream's runner."},
                "mode": {"type": "string", "description": "A mode of the upstream's runner, as in `GET /v1/upstreams`."},
            }},
            "resume": described_list("Answers to the interrupts of the last run."),
        },
    });
    let operation = described(
        "createAgUiRun",
        "Run a prompt of an AG-UI thread, or answer the questions of its run.",
        merged(&[
            events(),
            problems(&[400, 403, 404, 408, 409, 410, 413, 422, 429, 500, 502, 503, 504, 507], "Problem"),
        ]),
        &[],
    );
    merged(&[
        operation,
        json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}}),
    ])
}

/// `GET /ag-ui/{upstream}/{thread_id}`.
pub(in crate::http) fn thread() -> Value {
    let messages = json!({
        "type": "object",
        "required": ["threadId", "messages", "omittedRuns"],
        "properties": {
            "threadId": {"type": "string"},
            "messages": {"type": "array", "items": {"type": "object"}},
            "state": {"type": ["object", "null"]},
            "omittedRuns": {
                "type": "integer",
                "minimum": 0,
                "description": "How many earlier runs the messages lack: they are no longer stored, or too long to show.",
            },
        },
    });
    let both = json!({"200": {
        "description": "The messages, and the run in progress under the client's names.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}, "application/json": {"schema": messages}},
    }});
    described(
        "getAgUiThread",
        "The messages of an AG-UI thread: as events that go on with the run in progress, or as JSON.",
        merged(&[both, problems(&[400, 404, 410, 422, 429, 500, 503], "Problem")]),
        &[],
    )
}

fn events() -> Value {
    json!({"200": {
        "description": "A run in `ag-ui.v1` under the client's names. It ends with an interrupt at a question that a person must answer.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }})
}
