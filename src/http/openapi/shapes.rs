//! Shared parts of operations: parameters, bodies, errors.

use super::merged;
use super::{costs, figures};
use crate::auth::Scope;
use crate::catalogue::without_user_messages;
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::runners::RUNNERS;
use serde_json::{Value, json};

fn query(name: &str, about: &str, schema: &Value) -> Value {
    json!({"name": name, "in": "query", "description": about, "schema": schema})
}

fn header(name: &str, about: &str) -> Value {
    json!({"name": name, "in": "header", "description": about, "schema": {"type": "string"}})
}

pub(super) fn parameters() -> Value {
    let contracts: Vec<&str> = CONTRACTS.iter().map(|contract| contract.name).collect();
    let runners: Vec<&str> = RUNNERS.iter().map(|runner| runner.name).collect();
    let (text, uuid) = (json!({"type": "string"}), json!({"type": "string", "format": "uuid"}));
    let number = |least: u64| json!({"type": "integer", "minimum": least});
    let user_messages = format!("Also emit the user's messages in {}.", without_user_messages("`"));
    let flag = json!({"enum": ["0", "1", "true", "false"]});
    json!({
        "contract": query("contract", "The contract; takes precedence over `Accept`.", &json!({"enum": contracts})),
        "experimental": query("experimental", "Also emit the groups that the contract calls experimental.", &flag),
        "user_messages": query("user_messages", &user_messages, &flag),
        "after": query("after",
            "The cursor of the last received event; -1 for none. It is an event id in `sse.v1`, and a number in the \
             other contracts.", &text),
        "after_sequence": query("after_sequence", "The `sequence` of the last received event; -1 for none.",
            &json!({"type": "integer", "minimum": -1})),
        "feed_after": query("after", "The id of the last received event of a feed, or `latest`.", &text),
        "after_frame": query("after", "The `seq` of the last received frame; -1 for none.",
            &json!({"type": "integer", "minimum": -1})),
        "limit": query("limit", "The maximum number of items, up to server.page_limit_max.", &number(1)),
        "skip": query("skip", "The number of items to skip.", &number(0)),
        "session_id": query("session_id", "Only runs of this session.", &uuid),
        "task_id": query("task_id", "Only runs of this task: `task_` and a ULID, or a UUID.", &text),
        "event_type": query("event_type", "Only events of these types, separated by commas.", &text),
        "runner": query("runner", "Only runs of this runner.", &json!({"enum": runners})),
        "state": query("state", "Only runs in this state.", &run_state()),
        "upstream": query("upstream", "The upstream of kind `responses`. Default: the first one.", &text),
        "stream": query("stream", "Whether to stream events.", &json!({"type": "boolean"})),
        "starting_after": query("starting_after", "The `sequence_number` of the last received event.", &number(0)),
        "last_event_id": header("Last-Event-ID", "The id of the last received event, as a browser sends it."),
        "idempotency_key": header("Idempotency-Key",
            "The client's name for this body. Sending the same body again with the same key does not create runs again."),
        "framegate_session": header("Framegate-Session",
            "The session that goes on: its id as in `GET /v1/runs`, or in the runner's spelling. Default: the one whose \
             prompts and last answer the conversation repeats, else a new one."),
        "framegate_mode": header("Framegate-Mode",
            "A mode of the upstream's runner, as in `GET /v1/upstreams`. Default: the upstream's, else the runner's own."),
        "if_none_match": header("If-None-Match", "The tags of the client's copies."),
    })
}

pub(super) fn etag() -> Value {
    json!({"description": "Changes with the content.", "schema": {"type": "string"}})
}

fn run_state() -> Value {
    json!({"enum": ["running", "waiting_approval", "completed", "failed", "interrupted"]})
}

