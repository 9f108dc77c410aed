//! One request to the upstream and its response, handled in a task of its own.
//!
//! Input: the request. Output: the head of the response as soon as it arrives; then the body, to the client and to the log.
//! Never: a client that sees bytes of a run before the log has them; a run that ends because its client left (unless
//! configured so); a truncated response that looks complete.

use super::Responses;
use super::asking::{Asking, Said};
use super::background::Claimed;
use super::bounded_channel::{self, BoundedReceiver, BoundedSender};
use super::document::{Document, State};
use super::reading::{Counted, Over, Reading, broke_off, close};
use crate::client::{Body, NoAnswer};
use crate::ingest::Ingest;
use crate::runs::{Ingested, Runs};
use crate::telemetry::metrics::IngestMeter;
use crate::upstream::Handles;
use crate::upstream::metering;
use bytes::Bytes;
use framegate_translators::framing::Framing;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use hyper::{HeaderMap, Request, Response, StatusCode};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Instrument;

/// What the response becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The client receives the upstream's bytes, and they become a run.
    Verbatim,
    /// The response becomes a run, which the client reads in a contract.
    Translated,
    /// The client receives the upstream's bytes, and no run is made of them.
    Plain,
    /// The client receives the upstream's bytes of the response with this id. They become a run if the response continued at
    /// the upstream after an earlier answer and no complete run of it exists yet.
    Followed(String),
}

/// The answer to the client.
pub enum Answer {
    /// The upstream's own response.
    Own {
        /// The HTTP status.
        status: StatusCode,
        /// The response headers that are allowed to pass.
        headers: HeaderMap,
        /// The body.
        body: BoundedReceiver,
    },
    /// The run that the response becomes.
    Run {
        /// The streams that the ingest creates.
        ingested: Ingested,
        /// The response headers that are allowed to pass, without the headers that describe the body.
        headers: HeaderMap,
        /// Dropped when the client leaves.
        left: DropGuard,
    },
}

/// Why there is no answer for the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The upstream did not answer.
    #[error("the upstream did not answer: {0}")]
    NoAnswer(#[from] NoAnswer),
    /// The upstream redirects.
    #[error("the upstream answered {0}, a redirect, which is never followed; set the url to the new location")]
    Redirect(StatusCode),
    /// The upstream compressed its response.
    #[error("the upstream's answer is compressed although the request did not allow it, so it cannot be read")]
    Compressed,
    /// The response has another media type.
    #[error("the upstream answered {0:?}, which is neither an event stream nor JSON")]
    NotAResponse(String),
    /// The response ended without anything usable.
    #[error("the upstream's answer is unusable: {0}")]
    Nothing(String),
    /// The proxy is stopping.
    #[error("the proxy is stopping")]
    Stopping,
    /// An internal error.
    #[error("internal error")]
    Inside,
}

/// Resolves when an external event happens.
pub type Signal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Creates the ingest and its meter once the framing of the response is known, for the session that the request names.
pub type MakeIngest = Box<dyn FnOnce(Option<Framing>, &Said) -> (Ingest, IngestMeter) + Send>;

/// One request, with everything that handling its response needs.
pub struct InFlightRequest {
    /// The upstream.
    pub upstream: Arc<Responses>,
    /// The request to send.
    pub request: Request<Body>,
    /// What the request says about its session.
    pub asking: Asking,
    /// What the response becomes.
    pub mode: Mode,
    /// Whether the request ends when its client leaves.
    pub cancels: bool,
    /// Creates the ingest for a run.
    pub make: MakeIngest,
    /// The size limit for a document that becomes a run, in bytes.
    pub document_bytes: usize,
    /// The handles of runs that accept messages.
    pub handles: Arc<Handles>,
    /// All runs.
    pub runs: Arc<Runs>,
    /// Resolves when the proxy cuts everything that is still open.
    pub stop: Signal,
    /// Receives the answer for the client.
    pub answer: oneshot::Sender<Result<Answer, Refusal>>,
}

/// Why a request ended, as a label value for metrics.
pub type Outcome = &'static str;

impl InFlightRequest {
    /// Handles the request in a task of its own. The task holds `held` until it ends.
    pub fn spawn(self, held: impl Send + 'static) {
        let (metrics, name) = (self.runs.metrics().clone(), self.upstream.settings().name.clone());
        let span = tracing::info_span!("response", upstream = name);
        let going_on = async move {
            let outcome = self.run().await;
            metrics.upstream_ended(&name, outcome);
            tracing::debug!(outcome, "a request to an upstream has ended");
            drop(held);
        };
        tokio::spawn(going_on.instrument(span));
    }

