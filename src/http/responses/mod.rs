//! The Responses API in front of a configured upstream.
//!
//! In: what an SDK asks of `/v1/responses`. Out: what the upstream answers, byte for byte, or its run in the contract that
//! the request names; responses that are kept, by their ids. Never: a request that is refused behind its sending (what can be
//! known before is checked before), an upstream asked in the name of a caller that sees only some of the runs.
//!
//! Errors of the proxy's own have the form that the SDKs read: `{"error":{"message","type","param","code"}}`.

mod kept;

use super::Shared;
use super::body::{Body, Source, Torn, events};
use super::events::{Query, stream_headers, wanted_of};
use super::limits::{StreamSlot, later};
use super::negotiate::{Form, Negotiated, Wanted, negotiate};
use super::problem::Problem;
use super::router::json_response;
use crate::runs::Wire;
use crate::stopping::Phase;
use crate::upstream::client::NoAnswer;
use crate::upstream::responses::{Answer, Credentials, Exchange, Inlet, Mode, Refusal, Responses};
use framegate_translators::runners::open_responses::RUNNER;
use futures_util::stream;
use http_body_util::{BodyExt, Limited, StreamBody};
use hyper::body::{Body as _, Frame, Incoming};
use hyper::header::{self, ACCEPT, AUTHORIZATION, HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, Response, StatusCode};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// Where a client's own credentials stand while `Authorization` has the proxy's token.
const UPSTREAM_AUTHORIZATION: HeaderName = HeaderName::from_static("x-upstream-authorization");

/// What the SDKs ask before they try again by themselves.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// When whoever found no place may come back.
const SOON: Duration = Duration::from_secs(1);

/// The query of a request: what of it is the proxy's own, and the rest, which is the upstream's.
#[derive(Debug, Default)]
struct Asked {
    upstream: Option<String>,
    stream: bool,
    starting_after: Option<u64>,
    query: Query,
    /// As it stood, without what is the proxy's.
    rest: String,
}

impl Asked {
    fn of(request: &Request<Incoming>) -> Result<Self, Problem> {
        let mut asked = Self::default();
        for pair in request.uri().query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match key {
                "upstream" => asked.upstream = Some(value.to_owned()),
                "contract" => asked.query.contract = Some(value.to_owned()),
                "experimental" => asked.query.experimental = matches!(value, "1" | "true"),
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

    /// The contract that the request names; `None` where it names none, and wants the upstream's own bytes.
    fn negotiated(&self, request: &Request<Incoming>, shared: &Shared) -> Result<Option<Negotiated>, Problem> {
        let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        if self.query.contract.is_none() && !accept.contains("contract=") {
            return Ok(None);
        }
        // An SDK accepts JSON where it means a stream, too.
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
                Problem::not_found(format!("there is no upstream {name:?} of kind responses; there is: {}", known()))
            }),
        }
    }
}

/// `POST /v1/responses`.
pub(super) async fn create(request: Request<Incoming>, shared: Arc<Shared>) -> Response<Body> {
    answered(created(request, shared).await)
}

