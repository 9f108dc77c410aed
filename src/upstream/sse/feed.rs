//! Follows one feed: connects, reads, speaks, and connects again.
//!
//! In: the feed's bytes, what somebody wants said, the time, the order to stop. Out: frames in the log; requests to the server.
//! Never: two connections at a time, a pause that grows without a bound, a request that holds up the reading.

use super::cursor::Cursor;
use super::ears::Ears;
use super::{Seen, Settings};
use crate::ingest::{Ingest, IngestError};
use crate::stopping::Phase;
use crate::telemetry::metrics::IngestMeter;
use crate::upstream::client::{self, Client, full};
use crate::upstream::responses::Credentials;
use crate::upstream::{Conversation, Host, Said, SayError, Setup};
use bytes::Bytes;
use framegate_translators::framing::Framing;
use framegate_translators::host::{Sending, Unsayable};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, StatusCode};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// How much of an answer to a request is read.
const ANSWER_BYTES: usize = 1 << 20;

/// The code of a run whose end was lost.
const FEED_LOST: &str = "feed_lost";

/// A header of event streams that has no name in the library.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

type Connecting = Pin<Box<dyn Future<Output = Result<Incoming, String>> + Send>>;
type Posting = Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send>>;

/// Where the connection stands.
enum Line {
    Connecting(Connecting),
    Open(Box<Incoming>),
    /// Nothing until then.
    Pausing(Instant),
}

enum Event {
    Connected(Result<Incoming, String>),
    Chunk(Result<Option<Bytes>, client::Lost>),
    Said(Said),
    Posted(Result<Vec<u8>, String>),
    Phase,
    Due,
}

/// Follows the feed until the proxy stops. What keeps the log from taking it ends its runs, and it is begun anew.
pub(super) async fn follow(settings: &Arc<Settings>, client: &Client, host: &Host, seen: &Arc<watch::Sender<Seen>>) {
    let mut phase = host.stopping.phase();
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
        feed.ears.connected(false);
        if outcome.is_ok() {
            feed.ingest.cut_by_stop();
            if let Err(error) = feed.ingest.finish().await {
                tracing::error!(%error, "the runs of a feed could not be closed");
            }
        }
        feed.ears.conversation.over(&host.runs);
        drop(place);
        if let Err(error) = outcome {
            tracing::error!(%error, "a feed is not kept; it is tried again");
            tokio::select! {
                () = tokio::time::sleep(settings.pause.1) => {}
                _ = phase.wait_for(|phase| *phase >= Phase::Draining) => {}
            }
        }
        if host.stopping.is_draining() {
            return;
        }
    }
}

struct Feed {
    settings: Arc<Settings>,
    client: Client,
    ingest: Ingest,
    ears: Ears,
    said: mpsc::Receiver<Said>,
    phase: watch::Receiver<Phase>,
    cursor: Cursor,
    line: Line,
    posting: Option<Posting>,
    /// Attempts in a row without a byte.
    failures: u32,
    /// The feed was connected before, so that a connection is another one.
    was_open: bool,
    began: Instant,
}

impl Feed {
    fn new(settings: Arc<Settings>, client: Client, host: &Host, seen: Arc<watch::Sender<Seen>>) -> Self {
        let (conversation, said) = Conversation::new(Setup {
            dialogue: settings.runner.dialogue.map(|make| make()),
            upstream: settings.name.clone(),
            policy: host.policy.clone(),
            links: host.links.clone(),
            meter: host.runs.metrics().upstream(&settings.name),
            redaction: host.redaction.clone(),
        });
        let ingest = host.ingest(settings.runner, Some(Framing::Sse), Arc::default()).unfollowed();
        Self {
            line: Line::Pausing(Instant::now()),
            settings,
            client,
            ingest,
            ears: Ears::new(conversation, seen),
            said,
            phase: host.stopping.phase(),
            cursor: Cursor::default(),
            posting: None,
            failures: 0,
            was_open: false,
            began: Instant::now(),
        }
    }

    /// Follows until the proxy stops.
    async fn run(&mut self, meter: &IngestMeter) -> Result<(), IngestError> {
        loop {
            self.speak().await?;
            let phase = *self.phase.borrow_and_update();
            // What goes on may come to its end.
            let may_stop = phase == Phase::Cutting || (phase == Phase::Draining && !self.ears.has_open_runs());
            if may_stop {
                return Ok(());
            }
            let now = Instant::now();
            for run in self.ears.given_up(now, self.settings.lost_after) {
                let message = "its feed was lost, and nothing was heard of it since";
                tracing::warn!(%run, "a run ends: {message}");
                self.ingest.give_up_to(run, FEED_LOST, message, &mut self.ears).await?;
            }
            if let Line::Pausing(until) = self.line
                && until <= now
            {
                self.line = Line::Connecting(self.connect());
            }
            let event = self.next().await;
            match event {
                Event::Chunk(Ok(Some(chunk))) => {
                    meter.bytes(chunk.len());
                    self.failures = 0;
                    self.cursor.feed(&chunk);
                    self.ingest.feed_to(&chunk, &mut self.ears).await?;
                }
                Event::Chunk(Ok(None)) => self.lost("the server ended it").await?,
                Event::Chunk(Err(lost)) => self.lost(&lost.to_string()).await?,
                Event::Connected(Ok(body)) => {
                    tracing::info!(again = self.was_open, "a feed is connected");
                    self.was_open = true;
                    self.ears.connected(true);
                    self.line = Line::Open(Box::new(body));
                }
                Event::Connected(Err(reason)) => self.pause(&reason),
                Event::Said(said) => {
                    if let Some(said) = self.ears.conversation.said(said) {
                        let no_word = Unsayable::NoWord("this feed's server takes no interruption");
                        let _ = said.done.send(Err(SayError::Unsayable(no_word)));
                    }
                }
                Event::Posted(outcome) => {
                    self.posting = None;
                    self.ears.conversation.sent(outcome);
                }
                Event::Phase | Event::Due => {}
            }
            if self.ingest.patience() == Some(Duration::ZERO) {
                self.ingest.flush_to(&mut self.ears).await?;
            }
        }
    }

