//! Runs over HTTP: their list, their status, their events.

use super::body::{Source, events_behind};
use super::limits::later;
use super::negotiate::{Form, Negotiated, Wanted, negotiate};
use super::problem::Problem;
use super::query::Query;
use super::reply::{Body, json_response, no_content};
use super::route::Call;
use super::sdk_errors;
use super::shared::Shared;
use crate::log::LogError;
use crate::runs::{Ask, Entry, Follower, Reader, RunStatus, Wire};
use framegate_translators::contracts::{Contract, RECORDS, names_for, sse};
use framegate_translators::encode::EventId;
use framegate_translators::frame::StreamKind;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde_json::json;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// How much of a run's end is read at once, in bytes, to find its last event.
const ENDING_BYTES: usize = 64 << 10;

/// Every form of events.
const FORMS: &[Form] = &[Form::Sse, Form::Ndjson, Form::Json, Form::Bytes];

/// The forms for a request with a `limit`: if `Accept` allows several, a page is preferred.
const PAGE_FIRST: &[Form] = &[Form::Json, Form::Sse, Form::Ndjson, Form::Bytes];

fn id_of(what: &str, text: &str) -> Result<Uuid, Problem> {
    Uuid::try_parse(text).map_err(|_| Problem::bad_request(format!("{what} must be a UUID, as in GET /v1/runs")))
}

pub(super) fn run_of(run_id: &str, shared: &Shared) -> Result<Arc<Entry>, Problem> {
    let id = id_of("the run id", run_id)?;
    let unknown = || Problem::not_found(format!("there is no run {id}; GET /v1/runs lists the stored runs"));
    shared.find_any(id).ok_or_else(unknown)
}

/// What a request asks for, with all forms and the configured default contract.
pub(super) fn wanted_of<'r, B>(request: &'r Request<B>, query: &'r Query, shared: &'r Shared) -> Wanted<'r> {
    Wanted {
        contract: query.contract.as_deref(),
        experimental: query.experimental,
        user_messages: query.user_messages,
        options: &shared.settings.encoder,
        accept: request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok()),
        default: shared.settings.default_contract,
        native: false,
        forms: if query.limit.is_some() && query.contract.as_deref() != Some(RECORDS.name) {
            PAGE_FIRST
        } else {
            FORMS
        },
    }
}

/// `GET /v1/runs`: newest first.
pub(super) async fn list(call: Call) -> Result<Response<Body>, Problem> {
    let (query, shared) = (call.query()?, call.shared);
    let restriction = &shared.caller.restriction;
    let wanted = query.runs();
    let filter = |status: &RunStatus| {
        restriction.admits_run(Some(status.run_id), status.session_id, &status.session_name, status.runner)
            && query.state.is_none_or(|state| status.state == state)
            && wanted.admits(status)
    };
    let limit = query.limit.unwrap_or(shared.settings.page_default).min(shared.settings.page_max);
    let mut runs = shared.runs.list(&filter, query.skip, limit + 1);
    let next_skip = (runs.len() > limit).then_some(query.skip + limit);
    runs.truncate(limit);
    let runs = runs.into_iter().map(|run| run.with_cost(shared.runs.prices())).collect();
    #[derive(serde::Serialize)]
    struct List {
        object: &'static str,
        data: Vec<RunStatus>,
        next_skip: Option<usize>,
    }
    Ok(json_response(&List { object: "list", data: runs, next_skip }))
}

/// `GET /v1/runs/{run_id}`.
pub(super) async fn status(call: Call) -> Result<Response<Body>, Problem> {
    call.query()?;
    let [run_id] = call.path.get()?;
    let entry = run_of(run_id, &call.shared)?;
    Ok(json_response(&call.shared.runs.shown_status(&entry)))
}

/// `GET /v1/runs/{run_id}/events`.
pub(super) async fn of_run(call: Call) -> Result<Response<Body>, Problem> {
    let query = call.query()?;
    let negotiated = negotiate(wanted_of(&call.request, &query, &call.shared))
        .map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))?;
    let [run_id] = call.path.get()?;
    let entry = run_of(run_id, &call.shared)?;
    events_of(&call.request, &query, entry, negotiated, call.shared).await
}

