//! One request to the upstream and its answer, in a task of its own.
//!
//! In: the request. Out: the answer's head as soon as there is one; then its bytes, to the client and into the log. Never: a
//! client that sees bytes of a run before the log has them, a run that ends because its client left (unless that is
//! configured), an answer that looks whole and is not.

use super::Responses;
use super::outlet::{Inlet, Outlet, Shut, outlet};
use crate::ingest::{Ingest, IngestError};
use crate::runs::Ingested;
use crate::telemetry::metrics::IngestMeter;
use crate::upstream::client::{self, Body, Lost, NoAnswer};
use crate::upstream::{Entered, Link, Links, Said, SayError};
use bytes::Bytes;
use framegate_translators::frame::StreamKind;
use framegate_translators::framing::Framing;
use framegate_translators::host::{Unsayable, Wish};
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use hyper::{HeaderMap, Request, Response, StatusCode};
use serde::Deserialize;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

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
    /// Makes the ingest of a run.
    pub make: MakeIngest,
    /// The largest document that becomes a run, in bytes.
    pub document_bytes: usize,
    /// The runs that can be spoken to.
    pub links: Arc<Links>,
    /// Whatever is open is cut now.
    pub stop: Signal,
    /// Where the answer goes.
    pub answer: oneshot::Sender<Result<Answer, Refusal>>,
}

/// Why an exchange ended, as a short word for metrics.
pub type Outcome = &'static str;

/// Code and message of a run that ends because its upstream, its client or somebody else ended it.
struct Cut {
    code: &'static str,
    message: String,
}

impl Cut {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    fn of(lost: &Lost) -> Self {
        Self::new(if matches!(lost, Lost::Silent(_)) { "upstream_silent" } else { "upstream_lost" }, lost.to_string())
    }
}

/// What ended the reading of a body.
enum Over {
    /// It was read.
    Whole,
    Cut(Cut),
    Stopping,
}

impl Over {
    fn outcome(&self) -> Outcome {
        match self {
            Self::Whole => "finished",
            Self::Cut(cut) => cut.code,
            Self::Stopping => "proxy_stopping",
        }
    }

    fn reason(&self) -> String {
        match self {
            Self::Whole => "it ended before it said anything".to_owned(),
            Self::Cut(cut) => cut.message.clone(),
            Self::Stopping => "the proxy is stopping".to_owned(),
        }
    }
}

