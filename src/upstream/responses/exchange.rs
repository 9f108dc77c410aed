//! One request to the upstream and its answer, in a task of its own.
//!
//! In: the request. Out: the answer's head as soon as there is one; then its bytes, to the client and into the log. Never: a
//! client that sees bytes of a run before the log has them, a run that ends because its client left (unless that is
//! configured), an answer that looks whole and is not.

use super::Responses;
use super::document::Document;
use super::outlet::{Inlet, Outlet, outlet};
use super::reading::{Counted, Over, Reading, close};
use crate::ingest::Ingest;
use crate::runs::{Ingested, Runs};
use crate::telemetry::metrics::IngestMeter;
use crate::upstream::Links;
use crate::upstream::client::{Body, NoAnswer};
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

/// What is to become of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The client gets the upstream's bytes, and they become a run.
    Verbatim,
    /// They become a run, which the client reads in a contract.
    Translated,
    /// The client gets the upstream's bytes; there is no run in them.
    Plain,
}

/// What the client is answered.
pub enum Answer {
    /// The upstream's own answer.
    Own {
        /// Its status.
        status: StatusCode,
        /// Those of its headers that pass.
        headers: HeaderMap,
        /// Its body.
        body: Inlet,
    },
    /// The run that it becomes.
    Run {
        /// What the ingest makes.
        ingested: Ingested,
        /// Those of its headers that pass, without those of its body.
        headers: HeaderMap,
        /// To be dropped when the client leaves.
        left: DropGuard,
    },
}

/// Why there is nothing to answer with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The upstream did not answer.
    #[error("the upstream did not answer: {0}")]
    NoAnswer(#[from] NoAnswer),
    /// It points elsewhere.
    #[error("the upstream answered {0}, a redirect, which is never followed; set its url to where it is")]
    Redirect(StatusCode),
    /// It compresses.
    #[error("the upstream compresses its answer although it was asked not to, so that nothing can be read of it")]
    Compressed,
    /// It is something else.
    #[error("the upstream answered {0:?}, which is neither an event stream nor JSON")]
    NotAResponse(String),
    /// The answer came to nothing.
    #[error("the upstream's answer came to nothing: {0}")]
    Nothing(String),
    /// The proxy stops.
    #[error("the proxy is stopping")]
    Stopping,
    /// Something of ours went wrong.
    #[error("an internal error")]
    Inside,
}

/// Resolves when something is to happen.
pub type Signal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Makes the ingest, once the answer's framing is known, and what counts it.
pub type MakeIngest = Box<dyn FnOnce(Option<Framing>) -> (Ingest, IngestMeter) + Send>;

/// One request, and all that its answer needs.
pub struct Exchange {
    /// The upstream.
    pub upstream: Arc<Responses>,
    /// What is sent.
    pub request: Request<Body>,
    /// What becomes of the answer.
    pub mode: Mode,
    /// It ends when nobody waits for its answer any more.
    pub cancels: bool,
    /// Makes the ingest of a run.
    pub make: MakeIngest,
    /// The largest document that becomes a run, in bytes.
    pub document_bytes: usize,
    /// The runs that can be spoken to.
    pub links: Arc<Links>,
    /// All runs.
    pub runs: Arc<Runs>,
    /// Whatever is open is cut now.
    pub stop: Signal,
    /// Where the answer goes.
    pub answer: oneshot::Sender<Result<Answer, Refusal>>,
}

/// Why an exchange ended, as a short word for metrics.
pub type Outcome = &'static str;

impl Exchange {
    /// Goes on in a task of its own, which holds `held` until it is over.
    pub fn spawn(self, held: impl Send + 'static) {
        let (metrics, name) = (self.runs.metrics().clone(), self.upstream.settings().name.clone());
        let span = tracing::info_span!("response", upstream = name);
        let going_on = async move {
            let outcome = self.run().await;
            metrics.upstream_ended(&name, outcome);
            tracing::debug!(outcome, "a request to an upstream is over");
            drop(held);
        };
        tokio::spawn(going_on.instrument(span));
    }

