//! The operations of the Responses API. The proxy's own errors are listed besides those of the upstream, which pass unchanged.

use super::{described, merged, problems, streams};
use serde_json::{Value, json};

/// `POST /v1/responses`.
pub(in crate::http) fn create() -> Value {
    let own = own();
    let about = "A coding agent's run as a response; or the upstream's own answer; with a `contract`, the translation of its run, live.";
    let streams = streams(about, false);
    let content = [streams.get("content"), own.pointer("/200/content")].map(|part| part.cloned().unwrap_or_default());
    let answer = json!({"200": {"description": streams.get("description"), "content": merged(&content)}});
    let operation = described(
        "createResponse",
        "Ask the coding agent that `model` names for a response, or the upstream of kind `responses`, whose answer passes byte for byte. Either \
         is stored as a run.",
        merged(&[answer, refusals(&[400, 403, 404, 406, 408, 409, 410, 413, 422, 429, 500, 502, 503, 504, 507])]),
        &["upstream", "contract", "experimental", "user_messages"],
    );
    let schema = json!({"type": "object", "description": "The request that the agent or the upstream accepts."});
    merged(&[
        operation,
        json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}}),
    ])
}

/// `GET /v1/responses/{response_id}`.
pub(in crate::http) fn retrieve() -> Value {
    described(
        "getResponse",
        "A response. With `stream=true`: its stored events after `starting_after`, then live events. Otherwise: \
             the response as last received, or as it is if a coding agent works on it. If the response is not stored: the upstream's answer.",
        merged(&[own(), refusals(&[400, 404, 406, 410, 429, 500, 502, 503, 504])]),
        &["upstream", "stream", "starting_after", "contract", "experimental", "user_messages", "after"],
    )
}

/// `GET /v1/responses/{response_id}/input_items`.
pub(in crate::http) fn input_items() -> Value {
    described(
        "listResponseInputItems",
        "The prompt of a coding agent's response, or the upstream's answer.",
        merged(&[own(), refusals(&[400, 404, 500, 502, 503, 504])]),
        &["upstream"],
    )
}

/// `POST /v1/responses/{response_id}/cancel`.
pub(in crate::http) fn cancel() -> Value {
    described(
        "cancelResponse",
        "Interrupt the run of a coding agent's response, or the upstream's answer.",
        merged(&[own(), refusals(&[400, 404, 409, 413, 500, 502, 503, 504])]),
        &["upstream"],
    )
}

/// `POST /v1/responses/compact`.
pub(in crate::http) fn compact() -> Value {
    asked(
        "compactResponse",
        "Have the upstream compact a context; the answer is not a run.",
        merged(&[own(), refusals(&[400, 403, 404, 413, 500, 502, 503, 504])]),
    )
}

/// `POST /v1/responses/input_tokens`.
pub(in crate::http) fn count_tokens() -> Value {
    asked(
        "countResponseInputTokens",
        "Have the upstream count the tokens of an input.",
        merged(&[own(), refusals(&[400, 403, 404, 413, 500, 502, 503, 504])]),
    )
}

/// `GET /v1/models`.
pub(in crate::http) fn models() -> Value {
    described(
        "listModels",
        "The upstreams that start runs, as models; or the models of the upstream of kind `responses`.",
        merged(&[own(), refusals(&[400, 403, 404, 500, 502, 503, 504])]),
        &["upstream"],
    )
}

/// `GET /v1/models/{model}`.
pub(in crate::http) fn model() -> Value {
    described(
        "getModel",
        "One of these models.",
        merged(&[own(), refusals(&[400, 403, 404, 500, 502, 503, 504])]),
        &["upstream"],
    )
}

/// `DELETE /v1/responses/{response_id}`.
pub(in crate::http) fn delete() -> Value {
    described(
        "deleteResponse",
        "The upstream's answer; a stored run of the response stays. A coding agent's response cannot be deleted.",
        merged(&[own(), refusals(&[400, 404, 500, 502, 503, 504])]),
        &["upstream"],
    )
}

fn own() -> Value {
    json!({"200": {"description": "The upstream's own answer.", "content": {
        "application/json": {"schema": {"type": "object"}},
        "text/event-stream": {"schema": {"type": "string"}}}}})
}

fn refusals(codes: &[u16]) -> Value {
    problems(codes, "ResponsesError")
}

/// An operation with a body that only the upstream interprets.
fn asked(id: &str, summary: &str, answers: Value) -> Value {
    let schema = json!({"type": "object", "description": "The request that the upstream accepts."});
    let body = json!({"requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}});
    merged(&[described(id, summary, answers, &["upstream"]), body])
}
