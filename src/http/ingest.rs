//! `POST /v1/ingest/{runner}`: a runner's output comes in; where the client accepts a stream, its translation goes out in
//! the same exchange, else the list of runs that were made.

use super::body::{Body, Source, events};
use super::events::{options_of, stream_headers, wanted_of};
use super::negotiate::{Form, Negotiated, negotiate};
use super::problem::Problem;
use super::router::json_response;
use super::{Shared, negotiate::Wanted};
use crate::ingest::Ingest;
use crate::runs::{RunStatus, Wire};
use framegate_translators::frame::StreamKind;
use framegate_translators::framing::Framing;
use framegate_translators::runners::{RUNNERS, runner};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE};
use hyper::{HeaderMap, Request, Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;

/// The forms of a live answer.
const STREAMS: &[Form] = &[Form::Sse, Form::Ndjson];

pub(super) async fn ingest(
    request: Request<Incoming>,
    name: &str,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let Some(runner) = runner(name) else {
        let known: Vec<&str> = RUNNERS.iter().map(|runner| runner.name).collect();
        return Err(Problem::not_found(format!("there is no runner {name:?}; there is {}", known.join(", "))));
    };
    let Ok(permit) = shared.ingests.clone().try_acquire_owned() else {
        let detail = format!("{} ingests are open, which is the limit; try again later", shared.settings.max_ingests);
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail));
    };
    let stream = live_answer(&request, &shared)?;
    let framing = framing_of(request.headers());
    let ingest = Ingest::new(shared.runs.clone(), runner, framing, shared.settings.limits);
    let ingested = ingest.ingested();
    let bounds = Bounds { idle: shared.settings.ingest_idle, bytes: shared.settings.max_body_bytes };
    let body = request.into_body();
    let Some(negotiated) = stream else {
        // In a task of its own, so that a client that leaves cannot stop it half way.
        let done = tokio::spawn(async move {
            let done = pump(ingest, body, bounds).await;
            drop(permit);
            done
        });
        let outcome = done.await.unwrap_or(Err(Stopped::Inside));
        let runs: Vec<RunStatus> = ingested
            .entries()
            .iter()
            .filter(|entry| entry.stream.kind == StreamKind::Session)
            .map(|entry| entry.status().clone())
            .collect();
        return match outcome {
            Ok(records) => {
                #[derive(serde::Serialize)]
                struct Made {
                    records: u64,
                    runs: Vec<RunStatus>,
                }
                let mut response = json_response(&Made { records, runs });
                *response.status_mut() = StatusCode::CREATED;
                Ok(response)
            }
            Err(stopped) => Err(stopped.into_problem()),
        };
    };
    tokio::spawn(async move {
        if let Err(stopped) = pump(ingest, body, bounds).await {
            tracing::warn!(reason = stopped.reason(), "an ingest stopped before its end");
        }
        drop(permit);
    });
    let wire = if negotiated.form == Form::Sse { Wire::Sse } else { Wire::Ndjson };
    let heartbeat = (wire == Wire::Sse).then_some(shared.settings.heartbeat);
    let options = negotiated.options.clone();
    let follower = ingested.follow(shared.runs.clone(), negotiated.contract, options, wire);
    let mut response = Response::new(events(Source::Ingest(Box::new(follower)), heartbeat, None));
    stream_headers(&mut response, &negotiated);
    Ok(response)
}

/// What the client wants to see of the translation; `None` where it names no stream.
fn live_answer(request: &Request<Incoming>, shared: &Shared) -> Result<Option<Negotiated>, Problem> {
    let query = options_of(request)?;
    let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let asks = accept.contains("text/event-stream") || accept.contains("application/x-ndjson");
    if !asks && query.contract.is_none() {
        return Ok(None);
    }
    let wanted = Wanted { forms: STREAMS, ..wanted_of(request, &query, shared) };
    negotiate(wanted).map(Some).map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))
}

fn framing_of(headers: &HeaderMap) -> Option<Framing> {
    let media = headers.get(CONTENT_TYPE)?.to_str().ok()?.split(';').next()?.trim().to_ascii_lowercase();
    match media.as_str() {
        "text/event-stream" => Some(Framing::Sse),
        "application/x-ndjson" | "application/jsonl" | "application/ndjson" => Some(Framing::Ndjson),
        _ => None,
    }
}

/// Why an ingest stopped before its input's end.
enum Stopped {
    Broken,
    Idle,
    TooLarge(u64),
    Full(String),
    Inside,
}

impl Stopped {
    fn reason(&self) -> String {
        match self {
            Self::Broken => "the client's connection broke".to_owned(),
            Self::Idle => "the client was silent for too long (ingest.idle_timeout_ms)".to_owned(),
            Self::TooLarge(limit) => format!("the body has more than {limit} bytes (server.max_body_bytes)"),
            Self::Full(reason) => reason.clone(),
            Self::Inside => "an internal error".to_owned(),
        }
    }

    fn into_problem(self) -> Problem {
        let status = match self {
            Self::Broken => StatusCode::BAD_REQUEST,
            Self::Idle => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Full(_) => StatusCode::INSUFFICIENT_STORAGE,
            Self::Inside => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Problem::new(status, format!("the ingest was stopped: {}; its runs were closed as interrupted", self.reason()))
    }
}

/// What bounds the body of an ingest.
#[derive(Clone, Copy)]
struct Bounds {
    idle: Option<Duration>,
    bytes: Option<u64>,
}

/// Feeds the body into the ingest; gives the number of records.
async fn pump(mut ingest: Ingest, mut body: Incoming, bounds: Bounds) -> Result<u64, Stopped> {
    let mut taken = 0;
    let outcome = loop {
        let frame = match bounds.idle {
            None => body.frame().await,
            Some(limit) => match tokio::time::timeout(limit, body.frame()).await {
                Ok(frame) => frame,
                Err(_) => break Err(Stopped::Idle),
            },
        };
        match frame {
            None => break Ok(()),
            Some(Err(_)) => break Err(Stopped::Broken),
            Some(Ok(frame)) => {
                if let Some(chunk) = frame.data_ref() {
                    taken += chunk.len() as u64;
                    if let Some(limit) = bounds.bytes.filter(|limit| taken > *limit) {
                        break Err(Stopped::TooLarge(limit));
                    }
                    // On failure the ingest has closed its runs already.
                    ingest.feed(chunk).await.map_err(|error| Stopped::Full(error.to_string()))?;
                }
            }
        }
    };
    let records = ingest.finish().await.map_err(|error| Stopped::Full(error.to_string()))?;
    outcome.map(|()| records)
}