/// `GET /api/v1/sessions/{session_id}/runs/{run_id}/stream`, with the document's own error form.
pub(super) async fn native_sse(call: Call) -> Result<Response<Body>, Problem> {
    let query = call.query();
    let Call { request, path, shared, .. } = call;
    let [session_id, run_id] = path.get()?;
    let session = Uuid::try_parse(session_id).ok();
    let run = Uuid::try_parse(run_id).ok().and_then(|id| shared.find(StreamKind::Session, id));
    let entry = match run {
        None => return Ok(native_error(StatusCode::NOT_FOUND, "RUN_NOT_FOUND", "no such run")),
        Some(entry) if Some(entry.stream.session.id) != session => {
            return Ok(native_error(
                StatusCode::NOT_FOUND,
                "SESSION_NOT_FOUND",
                "no such session, or the run belongs to another session",
            ));
        }
        Some(entry) => entry,
    };
    let query = query?;
    let wanted =
        Wanted { default: &sse::V1, native: true, forms: &[Form::Sse], ..wanted_of(&request, &query, &shared) };
    let negotiated = negotiate(wanted).map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))?;
    events_of(&request, &query, entry, negotiated, shared.clone()).await
}

/// A problem in the error form of the document of `sse.v1`.
pub(super) fn native_refused(mut problem: Problem) -> Response<Body> {
    let code = match problem.status() {
        StatusCode::GONE => "REPLAY_UNAVAILABLE".to_owned(),
        status => sdk_errors::code_of(status).to_uppercase(),
    };
    let mut response =
        json_response(&json!({"error": {"code": code, "message": problem.detail(), "details": problem.members()}}));
    *response.status_mut() = problem.status();
    problem.extend(&mut response);
    response
}

pub(super) fn native_error(status: StatusCode, code: &str, message: &str) -> Response<Body> {
    let mut response = json_response(&json!({"error": {"code": code, "message": message, "details": {}}}));
    *response.status_mut() = status;
    response
}

pub(super) async fn events_of(
    request: &Request<Incoming>,
    query: &Query,
    entry: Arc<Entry>,
    negotiated: Negotiated,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let contract = negotiated.contract;
    let mut reader = reader_of(&entry, &negotiated, &shared)?;
    let cursor = cursor_of(request, query, contract)?;
    let types = query.event_types(contract)?;
    let from = first_event(&cursor, &mut reader, &shared).await?;
    if let Some(EventId::Closing(number)) = cursor
        && negotiated.form != Form::Json
        && ends_after(number, from, &mut reader, &shared).await?
    {
        return Ok(no_content());
    }
    match negotiated.form {
        Form::Json => page(query, &mut reader, from, &negotiated, &shared).await,
        Form::Sse | Form::Ndjson | Form::Bytes => {
            follow(reader, from, cursor.is_some(), query.limit, types, &negotiated, shared).await
        }
    }
}

/// A reader of a stream's events.
///
/// # Errors
/// 406: the contract leaves the stream out.
pub(super) fn reader_of(entry: &Arc<Entry>, negotiated: &Negotiated, shared: &Shared) -> Result<Reader, Problem> {
    let Negotiated { contract, options, .. } = negotiated;
    shared.runs.reader(entry, contract, options).ok_or_else(|| {
        let kind = entry.stream.kind.as_str();
        Problem::new(
            StatusCode::NOT_ACCEPTABLE,
            format!("{} has no events for a {kind} stream; use {}", contract.name, names_for(&entry.stream)),
        )
    })
}

/// Streams a run's events from number `from` on, at most `limit` of them if set, only those of these `types` if there are any.
/// `resumed` says that the client has a cursor.
pub(super) async fn follow(
    reader: Reader,
    from: u64,
    resumed: bool,
    limit: Option<usize>,
    types: Option<Vec<String>>,
    negotiated: &Negotiated,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let wire = if negotiated.form == Form::Sse { Wire::Sse } else { Wire::Ndjson };
    let entry = reader.entry().clone();
    let mut follower = Follower::new(shared.runs.clone(), reader, wire, from).within(limit).only(types.clone());
    // On 204, a browser's EventSource stops reconnecting.
    if resumed && follower.is_over().await.map_err(|error| unreadable(&error))? {
        return Ok(no_content());
    }
    // Begin before the head is sent, while an error can still have its own status.
    follower.begin().await.map_err(|error| unreadable(&error))?;
    let lease = shared.stream()?;
    // Questions that still wait for an answer are repeated to a client that resumes.
    let repeated = match resumed {
        true => {
            let is_wanted = |kind: &str| types.as_ref().is_none_or(|types| types.iter().any(|wanted| wanted == kind));
            let Negotiated { contract, options, .. } = negotiated;
            shared.runs.pending_replay(&entry, contract, options, from, &is_wanted, wire).await
        }
        false => Ok(Default::default()),
    };
    let repeated = repeated.map_err(|error| unreadable(&error))?;
    let source = Source::Run(Box::new(follower));
    let mut response = Response::new(events_behind(repeated, source, negotiated, &shared, lease));
    stream_headers(&mut response, negotiated);
    Ok(response)
}