    /// Sends the request and reads the response to its end.
    pub async fn run(self) -> Outcome {
        let Self {
            upstream,
            request,
            asking,
            mode,
            cancels,
            make,
            document_bytes,
            handles,
            runs,
            mut stop,
            mut answer,
        } = self;
        let name = &upstream.settings().name;
        let make = move |framing: Option<Framing>, said: &Said| {
            let (ingest, meter) = make(framing, said);
            (ingest.of_upstream(name), meter)
        };
        let counted = |meter| {
            let of_upstream = runs.metrics().upstream(&upstream.settings().name);
            Counted { meter, of_upstream, runs: runs.clone() }
        };
        // Without a client, only a response that certainly becomes a run is worth waiting for.
        let is_clients_alone = matches!(mode, Mode::Plain | Mode::Followed(_));
        let sent = tokio::select! {
            biased;
            () = &mut stop => Err(Refusal::Stopping),
            () = answer.closed(), if cancels || is_clients_alone => return "client_left",
            sent = upstream.send(request) => sent.map_err(Refusal::from),
        };
        let response = match sent.and_then(|response| admitted(response, is_clients_alone)) {
            Ok(response) => response,
            Err(refusal) => {
                let outcome = match &refusal {
                    Refusal::NoAnswer(NoAnswer::Unreachable(_)) => "unreachable",
                    Refusal::NoAnswer(NoAnswer::Slow(_)) => "upstream_silent",
                    Refusal::NoAnswer(_) => "upstream_lost",
                    Refusal::Stopping => "proxy_stopping",
                    _ => "not_a_response",
                };
                tracing::warn!(reason = %refusal, "an upstream's answer is unusable");
                let _ = answer.send(Err(refusal));
                return outcome;
            }
        };
        let (head, body) = response.into_parts();
        let left = CancellationToken::new();
        let mut headers = HeaderMap::new();
        upstream.settings().response_headers.copy(&head.headers, &mut headers);
        let framing = framing(&head.headers);
        let is_run = mode != Mode::Plain && head.status.is_success() && is_readable(&head.headers);
        let is_document = is_run && framing == Some(Framing::Document);
        let mut reading = Reading { body, idle: upstream.settings().idle_timeout, stop, left: left.clone(), cancels };
        let patience = upstream.settings().patience;
        let own = || {
            let (sender, body) = bounded_channel::open(patience, &left);
            let mut own = headers.clone();
            for name in [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING] {
                if let Some(value) = head.headers.get(&name) {
                    own.insert(name, value.clone());
                }
            }
            (sender, Answer::Own { status: head.status, headers: own, body })
        };
        // The headers of an answer that does not carry the upstream's own bytes.
        let translated = || {
            let mut headers = headers.clone();
            for name in OF_THE_BODY {
                headers.remove(name);
            }
            headers
        };
        match &mode {
            _ if !is_run => {
                let (sender, own) = own();
                let _ = answer.send(Ok(own));
                Reading { cancels: true, ..reading }.pass(sender).await.outcome()
            }
            Mode::Translated if is_document => {
                let (sender, own) = own();
                let mut document = Document::new(document_bytes);
                let over = reading.gather(&mut document).await;
                match document.state() {
                    State::Over { bytes, .. } if matches!(over, Over::Whole) => {
                        let (ingest, meter) = make(framing, &asking.said());
                        let ingested = ingest.ingested();
                        if let Err(error) = keep(ingest, counted(meter), &bytes).await {
                            let _ = answer.send(Err(Refusal::Nothing(error)));
                            return "log";
                        }
                        let headers = translated();
                        let _ = answer.send(Ok(Answer::Run { ingested, headers, left: left.drop_guard() }));
                        "finished"
                    }
                    _ if document.is_too_large() => {
                        let reason = "it is larger than the maximum record (ingest.max_record_bytes)".to_owned();
                        let _ = answer.send(Err(Refusal::Nothing(reason)));
                        "too_large"
                    }
                    // A response that continues at the upstream, or is not a response object, is passed to the client
                    // unchanged.
                    state if matches!(over, Over::Whole) => {
                        if let State::UnderWay { id } = state {
                            upstream.background.goes_on(id, asking.said());
                        }
                        let _ = answer.send(Ok(own));
                        give(sender, &document.chunks, &left).await
                    }
                    _ => {
                        let _ = answer.send(Err(Refusal::Nothing(over.reason())));
                        over.outcome()
                    }
                }
            }
            _ if is_document => {
                let (sender, own) = own();
                let _ = answer.send(Ok(own));
                let mut sender = Some(sender);
                let mut document = Document::new(document_bytes);
                reading.cancels |= is_clients_alone;
                let (over, last) = reading.pass_document(&mut sender, &mut document).await;
                let state = if matches!(over, Over::Whole) { document.state() } else { State::Other };
                match state {
                    State::UnderWay { id } if upstream.background.said(&id).is_none() => {
                        upstream.background.goes_on(id, asking.said());
                    }
                    State::Over { id, is_background, bytes } => {
                        let found = match &mode {
                            Mode::Followed(_) => followed(&upstream, &runs, &id, Some((&bytes, is_background))),
                            _ => Some((asking.said(), None)),
                        };
                        if let Some((said, _claimed)) = found {
                            let (ingest, meter) = make(framing, &said);
                            let _ = keep(ingest, counted(meter), &bytes).await;
                            upstream.background.forget(&id);
                        }
                    }
                    _ => {}
                }
                // The answer ends only now, so that a client that has all of it finds its run in the log.
                reading.end(over, sender, last).await.outcome()
            }
            Mode::Translated => {
                let (ingest, meter) = make(framing, &asking.said());
                let ingested = ingest.ingested();
                let run = Answer::Run { ingested, headers: translated(), left: left.clone().drop_guard() };
                reading.take_in(ingest, counted(meter), handles, None, Some((answer, run))).await.outcome()
            }
            _ => {
                let (sender, own) = own();
                let _ = answer.send(Ok(own));
                let found = match &mode {
                    Mode::Followed(id) => followed(&upstream, &runs, id, None),
                    _ => Some((asking.said(), None)),
                };
                let Some((said, _claimed)) = found else {
                    return Reading { cancels: true, ..reading }.pass(sender).await.outcome();
                };
                let (ingest, meter) = make(framing, &said);
                reading.take_in(ingest, counted(meter), handles, Some(sender), None).await.outcome()
            }
        }
    }
}