async fn created(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Body>, Failure> {
    let asked = Asked::of(&request)?;
    let upstream = asked.upstream(&shared)?.clone();
    let restriction = &shared.caller.restriction;
    let is_of_others =
        !restriction.runners.is_empty() && !restriction.runners.iter().any(|known| known == RUNNER.provider);
    if !restriction.sessions.is_empty() || !restriction.runs.is_empty() || is_of_others {
        let detail = "the token is restricted to other sessions, runs or runners than a new response is of";
        return Err(Problem::new(StatusCode::FORBIDDEN, detail).into());
    }
    let negotiated = asked.negotiated(&request, &shared)?;
    shared.runs.log().check_writable().await.map_err(|error| {
        let full = error.is_full();
        let status = if full { StatusCode::INSUFFICIENT_STORAGE } else { StatusCode::SERVICE_UNAVAILABLE };
        Problem::new(status, format!("the response could not be kept, so it was not asked for: {error}"))
    })?;
    let Ok(ingest) = shared.ingests.clone().try_acquire_owned() else {
        let detail = format!("{} ingests are open, which is the limit; try again later", shared.settings.max_ingests);
        return Err(later(StatusCode::SERVICE_UNAVAILABLE, detail, SOON).into());
    };
    let lease = shared.stream()?;
    let mode = if negotiated.is_some() { Mode::Translated } else { Mode::Verbatim };
    let sent = send(request, "", &asked, upstream, mode, &shared, Some(ingest)).await?;
    match (sent, negotiated) {
        (Answer::Own { status, headers, body }, _) => Ok(own(status, headers, body, Some(lease.into_slot()))),
        (Answer::Run { ingested, headers, left }, Some(negotiated)) => {
            let wire = if negotiated.form == Form::Sse { Wire::Sse } else { Wire::Ndjson };
            let follower = ingested.follow(shared.runs.clone(), negotiated.contract, negotiated.options.clone(), wire);
            let body = events(Source::Ingest(Box::new(follower)), &negotiated, &shared, lease);
            // Dropped with the body: by the connection, when it was sent, or when nobody is left to send it to.
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
pub(super) async fn retrieve(request: Request<Incoming>, id: &str, shared: Arc<Shared>) -> Response<Body> {
    let answer = async {
        let id = checked(id)?;
        let asked = Asked::of(&request)?;
        match kept::answer(&request, id, &asked, &shared).await? {
            Some(response) => Ok(response),
            None => passed(request, &format!("/{id}"), &asked, &shared).await,
        }
    };
    answered(answer.await)
}

/// What is the upstream's alone: `rest` stands behind the response's id.
pub(super) async fn pass(request: Request<Incoming>, id: &str, rest: &str, shared: Arc<Shared>) -> Response<Body> {
    let answer = async {
        let id = checked(id)?;
        let asked = Asked::of(&request)?;
        passed(request, &format!("/{id}{rest}"), &asked, &shared).await
    };
    answered(answer.await)
}

/// An id goes into the upstream's path: it is one plain segment of it.
fn checked(id: &str) -> Result<&str, Problem> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    let is_id = id.len() <= 256 && id.bytes().all(is_plain) && id.bytes().any(|byte| byte != b'.');
    if is_id { Ok(id) } else { Err(Problem::not_found("a response's id has letters, digits, - _ . and : alone")) }
}

async fn passed(
    request: Request<Incoming>,
    path: &str,
    asked: &Asked,
    shared: &Arc<Shared>,
) -> Result<Response<Body>, Failure> {
    // The upstream knows nothing of who sees what.
    if !shared.caller.restriction.is_open() {
        return Err(Problem::not_found("there is no such response").into());
    }
    let upstream = asked.upstream(shared)?.clone();
    match send(request, path, asked, upstream, Mode::Plain, shared, None).await? {
        Answer::Own { status, headers, body } => Ok(own(status, headers, body, None)),
        Answer::Run { .. } => Err(Refusal::Inside.into()),
    }
}

/// Sends a request to the upstream, in a task of its own: a client that leaves does not stop it half way.
async fn send(
    request: Request<Incoming>,
    path: &str,
    asked: &Asked,
    upstream: Arc<Responses>,
    mode: Mode,
    shared: &Arc<Shared>,
    ingest: Option<OwnedSemaphorePermit>,
) -> Result<Answer, Failure> {
    let settings = upstream.settings();
    let limit = settings.max_request_bytes;
    let too_large = || {
        let detail = format!("the request has more than {limit} bytes (max_request_bytes of its upstream)");
        Failure::from(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail))
    };
    let Some(place) = upstream.place() else {
        let detail = format!("{} requests of this upstream are open, which is its limit (max_runs)", settings.max_runs);
        return Err(later(StatusCode::SERVICE_UNAVAILABLE, detail, SOON).into());
    };
    if request.body().size_hint().lower() > limit {
        return Err(too_large());
    }
    let (head, body) = request.into_parts();
    let body = Limited::new(body, usize::try_from(limit).unwrap_or(usize::MAX)).boxed_unsync();
    let credentials = credentials(&head.headers, settings, shared);
    let rest = format!("{path}{}", asked.rest);
    let mut to_upstream = upstream
        .request(head.method, &rest, &head.headers, credentials.as_ref(), body)
        .map_err(|_| Problem::bad_request("the query cannot be sent on"))?;
    if mode == Mode::Translated {
        let accept = HeaderValue::from_static("text/event-stream, application/json");
        to_upstream.headers_mut().insert(ACCEPT, accept);
    }
    let mut phase = shared.stopping.phase();
    let stop = Box::pin(async move {
        let _ = phase.wait_for(|phase| *phase >= Phase::Cutting).await;
    });
    let (answer, answered) = oneshot::channel();
    let exchange = Exchange {
        cancels: upstream.settings().cancel_on_disconnect,
        upstream,
        request: to_upstream,
        mode,
        make: maker(shared.clone()),
        document_bytes: shared.settings.limits.record_bytes,
        links: shared.host.links.clone(),
        runs: shared.runs.clone(),
        stop,
        answer,
    };
    exchange.spawn((place, ingest));
    match answered.await.unwrap_or(Err(Refusal::Inside)) {
        Err(Refusal::NoAnswer(NoAnswer::TooLarge)) => Err(too_large()),
        other => Ok(other?),
    }
}

/// Makes the ingest of a response, as an ingest of the caller's own would be.
fn maker(shared: Arc<Shared>) -> crate::upstream::responses::MakeIngest {
    Box::new(move |framing| {
        let ingest = shared.host.ingest(&RUNNER, framing, shared.caller.restriction.clone());
        (ingest, shared.runs.metrics().ingest(RUNNER.name))
    })
}

/// The client's own credentials for the upstream. Where the proxy has tokens, `Authorization` carries one of them, which is
/// nobody else's to see.
fn credentials(
    headers: &HeaderMap,
    settings: &crate::upstream::responses::Settings,
    shared: &Shared,
) -> Option<HeaderValue> {
    if settings.credentials != Credentials::OfTheClient {
        return None;
    }
    let has_tokens = !shared.control.live().tokens.is_empty();
    let from = if has_tokens { UPSTREAM_AUTHORIZATION } else { AUTHORIZATION };
    headers.get(from).cloned().map(|mut value| {
        value.set_sensitive(true);
        value
    })
}

/// The upstream's own answer.
fn own(status: StatusCode, headers: HeaderMap, body: Inlet, slot: Option<StreamSlot>) -> Response<Body> {
    let body = StreamBody::new(stream::unfold(Some((body, slot)), async |held| {
        let (mut body, slot) = held?;
        match body.next().await {
            Ok(Some(chunk)) => Some((Ok(Frame::data(chunk)), Some((body, slot)))),
            Ok(None) => None,
            Err(_) => {
                // What was given before is written first.
                tokio::task::yield_now().await;
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
        // Nobody on the way may hold it back.
        response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    }
    response
}

/// Why a request has no answer of an upstream's.
enum Failure {
    Problem(Problem),
    Refusal(Refusal),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(refusal)
    }
}

fn answered(outcome: Result<Response<Body>, Failure>) -> Response<Body> {
    match outcome {
        Ok(response) => response,
        Err(Failure::Refusal(refusal)) => {
            let (status, code, retry) = told(&refusal);
            let mut response = error(status, code, &refusal.to_string());
            let retry = HeaderValue::from_static(if retry { "true" } else { "false" });
            response.headers_mut().insert(SHOULD_RETRY, retry);
            response
        }
        Err(Failure::Problem(mut problem)) => {
            let status = problem.status();
            let mut response = error(status, code_of(status), problem.detail());
            problem.extend(&mut response);
            response
        }
    }
}

/// The status and the code of a refusal, and whether a client may try again by itself: not where the upstream may have
/// done, and charged, what was asked.
fn told(refusal: &Refusal) -> (StatusCode, &'static str, bool) {
    match refusal {
        Refusal::NoAnswer(NoAnswer::Unreachable(_)) => (StatusCode::BAD_GATEWAY, "upstream_unreachable", true),
        Refusal::NoAnswer(NoAnswer::Slow(_)) => (StatusCode::GATEWAY_TIMEOUT, "upstream_timeout", false),
        Refusal::NoAnswer(_) => (StatusCode::BAD_GATEWAY, "upstream_lost", false),
        Refusal::Redirect(_) => (StatusCode::BAD_GATEWAY, "upstream_redirects", false),
        Refusal::Compressed => (StatusCode::BAD_GATEWAY, "upstream_compresses", false),
        Refusal::NotAResponse(_) => (StatusCode::BAD_GATEWAY, "upstream_not_a_response", false),
        Refusal::Nothing(_) => (StatusCode::BAD_GATEWAY, "upstream_lost", false),
        Refusal::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "proxy_stopping", false),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "internal", false),
    }
}

fn code_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "not_found",
        StatusCode::FORBIDDEN => "not_allowed",
        StatusCode::NOT_ACCEPTABLE => "not_acceptable",
        StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => "limit",
        StatusCode::INSUFFICIENT_STORAGE => "log_full",
        status if status.is_server_error() => "internal",
        _ => "bad_request",
    }
}

fn error(status: StatusCode, code: &str, message: &str) -> Response<Body> {
    let mut response = json_response(&json!({
        "error": {"message": message, "type": "framegate_error", "param": null, "code": code}
    }));
    *response.status_mut() = status;
    response
}