pub(super) fn unreadable(error: &LogError) -> Problem {
    if matches!(error, LogError::Gone { .. } | LogError::Untold { .. }) {
        return Problem::new(StatusCode::GONE, error.to_string());
    }
    if let LogError::Dropped { .. } = error {
        return Problem::not_found(format!("{error}; GET /v1/runs lists the stored runs"));
    }
    if error.is_unreachable() {
        return later(StatusCode::SERVICE_UNAVAILABLE, error.to_string(), Duration::from_secs(1));
    }
    tracing::error!(%error, "the log could not be read");
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the events could not be read; see the proxy's log for the reason")
}

/// The cursor from `?after=` and `Last-Event-ID`. A browser that reconnects sends both, with the query unchanged since its
/// first request. The later of the two applies.
pub(super) fn cursor_of(
    request: &Request<Incoming>,
    query: &Query,
    contract: &Contract,
) -> Result<Option<EventId>, Problem> {
    let header = request.headers().get("last-event-id").and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty());
    if (contract.verifier)().has_text_cursors() {
        return Ok(header.or(query.after.as_deref()).map(|id| EventId::Text(id.to_owned())));
    }
    // Each with whether it is the cursor of a run's end, which comes after the event with the same number.
    let closing = |id| EventId::closing(id).map(|number| (number, true));
    let after = match query.after.as_deref().map(|after| (after.parse::<i64>(), after)) {
        None | Some((Ok(-1), _)) => None,
        Some((Ok(number), _)) if number >= 0 => Some((number.unsigned_abs(), false)),
        // Only a contract with a log leaves the run's end without a number.
        Some((_, after)) => match closing(after).filter(|_| contract.log.is_some()) {
            Some(closing) => Some(closing),
            None => {
                let detail = "after must be the cursor of the last received event, or -1 for none";
                return Err(Problem::bad_request(detail));
            }
        },
    };
    // A browser returns an id that it received here. Any other text belongs to another stream and is ignored.
    let seen = header.and_then(|id| closing(id).or_else(|| Some((id.parse().ok()?, false))));
    Ok(after.max(seen).map(|(number, is_end)| if is_end { EventId::Closing(number) } else { EventId::Number(number) }))
}

/// Whether the run is over and its last event is the one after `number`. `from` is the number of the first event to send.
async fn ends_after(number: u64, from: u64, reader: &mut Reader, shared: &Shared) -> Result<bool, Problem> {
    let tail = *reader.entry().tail().borrow();
    if !tail.ended {
        return Ok(false);
    }
    let (mut at, mut last) = (from, None);
    loop {
        let ask = Ask {
            from: at,
            frames: tail.frames,
            wire: Wire::Ndjson,
            max_bytes: ENDING_BYTES,
            max_events: usize::MAX,
            types: None,
        };
        let batch = reader.read(&shared.runs, ask).await.map_err(|error| unreadable(&error))?;
        if matches!(batch.last_id, Some(EventId::Number(_))) {
            return Ok(false);
        }
        last = batch.last_id.or(last);
        if batch.next == at {
            return Ok(last == Some(EventId::Closing(number)));
        }
        at = batch.next;
    }
}

