//! The Responses API, served by a configured upstream.
//!
//! Input: an SDK's requests to `/v1/responses`. Output: the upstream's response, byte for byte, or its run in the contract
//! that the request names; kept responses, by id. Never: a request that is refused after it was sent (everything that can be
//! checked is checked before); a request to the upstream on behalf of a caller that sees only some runs.
//!
//! Errors of the proxy have the form that the SDKs parse: `{"error":{"message","type","param","code"}}`.

mod errors;
mod kept;

use super::body::{BEFORE_RESET, Source, events};
use super::events::{stream_headers, wanted_of};
use super::limits::{SOON, StreamSlot, later};
use super::negotiate::{Form, Negotiated, Wanted, negotiate};
use super::problem::Problem;
use super::query::Query;
use super::reply::{Body, Torn};
use super::route::Call;
use super::sdk_errors::{code_of, error};
use super::sessions;
use super::shared::Shared;
use crate::client::NoAnswer;
use crate::runs::Wire;
use crate::runs::labels::Labels;
use crate::shutdown::Phase;
use crate::upstream::responses::{
    Answer, Asking, BoundedReceiver, Credentials, InFlightRequest, Mode, Refusal, Responses,
};
use bytes::Bytes;
use errors::{Failure, answered};
use framegate_translators::runners::RESPONSES;
use futures_util::stream;
use http_body_util::{BodyExt, Limited, StreamBody};
use hyper::body::{Body as HttpBody, Frame, Incoming};
use hyper::header::{self, ACCEPT, AUTHORIZATION, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// The header for a client's own credentials when `Authorization` carries the proxy's token.
const UPSTREAM_AUTHORIZATION: HeaderName = HeaderName::from_static("x-upstream-authorization");

/// The query of a request: the proxy's own parameters, and the rest for the upstream.
#[derive(Debug, Default)]
struct Asked {
    upstream: Option<String>,
    stream: bool,
    starting_after: Option<u64>,
    query: Query,
    /// The query as received, without the proxy's parameters.
    rest: String,
}

impl Asked {
    fn of<B>(request: &Request<B>) -> Result<Self, Problem> {
        let mut asked = Self::default();
        for pair in request.uri().query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match key {
                "upstream" => asked.upstream = Some(value.to_owned()),
                "contract" => asked.query.contract = Some(value.to_owned()),
                "experimental" => asked.query.experimental = matches!(value, "1" | "true"),
                "user_messages" => asked.query.user_messages = matches!(value, "1" | "true"),
                _ => {
                    match key {
                        "stream" => asked.stream = matches!(value, "true" | "1"),
                        "starting_after" => {
                            let number = value.parse().map_err(|_| {
                                Problem::bad_request("starting_after must be the sequence_number of an event")
                            })?;
                            asked.starting_after = Some(number);
                        }
                        "after" => asked.query.after = Some(value.to_owned()),
                        _ => {}
                    }
                    asked.rest.push(if asked.rest.is_empty() { '?' } else { '&' });
                    asked.rest.push_str(pair);
                }
            }
        }
        Ok(asked)
    }

    /// The contract that the request names; `None` if it names none and thus wants the upstream's own bytes.
    fn negotiated<B>(&self, request: &Request<B>, shared: &Shared) -> Result<Option<Negotiated>, Problem> {
        let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        if self.query.contract.is_none() && !accept.contains("contract=") {
            return Ok(None);
        }
        // SDKs accept JSON even when they request a stream.
        let is_json = accept.trim() == "application/json";
        let accept = if is_json { None } else { Some(accept) };
        let wanted = Wanted { forms: &[Form::Sse, Form::Ndjson], accept, ..wanted_of(request, &self.query, shared) };
        negotiate(wanted).map(Some).map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))
    }

    fn upstream<'s>(&self, shared: &'s Shared) -> Result<&'s Arc<Responses>, Problem> {
        let all = &shared.settings.responses;
        let known = || all.iter().map(|upstream| &*upstream.settings().name).collect::<Vec<_>>().join(", ");
        match &self.upstream {
            None => all.first().ok_or_else(|| {
                let detail = "no upstream of kind responses is configured ([[upstream]] with kind = \"responses\")";
                Problem::not_found(detail)
            }),
            Some(name) => all.iter().find(|upstream| upstream.settings().name == *name).ok_or_else(|| {
                Problem::not_found(format!("unknown upstream {name:?} of kind responses (known: {})", known()))
            }),
        }
    }
}

/// `POST /v1/responses`.
pub(super) async fn create<B>(request: Request<B>, shared: Arc<Shared>) -> Response<Body>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    answered(created(request, shared).await)
}

