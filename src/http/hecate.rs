//! The native paths of `hecate.v1` (`spec/hecate-v1.md`).
//!
//! Input: Hecate ids, or UUIDs. Output: a run's events as a stream or as `{"object":"list","data":[…]}`, the feed of all
//! runs, the object of an artifact; errors as `{"error":{"message"}}`. Never: a run under a task that it does not belong to.

use super::artifacts::{self, Found};
use super::events::{cursor_of, first_event, follow, gather, wanted_of};
use super::feeds;
use super::negotiate::{Form, Negotiated, Wanted, negotiate};
use super::problem::Problem;
use super::query::Query;
use super::reply::{Body, json_response};
use super::route::Call;
use super::shared::Shared;
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
use uuid::Uuid;

/// A problem in the form of Hecate's document.
pub(super) fn refused(mut problem: Problem) -> Response<Body> {
    let mut response = json_response(&json!({"error": {"message": problem.detail()}}));
    *response.status_mut() = problem.status();
    problem.extend(&mut response);
    response
}

/// Parses a UUID, or an id that encodes one after `prefix`.
fn id_of(prefix: &str, text: &str) -> Option<Uuid> {
    ids::uuid_of(prefix, text).or_else(|| Uuid::try_parse(text).ok())
}

/// Chooses stream or list. The document has both on one path. If `Accept` allows both, a `limit` in the query selects the
/// list.
fn negotiated(request: &Request<Incoming>, query: &Query, shared: &Shared) -> Result<Negotiated, Problem> {
    let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("*/*");
    let prefers_list = query.limit.is_some() && !accept.contains("text/event-stream");
    let forms: &[Form] = if prefers_list { &[Form::Json, Form::Sse] } else { &[Form::Sse, Form::Json] };
    let wanted = Wanted { default: &V1, native: true, forms, ..wanted_of(request, query, shared) };
    negotiate(wanted).map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))
}

/// `GET /hecate/v1/tasks/{task_id}/runs/{run_id}/events`.
pub(super) async fn of_run(call: Call) -> Result<Response<Body>, Problem> {
    let query = call.query();
    let Call { request, path, shared, .. } = call;
    let [task_id, run_id] = path.get()?;
    let run = id_of("run_", run_id).and_then(|id| shared.find(StreamKind::Session, id));
    let entry = run
        .filter(|entry| id_of("task_", task_id) == Some(entry.stream.session.id))
        .ok_or_else(|| Problem::not_found(format!("there is no run {run_id} of task {task_id}")))?;
    let query = query?;
    let negotiated = negotiated(&request, &query, &shared)?;
    let mut reader = shared
        .runs
        .reader(&entry, negotiated.contract, &negotiated.options)
        .ok_or_else(|| Problem::not_found("the run has no events in hecate.v1"))?;
    let cursor = cursor_of(&request, &query, negotiated.contract)
        .map_err(|_| Problem::bad_request("after_sequence must be a non-negative integer"))?;
    let from = first_event(&cursor, &mut reader, &shared).await?;
    if negotiated.form == Form::Json {
        let page = gather(&query, &mut reader, from, &shared).await?;
        return Ok(json_response(&List { object: "list", data: page.events }));
    }
    follow(reader, from, cursor.is_some(), query.limit, None, &negotiated, shared).await
}

#[derive(serde::Serialize)]
struct List {
    object: &'static str,
    data: Vec<Box<serde_json::value::RawValue>>,
}

/// `GET /hecate/v1/events/stream`: the events of all runs. Sequences count within a run, so this path uses the feed's cursor.
pub(super) async fn of_all(call: Call) -> Result<Response<Body>, Problem> {
    let query = call.query()?;
    let (request, shared) = (&call.request, &*call.shared);
    let session = match query.task_id.as_deref() {
        None => None,
        Some(task) => {
            Some(id_of("task_", task).ok_or_else(|| Problem::bad_request("task_id is not the id of a task"))?)
        }
    };
    let wanted = Wanted { default: &V1, native: true, forms: &[Form::Sse], ..wanted_of(request, &query, shared) };
    let negotiated = negotiate(wanted).map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))?;
    let scope = Scope {
        session,
        types: query.event_types(negotiated.contract)?,
        restriction: shared.caller.restriction.clone(),
    };
    let follower = feeds::follower(request, &query, scope, &negotiated, shared)?;
    feeds::stream(follower.within(query.limit), &negotiated, shared).await
}

/// `GET /hecate/v1/artifacts/{artifact_id}`: the object of an artifact. A patch is included in it. Other content is available
/// under the same id at `/v1/artifacts/{artifact_id}`.
pub(super) async fn artifact(call: Call) -> Result<Response<Body>, Problem> {
    call.query()?;
    let ([artifact_id], shared) = (call.path.get()?, &call.shared);
    let found = match Key::parse(artifact_id) {
        Some(key) => artifacts::find(key, shared).await.map_err(|error| artifacts::unreadable(&error))?,
        None => None,
    };
    let found = found
        .ok_or_else(|| Problem::not_found(format!("there is no artifact {artifact_id}, or it is no longer stored")))?;
    Ok(json_response(&json!({"object": "artifact", "data": object(&found)})))
}

fn object(found: &Found) -> Value {
    let artifact = &found.artifact;
    // The stored metadata is from the first stream with these bytes. Callers who see them only elsewhere must not see it.
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
        // Runners report changes after making them: the patch was proposed and applied at once, and is never reverted here.
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

/// Counts what a unified diff adds and removes. Only lines within hunks count, because file headers look like changes.
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

/// The lengths in `@@ -1,2 +3,4 @@`; an omitted length is 1.
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
