//! Response bodies that are streams, produced as fast as the client reads.
//!
//! A stream of server-sent events begins with `retry:`, is never silent for longer than the heartbeat interval, and says so
//! in a comment if it ends because the proxy stops. A stream of `raw` consists of the runner's own bytes; only heartbeats are
//! added.

use super::lease::Lease;
use super::negotiate::{Form, Negotiated};
use super::reply::{Body, Torn};
use super::segment::Segment;
use super::shared::Shared;
use crate::clock::Moment;
use crate::log::LogError;
use crate::runs::{FeedFollower, Follower, IngestFollower, Lag, Wire};
use crate::telemetry::metrics::ClientMeter;
use bytes::Bytes;
use framegate_translators::contracts::SseStyle;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// How long the connection may write pending bytes before a reset.
pub(super) const BEFORE_RESET: Duration = Duration::from_millis(50);

/// Produces events until its input ends.
pub(super) enum Source {
    /// One stream.
    Run(Box<Follower>),
    /// A run, up to the point where it waits for a person.
    Segment(Box<Segment>),
    /// All streams of an ingest.
    Ingest(Box<IngestFollower>),
    /// Many runs.
    Feed(Box<FeedFollower>, Wire),
}

/// Bytes to send, with the number of events in them.
struct Piece {
    chunks: Vec<Bytes>,
    events: u64,
}

impl Source {
    async fn next(&mut self) -> Result<Option<Piece>, LogError> {
        let batch = match self {
            Self::Run(follower) => follower.next().await?,
            Self::Segment(segment) => segment.next().await?,
            Self::Ingest(follower) => follower.next().await?,
            Self::Feed(follower, wire) => {
                let piece = follower.next(*wire).await?;
                return Ok(piece.map(|(bytes, events)| Piece { chunks: vec![bytes], events }));
            }
        };
        Ok(batch.map(|batch| Piece { chunks: batch.chunks, events: batch.events }))
    }

    fn lag(&self) -> &Lag {
        match self {
            Self::Run(follower) => follower.lag(),
            Self::Segment(segment) => segment.follower.lag(),
            Self::Ingest(follower) => follower.lag(),
            Self::Feed(follower, _) => follower.lag(),
        }
    }

    fn arrived(&self) -> Option<Moment> {
        match self {
            Self::Run(follower) => follower.arrived(),
            Self::Segment(segment) => segment.follower.arrived(),
            Self::Ingest(follower) => follower.arrived(),
            Self::Feed(follower, _) => follower.arrived(),
        }
    }

    /// Whether it ended although more events could have followed.
    fn was_cut(&self) -> bool {
        match self {
            Self::Run(follower) => follower.was_cut(),
            Self::Segment(segment) => segment.follower.was_cut(),
            Self::Ingest(follower) => follower.was_cut(),
            Self::Feed(follower, _) => follower.was_cut(),
        }
    }
}

struct Pull {
    /// Makes what is sent last if the source ended because a person must answer.
    waiting: Option<Waiting>,
    /// Is called once everything was sent.
    on_end: Option<Box<dyn FnOnce() + Send>>,
    /// Breaks the body off if the source was cut, so that the client does not take its part for the whole.
    breaks_off: bool,
    source: Source,
    lease: Lease,
    /// Sends comments during silence; `None` on wires without comments.
    heartbeat: Option<Heartbeat>,
    /// Sent last if the source was cut.
    goodbye: Option<Bytes>,
    /// Sent last if it was not.
    last: Bytes,
    /// Chooses what of the source's bytes is sent, and how; `None` for all.
    select: Option<Select>,
    ready: VecDeque<Bytes>,
    meter: ClientMeter,
    is_over: bool,
    /// Whether an event was sent. Until then, a comment must not end the block that the stream's first line opened.
    has_begun: bool,
}

/// Why a stream ends before its source does.
enum Gone {
    /// The reader may no longer read it.
    Revoked,
    Log(LogError),
}