async fn created<B>(request: Request<B>, shared: Arc<Shared>) -> Result<Response<Body>, Failure>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let asked = Asked::of(&request)?;
    let upstream = asked.upstream(&shared)?.clone();
    let restriction = &shared.caller.restriction;
    let is_of_others =
        !restriction.runners.is_empty() && !restriction.runners.iter().any(|known| known == RESPONSES.name);
    if !restriction.sessions.is_empty() || !restriction.runs.is_empty() || is_of_others {
        let detail = "the token is restricted to sessions, runs or runners to which a new response does not belong";
        return Err(Problem::new(StatusCode::FORBIDDEN, detail).into());
    }
    // The session is known when the response names it.
    sessions::affordable(None, &Labels::default(), &shared)?;
    let negotiated = asked.negotiated(&request, &shared)?;
    shared.runs.log().check_writable().await.map_err(|error| {
        let full = error.is_full();
        let status = if full { StatusCode::INSUFFICIENT_STORAGE } else { StatusCode::SERVICE_UNAVAILABLE };
        Problem::new(status, format!("the response could not be stored, so the upstream was not asked: {error}"))
    })?;
    let lease = shared.stream()?;
    let mode = if negotiated.is_some() { Mode::Translated } else { Mode::Verbatim };
    let sent = send(request, "/responses", &asked, upstream, mode, &shared).await?;
    match (sent, negotiated) {
        (Answer::Own { status, headers, body }, _) => Ok(own(status, headers, body, Some(lease.into_slot()))),
        (Answer::Run { ingested, headers, left }, Some(negotiated)) => {
            let wire = if negotiated.form == Form::Sse { Wire::Sse } else { Wire::Ndjson };
            let follower = ingested.follow(shared.runs.clone(), negotiated.contract, negotiated.options.clone(), wire);
            let body = events(Source::Ingest(Box::new(follower)), &negotiated, &shared, lease);
            // Dropped with the body: when the connection has sent it or is gone.
            let body = body.map_frame(move |frame| {
                let _held = &left;
                frame
            });
            let mut response = Response::new(body.boxed_unsync());
            *response.headers_mut() = headers;
            stream_headers(&mut response, &negotiated);
            Ok(response)
        }
        (Answer::Run { .. }, None) => Err(Refusal::Inside.into()),
    }
}

/// `GET /v1/responses/{response_id}`.
pub(super) async fn retrieve(call: Call) -> Result<Response<Body>, Problem> {
    let Call { request, path, shared, .. } = call;
    let [id] = path.get()?;
    let answer = async {
        let id = checked(id)?;
        let asked = Asked::of(&request)?;
        match kept::answer(&request, id, &asked, &shared).await? {
            Some(response) => Ok(response),
            None => passed(request, id, "", &asked, &shared).await,
        }
    };
    Ok(answered(answer.await))
}

/// `GET /v1/responses/{response_id}/input_items`.
pub(super) async fn input_items(call: Call) -> Result<Response<Body>, Problem> {
    pass(call, "/input_items").await
}

/// `POST /v1/responses/{response_id}/cancel`.
pub(super) async fn cancel(call: Call) -> Result<Response<Body>, Problem> {
    pass(call, "/cancel").await
}

/// `DELETE /v1/responses/{response_id}`.
pub(super) async fn delete(call: Call) -> Result<Response<Body>, Problem> {
    pass(call, "").await
}

/// `POST /v1/responses/compact`.
pub(super) async fn compact(call: Call) -> Result<Response<Body>, Problem> {
    pass_path(call, "/responses/compact").await
}

/// `POST /v1/responses/input_tokens`.
pub(super) async fn count_tokens(call: Call) -> Result<Response<Body>, Problem> {
    pass_path(call, "/responses/input_tokens").await
}

/// `GET /v1/models`.
pub(super) async fn models(call: Call) -> Result<Response<Body>, Problem> {
    pass_path(call, "/models").await
}

/// `GET /v1/models/{model}`.
pub(super) async fn model(call: Call) -> Result<Response<Body>, Problem> {
    let [model] = call.path.get()?;
    let path = format!("/models/{model}");
    pass_path(call, &path).await
}

/// A request about a response that only the upstream can answer. `rest` follows the response's id in the path.
async fn pass(call: Call, rest: &str) -> Result<Response<Body>, Problem> {
    let Call { request, path, shared, .. } = call;
    let [id] = path.get()?;
    let answer = async {
        let id = checked(id)?;
        let asked = Asked::of(&request)?;
        passed(request, id, rest, &asked, &shared).await
    };
    Ok(answered(answer.await))
}

