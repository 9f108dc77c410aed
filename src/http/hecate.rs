//! The native paths of `hecate.v1` (`spec/hecate-v1.md`).
//!
//! In: Hecate ids, or UUIDs. Out: a run's events as a stream or `{"object":"list","data":[…]}`, the cross-run feed, an
//! artifact's object; errors as `{"error":{"message"}}`. Never: a run under a task that it is not of.

use super::Shared;
use super::artifacts::{self, Found};
use super::body::Body;
use super::events::{Query, cursor_of, first_event, follow, gather, options_of, wanted_of};
use super::feeds;
use super::negotiate::{Form, Negotiated, Wanted, negotiate};
use super::problem::Problem;
use super::router::json_response;
use crate::artifacts::Key;
use crate::runs::Scope;
use framegate_translators::artifacts::ArtifactKind;
use framegate_translators::contracts::hecate::{V1, ids};
use framegate_translators::contracts::rfc3339_millis;
use framegate_translators::frame::StreamKind;
use hyper::body::Incoming;
use hyper::header::ACCEPT;
use hyper::{Request, Response, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// Answers, with errors in the origin's form.
pub(super) fn answered(answer: Result<Response<Body>, Problem>) -> Response<Body> {
    answer.unwrap_or_else(|mut problem| {
        let mut response = json_response(&json!({"error": {"message": problem.detail()}}));
        *response.status_mut() = problem.status();
        problem.extend(&mut response);
        response
    })
}

/// A UUID, or an id that spells one behind `prefix`.
fn id_of(prefix: &str, text: &str) -> Option<Uuid> {
    ids::uuid_of(prefix, text).or_else(|| Uuid::try_parse(text).ok())
}

/// Stream or list. The document has both on one path, the list with a `limit`: where `Accept` leaves it open, that decides.
fn negotiated(request: &Request<Incoming>, query: &Query, shared: &Shared) -> Result<Negotiated, Problem> {
    let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("*/*");
    let prefers_list = query.limit.is_some() && !accept.contains("text/event-stream");
    let forms: &[Form] = if prefers_list { &[Form::Json, Form::Sse] } else { &[Form::Sse, Form::Json] };
    let wanted = Wanted { default: &V1, native: true, forms, ..wanted_of(request, query, shared) };
    negotiate(wanted).map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))
}

/// `GET /hecate/v1/tasks/{task_id}/runs/{run_id}/events`.
pub(super) async fn of_run(
    request: &Request<Incoming>,
    task_id: &str,
    run_id: &str,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let run = id_of("run_", run_id).and_then(|id| shared.find(StreamKind::Session, id));
    let entry = run
        .filter(|entry| id_of("task_", task_id) == Some(entry.stream.session.id))
        .ok_or_else(|| Problem::not_found(format!("there is no run {run_id} of task {task_id}")))?;
    let query = options_of(request)?;
    let negotiated = negotiated(request, &query, &shared)?;
    let mut reader = shared
        .runs
        .reader(&entry, negotiated.contract, &negotiated.options)
        .ok_or_else(|| Problem::not_found("the run has no events in hecate.v1"))?;
    let cursor = cursor_of(request, &query, negotiated.contract)
        .map_err(|_| Problem::bad_request("after_sequence must be a non-negative integer"))?;
    let from = first_event(&cursor, &mut reader, &shared).await?;
    if negotiated.form == Form::Json {
        let page = gather(&query, &mut reader, from, &shared).await?;
        return Ok(json_response(&List { object: "list", data: page.events }));
    }
    follow(reader, from, cursor.is_some(), &negotiated, shared).await
}

#[derive(serde::Serialize)]
struct List {
    object: &'static str,
    data: Vec<Box<serde_json::value::RawValue>>,
}

/// `GET /hecate/v1/events/stream`: every run's events. Sequences count within a run, so the cursor here is the feed's own.
pub(super) async fn of_all(request: &Request<Incoming>, shared: &Shared) -> Result<Response<Body>, Problem> {
    let query = options_of(request)?;
    let session = match query.task_id.as_deref() {
        None => None,
        Some(task) => Some(id_of("task_", task).ok_or_else(|| Problem::bad_request("task_id is no task's id"))?),
    };
    let wanted = Wanted { default: &V1, native: true, forms: &[Form::Sse], ..wanted_of(request, &query, shared) };
    let negotiated = negotiate(wanted).map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))?;
    let scope = Scope { session, types: query.event_types(), restriction: shared.caller.restriction.clone() };
    let follower = feeds::follower(request, &query, scope, &negotiated, shared)?;
    feeds::stream(follower, &negotiated, shared).await
}

