//! Follows one feed: connects, reads, sends requests, and reconnects.
//!
//! Input: the feed's bytes, messages to its runs, the time, the request to stop. Output: frames in the log; requests to the
//! server. Never: two connections at a time; a pause that grows without a bound; a request that delays reading.

use super::listener::FeedListener;
use super::{Seen, Settings};
use crate::client::{self, Client, Cursor, full};
use crate::ingest::{FEED_LOST, Ingest, IngestError};
use crate::shutdown::Phase;
use crate::telemetry::metrics::{IngestMeter, Metrics};
use crate::upstream::responses::Credentials;
use crate::upstream::{Conversation, Envelope, Host, MessageError, Setup};
use bytes::Bytes;
use framegate_translators::framing::Framing;
use framegate_translators::host::{HostMessage, Outgoing, SendError};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, StatusCode};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// Size limit for the response to a request, in bytes.
const ANSWER_BYTES: usize = 1 << 20;

/// A header of event streams that the library does not define.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

type Connecting = Pin<Box<dyn Future<Output = Result<Incoming, String>> + Send>>;
type Posting = Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send>>;

/// The state of the connection.
enum Line {
    Connecting(Connecting),
    Open(Box<Incoming>),
    /// No connection until this time.
    Pausing(Instant),
}

enum Event {
    Connected(Result<Incoming, String>),
    Chunk(Result<Option<Bytes>, client::Lost>),
    Message(Envelope),
    Posted(Result<Vec<u8>, String>),
    Copied,
    Phase,
    Due,
}

/// Follows the feed until the proxy stops. If the log does not accept the feed, its runs end, and the feed is started again.
pub(super) async fn follow(settings: &Arc<Settings>, client: &Client, host: &Host, seen: &Arc<watch::Sender<Seen>>) {
    let mut phase = host.shutdown.phase();
    loop {
        let Ok(place) = host.ingests.clone().acquire_owned().await else { return };
        let meter = host.runs.metrics().ingest(settings.runner.name);
        let mut feed = Feed::new(settings.clone(), client.clone(), host, seen.clone());
        let outcome = feed.run(&meter).await;
        let code = match &outcome {
            Ok(()) => "proxy_stopping",
            Err(_) => "log",
        };
        meter.end(code);
        feed.told_lost(match &outcome {
            Ok(()) => "the proxy is stopping",
            Err(_) => "the feed could not be stored",
        });
        if outcome.is_ok() {
            feed.ingest.cut_by_stop();
            if let Err(error) = feed.ingest.finish().await {
                tracing::error!(%error, "the runs of a feed could not be closed");
            }
        }
        feed.listener.conversation.over(&host.runs);
        drop(place);
        if let Err(error) = outcome {
            tracing::error!(%error, "a feed could not be stored; framegate tries again");
            tokio::select! {
                () = tokio::time::sleep(settings.pause.1) => {}
                _ = phase.wait_for(|phase| *phase >= Phase::Draining) => {}
            }
        }
        if host.shutdown.is_draining() {
            return;
        }
    }
}

struct Feed {
    settings: Arc<Settings>,
    host: Host,
    client: Client,
    metrics: Arc<Metrics>,
    ingest: Ingest,
    listener: FeedListener,
    inbox: mpsc::Receiver<Envelope>,
    phase: watch::Receiver<Phase>,
    cursor: Cursor,
    line: Line,
    posting: Option<Posting>,
    /// Consecutive attempts that yielded no bytes.
    failures: u32,
    /// Whether the feed was connected before, so that the next connection is a reconnect.
    was_open: bool,
    began: Instant,
}