impl Exchange {
    /// Sends the request, and reads its answer to the end.
    pub async fn run(self) -> Outcome {
        let Self { upstream, request, mode, make, document_bytes, links, mut stop, mut answer } = self;
        let cancels = upstream.settings().cancel_on_disconnect;
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
                Reading { cancels: true, ..reading }.pass(outlet).await.outcome()
            }
            Mode::Translated if is_document => {
                let ((outlet, own), mut reading) = (own(), reading);
                let mut document = Document::new(document_bytes);
                let over = reading.gather(&mut document).await;
                match document.response() {
                    Some(bytes) if matches!(over, Over::Whole) => {
                        let (ingest, meter) = make(framing);
                        let ingested = ingest.ingested();
                        if let Err(error) = keep(ingest, meter, &bytes).await {
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
                let over = reading.pass_and_gather(outlet, &mut document).await;
                if let (Over::Whole, Some(bytes)) = (&over, document.response()) {
                    let (ingest, meter) = make(framing);
                    let _ = keep(ingest, meter, &bytes).await;
                }
                over.outcome()
            }
            Mode::Translated => {
                let (ingest, meter) = make(framing);
                let ingested = ingest.ingested();
                let run = Answer::Run { ingested, headers, left: left.clone().drop_guard() };
                reading.take_in(ingest, meter, links, None, Some((answer, run))).await.outcome()
            }
            _ => {
                let (outlet, own) = own();
                let _ = answer.send(Ok(own));
                let (ingest, meter) = make(framing);
                reading.take_in(ingest, meter, links, Some(outlet), None).await.outcome()
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

/// A body that is being read.
struct Reading {
    body: Incoming,
    idle: Option<Duration>,
    stop: Signal,
    left: CancellationToken,
    /// Whether a client that leaves ends it.
    cancels: bool,
}

/// What comes next of it.
enum Next {
    Chunk(Bytes),
    /// A record waits for no more bytes.
    Due,
    Said(Said),
    Over(Over),
}

impl Reading {
    async fn next(&mut self, patience: Option<Duration>, listening: Option<&mut mpsc::Receiver<Said>>) -> Next {
        let due = async {
            match patience {
                Some(patience) => tokio::time::sleep(patience).await,
                None => std::future::pending().await,
            }
        };
        let said = async {
            match listening {
                Some(listening) => listening.recv().await,
                None => None,
            }
        };
        tokio::select! {
            biased;
            () = &mut self.stop => Next::Over(Over::Stopping),
            () = self.left.cancelled(), if self.cancels => {
                let message = "the client left, and the upstream's response was given up with it (cancel_on_disconnect)";
                Next::Over(Over::Cut(Cut::new("client_left", message)))
            }
            Some(said) = said => Next::Said(said),
            chunk = client::next(&mut self.body, self.idle) => match chunk {
                Ok(Some(chunk)) => Next::Chunk(chunk),
                Ok(None) => Next::Over(Over::Whole),
                Err(lost) => Next::Over(Over::Cut(Cut::of(&lost))),
            },
            () = due => Next::Due,
        }
    }

    /// The next bytes, of a body that nobody speaks to.
    async fn chunk(&mut self) -> Result<Bytes, Over> {
        loop {
            match self.next(None, None).await {
                Next::Chunk(chunk) => return Ok(chunk),
                Next::Over(over) => return Err(over),
                Next::Due | Next::Said(_) => {}
            }
        }
    }

    /// Gives the client all of it.
    async fn pass(mut self, outlet: Outlet) -> Over {
        let mut outlet = Some(outlet);
        loop {
            match self.chunk().await {
                Err(over) => return ended(over, outlet),
                Ok(chunk) => {
                    offer(&mut outlet, &chunk, &self.left).await;
                    if outlet.is_none() {
                        return Over::Cut(Cut::new("client_left", "the client left"));
                    }
                }
            }
        }
    }

    /// Keeps all of it.
    async fn gather(&mut self, document: &mut Document) -> Over {
        loop {
            match self.chunk().await {
                Err(over) => return over,
                Ok(chunk) => document.push(chunk),
            }
        }
    }

    /// Both.
    async fn pass_and_gather(mut self, outlet: Outlet, document: &mut Document) -> Over {
        let mut outlet = Some(outlet);
        loop {
            match self.chunk().await {
                Err(over) => return ended(over, outlet),
                Ok(chunk) => {
                    offer(&mut outlet, &chunk, &self.left).await;
                    document.push(chunk);
                }
            }
        }
    }

    /// Takes the bytes in as runs, and then gives them to the client. `begun` is answered as soon as there is a run.
    async fn take_in(
        mut self,
        mut ingest: Ingest,
        meter: IngestMeter,
        links: Arc<Links>,
        mut outlet: Option<Outlet>,
        mut begun: Option<(oneshot::Sender<Result<Answer, Refusal>>, Answer)>,
    ) -> Over {
        let ingested = ingest.ingested();
        let mut linked: Option<(Entered, mpsc::Receiver<Said>)> = None;
        let mut failed: Option<IngestError> = None;
        let mut interrupts = Vec::new();
        let over = loop {
            let listening = linked.as_mut().map(|(_, listening)| listening);
            let patience = if failed.is_none() { ingest.patience() } else { None };
            match self.next(patience, listening).await {
                Next::Over(over) => break over,
                Next::Due => {
                    failed = ingest.flush().await.err();
                }
                Next::Said(said) => match said.wish {
                    Wish::Interrupt => {
                        let cut = Cut::new("interrupted", format!("it was interrupted by {}", said.by));
                        interrupts.push(said.done);
                        break Over::Cut(cut);
                    }
                    _ => {
                        let no_word = Unsayable::NoWord("a response takes nothing but an interruption");
                        let _ = said.done.send(Err(SayError::Unsayable(no_word)));
                    }
                },
                Next::Chunk(chunk) => {
                    meter.bytes(chunk.len());
                    if failed.is_none() {
                        failed = ingest.feed(&chunk).await.err();
                        if let Some(error) = &failed {
                            tracing::error!(%error, "a response is not kept any more; its client gets it to its end");
                        }
                    }
                    offer(&mut outlet, &chunk, &self.left).await;
                }
            }
            let run = ingested.entries().into_iter().find(|entry| entry.stream.kind == StreamKind::Session);
            if let Some(run) = run {
                if linked.is_none() && failed.is_none() {
                    let (link, listening) = Link::new();
                    linked = Some((links.enter(run.stream.id, link), listening));
                }
                if let Some((answer, run)) = begun.take() {
                    let _ = answer.send(Ok(run));
                }
            }
            // Nobody is left to read for.
            if failed.is_some() && outlet.is_none() {
                break Over::Cut(Cut::new("log", "the log took nothing more"));
            }
        };
        if matches!(over, Over::Stopping)
            && let Some(outlet) = &outlet
        {
            outlet.word("framegate is stopping; the response goes on without this client");
        }
        drop(linked);
        meter.end(if failed.is_some() { "log" } else { over.outcome() });
        let kept = close(ingest, failed.map_or(Ok(()), Err), &over).await;
        for done in interrupts {
            let _ = done.send(Ok(()));
        }
        if let Some((answer, run)) = begun {
            let refusal = match kept {
                Err(error) => Some(Refusal::Nothing(error)),
                Ok(()) if ingested.entries().is_empty() => Some(Refusal::Nothing(over.reason())),
                Ok(()) => None,
            };
            let _ = answer.send(refusal.map_or(Ok(run), Err));
        }
        // Behind the log, so that whoever sees the end finds the run ended.
        ended(over, outlet)
    }
}

/// Gives the client a chunk, if it is still there.
async fn offer(outlet: &mut Option<Outlet>, chunk: &Bytes, left: &CancellationToken) {
    let Some(to) = outlet else { return };
    let Err(shut) = to.send(chunk, left).await else { return };
    if shut == Shut::Slow {
        tracing::warn!("an answer was closed: its client read too slowly (client_buffer_bytes, slow_client_ms)");
        to.word("framegate closed this answer: its client read too slowly (client_buffer_bytes, slow_client_ms)");
    }
    // Without its end, the other side is torn.
    *outlet = None;
}

/// Tells the client that it is over, well or badly.
fn ended(over: Over, outlet: Option<Outlet>) -> Over {
    if let (Over::Whole, Some(outlet)) = (&over, outlet) {
        outlet.end();
    }
    over
}

/// Keeps a whole document.
async fn keep(mut ingest: Ingest, meter: IngestMeter, bytes: &[u8]) -> Result<(), String> {
    meter.bytes(bytes.len());
    let fed = ingest.feed(bytes).await;
    meter.end(if fed.is_ok() { "finished" } else { "log" });
    close(ingest, fed, &Over::Whole).await
}

/// Closes the runs of an ingest; one that failed has closed them already.
async fn close(mut ingest: Ingest, fed: Result<(), IngestError>, over: &Over) -> Result<(), String> {
    if let Err(error) = fed {
        return Err(error.to_string());
    }
    match over {
        Over::Whole => {}
        Over::Cut(cut) => ingest.cut_by(cut.code, &cut.message),
        Over::Stopping => ingest.cut_by_stop(),
    }
    match ingest.finish().await {
        Ok(_) => Ok(()),
        Err(error) => {
            tracing::error!(%error, "the end of a response could not be kept");
            Err(error.to_string())
        }
    }
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

/// A JSON answer, as far as it is kept.
struct Document {
    chunks: Vec<Bytes>,
    bytes: usize,
    limit: usize,
}

impl Document {
    fn new(limit: usize) -> Self {
        Self { chunks: Vec::new(), bytes: 0, limit }
    }

    /// Takes more of it; nothing is kept of one that is too large.
    fn push(&mut self, chunk: Bytes) {
        self.bytes = self.bytes.saturating_add(chunk.len());
        if self.bytes <= self.limit {
            self.chunks.push(chunk);
        } else {
            self.chunks.clear();
        }
    }

    fn is_too_large(&self) -> bool {
        self.bytes > self.limit
    }

    /// The response that it is, where that is over: one that goes on in the background has no run yet.
    fn response(&self) -> Option<Vec<u8>> {
        #[derive(Deserialize)]
        struct Said<'a> {
            #[serde(borrow)]
            object: Option<std::borrow::Cow<'a, str>>,
            #[serde(borrow)]
            status: Option<std::borrow::Cow<'a, str>>,
        }
        let bytes = self.chunks.concat();
        let said: Said<'_> = serde_json::from_slice(&bytes).ok()?;
        let is_under_way = matches!(said.status.as_deref(), Some("queued" | "in_progress"));
        let is_response = said.object.as_deref() == Some("response");
        (is_response && !is_under_way).then_some(bytes)
    }
}