/// `GET /hecate/v1/artifacts/{artifact_id}`: the artifact's object. A patch stands in it; other content is fetched by the
/// same id from `/v1/artifacts/{artifact_id}`.
pub(super) async fn artifact(artifact_id: &str, shared: &Shared) -> Result<Response<Body>, Problem> {
    let found = match Key::parse(artifact_id) {
        Some(key) => artifacts::find(key, shared).await.unwrap_or_else(|error| {
            tracing::error!(%error, "an artifact could not be read");
            None
        }),
        None => None,
    };
    let found =
        found.ok_or_else(|| Problem::not_found(format!("there is no artifact {artifact_id}, or not any more")))?;
    Ok(json_response(&json!({"object": "artifact", "data": object(&found)})))
}

fn object(found: &Found) -> Value {
    let artifact = &found.artifact;
    // What another run said of the same bytes is not this caller's to know.
    let is_first = found.seen_in == artifact.stream;
    let at = rfc3339_millis(artifact.created_at_ms);
    let mut data = json!({
        "id": ids::artifact_id(&artifact.id()),
        "kind": artifact.kind.as_str(),
        "digest": &*artifact.id(),
        "mime": &*artifact.mime,
        "size_bytes": artifact.content.len(),
        "created_at": at,
        "produced_by_run_id": ids::run_id(found.seen_in.id),
    });
    let Some(fields) = data.as_object_mut() else { return data };
    if let Some(call_id) = artifact.call_id.as_ref().filter(|_| is_first) {
        fields.insert("produced_by_tool_call_id".to_owned(), Value::from(&**call_id));
    }
    if artifact.bytes_total > artifact.content.len() as u64 {
        fields.insert("truncated".to_owned(), Value::from(true));
    }
    if let (ArtifactKind::Patch, Some(patched), true) = (artifact.kind, &artifact.patched, is_first) {
        let diff = String::from_utf8_lossy(&artifact.content);
        // Runners tell a change once it is made: it was proposed and applied at once, and nobody takes it back here.
        fields.extend([
            ("status".to_owned(), Value::from("applied")),
            ("target_path".to_owned(), Value::from(&*patched.path)),
            ("stats".to_owned(), stats(&diff)),
            ("diff".to_owned(), Value::from(&*diff)),
            ("applied_at".to_owned(), Value::from(at)),
            ("reverted_at".to_owned(), Value::Null),
        ]);
    }
    data
}

/// What a unified diff adds and takes away. Only lines of hunks count: a heading looks like one.
fn stats(diff: &str) -> Value {
    let (mut hunks, mut additions, mut deletions) = (0u64, 0u64, 0u64);
    let (mut old_left, mut new_left) = (0u64, 0u64);
    for line in diff.lines() {
        if old_left == 0 && new_left == 0 {
            if let Some((old, new)) = hunk(line) {
                hunks += 1;
                (old_left, new_left) = (old, new);
            }
            continue;
        }
        match line.as_bytes().first() {
            Some(b'+') => {
                additions += 1;
                new_left = new_left.saturating_sub(1);
            }
            Some(b'-') => {
                deletions += 1;
                old_left = old_left.saturating_sub(1);
            }
            Some(b'\\') => {}
            _ => {
                old_left = old_left.saturating_sub(1);
                new_left = new_left.saturating_sub(1);
            }
        }
    }
    json!({"additions": additions, "deletions": deletions, "hunks": hunks})
}

/// The lengths in `@@ -1,2 +3,4 @@`; one that is left out is 1.
fn hunk(line: &str) -> Option<(u64, u64)> {
    let mut ranges = line.strip_prefix("@@ -")?.split(' ');
    let length = |range: &str| range.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok());
    let old = length(ranges.next()?)?;
    let new = length(ranges.next()?.strip_prefix('+')?)?;
    Some((old, new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_of_hunks_are_counted() {
        let diff =
            "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n keep\n--- dashes\n+++ pluses\n+more\n keep\n@@ -9 +10,0 @@\n-gone\n";
        assert_eq!(stats(diff), json!({"additions": 2, "deletions": 2, "hunks": 2}));
        assert_eq!(stats("no diff"), json!({"additions": 0, "deletions": 0, "hunks": 0}));
    }
}