impl Feed {
    fn new(settings: Arc<Settings>, client: Client, host: &Host, seen: Arc<watch::Sender<Seen>>) -> Self {
        let (conversation, inbox) = Conversation::new(Setup {
            dialogue: settings.runner.dialogue.map(|make| make()),
            upstream: settings.name.clone(),
            policy: host.policy.clone(),
            handles: host.handles.clone(),
            meter: host.runs.metrics().upstream(&settings.name),
            redaction: host.factory.settings().redaction.clone(),
        });
        let ingest = Self::new_ingest(&settings, host);
        let has_frames = settings.contract.is_some();
        Self {
            host: host.clone(),
            line: Line::Pausing(Instant::now()),
            settings,
            client,
            metrics: host.runs.metrics().clone(),
            ingest,
            listener: FeedListener::new(conversation, seen, has_frames),
            inbox,
            phase: host.shutdown.phase(),
            cursor: Cursor::default(),
            posting: None,
            failures: 0,
            was_open: false,
            began: Instant::now(),
        }
    }

    fn new_ingest(settings: &Settings, host: &Host) -> Ingest {
        let ingest = host.factory.ingest(Some(settings.runner), Some(Framing::Sse), Arc::default());
        let ingest = ingest.unfollowed().of_upstream(&settings.name);
        if settings.contract.is_some() { ingest.of_another_proxy() } else { ingest }
    }

    /// Follows the feed until the proxy stops.
    async fn run(&mut self, meter: &IngestMeter) -> Result<(), IngestError> {
        loop {
            self.speak().await?;
            let phase = *self.phase.borrow_and_update();
            // While the proxy drains, open runs may still finish.
            let may_stop = phase == Phase::Cutting || (phase == Phase::Draining && !self.listener.has_open_runs());
            if may_stop {
                return Ok(());
            }
            let now = Instant::now();
            self.give_up(now).await?;
            if let Line::Pausing(until) = self.line
                && until <= now
            {
                self.line = Line::Connecting(self.connect());
            }
            self.listener.copies.begin(&self.settings, &self.client, &self.host.runs);
            let event = self.next().await;
            match event {
                Event::Chunk(Ok(Some(chunk))) => {
                    meter.bytes(chunk.len());
                    self.failures = 0;
                    self.cursor.feed(&chunk);
                    self.ingest.feed_to(&chunk, &mut self.listener).await?;
                }
                Event::Chunk(Ok(None)) => self.lost("the server ended it").await?,
                Event::Chunk(Err(lost)) => self.lost(&lost.to_string()).await?,
                Event::Connected(Ok(body)) => {
                    tracing::info!(upstream = self.settings.name, again = self.was_open, "a feed is connected");
                    self.was_open = true;
                    self.listener.connected(self.continues());
                    self.metrics.upstream_connected(&self.settings.name, true);
                    self.line = Line::Open(Box::new(body));
                }
                Event::Connected(Err(reason)) => self.pause(&reason),
                Event::Message(envelope) if self.settings.contract.is_some() && !is_answer(&envelope.message) => {
                    let no_word = SendError::Unsupported(
                        "this proxy takes no prompts and no interruptions for the run; the proxy that has its runner does",
                    );
                    let _ = envelope.done.send(Err(MessageError::SendError(no_word)));
                }
                Event::Message(envelope) => {
                    if let Some(envelope) = self.listener.conversation.deliver(envelope) {
                        let no_word = SendError::Unsupported("this feed's server cannot be interrupted");
                        let _ = envelope.done.send(Err(MessageError::SendError(no_word)));
                    }
                }
                Event::Posted(outcome) => {
                    self.posting = None;
                    self.listener.conversation.sent(outcome);
                }
                Event::Copied | Event::Phase | Event::Due => {}
            }
            if self.ingest.patience() == Some(Duration::ZERO) {
                self.ingest.flush_to(&mut self.listener).await?;
            }
        }
    }

    /// Whether the next connection continues after the last event, so that a loss leaves no gap.
    fn continues(&self) -> bool {
        self.settings.contract.is_some() && self.cursor.last_event_id().is_some()
    }