/// Headers that describe the body and are removed from translated answers.
const OF_THE_BODY: [&str; 14] = [
    "accept-ranges",
    "content-digest",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-location",
    "content-md5",
    "content-range",
    "content-type",
    "digest",
    "etag",
    "expires",
    "last-modified",
    "repr-digest",
];

/// For a response that continued at the upstream: what the original request said about its session, and the claim that
/// permits making a run of it. `None` if the answer becomes no run. `whole` is the complete response, with whether it says
/// that it was requested with `background`.
fn followed(
    upstream: &Responses,
    runs: &Runs,
    id: &str,
    whole: Option<(&[u8], bool)>,
) -> Option<(Said, Option<Claimed>)> {
    let said = upstream.background.said(id);
    if id.is_empty() || whole.is_some_and(|(_, is_background)| !is_background && said.is_none()) {
        return None;
    }
    let claimed = upstream.background.claim(id)?;
    // Look this up only after the claim succeeded: any earlier answer for this id has been recorded by then.
    let known = runs.find_response(id);
    if known.as_ref().is_some_and(|entry| !broke_off(&entry.status())) {
        return None;
    }
    let before = known.map(|_| Said { previous: Some(id.to_owned()), ..Said::default() });
    let named = said.filter(|said| *said != Said::default());
    let said = named.or(before).unwrap_or_else(|| whole.map(|(bytes, _)| Asking::read(bytes)).unwrap_or_default());
    Some((said, Some(claimed)))
}

/// Accepts a response that can be passed on or, if it is to be translated, read.
fn admitted(response: Response<Incoming>, is_clients_alone: bool) -> Result<Response<Incoming>, Refusal> {
    let (status, headers) = (response.status(), response.headers());
    if status.is_redirection() {
        return Err(Refusal::Redirect(status));
    }
    if !status.is_success() || is_clients_alone {
        return Ok(response);
    }
    if is_compressed(headers) {
        return Err(Refusal::Compressed);
    }
    if !is_readable(headers) {
        return Err(Refusal::NotAResponse(media_type(headers)));
    }
    Ok(response)
}

fn is_compressed(headers: &HeaderMap) -> bool {
    let coding = headers.get(CONTENT_ENCODING).map(|coding| coding.as_bytes().to_ascii_lowercase());
    coding.is_some_and(|coding| coding != b"identity")
}

/// Whether a run can be made of a response with these headers.
fn is_readable(headers: &HeaderMap) -> bool {
    let media = media_type(headers);
    !is_compressed(headers) && matches!(&*media, "" | "text/event-stream" | "application/json" | "application/x-ndjson")
}

fn media_type(headers: &HeaderMap) -> String {
    let media = headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    media.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The framing of the body; `None` if the first bytes decide.
fn framing(headers: &HeaderMap) -> Option<Framing> {
    match &*media_type(headers) {
        "text/event-stream" => Some(Framing::Sse),
        "application/x-ndjson" => Some(Framing::Ndjson),
        "application/json" => Some(Framing::Document),
        _ => None,
    }
}

/// Ingests a complete document.
async fn keep(mut ingest: Ingest, counted: Counted, bytes: &[u8]) -> Result<(), String> {
    let Counted { meter, mut of_upstream, runs } = counted;
    let ingested = ingest.ingested();
    meter.bytes(bytes.len());
    let fed = ingest.feed(bytes).await;
    meter.end(if fed.is_ok() { "finished" } else { "log" });
    let closed = close(ingest, fed, &Over::Whole).await;
    metering::count_ingested(&mut of_upstream, &ingested, &runs);
    closed
}

/// Sends a client the chunks that have already arrived.
async fn give(mut sender: BoundedSender, chunks: &[Bytes], left: &CancellationToken) -> Outcome {
    for chunk in chunks {
        if sender.send(chunk, left).await.is_err() {
            return "client_left";
        }
    }
    sender.end();
    "finished"
}