/// The number of the first event to send. An unknown text cursor means all events, as in `sse.v1`. If the event is no longer
/// kept and the contract has no event that reports this, the result is 410 with the cursor to continue from.
pub(super) async fn first_event(
    cursor: &Option<EventId>,
    reader: &mut Reader,
    shared: &Shared,
) -> Result<u64, Problem> {
    let runs = &shared.runs;
    let from = match cursor {
        None => 0,
        Some(cursor) => reader.after(runs, cursor).await.map_err(|error| unreadable(&error))?.unwrap_or(0),
    };
    let Some(last) = reader.lost(runs, from).await.map_err(|error| unreadable(&error))? else { return Ok(from) };
    let run = reader.entry().stream.id;
    let behind = match &last {
        Some(EventId::Number(number)) => format!(", and the events after {number} are available"),
        Some(EventId::Text(id)) => format!(", and the events after {id} are available"),
        Some(EventId::None | EventId::Closing(_)) | None => String::new(),
    };
    let problem = Problem::new(
        StatusCode::GONE,
        format!("the first events of the run are no longer stored: GET /v1/runs/{run} has its status{behind}"),
    );
    Err(match last {
        Some(EventId::Number(number)) => problem.and("available_after", number),
        Some(EventId::Text(id)) => problem.and("available_after", id),
        Some(EventId::None | EventId::Closing(_)) | None => problem,
    })
}

/// Responds with one page: `{"object":"list","data":[…],"next":CURSOR|null,"ended":BOOL}`. `next` is null if there are no
/// more events now.
async fn page(
    query: &Query,
    reader: &mut Reader,
    from: u64,
    negotiated: &Negotiated,
    shared: &Shared,
) -> Result<Response<Body>, Problem> {
    let Gathered { events, last_id, more, ended } = gather(query, reader, from, shared).await?;
    let next = last_id.filter(|_| more).map(|id| match id {
        EventId::Number(number) => json!(number),
        EventId::Text(text) => json!(text),
        EventId::None | EventId::Closing(_) => serde_json::Value::Null,
    });
    #[derive(serde::Serialize)]
    struct Page {
        object: &'static str,
        data: Vec<Box<RawValue>>,
        next: Option<serde_json::Value>,
        ended: bool,
    }
    let mut response = json_response(&Page { object: "list", data: events, next, ended });
    content_type(&mut response, negotiated);
    Ok(response)
}

/// The events of one page.
pub(super) struct Gathered {
    pub(super) events: Vec<Box<RawValue>>,
    last_id: Option<EventId>,
    more: bool,
    ended: bool,
}

/// Reads a page of events. It ends with an event that has a cursor, even if it exceeds `limit` for that.
pub(super) async fn gather(
    query: &Query,
    reader: &mut Reader,
    from: u64,
    shared: &Shared,
) -> Result<Gathered, Problem> {
    let limit = query.limit.unwrap_or(shared.settings.page_default).min(shared.settings.page_max);
    let types = query.event_types(reader.contract())?;
    let tail = *reader.entry().tail().borrow();
    let all = Ask {
        from,
        frames: tail.frames,
        wire: Wire::Ndjson,
        max_bytes: usize::MAX,
        max_events: 1,
        types: types.as_deref(),
    };
    let (mut at, mut events, mut last_id, mut ends_on_id) = (from, Vec::new(), None, true);
    while events.len() < limit || !ends_on_id {
        let batch = reader
            .read(&shared.runs, Ask { from: at, max_events: limit.saturating_sub(events.len()).max(1), ..all })
            .await
            .map_err(|error| unreadable(&error))?;
        if batch.next == at {
            break;
        }
        at = batch.next;
        ends_on_id = batch.ends_on_id;
        last_id = batch.last_id.or(last_id);
        for chunk in batch.chunks {
            for line in chunk.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                let text = String::from_utf8_lossy(line).into_owned();
                events.extend(RawValue::from_string(text));
            }
        }
    }
    let more = reader
        .read(&shared.runs, Ask { from: at, max_bytes: 1, ..all })
        .await
        .map_err(|error| unreadable(&error))?
        .events
        > 0;
    Ok(Gathered { events, last_id, more, ended: tail.ended && !more })
}

/// The headers of an event stream: intermediaries must not buffer or change it.
pub(super) fn stream_headers(response: &mut Response<Body>, negotiated: &Negotiated) {
    content_type(response, negotiated);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
}

fn content_type(response: &mut Response<Body>, negotiated: &Negotiated) {
    if let Ok(value) = HeaderValue::from_str(&negotiated.content_type()) {
        response.headers_mut().insert(header::CONTENT_TYPE, value);
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    }
}
