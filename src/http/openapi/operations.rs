//! The operations of the endpoints for runs, events, artifacts, schemas and the proxy itself.

use super::shapes::etag;
use super::{body, described, hecate_events, made_before, merged, native_stream, not_modified, problems, streams};
use serde_json::{Value, json};

/// `POST /v1/ingest/{runner}`.
pub(in crate::http) fn ingest() -> Value {
    let operation = described(
        "ingest",
        "Ingest a runner's output as it arrives. With a streaming `Accept` (or `contract`), the response is \
                 the translation, streamed at the same time.",
        merged(&[
            json!({"201": body("The input has ended; these are its runs.", "application/json", "Made"),
                        "200": made_before(streams("The translation, live.", false))}),
            problems(&[400, 404, 406, 408, 409, 413, 415, 422, 429, 503, 507], "Problem"),
        ]),
        &["contract", "experimental", "user_messages", "history", "new_label", "idempotency_key"],
    );
    // Client generators omit operations whose bodies have unknown media types.
    let schema = json!({"type": "string", "format": "binary", "description": "Records in the runner's own format."});
    let about = "The runner's output. `Content-Type` may say how records are separated: `application/x-ndjson` \
                or `text/event-stream`. With any other type, the first bytes show it.";
    let body = json!({"requestBody": {"required": true, "description": about,
                "content": {"application/octet-stream": {"schema": schema}}}});
    merged(&[operation, body])
}

/// `GET /v1/runs`.
pub(in crate::http) fn runs() -> Value {
    described(
        "listRuns",
        "The stored runs, newest first.",
        merged(&[json!({"200": body("A page.", "application/json", "RunList")}), problems(&[400], "Problem")]),
        &["limit", "skip", "session_id", "runner", "state", "model", "directory", "repository", "branch", "label"],
    )
}

/// `GET /v1/runs/{run_id}`.
pub(in crate::http) fn run() -> Value {
    described(
        "getRun",
        "A run's status.",
        merged(&[
            json!({"200": body("The status.", "application/json", "RunStatus")}),
            problems(&[400, 404], "Problem"),
        ]),
        &[],
    )
}

/// `GET /v1/runs/{run_id}/events`.
pub(in crate::http) fn run_events() -> Value {
    described(
        "getRunEvents",
        "A run's events: replayed, then live; or a page of them.",
        merged(&[
            json!({"200": streams("The events.", true), "204": {"description": "The run has ended and was read completely."}}),
            problems(&[400, 404, 406, 410, 500], "Problem"),
        ]),
        &["contract", "experimental", "user_messages", "after", "limit", "event_type", "last_event_id"],
    )
}

/// `GET /v1/sessions/{session_id}/events`.
pub(in crate::http) fn session_events() -> Value {
    described(
        "getSessionEvents",
        "The events of a session's runs, including future ones.",
        merged(&[json!({"200": streams("The events.", true)}), problems(&[400, 404, 406, 500], "Problem")]),
        &["contract", "experimental", "user_messages", "feed_after", "limit", "event_type", "last_event_id"],
    )
}

/// `GET /v1/events`.
pub(in crate::http) fn all_events() -> Value {
    described(
        "getAllEvents",
        "The events of all runs, including future ones.",
        merged(&[json!({"200": streams("The events.", true)}), problems(&[400, 406, 500], "Problem")]),
        &[
            "contract",
            "experimental",
            "user_messages",
            "feed_after",
            "limit",
            "session_id",
            "event_type",
            "last_event_id",
        ],
    )
}

/// `GET /v1/artifacts/{artifact_id}`.
pub(in crate::http) fn artifact() -> Value {
    described(
        "getArtifact",
        "An artifact's bytes.",
        merged(&[
            json!({"200": {"description": "The bytes.", "headers": {"ETag": etag()},
                    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary",
                        "description": "In the artifact's own media type."}}}}, "304": not_modified()}),
            problems(&[400, 404, 500], "Problem"),
        ]),
        &["if_none_match"],
    )
}

/// `GET /v1/contracts`.
pub(in crate::http) fn contracts() -> Value {
    described(
        "listContracts",
        "All contracts and runners.",
        json!({"200": body("The contracts and runners.", "application/json", "Catalogue")}),
        &[],
    )
}

/// `GET /schemas/{file}`.
pub(in crate::http) fn contract_schema() -> Value {
    schema("getContractSchema")
}

