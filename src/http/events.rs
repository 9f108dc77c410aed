//! Runs over HTTP: their list, their status, their events.

use super::Shared;
use super::body::{Body, Source, events_behind};
use super::negotiate::{Form, Negotiated, Wanted, negotiate};
use super::percent;
use super::problem::Problem;
use super::router::{json_response, no_content};
use crate::log::LogError;
use crate::runs::{Ask, Entry, Follower, Reader, RunStatus, Wire};
use framegate_translators::contracts::{Contract, SseStyle, sse};
use framegate_translators::encode::EventId;
use framegate_translators::frame::StreamKind;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde_json::json;
use serde_json::value::RawValue;
use std::sync::Arc;
use uuid::Uuid;

/// Every form that events come in.
const FORMS: &[Form] = &[Form::Sse, Form::Ndjson, Form::Json];

/// The query of a request, as far as event paths know it.
#[derive(Debug, Default)]
pub(super) struct Query {
    pub(super) contract: Option<String>,
    pub(super) experimental: bool,
    pub(super) after: Option<String>,
    pub(super) limit: Option<usize>,
    pub(super) session_id: Option<Uuid>,
    pub(super) task_id: Option<String>,
    event_type: Option<String>,
    runner: Option<String>,
    state: Option<String>,
    skip: usize,
}

impl Query {
    /// The types of events that are asked for; `None`: all.
    pub(super) fn event_types(&self) -> Option<Vec<String>> {
        let list = self.event_type.as_deref().filter(|list| !list.is_empty())?;
        Some(list.split(',').map(|kind| kind.trim().to_owned()).collect())
    }
}

/// Reads the query.
pub(super) fn options_of(request: &Request<Incoming>) -> Result<Query, Problem> {
    let mut query = Query::default();
    for pair in request.uri().query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = percent::of_query(value)
            .ok_or_else(|| Problem::bad_request(format!("the value of {key:?} is not percent-encoded UTF-8")))?;
        let number = |value: &str| {
            value.parse::<usize>().map_err(|_| Problem::bad_request(format!("{key} must be a whole number, 0 or more")))
        };
        match key {
            "contract" => query.contract = Some(value),
            "experimental" => query.experimental = matches!(value.as_str(), "1" | "true"),
            "after" | "after_sequence" => query.after = Some(value),
            "limit" => match number(&value)? {
                0 => return Err(Problem::bad_request("limit must be 1 or more")),
                limit => query.limit = Some(limit),
            },
            "skip" => query.skip = number(&value)?,
            "session_id" => query.session_id = Some(id_of("session_id", &value)?),
            "task_id" => query.task_id = Some(value),
            "event_type" => query.event_type = Some(value),
            "runner" => query.runner = Some(value),
            "state" => query.state = Some(value),
            _ => {
                let known =
                    "contract, experimental, after, limit, skip, session_id, task_id, event_type, runner, state";
                return Err(Problem::bad_request(format!("there is no parameter {key:?}; there is {known}")));
            }
        }
    }
    Ok(query)
}

fn id_of(what: &str, text: &str) -> Result<Uuid, Problem> {
    Uuid::try_parse(text).map_err(|_| Problem::bad_request(format!("{what} must be a UUID, as GET /v1/runs gives it")))
}

fn run_of(run_id: &str, shared: &Shared) -> Result<Arc<Entry>, Problem> {
    let id = id_of("the run id", run_id)?;
    let unknown = || Problem::not_found(format!("there is no run {id}; GET /v1/runs lists those that are kept"));
    shared.find_any(id).ok_or_else(unknown)
}

/// What a request asks for, with every form and the configured default.
pub(super) fn wanted_of<'r>(request: &'r Request<Incoming>, query: &'r Query, shared: &'r Shared) -> Wanted<'r> {
    Wanted {
        contract: query.contract.as_deref(),
        experimental: query.experimental,
        options: &shared.settings.encoder,
        accept: request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok()),
        default: shared.settings.default_contract,
        native: false,
        forms: FORMS,
    }
}