/// A request that only the upstream can answer and that names no response.
async fn pass_path(call: Call, path: &str) -> Result<Response<Body>, Problem> {
    let Call { request, shared, .. } = call;
    let answer = async {
        let asked = Asked::of(&request)?;
        for segment in path.split('/').skip(1) {
            checked(segment)?;
        }
        if !shared.caller.restriction.is_open() {
            let detail = "the token is restricted to some sessions, runs or runners, which do not apply to this path";
            return Err(Problem::new(StatusCode::FORBIDDEN, detail).into());
        }
        let upstream = asked.upstream(&shared)?.clone();
        own_answer(send(request, path, &asked, upstream, Mode::Plain, &shared).await?)
    };
    Ok(answered(answer.await))
}

/// Answers a WebSocket handshake at `GET /v1/responses`: tells the client to use POST instead.
pub(super) fn upgrade_refused() -> Response<Body> {
    let detail = "WebSockets are not supported here: use POST, with \"stream\": true for server-sent events";
    let mut response = error(StatusCode::UPGRADE_REQUIRED, code_of(StatusCode::UPGRADE_REQUIRED), detail);
    // RFC 9110, section 15.5.22: the protocol to use instead.
    response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("HTTP/1.1"));
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    response
}

/// Whether a request asks for a WebSocket.
pub(super) fn wants_websocket<B>(request: &Request<B>) -> bool {
    let upgrades = request.headers().get_all(header::UPGRADE).iter().filter_map(|value| value.to_str().ok());
    let mut protocols = upgrades.flat_map(|value| value.split(',')).map(str::trim);
    request.method() == Method::GET && protocols.any(|protocol| protocol.eq_ignore_ascii_case("websocket"))
}

/// Checks that an id is a single plain path segment, because it becomes part of the upstream's path.
fn checked(id: &str) -> Result<&str, Problem> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    let is_id = id.len() <= 256 && id.bytes().all(is_plain) && id.bytes().any(|byte| byte != b'.');
    if is_id { Ok(id) } else { Err(Problem::not_found("a response id contains only letters, digits, - _ . and :")) }
}

async fn passed(
    request: Request<Incoming>,
    id: &str,
    rest: &str,
    asked: &Asked,
    shared: &Arc<Shared>,
) -> Result<Response<Body>, Failure> {
    // The upstream does not know which runs a caller sees. So a restricted caller may only ask for responses that it sees
    // here.
    let is_seen = || shared.runs.find_response(id).is_some_and(|entry| shared.sees(&entry));
    if !shared.caller.restriction.is_open() && !is_seen() {
        return Err(Problem::not_found("there is no such response").into());
    }
    let upstream = asked.upstream(shared)?.clone();
    let is_deleted = request.method() == Method::DELETE;
    let mode = if is_deleted || rest == "/input_items" { Mode::Plain } else { Mode::Followed(id.to_owned()) };
    let answer = send(request, &format!("/responses/{id}{rest}"), asked, upstream.clone(), mode, shared).await?;
    if let Answer::Own { status, .. } = &answer
        && is_deleted
        && status.is_success()
    {
        shared.runs.forget_response(id);
        upstream.deleted(id);
    }
    own_answer(answer)
}

fn own_answer(answer: Answer) -> Result<Response<Body>, Failure> {
    match answer {
        Answer::Own { status, headers, body } => Ok(own(status, headers, body, None)),
        Answer::Run { .. } => Err(Refusal::Inside.into()),
    }
}

/// Sends a request to the upstream in a task of its own, so that a client that leaves does not abort it halfway.
async fn send<B>(
    request: Request<B>,
    path: &str,
    asked: &Asked,
    upstream: Arc<Responses>,
    mode: Mode,
    shared: &Arc<Shared>,
) -> Result<Answer, Failure>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let settings = upstream.settings();
    let limit = settings.max_request_bytes;
    let too_large = || {
        let detail = format!("the request has more than {limit} bytes (max_request_bytes of the upstream)");
        Failure::from(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail))
    };
    if request.body().size_hint().lower() > limit {
        return Err(too_large());
    }
    let place = place(&upstream, shared).await?;
    let makes_run = matches!(mode, Mode::Verbatim | Mode::Translated);
    let ingest = if makes_run { Some(ingest_place(shared)?) } else { None };
    let (head, body) = request.into_parts();
    let asking = Asking::new(&head.headers);
    let body = Limited::new(body, usize::try_from(limit).unwrap_or(usize::MAX)).boxed_unsync();
    let body = asking.listen(body).boxed_unsync();
    let own = credentials(&head.headers, settings, shared);
    let mut to_upstream = upstream
        .request(head.method, &format!("{path}{}", asked.rest), &head.headers, &own, body)
        .map_err(|_| Problem::bad_request("the query cannot be passed on"))?;
    if mode == Mode::Translated {
        let accept = HeaderValue::from_static("text/event-stream, application/json");
        to_upstream.headers_mut().insert(ACCEPT, accept);
    }
    let mut phase = shared.shutdown.phase();
    let stop = Box::pin(async move {
        let _ = phase.wait_for(|phase| *phase >= Phase::Cutting).await;
    });
    let (answer, answered) = oneshot::channel();
    let in_flight = InFlightRequest {
        cancels: upstream.settings().cancel_on_disconnect,
        upstream,
        request: to_upstream,
        asking,
        mode,
        make: maker(shared.clone()),
        document_bytes: shared.settings.ingest.limits.record_bytes,
        handles: shared.host.handles.clone(),
        runs: shared.runs.clone(),
        stop,
        answer,
    };
    in_flight.spawn((place, ingest));
    match answered.await.unwrap_or(Err(Refusal::Inside)) {
        Err(Refusal::NoAnswer(NoAnswer::TooLarge)) => Err(too_large()),
        other => Ok(other?),
    }
}

