//! Feeds: the events of all runs of a session, or of all runs, including future ones.
//!
//! Input: a scope, a contract, a cursor. Output: a stream without an end of its own, or a page of the available events.
//! Never: 204 (a feed does not end); a contract whose events are not JSON in framegate's own form.

use super::body::{Source, events_behind};
use super::events::{stream_headers, unreadable, wanted_of};
use super::negotiate::{Form, Negotiated, negotiate};
use super::problem::Problem;
use super::query::Query;
use super::reply::{Body, json_response};
use super::route::Call;
use super::shared::Shared;
use crate::runs::{FeedEvent, FeedFollower, Position, Scope, Wire};
use framegate_translators::contracts::RECORDS;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde_json::value::RawValue;
use std::sync::Arc;
use uuid::Uuid;

/// `GET /v1/events`.
pub(super) async fn of_all(call: Call) -> Result<Response<Body>, Problem> {
    let query = call.query()?;
    neutral(&call.request, &query, query.session_id, call.shared).await
}

/// `GET /v1/sessions/{session_id}/events`.
pub(super) async fn of_session(call: Call) -> Result<Response<Body>, Problem> {
    let query = call.query()?;
    let Call { request, path, shared, .. } = call;
    let [session_id] = path.get()?;
    let id = Uuid::try_parse(session_id)
        .map_err(|_| Problem::bad_request("the session id must be a UUID, as in GET /v1/runs"))?;
    if !shared.runs.knows_session(id, &shared.caller.restriction) {
        return Err(Problem::not_found(format!("there is no session {id}; GET /v1/runs shows the stored sessions")));
    }
    neutral(&request, &query, Some(id), shared).await
}

async fn neutral(
    request: &Request<Incoming>,
    query: &Query,
    session: Option<Uuid>,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let negotiated = negotiate(wanted_of(request, query, &shared))
        .map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))?;
    let types = query.event_types(negotiated.contract)?;
    let scope = Scope { session, types, restriction: shared.caller.restriction.clone() };
    let is_page = negotiated.form == Form::Json;
    let mut follower = follower(request, query, scope, &negotiated, &shared)?;
    if !is_page {
        return stream(follower.within(query.limit), &negotiated, &shared).await;
    }
    #[derive(serde::Serialize)]
    struct Page {
        object: &'static str,
        data: Vec<Box<RawValue>>,
        /// The cursor with which to request the events after this page, now or later. In a page without events it is that of the
        /// page's own position. Absent only at the start of an empty feed.
        #[serde(skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
        /// The same cursor if more events are available now; otherwise null.
        next: Option<String>,
    }
    let found = page(&mut follower, query, &shared).await?;
    let cursor = found.last().map(|event| event.cursor.clone()).or_else(|| follower.cursor());
    let more = follower.ready(1).await.map_err(|error| unreadable(&error))?;
    let next = cursor.clone().filter(|_| !more.is_empty());
    let mut response =
        json_response(&Page { object: "list", data: found.iter().filter_map(raw).collect(), cursor, next });
    if let Ok(value) = HeaderValue::from_str(&negotiated.content_type()) {
        response.headers_mut().insert(CONTENT_TYPE, value);
    }
    Ok(response)
}

/// A reader of the feed that starts at the request's cursor.
pub(super) fn follower(
    request: &Request<Incoming>,
    query: &Query,
    scope: Scope,
    negotiated: &Negotiated,
    shared: &Shared,
) -> Result<FeedFollower, Problem> {
    let contract = negotiated.contract;
    if contract.name == RECORDS.name {
        let detail = format!(
            "a feed contains many runs, and {} cannot express to which run a record belongs; request a single run at \
             GET /v1/runs/{{run_id}}/events, or request frames.v2, whose provider_event frames contain every record",
            contract.name
        );
        return Err(Problem::new(StatusCode::NOT_ACCEPTABLE, detail));
    }
    let at = position_of(request, query, shared)?;
    Ok(FeedFollower::new(shared.runs.clone(), scope, contract, negotiated.options.clone(), at))
}

/// The position at which the request starts. A browser that reconnects sends `Last-Event-ID` and its original query; the
/// header is newer. A header that is not a feed cursor belongs to another stream and is ignored.
fn position_of(request: &Request<Incoming>, query: &Query, shared: &Shared) -> Result<Position, Problem> {
    let header = request.headers().get("last-event-id").and_then(|id| id.to_str().ok());
    if let Some(Ok(position)) = header.map(|cursor| shared.runs.feed_position(cursor)) {
        return Ok(position);
    }
    match query.after.as_deref() {
        None => Ok(Position::default()),
        Some(cursor) => shared
            .runs
            .feed_position(cursor)
            .map_err(|_| Problem::bad_request("after must be the id of an event of a feed, or \"latest\"")),
    }
}

/// Streams the reader's events.
pub(super) async fn stream(
    mut follower: FeedFollower,
    negotiated: &Negotiated,
    shared: &Shared,
) -> Result<Response<Body>, Problem> {
    let wire = if negotiated.form == Form::Sse { Wire::Sse } else { Wire::Ndjson };
    let lease = shared.stream()?;
    let repeated = follower.pending_replay(wire).await.map_err(|error| unreadable(&error))?;
    let body = events_behind(repeated, Source::Feed(Box::new(follower), wire), negotiated, shared, lease);
    let mut response = Response::new(body);
    stream_headers(&mut response, negotiated);
    Ok(response)
}

/// The available events, up to one page.
async fn page(follower: &mut FeedFollower, query: &Query, shared: &Shared) -> Result<Vec<FeedEvent>, Problem> {
    let limit = query.limit.unwrap_or(shared.settings.page_default).min(shared.settings.page_max);
    let mut found = Vec::new();
    while found.len() < limit {
        let more = follower.ready(limit - found.len()).await.map_err(|error| unreadable(&error))?;
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    Ok(found)
}

fn raw(event: &FeedEvent) -> Option<Box<RawValue>> {
    let text = String::from_utf8_lossy(&event.line);
    RawValue::from_string(text.trim_end().to_owned()).ok()
}