    /// Ends the runs that have been silent for too long since the feed was lost.
    async fn give_up(&mut self, now: Instant) -> Result<(), IngestError> {
        let runs = self.listener.given_up(now, self.settings.lost_after);
        for run in &runs {
            let message = "its feed was lost, and nothing was heard of it since";
            tracing::warn!(%run, "a run ends: {message}");
            self.ingest.give_up_to(*run, FEED_LOST, message, &mut self.listener).await?;
        }
        // Another framegate still has the whole runs. Read from the beginning, they replace what breaks off.
        let is_reread = self.settings.contract.is_some() && !matches!(self.line, Line::Open(_));
        if is_reread && !runs.is_empty() && !self.listener.has_open_runs() {
            self.cursor = Cursor::default();
            let next = Self::new_ingest(&self.settings, &self.host);
            std::mem::replace(&mut self.ingest, next).finish().await?;
            // It may be connecting with the cursor.
            if matches!(self.line, Line::Connecting(_)) {
                self.line = Line::Connecting(self.connect());
            }
        }
        Ok(())
    }

    /// Waits for the next event.
    async fn next(&mut self) -> Event {
        let due = self.due();
        let idle = self.settings.idle_timeout;
        let Self { line, posting, inbox, phase, listener, .. } = self;
        let line = async {
            match line {
                Line::Connecting(connecting) => Event::Connected(connecting.await),
                Line::Open(body) => Event::Chunk(client::next(body, idle).await),
                Line::Pausing(_) => std::future::pending().await,
            }
        };
        let posted = async {
            match posting {
                Some(posting) => posting.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Ok(()) = phase.changed() => Event::Phase,
            posted = posted => Event::Posted(posted),
            Some(envelope) = inbox.recv() => Event::Message(envelope),
            event = line => event,
            () = listener.copies.next() => Event::Copied,
            () = tokio::time::sleep_until(due) => Event::Due,
        }
    }

    /// When the next timer fires, at most an hour from now.
    fn due(&self) -> Instant {
        let now = Instant::now();
        let pause = match self.line {
            Line::Pausing(until) => Some(until),
            _ => None,
        };
        let patience = self.ingest.patience().map(|patience| now + patience);
        let question = self.listener.conversation.deadline().map(|ms| self.began + Duration::from_millis(ms));
        let given_up = self.listener.deadline(self.settings.lost_after);
        let first = [pause, patience, question, given_up].into_iter().flatten().min();
        first.unwrap_or(now + Duration::from_secs(3600))
    }

    /// Sends the queued messages, and records the decisions that were passed on.
    async fn speak(&mut self) -> Result<(), IngestError> {
        let now_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.listener.conversation.step(now_ms);
        while self.posting.is_none() {
            let Some(sending) = self.listener.conversation.take_sending() else { break };
            match sending {
                Outgoing::Post { path, body } => {
                    let (settings, client) = (self.settings.clone(), self.client.clone());
                    self.posting = Some(Box::pin(async move { post(&settings, &client, &path, body).await }));
                }
                Outgoing::Input(_) | Outgoing::EndOfInput => {
                    self.listener.conversation.sent(Err("a feed's server has no standard input".to_owned()));
                }
            }
        }
        for (stream, answer) in self.listener.conversation.take_resolutions() {
            self.ingest.resolve(stream, answer).await?;
        }
        Ok(())
    }

    /// Handles the loss of the connection. With a cursor, the server continues from it; otherwise the events until the
    /// reconnect are lost.
    async fn lost(&mut self, reason: &str) -> Result<(), IngestError> {
        self.cursor.lost();
        let reason = match self.cursor.last_event_id() {
            Some(_) => format!("the feed was lost ({reason}); the server is asked to continue after its last event"),
            None => format!("the feed was lost ({reason}); what it sent until it was back is not known"),
        };
        if self.continues() {
            self.ingest.resume();
        } else {
            self.ingest.gap_to(&reason, &mut self.listener).await?;
        }
        // Only after the last records of the lost connection, which must not count as heard from the next one.
        self.listener.lost(Instant::now());
        self.pause(&reason);
        Ok(())
    }

    /// Schedules the next attempt, after a longer pause each time.
    fn pause(&mut self, reason: &str) {
        let (least, most) = self.settings.pause;
        let base = self.cursor.retry().unwrap_or(least).clamp(least, most);
        let pause = base.saturating_mul(1u32.checked_shl(self.failures).unwrap_or(u32::MAX)).min(most);
        self.failures = (self.failures + 1).min(31);
        self.told_lost(reason);
        tracing::warn!(
            upstream = self.settings.name,
            reason,
            pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
            "a feed is not connected"
        );
        self.line = Line::Pausing(Instant::now() + pause);
    }

    /// Publishes that the feed is disconnected.
    fn told_lost(&self, reason: &str) {
        let was_connected = self.listener.disconnected(reason);
        self.metrics.upstream_connected(&self.settings.name, false);
        if was_connected {
            self.metrics.upstream_connection_lost(&self.settings.name);
        }
    }

    fn connect(&self) -> Connecting {
        let accept = match self.settings.contract {
            Some(contract) => format!("text/event-stream; contract={}", contract.name),
            None => "text/event-stream".to_owned(),
        };
        let mut request =
            Request::get(self.settings.url.clone()).header(ACCEPT, accept).header(CACHE_CONTROL, "no-store");
        if let Some(id) = self.cursor.last_event_id() {
            request = request.header(LAST_EVENT_ID, id.clone());
        }
        let (client, timeout) = (self.client.clone(), self.settings.answer_timeout);
        let request = request.body(full(Bytes::new())).map(|request| self.settings.authorized(request));
        Box::pin(async move {
            let request = request.map_err(|error| error.to_string())?;
            let answer = client.send(request, timeout).await.map_err(|error| error.to_string())?;
            let media = answer.headers().get(CONTENT_TYPE).map(|media| media.as_bytes().to_ascii_lowercase());
            let coding = answer.headers().get(CONTENT_ENCODING);
            match answer.status() {
                StatusCode::OK if coding.is_some_and(|coding| coding != "identity") => {
                    Err("the server compresses the feed although the request did not allow it".to_owned())
                }
                StatusCode::OK if media.is_some_and(|media| media.starts_with(b"text/event-stream")) => {
                    Ok(answer.into_body())
                }
                StatusCode::OK => Err("the server's answer is not an event stream".to_owned()),
                status => Err(format!("the server answers {status}")),
            }
        })
    }
}

impl Settings {
    pub(super) fn authorized(&self, mut request: Request<client::Body>) -> Request<client::Body> {
        if let Credentials::Own { header, value } = &self.credentials {
            request.headers_mut().insert(header.clone(), value.clone());
        }
        request
    }
}

/// Sends a request to the feed's server. Returns the body of the response.
pub(super) async fn post(settings: &Settings, client: &Client, path: &str, body: Vec<u8>) -> Result<Vec<u8>, String> {
    let url = &settings.url;
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let uri = format!("{}://{authority}{path}", url.scheme_str().unwrap_or("http"));
    let mut request = Request::post(uri).header(ACCEPT, "application/json");
    if !body.is_empty() {
        request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    let request = request.body(full(body)).map_err(|error| error.to_string())?;
    let answer = client
        .send(settings.authorized(request), settings.answer_timeout)
        .await
        .map_err(|error| format!("the server: {error}"))?;
    let status = answer.status();
    let read = tokio::time::timeout(settings.answer_timeout, Limited::new(answer.into_body(), ANSWER_BYTES).collect());
    let body = match read.await {
        Ok(Ok(body)) => body.to_bytes().to_vec(),
        Ok(Err(error)) => return Err(format!("the server's answer is incomplete: {error}")),
        Err(_) => return Err("the server's answer took too long".to_owned()),
    };
    if status.is_success() { Ok(body) } else { Err(format!("the server answered {status}")) }
}

fn is_answer(message: &HostMessage) -> bool {
    matches!(message, HostMessage::Answer { .. })
}