/// `GET /v1/runs`: newest first.
pub(super) fn list(request: &Request<Incoming>, shared: &Shared) -> Result<Response<Body>, Problem> {
    let query = options_of(request)?;
    let restriction = &shared.caller.restriction;
    let filter = |status: &RunStatus| {
        restriction.admits_run(Some(status.run_id), status.session_id, &status.session_name, status.runner)
            && query.session_id.is_none_or(|id| status.session_id == id)
            && query.runner.as_deref().is_none_or(|runner| status.runner == runner)
            && query.state.as_deref().is_none_or(|state| json!(status.state) == state)
    };
    let limit = query.limit.unwrap_or(shared.settings.page_default).min(shared.settings.page_max);
    let mut runs = shared.runs.list(&filter, query.skip, limit + 1);
    let next_skip = (runs.len() > limit).then_some(query.skip + limit);
    runs.truncate(limit);
    #[derive(serde::Serialize)]
    struct List {
        object: &'static str,
        data: Vec<RunStatus>,
        next_skip: Option<usize>,
    }
    Ok(json_response(&List { object: "list", data: runs, next_skip }))
}

/// `GET /v1/runs/{run_id}`.
pub(super) fn status(run_id: &str, shared: &Shared) -> Result<Response<Body>, Problem> {
    let entry = run_of(run_id, shared)?;
    let status = entry.status().clone();
    Ok(json_response(&status))
}

/// `GET /v1/runs/{run_id}/events`.
pub(super) async fn of_run(
    request: &Request<Incoming>,
    run_id: &str,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let query = options_of(request)?;
    let negotiated = negotiate(wanted_of(request, &query, &shared))
        .map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))?;
    let entry = run_of(run_id, &shared)?;
    events_of(request, &query, entry, negotiated, shared).await
}

/// `GET /api/v1/sessions/{session_id}/runs/{run_id}/stream`, with the document's own error form.
pub(super) async fn native_sse(
    request: &Request<Incoming>,
    session_id: &str,
    run_id: &str,
    shared: Arc<Shared>,
) -> Response<Body> {
    let session = Uuid::try_parse(session_id).ok();
    let run = Uuid::try_parse(run_id).ok().and_then(|id| shared.find(StreamKind::Session, id));
    let entry = match run {
        None => return native_error(StatusCode::NOT_FOUND, "RUN_NOT_FOUND", "no such run"),
        Some(entry) if Some(entry.stream.session.id) != session => {
            return native_error(
                StatusCode::NOT_FOUND,
                "SESSION_NOT_FOUND",
                "no such session, or the run is not one of it",
            );
        }
        Some(entry) => entry,
    };
    let answer = async {
        let query = options_of(request)?;
        let wanted =
            Wanted { default: &sse::V1, native: true, forms: &[Form::Sse], ..wanted_of(request, &query, &shared) };
        let negotiated = negotiate(wanted).map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))?;
        events_of(request, &query, entry, negotiated, shared.clone()).await
    };
    answer.await.unwrap_or_else(|problem| match problem.status() {
        StatusCode::GONE => native_error(StatusCode::GONE, "REPLAY_UNAVAILABLE", problem.detail()),
        _ => problem.into_response(),
    })
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
    let Some(mut reader) = shared.runs.reader(&entry, contract, &negotiated.options) else {
        let kind = entry.stream.kind.as_str();
        return Err(Problem::new(
            StatusCode::NOT_ACCEPTABLE,
            format!("{} has no events for a {kind} stream; frames.v2 and raw have", contract.name),
        ));
    };
    let cursor = cursor_of(request, query, contract)?;
    let from = first_event(&cursor, &mut reader, &shared).await?;
    match negotiated.form {
        Form::Json => page(query, &mut reader, from, &negotiated, &shared).await,
        Form::Sse | Form::Ndjson => follow(reader, from, cursor.is_some(), &negotiated, shared).await,
    }
}