    /// What happens next.
    async fn next(&mut self) -> Event {
        let due = self.due();
        let idle = self.settings.idle_timeout;
        let Self { line, posting, said, phase, .. } = self;
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
            Some(said) = said.recv() => Event::Said(said),
            event = line => event,
            () = tokio::time::sleep_until(due) => Event::Due,
        }
    }

    /// When something is due whatever happens; an hour is as good as never.
    fn due(&self) -> Instant {
        let now = Instant::now();
        let pause = match self.line {
            Line::Pausing(until) => Some(until),
            _ => None,
        };
        let patience = self.ingest.patience().map(|patience| now + patience);
        let question = self.ears.conversation.deadline().map(|ms| self.began + Duration::from_millis(ms));
        let given_up = self.ears.deadline(self.settings.lost_after);
        let first = [pause, patience, question, given_up].into_iter().flatten().min();
        first.unwrap_or(now + Duration::from_secs(3600))
    }

    /// Says what is to be said, and what was decided.
    async fn speak(&mut self) -> Result<(), IngestError> {
        let now_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.ears.conversation.step(now_ms);
        while self.posting.is_none() {
            let Some(sending) = self.ears.conversation.take_sending() else { break };
            match sending {
                Sending::Post { path, body } => {
                    let (settings, client) = (self.settings.clone(), self.client.clone());
                    self.posting = Some(Box::pin(async move { post(&settings, &client, &path, body).await }));
                }
                Sending::Input(_) | Sending::EndOfInput => {
                    self.ears.conversation.sent(Err("a feed's server has no standard input".to_owned()));
                }
            }
        }
        for (stream, answer) in self.ears.conversation.take_resolutions() {
            self.ingest.resolve(stream, answer).await?;
        }
        Ok(())
    }

    /// The connection is lost. With a cursor the server goes on where it was; without one, what it says meanwhile is lost.
    async fn lost(&mut self, reason: &str) -> Result<(), IngestError> {
        self.ears.lost(Instant::now());
        self.cursor.lost();
        let reason = match self.cursor.last_event_id() {
            Some(_) => format!("the feed was lost ({reason}); it is asked to go on behind its last event"),
            None => format!("the feed was lost ({reason}); what it said until it was back is not known"),
        };
        self.ingest.gap_to(&reason, &mut self.ears).await?;
        self.pause(&reason);
        Ok(())
    }

    /// Waits before the next attempt, longer each time.
    fn pause(&mut self, reason: &str) {
        let (least, most) = self.settings.pause;
        let base = self.cursor.retry().unwrap_or(least).clamp(least, most);
        let pause = base.saturating_mul(1u32.checked_shl(self.failures).unwrap_or(u32::MAX)).min(most);
        self.failures = (self.failures + 1).min(31);
        tracing::warn!(
            reason,
            pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
            "a feed is not connected"
        );
        self.line = Line::Pausing(Instant::now() + pause);
    }

    fn connect(&self) -> Connecting {
        let mut request = Request::get(self.settings.url.clone())
            .header(ACCEPT, "text/event-stream")
            .header(CACHE_CONTROL, "no-store");
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
                    Err("the server compresses the feed although it was asked not to".to_owned())
                }
                StatusCode::OK if media.is_some_and(|media| media.starts_with(b"text/event-stream")) => {
                    Ok(answer.into_body())
                }
                StatusCode::OK => Err("the server answers with something else than an event stream".to_owned()),
                status => Err(format!("the server answers {status}")),
            }
        })
    }
}

impl Settings {
    fn authorized(&self, mut request: Request<client::Body>) -> Request<client::Body> {
        if let Credentials::Own { header, value } = &self.credentials {
            request.headers_mut().insert(header.clone(), value.clone());
        }
        request
    }
}

/// Sends a request to the server whose feed it is; gives the body of its answer.
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
        Ok(Err(error)) => return Err(format!("the server's answer is not whole: {error}")),
        Err(_) => return Err("the server's answer takes too long".to_owned()),
    };
    if status.is_success() { Ok(body) } else { Err(format!("the server answered {status}")) }
}