pub(super) fn responses() -> Value {
    let answer = |about: &str, media: &str, schema: &str| {
        let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
        json!({"description": about, "content": {media: {"schema": schema}}})
    };
    json!({
        "Problem": answer("The problem and its remedy (RFC 9457).", "application/problem+json", "Problem"),
        "SseError": answer("The problem.", "application/json", "SseError"),
        "ResponsesError": answer("The problem, in the form that the API's SDKs read, or the upstream's own error.",
            "application/json", "ResponsesError"),
        "HecateError": answer("The problem.", "application/json", "HecateError"),
    })
}

/// An object schema with required fields.
pub(super) fn object(required: &[&str], properties: &Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}

/// The response of `GET /v1/contracts`.
fn catalogue(text: &Value) -> Value {
    let or_null = json!({"type": ["string", "null"]});
    let link = object(&["name", "schema"], &json!({"name": text, "schema": text}));
    let surface = object(&["name", "source"], &json!({"name": text, "source": text}));
    let list = |items: &Value| json!({"type": "array", "items": items});
    let contract = object(
        &["name", "about", "version", "document", "sse", "cursor", "type_key", "log", "media_types", "schema", "types"],
        &json!({"name": text, "about": text, "version": or_null, "document": or_null,
            "sse": {"enum": ["bare", "named", "raw"]}, "cursor": or_null, "type_key": text, "log": {"type": "boolean"},
            "media_types": list(text), "schema": or_null, "types": list(&link)}),
    );
    let runner = object(
        &["name", "about", "provider", "surfaces"],
        &json!({"name": text, "about": text, "provider": text, "surfaces": list(&surface)}),
    );
    object(&["contracts", "runners"], &json!({"contracts": list(&contract), "runners": list(&runner)}))
}

