//! `POST /v1/ingest/{runner}`: a runner's output comes in; where the client accepts a stream, its translation goes out in
//! the same exchange, else the list of runs that were made. `auto` stands for whichever runner the first records show; where
//! they show none, that is told (422), and nothing is kept.

use super::body::{Body, Source, events};
use super::events::{options_of, stream_headers, wanted_of};
use super::limits::{Meter, later};
use super::live::Control;
use super::negotiate::{Form, Negotiated, negotiate};
use super::problem::Problem;
use super::router::json_response;
use super::stop::Phase;
use super::{Shared, negotiate::Wanted};
use crate::ingest::{Beyond, Bounds as IngestBounds, Ingest, IngestError, unknown};
use crate::log::LogError;
use crate::runs::{RunStatus, Wire};
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
        return Err(Stopped::Beyond(Beyond::NotYours).into_problem());
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
    let body = Upload { body: request.into_body(), bounds, taken: 0, phase, meter, rates, control };
    let Some(negotiated) = stream else {
        // In a task of its own, so that a client that leaves cannot stop it half way.
        let done = async move {
            let done = pump(ingest, body).await;
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
            Err(stopped) => Err(stopped.into_problem()),
        };
    };
    let lease = shared.stream()?;
    // Whoever streams the answer gets none before it is known that there is one.
    // In a task of its own, so that a client that leaves cannot stop it half way.
    let (known, is_known) = oneshot::channel();
    let taking_in = async move {
        let taken = match until_known(ingest, body).await {
            Ok(taken) => taken,
            Err(stopped) => return drop(known.send(Err(stopped))),
        };
        let _ = known.send(Ok(()));
        if let Some((ingest, body)) = taken
            && let Err(stopped) = pump(ingest, body).await
        {
            tracing::warn!(reason = stopped.reason(), "an ingest stopped before its end");
        }
        drop(permit);
    };
    tokio::spawn(taking_in.instrument(span));
    is_known.await.unwrap_or(Err(Stopped::Inside)).map_err(Stopped::into_problem)?;
    let wire = if negotiated.form == Form::Sse { Wire::Sse } else { Wire::Ndjson };
    let options = negotiated.options.clone();
    let follower = ingested.follow(shared.runs.clone(), negotiated.contract, options, wire);
    let mut response = Response::new(events(Source::Ingest(Box::new(follower)), &negotiated, &shared, lease));
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

/// Why an ingest stopped before its input's end.
enum Stopped {
    Broken,
    Idle,
    TooLarge(u64),
    Log(LogError),
    Beyond(Beyond),
    Unknown,
    Stopping,
    Inside,
}

impl Stopped {
    fn reason(&self) -> String {
        match self {
            Self::Broken => "the client's connection broke".to_owned(),
            Self::Idle => "the client was silent for too long (ingest.idle_timeout_ms)".to_owned(),
            Self::TooLarge(limit) => format!("the body has more than {limit} bytes (server.max_body_bytes)"),
            Self::Log(error) => error.to_string(),
            Self::Beyond(beyond) => beyond.to_string(),
            Self::Unknown => format!("{}; name the runner in the path", unknown()),
            Self::Stopping => "the proxy is stopping".to_owned(),
            Self::Inside => "an internal error".to_owned(),
        }
    }