/// A stream of a run's events from that number on. `resumed` says that the client had some of them.
pub(super) async fn follow(
    reader: Reader,
    from: u64,
    resumed: bool,
    negotiated: &Negotiated,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let wire = if negotiated.form == Form::Sse { Wire::Sse } else { Wire::Ndjson };
    let entry = reader.entry().clone();
    let mut follower = Follower::new(shared.runs.clone(), reader, wire, from);
    // A browser's EventSource stops reconnecting when it gets 204.
    if resumed && follower.is_over().await.map_err(|error| unreadable(&error))? {
        return Ok(no_content());
    }
    let lease = shared.stream()?;
    // What still waits for an answer is said again to a client that had it, or asks for what follows.
    let repeated = match resumed {
        true => shared.runs.repeated(&entry, negotiated.contract, &negotiated.options, from, wire).await,
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
    tracing::error!(%error, "the log could not be read");
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the events could not be read; the proxy's log says why")
}

/// The cursor: `?after=` and `Last-Event-ID`. A browser that reconnects sends both, the query as it was at first: the newer
/// one of the two goes.
pub(super) fn cursor_of(
    request: &Request<Incoming>,
    query: &Query,
    contract: &Contract,
) -> Result<Option<EventId>, Problem> {
    let header = request.headers().get("last-event-id").and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty());
    if contract.sse == SseStyle::Named {
        return Ok(header.or(query.after.as_deref()).map(|id| EventId::Text(id.to_owned())));
    }
    let after = match query.after.as_deref().map(str::parse::<i64>) {
        None | Some(Ok(-1)) => None,
        Some(Ok(number)) if number >= 0 => Some(number.unsigned_abs()),
        Some(_) => {
            let detail = "after must be the number of the last event that was seen, or -1 for none";
            return Err(Problem::bad_request(detail));
        }
    };
    // A browser sends what it was sent; anything else is from another stream, and says nothing.
    let seen = header.and_then(|id| id.parse().ok());
    Ok(after.max(seen).map(EventId::Number))
}

/// The number of the first event to send. An unknown text cursor means all of them, as `sse.v1` has it. Where that event is
/// not kept any more and the contract has no event that says so, the answer does: 410, with the cursor to go on from.
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
        Some(EventId::Number(number)) => format!(", and the events behind {number} are there"),
        Some(EventId::Text(id)) => format!(", and the events behind {id} are there"),
        Some(EventId::None) | None => String::new(),
    };
    Err(Problem::new(
        StatusCode::GONE,
        format!("the first events of the run are not kept any more: GET /v1/runs/{run} has its status{behind}"),
    ))
}

/// One page: `{"object":"list","data":[…],"next":CURSOR|null,"ended":BOOL}`. `next` is null where there is no more now.
async fn page(
    query: &Query,
    reader: &mut Reader,
    from: u64,
    negotiated: &Negotiated,
    shared: &Shared,
) -> Result<Response<Body>, Problem> {
    if negotiated.contract.sse == SseStyle::Raw {
        let detail = "raw records are no JSON list; ask for application/x-ndjson or text/event-stream";
        return Err(Problem::new(StatusCode::NOT_ACCEPTABLE, detail));
    }
    let Gathered { events, last_id, more, ended } = gather(query, reader, from, shared).await?;
    let next = last_id.filter(|_| more).map(|id| match id {
        EventId::Number(number) => json!(number),
        EventId::Text(text) => json!(text),
        EventId::None => serde_json::Value::Null,
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

/// Takes a page of events. It ends with an event that has a cursor, even where it grows beyond `limit` for it.
pub(super) async fn gather(
    query: &Query,
    reader: &mut Reader,
    from: u64,
    shared: &Shared,
) -> Result<Gathered, Problem> {
    let limit = query.limit.unwrap_or(shared.settings.page_default).min(shared.settings.page_max);
    let tail = *reader.entry().tail().borrow();
    let (mut at, mut events, mut last_id, mut ends_on_id) = (from, Vec::new(), None, true);
    while events.len() < limit || !ends_on_id {
        let all = Ask { from: at, frames: tail.frames, wire: Wire::Ndjson, max_bytes: usize::MAX, max_events: 1 };
        let batch = reader
            .read(&shared.runs, Ask { max_events: limit.saturating_sub(events.len()).max(1), ..all })
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
        .read(&shared.runs, Ask { from: at, frames: tail.frames, wire: Wire::Ndjson, max_bytes: 1, max_events: 1 })
        .await
        .map_err(|error| unreadable(&error))?
        .next
        > at;
    Ok(Gathered { events, last_id, more, ended: tail.ended && !more })
}

/// The headers of an event stream: nobody on the way may hold it back or change it.
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