/// Detects that a stream was silent for too long. The timer is reset only when it fires, not for each event: resetting a
/// runtime timer takes a lock, which all streams would contend for on every event.
struct Heartbeat {
    every: Duration,
    last_sent: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Heartbeat {
    fn new(every: Duration) -> Self {
        Self { every, last_sent: Instant::now(), timer: Box::pin(tokio::time::sleep(every)) }
    }

    /// Waits until nothing was sent for one interval.
    async fn due(&mut self) {
        loop {
            self.timer.as_mut().await;
            let due = self.last_sent + self.every;
            if due <= Instant::now() {
                return;
            }
            self.timer.as_mut().reset(due);
        }
    }
}

/// The end of the streams of several APIs.
pub(super) const DONE: Bytes = Bytes::from_static(b"data: [DONE]\n\n");

/// Makes the end of a response that waits for a person, before the event of this number. `None` if it cannot be made.
pub(super) type Waiting = Box<dyn FnOnce(u64) -> Pin<Box<dyn Future<Output = Option<Bytes>> + Send>> + Send>;

/// Chooses what of encoded events is sent, and how.
pub(super) type Select = Box<dyn FnMut(Bytes) -> Bytes + Send>;

/// How the stream of another API differs from framegate's own.
#[derive(Default)]
pub(super) struct ApiStream {
    /// Sent before the first event.
    pub(super) first: Bytes,
    /// Sent after the last event.
    pub(super) last: Bytes,
    /// Sent instead of `last` if a person must answer a question.
    pub(super) waiting: Option<Waiting>,
    /// Chooses what of the encoded events is sent, and how; `None` for all.
    pub(super) select: Option<Select>,
    /// Is called once the client has taken the last event.
    pub(super) on_end: Option<Box<dyn FnOnce() + Send>>,
}

/// Streams events as another API does: without `retry:`, because its clients do not reconnect by themselves.
pub(super) fn api_events(
    source: Source,
    negotiated: &Negotiated,
    api: ApiStream,
    shared: &Shared,
    lease: Lease,
) -> Body {
    let pull = pull(source, negotiated, shared, lease);
    let ready = Some(api.first).filter(|first| !first.is_empty()).into_iter().collect();
    let ApiStream { last, waiting, select, on_end, .. } = api;
    body(Pull { ready, last, waiting, select, on_end, breaks_off: true, ..pull })
}

/// Streams events to a client while the lease is valid.
pub(super) fn events(source: Source, negotiated: &Negotiated, shared: &Shared, lease: Lease) -> Body {
    events_behind((Bytes::new(), 0), source, negotiated, shared, lease)
}

/// Streams events after others that are already encoded: their bytes, and their number.
pub(super) fn events_behind(
    (first, count): (Bytes, u64),
    source: Source,
    negotiated: &Negotiated,
    shared: &Shared,
    lease: Lease,
) -> Body {
    let retry_ms = shared.settings.sse_retry.as_millis();
    let is_ours = negotiated.form == Form::Sse && negotiated.contract.sse != SseStyle::Raw;
    let goodbye = Bytes::from_static(b": the proxy is stopping; reconnect to continue after the last event\n\n");
    let pull = pull(source, negotiated, shared, lease);
    // A line of the first event's block, because many clients treat a block without data as an event.
    let mut ready: VecDeque<Bytes> = is_ours.then(|| Bytes::from(format!("retry: {retry_ms}\n"))).into_iter().collect();
    let has_first = !first.is_empty();
    if has_first {
        pull.meter.sent(first.len(), count, None);
        ready.push_back(first);
    }
    body(Pull { goodbye: is_ours.then_some(goodbye), ready, has_begun: !is_ours || has_first, ..pull })
}

/// Sends the source's events, and comments during silence.
fn pull(source: Source, negotiated: &Negotiated, shared: &Shared, lease: Lease) -> Pull {
    let is_sse = negotiated.form == Form::Sse;
    let heartbeat = is_sse.then(|| Heartbeat::new(shared.settings.heartbeat));
    let lag = source.lag().clone();
    let lag = move || lag.frames();
    let meter = shared.runs.metrics().client(negotiated.contract.name, negotiated.form.wire_name(), lag);
    Pull {
        source,
        lease,
        heartbeat,
        goodbye: None,
        last: Bytes::new(),
        waiting: None,
        on_end: None,
        breaks_off: false,
        select: None,
        ready: VecDeque::new(),
        has_begun: true,
        meter,
        is_over: false,
    }
}

fn body(pull: Pull) -> Body {
    StreamBody::new(stream::unfold(Some(pull), async |pull| {
        let mut pull = pull?;
        match pull.next().await {
            Ok(chunk) => Some((Ok(Frame::data(chunk?)), Some(pull))),
            // Break off the connection (HTTP/2: the stream), so that the reader does not take this for the end.
            Err(torn) => {
                // The connection has time to write the head and the body so far: an HTTP/2 reset discards what is still queued.
                tokio::time::sleep(BEFORE_RESET).await;
                Some((Err(torn), None))
            }
        }
    }))
    .boxed_unsync()
}

/// The pause before a response reads again from a log whose servers do not answer.
const LOG_AGAIN: Duration = Duration::from_secs(1);

impl Pull {
    /// The number of the next event, if the source ended because a person must answer.
    fn waits_at(&self) -> Option<u64> {
        match &self.source {
            Source::Segment(segment) if segment.is_waiting() => Some(segment.position()),
            _ => None,
        }
    }

    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// The body breaks off before it is complete.
    async fn next(&mut self) -> Result<Option<Bytes>, Torn> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Ok(Some(chunk));
            }
            if self.is_over {
                if let Some(on_end) = self.on_end.take() {
                    on_end();
                }
                return Ok(None);
            }
            let (source, lease) = (&mut self.source, &mut self.lease);
            let next = async {
                tokio::select! {
                    biased;
                    () = lease.revoked() => {
                        tracing::info!(client = lease.caller.name, "a stream was closed: its token has changed");
                        Err(Gone::Revoked)
                    }
                    next = source.next() => next.map_err(Gone::Log),
                }
            };
            let next = match &mut self.heartbeat {
                None => next.await,
                Some(heartbeat) => {
                    let next = tokio::select! {
                        biased;
                        next = next => Some(next),
                        () = heartbeat.due() => None,
                    };
                    heartbeat.last_sent = Instant::now();
                    let Some(next) = next else {
                        let comment: &[u8] = if self.has_begun { b": heartbeat\n\n" } else { b": heartbeat\n" };
                        return Ok(Some(Bytes::from_static(comment)));
                    };
                    next
                }
            };
            match next {
                Ok(Some(Piece { chunks, events })) => {
                    let bytes = chunks.iter().map(Bytes::len).sum();
                    self.meter.sent(bytes, events, self.source.arrived().map(Moment::elapsed));
                    self.has_begun = true;
                    match &mut self.select {
                        None => self.ready.extend(chunks),
                        Some(select) => {
                            self.ready.extend(chunks.into_iter().map(select).filter(|chunk| !chunk.is_empty()));
                        }
                    }
                }
                Ok(None) if self.breaks_off && self.source.was_cut() => return Err(Torn),
                Ok(None) => {
                    self.is_over = true;
                    let last = match self.waits_at().zip(self.waiting.take()) {
                        Some((position, waiting)) => waiting(position).await.ok_or(Torn)?,
                        None => std::mem::take(&mut self.last),
                    };
                    let last = Some(last).filter(|last| !last.is_empty());
                    self.ready.extend(if self.source.was_cut() { self.goodbye.take() } else { last });
                }
                Err(Gone::Revoked) => return Err(Torn),
                // The stream stays open until the servers of the log answer again.
                Err(Gone::Log(error)) if error.is_unreachable() => {
                    tracing::debug!(%error, "a response waits for the log");
                    tokio::time::sleep(LOG_AGAIN).await;
                }
                Err(Gone::Log(error)) => {
                    // The client reconnects with its cursor. The log's error is not shown to it.
                    match error {
                        LogError::Dropped { .. } | LogError::Gone { .. } => {
                            tracing::info!(%error, "a response was aborted: its reader fell behind");
                        }
                        _ => tracing::error!(%error, "a response was aborted: the log could not be read"),
                    }
                    return Err(Torn);
                }
            }
        }
    }
}