pub(super) fn schemas() -> Value {
    let (text, count) = (json!({"type": "string"}), json!({"type": "integer", "minimum": 0}));
    let counted = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    let uuid = json!({"type": "string", "format": "uuid"});
    let counts = json!({"type": "object", "additionalProperties": count});
    let millis = json!({"type": "integer", "minimum": 0, "description": "Unix epoch milliseconds."});
    let time = json!({"type": "string", "format": "date-time"});
    let waiting = object(
        &["approval_id", "tool_name", "requested_at_ms", "seq"],
        &json!({"approval_id": text, "tool_name": text, "reason": text, "requested_at_ms": millis, "seq": count}),
    );
    let exit = json!({"type": "object", "description": "How the program ended: an exit status or a signal.",
        "properties": {"status": {"type": "integer"}, "signal": {"type": "integer"}}});
    let run = json!({"$ref": "#/components/schemas/RunStatus"});
    let runners: Vec<&str> = RUNNERS.iter().map(|runner| runner.name).collect();
    json!({
        "Problem": object(&["type", "title", "status", "detail"],
            &json!({"type": text, "title": text, "status": {"type": "integer"}, "detail": text,
            "records": counted("For an ingest: the number of records that were read."),
            "invalid_records": counted("Records that are not JSON, not UTF-8, or too large."),
            "unknown_records": counted("Records of an unknown type or with an unknown part."),
            "looks_like": {"type": "string", "description": "The runner that the input looks like."}})),
        "SseError": object(&["error"], &json!({"error": object(&["code", "message", "details"],
            &json!({"code": text, "message": text, "details": {"type": "object"}}))})),
        "HecateError": object(&["error"], &json!({"error": object(&["message"], &json!({"message": text}))})),
        "ResponsesError": object(&["error"], &json!({"error": object(&["message", "type", "code"],
            &json!({"message": text, "type": text, "param": {"type": "null"}, "code": text}))})),
        "Made": object(&["records", "invalid_records", "unknown_records", "repeated_runs", "runs"], &json!({"records": count,
            "repeated_runs": counted("The number of runs that were already in the log."),
            "replaced_runs": counted("The number of runs that replaced shorter ones in the log."),
            "invalid_records": counted("Records that are not JSON, not UTF-8, or too large."),
            "unknown_records": counted("Records of an unknown type or with an unknown part."),
            "looks_like": {"type": "string", "description": "Another runner that the input looks like."},
            "runs": {"type": "array", "items": run}})),
        "RunList": object(&["object", "data", "next_skip"], &json!({"object": {"const": "list"},
            "data": {"type": "array", "items": run}, "next_skip": {"type": ["integer", "null"]}})),
        "RunStatus": object(
            &["run_id", "session_id", "runner", "state", "started_at_ms", "updated_at_ms", "frames", "records",
                "invalid_records", "records_with_errors", "tool_calls", "usage", "warnings", "validation_failures",
                "pending_approvals", "approvals"],
            &merged(&[figures::of_run(), costs::of_run(), json!({
                "run_id": uuid, "session_id": uuid, "session_name": text, "response_id": text, "runner": {"enum": runners},
                "title": {"type": "string", "maxLength": 120, "description": "The first prompt, on one line."},
                "model": {"type": "string", "description": "The model that the run named last."},
                "workspace": {"type": "object", "description": "Where the run works, as far as its runner reported it.", "properties": {
                    "directory": {"type": "string", "description": "The working directory, as the runner spells it."},
                    "repository": {"type": "string", "description": "The repository as `host/path`, without scheme, user and `.git`."},
                    "branch": {"type": "string", "description": "The branch."}}},
                "state": run_state(),
                "started_at_ms": millis, "updated_at_ms": millis, "ended_at_ms": millis,
                "frames": count, "pruned_frames": count, "records": count, "invalid_records": count, "records_with_errors": count,
                "warnings": counts, "drift": counts, "events_checked": counts, "validation_failures": counts,
                "events_withheld": counts, "pending_approvals": {"type": "array", "items": text},
                "approvals": {"type": "array", "items": waiting},
                "final_text": text, "error_code": text, "message": text,
                "not_kept": {"enum": ["log_full", "log_failed"],
                    "description": "Why the latest frames are not stored. The run does not end before they are."},
                "damaged": {"type": "string", "description": "The unreadable part of the run; its events end there."},
                "exit": exit,
            })])),
        "EventPage": object(&["object", "data"], &json!({"object": {"const": "list"}, "data": {"type": "array", "items": {}},
            "next": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}],
                "description": "The cursor of the next page; null if there are no more events now."},
            "cursor": {"type": "string", "description": "For a feed: the cursor with which to request what follows this page."},
            "ended": {"type": "boolean", "description": "For a run: true if there will be no more events."}})),
        "SseRun": object(&["run_id", "session_id", "status", "started_at", "updated_at"],
            &json!({"run_id": uuid, "session_id": uuid, "status": run_state(), "started_at": time, "updated_at": time,
                "ended_at": time, "final_text": text, "error_code": text, "message": text})),
        "HecateArtifact": object(&["object", "data"], &json!({"object": {"const": "artifact"},
            "data": object(&["id", "kind", "digest", "mime", "size_bytes", "created_at", "produced_by_run_id"],
                &json!({"id": text, "kind": text, "digest": text, "mime": text, "size_bytes": count,
                    "created_at": time, "produced_by_run_id": text}))})),
        "Catalogue": catalogue(&text),
        "Access": object(&["tokens_required", "scopes", "version"], &json!({
            "tokens_required": {"type": "boolean", "description": "Whether requests need a token."},
            "scopes": {"type": "array", "items": {"enum": Scope::ALL.map(Scope::as_str)}},
            "version": {"type": "string", "description": "framegate's version."}})),
        "Redeemed": object(&["token"], &json!({"token": text})),
        "Health": object(&["status"], &json!({"status": {"const": "ok"}})),
        "Readiness": object(&["status"], &json!({"status": {"enum": ["ready", "not_ready"]},
            "reasons": {"type": "array", "items": object(&["code", "detail"],
                &json!({"code": {"enum": ["stopping", "log_not_writable", "ingests_full", "upstream_not_connected"]}, "detail": text}))}})),
    })
}