    /// Sends the request, and reads its answer to the end.
    pub async fn run(self) -> Outcome {
        let Self { upstream, request, mode, cancels, make, document_bytes, links, runs, mut stop, mut answer } = self;
        let counted = |meter| {
            let of_upstream = runs.metrics().upstream(&upstream.settings().name);
            Counted { meter, of_upstream, runs: runs.clone() }
        };
        let sent = tokio::select! {
            biased;
            () = &mut stop => Err(Refusal::Stopping),
            () = answer.closed(), if cancels || mode == Mode::Plain => return "client_left",
            sent = upstream.send(request) => sent.map_err(Refusal::from),
        };
        let response = match sent.and_then(|response| admitted(response, mode)) {
            Ok(response) => response,
            Err(refusal) => {
                let outcome = match &refusal {
                    Refusal::NoAnswer(NoAnswer::Unreachable(_)) => "unreachable",
                    Refusal::NoAnswer(NoAnswer::Slow(_)) => "upstream_silent",
                    Refusal::NoAnswer(_) => "upstream_lost",
                    Refusal::Stopping => "proxy_stopping",
                    _ => "not_a_response",
                };
                tracing::warn!(reason = %refusal, "an upstream's answer is of no use");
                let _ = answer.send(Err(refusal));
                return outcome;
            }
        };
        let (head, body) = response.into_parts();
        let left = CancellationToken::new();
        let mut headers = HeaderMap::new();
        upstream.settings().response_headers.copy(&head.headers, &mut headers);
        let framing = framing(&head.headers);
        let is_run = mode != Mode::Plain && head.status.is_success();
        let is_document = is_run && framing == Some(Framing::Document);
        let reading = Reading { body, idle: upstream.settings().idle_timeout, stop, left: left.clone(), cancels };
        let patience = upstream.settings().patience;
        let own = || {
            let (outlet, body) = outlet(patience, &left);
            let mut own = headers.clone();
            for name in [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING] {
                if let Some(value) = head.headers.get(&name) {
                    own.insert(name, value.clone());
                }
            }
            (outlet, Answer::Own { status: head.status, headers: own, body })
        };
        match mode {
            _ if !is_run => {
                let (outlet, own) = own();
                let _ = answer.send(Ok(own));
                Reading { cancels: true, ..reading }.pass(outlet, None).await.outcome()
            }
            Mode::Translated if is_document => {
                let ((outlet, own), mut reading) = (own(), reading);
                let mut document = Document::new(document_bytes);
                let over = reading.gather(&mut document).await;
                match document.response() {
                    Some(bytes) if matches!(over, Over::Whole) => {
                        let (ingest, meter) = make(framing);
                        let ingested = ingest.ingested();
                        if let Err(error) = keep(ingest, counted(meter), &bytes).await {
                            let _ = answer.send(Err(Refusal::Nothing(error)));
                            return "log";
                        }
                        let _ = answer.send(Ok(Answer::Run { ingested, headers, left: left.drop_guard() }));
                        "finished"
                    }
                    _ if document.is_too_large() => {
                        let reason = "it is larger than a record may be (ingest.max_record_bytes)".to_owned();
                        let _ = answer.send(Err(Refusal::Nothing(reason)));
                        "too_large"
                    }
                    // What goes on elsewhere, and what is no response, is the client's to see as it is.
                    _ if matches!(over, Over::Whole) => {
                        let _ = answer.send(Ok(own));
                        give(outlet, &document.chunks, &left).await
                    }
                    _ => {
                        let _ = answer.send(Err(Refusal::Nothing(over.reason())));
                        over.outcome()
                    }
                }
            }
            _ if is_document => {
                let (outlet, own) = own();
                let _ = answer.send(Ok(own));
                let mut document = Document::new(document_bytes);
                let over = reading.pass(outlet, Some(&mut document)).await;
                if let (Over::Whole, Some(bytes)) = (&over, document.response()) {
                    let (ingest, meter) = make(framing);
                    let _ = keep(ingest, counted(meter), &bytes).await;
                }
                over.outcome()
            }
            Mode::Translated => {
                let (ingest, meter) = make(framing);
                let ingested = ingest.ingested();
                let run = Answer::Run { ingested, headers, left: left.clone().drop_guard() };
                reading.take_in(ingest, counted(meter), links, None, Some((answer, run))).await.outcome()
            }
            _ => {
                let (outlet, own) = own();
                let _ = answer.send(Ok(own));
                let (ingest, meter) = make(framing);
                reading.take_in(ingest, counted(meter), links, Some(outlet), None).await.outcome()
            }
        }
    }
}

/// An answer that can be read.
fn admitted(response: Response<Incoming>, mode: Mode) -> Result<Response<Incoming>, Refusal> {
    let (status, headers) = (response.status(), response.headers());
    if status.is_redirection() {
        return Err(Refusal::Redirect(status));
    }
    if !status.is_success() || mode == Mode::Plain {
        return Ok(response);
    }
    let coding = headers.get(CONTENT_ENCODING).map(|coding| coding.as_bytes().to_ascii_lowercase());
    if coding.is_some_and(|coding| coding != b"identity") {
        return Err(Refusal::Compressed);
    }
    let media = media_type(headers);
    match &*media {
        "" | "text/event-stream" | "application/json" | "application/x-ndjson" => Ok(response),
        _ => Err(Refusal::NotAResponse(media)),
    }
}

fn media_type(headers: &HeaderMap) -> String {
    let media = headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    media.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// How the records of the body are told apart; `None`: the first bytes tell.
fn framing(headers: &HeaderMap) -> Option<Framing> {
    match &*media_type(headers) {
        "text/event-stream" => Some(Framing::Sse),
        "application/x-ndjson" => Some(Framing::Ndjson),
        "application/json" => Some(Framing::Document),
        _ => None,
    }
}

/// Keeps a whole document.
async fn keep(mut ingest: Ingest, counted: Counted, bytes: &[u8]) -> Result<(), String> {
    let Counted { meter, mut of_upstream, runs } = counted;
    let ingested = ingest.ingested();
    meter.bytes(bytes.len());
    let fed = ingest.feed(bytes).await;
    meter.end(if fed.is_ok() { "finished" } else { "log" });
    let closed = close(ingest, fed, &Over::Whole).await;
    of_upstream.told(&ingested, &runs);
    closed
}

/// Gives a client what is there already.
async fn give(mut outlet: Outlet, chunks: &[Bytes], left: &CancellationToken) -> Outcome {
    for chunk in chunks {
        if outlet.send(chunk, left).await.is_err() {
            return "client_left";
        }
    }
    outlet.end();
    "finished"
}