/// Acquires a connection to the upstream. The wait ends when the proxy stops.
async fn place(upstream: &Responses, shared: &Shared) -> Result<OwnedSemaphorePermit, Failure> {
    let mut phase = shared.shutdown.phase();
    let found = tokio::select! {
        biased;
        found = upstream.place() => found,
        _ = phase.wait_for(|phase| *phase >= Phase::Draining) => return Err(Refusal::Stopping.into()),
    };
    found.map_err(|error| {
        shared.runs.metrics().upstream_ended(&upstream.settings().name, "no_connection");
        later(StatusCode::SERVICE_UNAVAILABLE, error.to_string(), SOON).into()
    })
}

pub(super) fn ingest_place(shared: &Shared) -> Result<OwnedSemaphorePermit, Problem> {
    shared.ingests.clone().try_acquire_owned().map_err(|_| {
        let limit = shared.settings.max_ingests;
        let detail = format!("{limit} ingests are open, which is the limit (ingest.max_open); try again later");
        later(StatusCode::SERVICE_UNAVAILABLE, detail, SOON)
    })
}

/// Creates the ingest of a response with the caller's restriction, like an ingest that the caller sends.
fn maker(shared: Arc<Shared>) -> crate::upstream::responses::MakeIngest {
    Box::new(move |framing, said| {
        let session_of = |id: &str| {
            let entry = shared.runs.find_response(id).filter(|entry| shared.sees(entry))?;
            let session = &entry.stream.session;
            // A session without a name is identified by its id.
            Some(if session.name.is_empty() { session.id.to_string() } else { session.name.to_string() })
        };
        let session = said.session(session_of).unwrap_or_default();
        let ingest = shared
            .host
            .factory
            .ingest(Some(RESPONSES), framing, shared.caller.restriction.clone())
            .within_session(&session);
        (ingest, shared.runs.metrics().ingest(RESPONSES.name))
    })
}

/// Headers other than `Authorization` that servers accept keys in.
const KEYS: [&str; 3] = ["api-key", "x-api-key", "x-goog-api-key"];

/// The client's own credentials for the upstream. If the proxy has tokens, `Authorization` carries one of them, which the
/// upstream must not see.
fn credentials(headers: &HeaderMap, settings: &crate::upstream::responses::Settings, shared: &Shared) -> HeaderMap {
    let mut own = HeaderMap::new();
    if settings.credentials != Credentials::OfTheClient {
        return own;
    }
    let has_tokens = !shared.control.live().tokens.is_empty();
    let from = if has_tokens { UPSTREAM_AUTHORIZATION } else { AUTHORIZATION };
    let keys = KEYS.iter().map(|name| (HeaderName::from_static(name), headers.get(*name)));
    for (name, value) in [(AUTHORIZATION, headers.get(from))].into_iter().chain(keys) {
        if let Some(mut value) = value.cloned() {
            value.set_sensitive(true);
            own.insert(name, value);
        }
    }
    own
}

/// The upstream's own response.
fn own(status: StatusCode, headers: HeaderMap, body: BoundedReceiver, slot: Option<StreamSlot>) -> Response<Body> {
    let body = StreamBody::new(stream::unfold(Some((body, slot)), async |held| {
        let (mut body, slot) = held?;
        match body.next().await {
            Ok(Some(chunk)) => Some((Ok(Frame::data(chunk)), Some((body, slot)))),
            Ok(None) => None,
            Err(_) => {
                tokio::time::sleep(BEFORE_RESET).await;
                Some((Err(Torn), None))
            }
        }
    }));
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    let is_stream = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|media| media.as_bytes().to_ascii_lowercase().starts_with(b"text/event-stream"));
    if is_stream {
        // Intermediaries must not buffer the stream.
        response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    }
    response
}