    /// A short word for metrics.
    fn code(&self) -> &'static str {
        match self {
            Self::Broken => "connection_broken",
            Self::Idle => "idle",
            Self::TooLarge(_) => "too_large",
            Self::Log(_) => "log",
            Self::Beyond(Beyond::NotYours) => "not_allowed",
            Self::Beyond(_) => "limit",
            Self::Unknown => "unknown_runner",
            Self::Stopping => "proxy_stopping",
            Self::Inside => "internal",
        }
    }

    fn into_problem(self) -> Problem {
        if matches!(self, Self::Unknown) {
            return Problem::new(StatusCode::UNPROCESSABLE_ENTITY, self.reason());
        }
        let status = match self {
            Self::Broken => StatusCode::BAD_REQUEST,
            Self::Idle => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Log(ref error) if error.is_full() => StatusCode::INSUFFICIENT_STORAGE,
            Self::Log(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Beyond(Beyond::Records(_)) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Beyond(Beyond::NotYours) => StatusCode::FORBIDDEN,
            Self::Beyond(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Unknown => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Stopping => StatusCode::SERVICE_UNAVAILABLE,
            Self::Inside => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let detail = format!("the ingest was stopped: {}; what was open was closed as interrupted", self.reason());
        match self {
            Self::Beyond(Beyond::OpenRuns) => later(status, detail, SOON),
            _ => Problem::new(status, detail),
        }
    }
}

impl From<IngestError> for Stopped {
    fn from(error: IngestError) -> Self {
        match error {
            IngestError::Beyond(beyond) => Self::Beyond(beyond),
            IngestError::Log(error) => Self::Log(error),
        }
    }
}

/// When whoever found no place may come back. Nobody knows; places are given back one by one.
const SOON: Duration = Duration::from_secs(1);

/// How long an ingest waits before it looks at the rates again, which may be others by then.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

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
    /// The next bytes; `None` at the end.
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
                frame = next => frame.map_err(|_| Stopped::Idle)?,
            };
            match frame {
                None => return Ok(None),
                Some(Err(_)) => return Err(Stopped::Broken),
                Some(Ok(frame)) => {
                    let Ok(chunk) = frame.into_data() else { continue };
                    self.taken += chunk.len() as u64;
                    self.meter.bytes(chunk.len());
                    self.rates.took(chunk.len(), &self.control.live().rates);
                    return match self.bounds.bytes.filter(|limit| self.taken > *limit) {
                        Some(limit) => Err(Stopped::TooLarge(limit)),
                        None => Ok(Some(chunk)),
                    };
                }
            }
        }
    }
}

/// Feeds the body until it is known whose it is; `None` where it is over by then.
async fn until_known(mut ingest: Ingest, mut body: Upload) -> Result<Option<(Ingest, Upload)>, Stopped> {
    let over = loop {
        if ingest.is_known() {
            return Ok(Some((ingest, body)));
        }
        match body.next().await {
            Err(stopped) => break Err(stopped),
            Ok(None) => {
                let records = ingest.finish().await.map_err(Stopped::from);
                break records.and_then(|records| records.map(|_| None).ok_or(Stopped::Unknown));
            }
            Ok(Some(chunk)) => {
                if let Err(error) = ingest.feed(&chunk).await {
                    break Err(Stopped::from(error));
                }
                if ingest.is_unknown() {
                    break Err(Stopped::Unknown);
                }
            }
        }
    };
    body.meter.end(over.as_ref().err().map_or(FINISHED, Stopped::code));
    over
}

/// The word for an ingest whose input came to its end.
const FINISHED: &str = "finished";

/// Feeds the body into the ingest; gives the number of records.
async fn pump(ingest: Ingest, mut body: Upload) -> Result<u64, Stopped> {
    let outcome = take_all(ingest, &mut body).await;
    body.meter.end(outcome.as_ref().err().map_or(FINISHED, Stopped::code));
    outcome
}

async fn take_all(mut ingest: Ingest, body: &mut Upload) -> Result<u64, Stopped> {
    let outcome = loop {
        let next = match ingest.patience() {
            None => body.next().await,
            Some(patience) => match tokio::time::timeout(patience, body.next()).await {
                Ok(next) => next,
                Err(_) => {
                    ingest.flush().await?;
                    continue;
                }
            },
        };
        match next {
            Ok(None) => break Ok(()),
            Err(stopped) => break Err(stopped),
            // On failure the ingest has closed its runs already.
            Ok(Some(chunk)) => ingest.feed(&chunk).await?,
        }
        if ingest.is_unknown() {
            return Err(Stopped::Unknown);
        }
    };
    if matches!(outcome, Err(Stopped::Stopping)) {
        ingest.cut_by_stop();
    }
    let records = ingest.finish().await?;
    outcome.and_then(|()| records.ok_or(Stopped::Unknown))
}