/// `GET /schemas/{contract}/{file}`.
pub(in crate::http) fn event_schema() -> Value {
    schema("getEventSchema")
}

/// `GET /schemas/{contract}/{version}/{file}`.
pub(in crate::http) fn schema_by_id() -> Value {
    schema("getSchemaById")
}

fn schema(id: &str) -> Value {
    described(
        id,
        "The JSON Schema of a contract, of one of its events, or at the path of its `$id`.",
        merged(&[
            json!({"200": {"description": "The schema.", "headers": {"ETag": etag()},
                    "content": {"application/schema+json": {"schema": {"type": "object"}}}}, "304": not_modified()}),
            problems(&[404], "Problem"),
        ]),
        &["if_none_match"],
    )
}

/// `GET /api/v1/sessions/{session_id}/runs/{run_id}/stream`.
pub(in crate::http) fn native_sse_stream() -> Value {
    described(
        "streamRunAsSseV1",
        "A run's events in `sse.v1`.",
        merged(&[
            json!({"200": native_stream("sse.v1"), "204": {"description": "The run has ended and was read completely."}}),
            problems(&[400, 404, 406, 410, 500], "SseError"),
        ]),
        &["after", "last_event_id"],
    )
}

/// `GET /api/v1/runs/{run_id}`.
pub(in crate::http) fn native_sse_run() -> Value {
    described(
        "getRunAsSseV1",
        "A run's status in the form of `sse.v1`.",
        merged(&[json!({"200": body("The status.", "application/json", "SseRun")}), problems(&[400, 404], "SseError")]),
        &[],
    )
}

/// `GET /hecate/v1/tasks/{task_id}/runs/{run_id}/events`.
pub(in crate::http) fn hecate_run_events() -> Value {
    described(
        "getTaskRunEvents",
        "A run's events in `hecate.v1`: a stream, or a list if there is a `limit`.",
        merged(&[
            json!({"200": hecate_events(), "204": {"description": "The run has ended and was read completely."}}),
            problems(&[400, 404, 406, 410, 500], "HecateError"),
        ]),
        &["experimental", "user_messages", "after_sequence", "limit", "last_event_id"],
    )
}

/// `GET /hecate/v1/events/stream`.
pub(in crate::http) fn hecate_all_events() -> Value {
    described(
        "streamAllAsHecateV1",
        "The events of all runs in `hecate.v1`.",
        merged(&[json!({"200": native_stream("hecate.v1")}), problems(&[400, 406, 500], "HecateError")]),
        &["experimental", "user_messages", "feed_after", "limit", "task_id", "event_type", "last_event_id"],
    )
}

/// `GET /hecate/v1/artifacts/{artifact_id}`.
pub(in crate::http) fn hecate_artifact() -> Value {
    described(
        "getHecateArtifact",
        "An artifact as Hecate describes it.",
        merged(&[
            json!({"200": body("The artifact.", "application/json", "HecateArtifact")}),
            problems(&[400, 404], "HecateError"),
        ]),
        &[],
    )
}

/// `GET /healthz`.
pub(in crate::http) fn health() -> Value {
    described(
        "getHealth",
        "Whether the process responds.",
        json!({"200": body("It responds.", "application/json", "Health")}),
        &[],
    )
}

/// `GET /readyz`.
pub(in crate::http) fn ready() -> Value {
    described(
        "getReadiness",
        "Whether the proxy accepts work.",
        json!({"200": body("It accepts work.", "application/json", "Readiness"),
                "503": body("It does not accept work, for these reasons.", "application/json", "Readiness")}),
        &[],
    )
}

/// `GET /metrics`.
pub(in crate::http) fn metrics() -> Value {
    described(
        "getMetrics",
        "The proxy's metrics, for Prometheus.",
        json!({"200": {"description": "Text format 0.0.4.",
                "content": {"text/plain; version=0.0.4": {"schema": {"type": "string"}}}}}),
        &[],
    )
}

/// `GET /openapi.json`.
pub(in crate::http) fn openapi() -> Value {
    described(
        "getOpenApi",
        "The OpenAPI document of this API.",
        json!({"200": {"description": "OpenAPI 3.1.",
                "content": {"application/vnd.oai.openapi+json;version=3.1": {"schema": {"type": "object"}}}}}),
        &[],
    )
}
