//! `POST /v1/ingest/{runner}`: a runner's output comes in; where the client accepts a stream, its translation goes out in
//! the same exchange, else the list of runs that were made. `auto` stands for whichever runner the first records show; where
//! they show none, that is told (422), and nothing is kept.

use super::body::{self, Body, events};
use super::events::{options_of, stream_headers, wanted_of};
use super::limits::{Meter, later};
use super::live::Control;
use super::negotiate::{Form, Negotiated, negotiate};
use super::problem::Problem;
use super::router::json_response;
use super::{Shared, negotiate::Wanted};
use crate::ingest::{Beyond, Bounds as IngestBounds, Ingest, Source, Stopped, pump, until_known};
use crate::runs::{RunStatus, Wire};
use crate::stopping::Phase;
use crate::telemetry::metrics::IngestMeter;
use framegate_translators::frame::StreamKind;
use framegate_translators::framing::Framing;
use framegate_translators::runners::{RUNNERS, runner};
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE};
use hyper::{HeaderMap, Request, Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tracing::Instrument;

/// The forms of a live answer.
const STREAMS: &[Form] = &[Form::Sse, Form::Ndjson];

pub(super) async fn ingest(
    request: Request<Incoming>,
    name: &str,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let runner = runner(name);
    if runner.is_none() && name != AUTO {
        let known: Vec<&str> = RUNNERS.iter().map(|runner| runner.name).collect();
        let known = known.join(", ");
        return Err(Problem::not_found(format!("there is no runner {name:?}; there is {known}, and {AUTO}")));
    }
    let restriction = &shared.caller.restriction;
    if let Some(runner) = runner
        && !restriction.runners.is_empty()
        && !restriction.runners.iter().any(|known| known == runner.provider)
    {
        return Err(problem_of(&Stopped::Beyond(Beyond::NotYours)));
    }
    let Ok(permit) = shared.ingests.clone().try_acquire_owned() else {
        let detail = format!("{} ingests are open, which is the limit; try again later", shared.settings.max_ingests);
        return Err(later(StatusCode::SERVICE_UNAVAILABLE, detail, SOON));
    };
    let stream = live_answer(&request, &shared)?;
    let framing = framing_of(request.headers());
    let (runs, limits) = (shared.runs.clone(), shared.settings.limits);
    let ingest = match runner {
        Some(runner) => Ingest::new(runs, runner, framing, limits),
        None => Ingest::auto(runs, framing, limits),
    };
    let ingest = ingest.within(IngestBounds {
        open_runs: shared.open_runs.clone(),
        records_per_run: shared.settings.max_records_per_run,
        ahead_bytes: shared.settings.ingest_ahead_bytes,
        restriction: restriction.clone(),
    });
    let ingest = if shared.settings.drift { ingest.watching_drift() } else { ingest };
    let ingest = match &shared.settings.redaction {
        Some(rules) => ingest.redacting(rules.clone()),
        None => ingest,
    };
    let ingested = ingest.ingested();
    let span = tracing::info_span!("ingest", runner = name);
    let meter = shared.runs.metrics().ingest(runner.map_or(AUTO, |runner| runner.name));
    let bounds = Bounds { idle: shared.settings.ingest_idle, bytes: shared.settings.max_body_bytes };
    let (phase, rates) = (shared.stopping.phase(), shared.meters.of(&shared.caller.name));
    let control = shared.control.clone();
    let mut body = Upload { body: request.into_body(), bounds, taken: 0, phase, meter, rates, control };
    let Some(negotiated) = stream else {
        // In a task of its own, so that a client that leaves cannot stop it half way.
        let done = async move {
            let done = pump(ingest, &mut body).await;
            body.end(done.as_ref().err());
            drop(permit);
            done
        };
        let done = tokio::spawn(done.instrument(span));
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
            Err(stopped) => Err(problem_of(&stopped)),
        };
    };
    let lease = shared.stream()?;
    // Whoever streams the answer gets none before it is known that there is one.
    // In a task of its own, so that a client that leaves cannot stop it half way.
    let (known, is_known) = oneshot::channel();
    let taking_in = async move {
        let ingest = match until_known(ingest, &mut body).await {
            Ok(ingest) => ingest,
            Err(stopped) => {
                body.end(Some(&stopped));
                return drop(known.send(Err(stopped)));
            }
        };
        let _ = known.send(Ok(()));
        let done = match ingest {
            Some(ingest) => pump(ingest, &mut body).await.map(|_| ()),
            None => Ok(()),
        };
        if let Err(stopped) = &done {
            tracing::warn!(reason = stopped.reason(), "an ingest stopped before its end");
        }
        body.end(done.as_ref().err());
        drop(permit);
    };
    tokio::spawn(taking_in.instrument(span));
    is_known.await.unwrap_or(Err(Stopped::Inside)).map_err(|stopped| problem_of(&stopped))?;
    let wire = if negotiated.form == Form::Sse { Wire::Sse } else { Wire::Ndjson };
    let options = negotiated.options.clone();
    let follower = ingested.follow(shared.runs.clone(), negotiated.contract, options, wire);
    let mut response = Response::new(events(body::Source::Ingest(Box::new(follower)), &negotiated, &shared, lease));
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

/// The name that stands for whichever runner the input shows.
const AUTO: &str = "auto";

/// What the client is told of an ingest that stopped before its end.
fn problem_of(stopped: &Stopped) -> Problem {
    let status = match stopped {
        Stopped::Unknown => return Problem::new(StatusCode::UNPROCESSABLE_ENTITY, stopped.reason()),
        Stopped::Broken(_) => StatusCode::BAD_REQUEST,
        Stopped::Idle(_) => StatusCode::REQUEST_TIMEOUT,
        Stopped::TooLarge(_) | Stopped::Beyond(Beyond::Records(_)) => StatusCode::PAYLOAD_TOO_LARGE,
        Stopped::Log(error) if error.is_full() => StatusCode::INSUFFICIENT_STORAGE,
        Stopped::Beyond(Beyond::NotYours) => StatusCode::FORBIDDEN,
        Stopped::Log(_) | Stopped::Beyond(_) | Stopped::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        Stopped::Inside => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let detail = format!("the ingest was stopped: {}; what was open was closed as interrupted", stopped.reason());
    match stopped {
        Stopped::Beyond(Beyond::OpenRuns) => later(status, detail, SOON),
        _ => Problem::new(status, detail),
    }
}

/// When whoever found no place may come back. Nobody knows; places are given back one by one.
const SOON: Duration = Duration::from_secs(1);

/// How long an ingest waits before it looks at the rates again, which may be others by then.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// A chunk that is no longer than this, in bytes, is copied: the connection can read the next one into the same buffer then,
/// which is many times as large.
const COPIED: usize = 2 << 10;

/// What bounds the body of an ingest.
#[derive(Clone, Copy)]
struct Bounds {
    idle: Option<Duration>,
    bytes: Option<u64>,
}

/// The body of an ingest.
struct Upload {
    body: Incoming,
    bounds: Bounds,
    taken: u64,
    phase: watch::Receiver<Phase>,
    meter: IngestMeter,
    rates: Arc<Meter>,
    control: Control,
}

impl Upload {
    /// Nothing more is read.
    fn end(self, stopped: Option<&Stopped>) {
        self.meter.end(stopped.map_or(FINISHED, Stopped::code));
    }
}

impl Source for Upload {
    async fn next(&mut self) -> Result<Option<Bytes>, Stopped> {
        // What was read too fast is waited for before more is read; other ingests of the client may add to it meanwhile.
        while let Some(wait) = self.rates.ingest_wait(&self.control.live().rates) {
            tokio::select! {
                biased;
                _ = self.phase.wait_for(|phase| *phase >= Phase::Cutting) => return Err(Stopped::Stopping),
                () = tokio::time::sleep(wait.min(LONGEST_WAIT)) => {}
            }
        }
        loop {
            let next = async {
                match self.bounds.idle {
                    None => Ok(self.body.frame().await),
                    Some(limit) => tokio::time::timeout(limit, self.body.frame()).await,
                }
            };
            let frame = tokio::select! {
                biased;
                _ = self.phase.wait_for(|phase| *phase >= Phase::Cutting) => return Err(Stopped::Stopping),
                frame = next => frame.map_err(|_| Stopped::Idle("ingest.idle_timeout_ms"))?,
            };
            match frame {
                None => return Ok(None),
                Some(Err(_)) => return Err(Stopped::Broken("the client's connection broke".to_owned())),
                Some(Ok(frame)) => {
                    let Ok(chunk) = frame.into_data() else { continue };
                    self.taken += chunk.len() as u64;
                    self.meter.bytes(chunk.len());
                    self.rates.took(chunk.len(), &self.control.live().rates);
                    return match self.bounds.bytes.filter(|limit| self.taken > *limit) {
                        Some(limit) => Err(Stopped::TooLarge(limit)),
                        None if chunk.len() <= COPIED => Ok(Some(Bytes::copy_from_slice(&chunk))),
                        None => Ok(Some(chunk)),
                    };
                }
            }
        }
    }
}

/// The word for an ingest whose input came to its end.
const FINISHED: &str = "finished";
