//! Response bodies: a whole text, or a stream that is pulled as fast as the client reads.
//!
//! An event stream of server-sent events begins with `retry:`, is never silent for longer than the heartbeat, and says so in
//! a comment where it ends because the proxy stops. Streams of `raw` are the runner's own bytes: only heartbeats are added.

use super::Shared;
use super::limits::StreamSlot;
use super::live::Live;
use super::negotiate::{Form, Negotiated};
use crate::auth::Caller;
use crate::clock::Moment;
use crate::log::LogError;
use crate::runs::{FeedFollower, Follower, IngestFollower, Lag, Wire};
use crate::telemetry::metrics::ClientMeter;
use bytes::Bytes;
use framegate_translators::contracts::SseStyle;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep};

/// What we answer with.
pub(super) type Body = UnsyncBoxBody<Bytes, Torn>;

/// An answer has no good end: its connection (HTTP/2: its stream) is broken off, so that the client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer ends before it is whole")]
pub(super) struct Torn;

/// A text that is there already.
pub(super) fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// Nothing.
pub(super) fn empty() -> Body {
    full(Bytes::new())
}

/// Something that gives events until it is over.
pub(super) enum Source {
    /// One stream.
    Run(Box<Follower>),
    /// All streams of an ingest.
    Ingest(Box<IngestFollower>),
    /// Many runs.
    Feed(Box<FeedFollower>, Wire),
}

/// Bytes for the wire, and how many events they are.
struct Piece {
    chunks: Vec<Bytes>,
    events: u64,
}

impl Source {
    async fn next(&mut self) -> Result<Option<Piece>, LogError> {
        let batch = match self {
            Self::Run(follower) => follower.next().await?,
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
            Self::Ingest(follower) => follower.lag(),
            Self::Feed(follower, _) => follower.lag(),
        }
    }

    fn arrived(&self) -> Option<Moment> {
        match self {
            Self::Run(follower) => follower.arrived(),
            Self::Ingest(follower) => follower.arrived(),
            Self::Feed(follower, _) => follower.arrived(),
        }
    }

    /// Whether it ended although more could have come.
    fn was_cut(&self) -> bool {
        match self {
            Self::Run(follower) => follower.was_cut(),
            Self::Ingest(follower) => follower.was_cut(),
            // A feed has no end of its own.
            Self::Feed(..) => true,
        }
    }
}

/// What an open event stream holds: its place among those that may be open, and its reader's rights.
#[derive(Debug)]
pub(super) struct Lease {
    slot: StreamSlot,
    caller: Arc<Caller>,
    live: watch::Receiver<Arc<Live>>,
}

impl Lease {
    pub(super) fn new(slot: StreamSlot, caller: Arc<Caller>, live: watch::Receiver<Arc<Live>>) -> Self {
        Self { slot, caller, live }
    }

    /// The place alone, for an answer that is nobody else's to read.
    pub(super) fn into_slot(self) -> StreamSlot {
        self.slot
    }

    /// Waits until the reader's token is gone, or may do or see something else.
    async fn revoked(&mut self) {
        let caller = &self.caller;
        let is_other = |live: &Arc<Live>| !live.tokens.still_has(caller);
        // The sender lives as long as the server.
        let _ = self.live.wait_for(is_other).await;
    }
}

struct Pull {
    source: Source,
    lease: Lease,
    /// What is sent when nothing else is: `None` on wires that have no comments.
    heartbeat: Option<Heartbeat>,
    /// What is sent last where the source was cut.
    goodbye: Option<Bytes>,
    ready: VecDeque<Bytes>,
    meter: ClientMeter,
    is_over: bool,
    /// Whether an event was sent; before, a comment may not end the block that the stream began with.
    has_begun: bool,
}

/// Why a stream ends before its source does.
enum Gone {
    /// Its reader may not read it any more.
    Revoked,
    Log(LogError),
}

/// Says when a stream was silent for too long. Its timer is set once for each time that it may run out, not for each event:
/// a timer of the runtime costs a lock, which all streams would want for every event.
struct Heartbeat {
    every: Duration,
    last_sent: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Heartbeat {
    fn new(every: Duration) -> Self {
        Self { every, last_sent: Instant::now(), timer: Box::pin(tokio::time::sleep(every)) }
    }

    /// Waits until nothing was sent for that long.
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

/// Streams events to a client, as long as the lease holds.
pub(super) fn events(source: Source, negotiated: &Negotiated, shared: &Shared, lease: Lease) -> Body {
    events_behind((Bytes::new(), 0), source, negotiated, shared, lease)
}

/// The same, behind events that are said before: their bytes, and how many they are.
pub(super) fn events_behind(
    (first, count): (Bytes, u64),
    source: Source,
    negotiated: &Negotiated,
    shared: &Shared,
    lease: Lease,
) -> Body {
    let is_sse = negotiated.form == Form::Sse;
    let heartbeat = is_sse.then(|| Heartbeat::new(shared.settings.heartbeat));
    let retry_ms = shared.settings.sse_retry.as_millis();
    let is_ours = is_sse && negotiated.contract.sse != SseStyle::Raw;
    let goodbye = Bytes::from_static(b": the proxy is stopping; connect again to go on after the last event\n\n");
    let meter =
        shared.runs.metrics().client(negotiated.contract.name, negotiated.form.wire_name(), source.lag().clone());
    // A line of the first event's block: clients that take a block without data for an event are not rare.
    let mut ready: VecDeque<Bytes> = is_ours.then(|| Bytes::from(format!("retry: {retry_ms}\n"))).into_iter().collect();
    let has_first = !first.is_empty();
    if has_first {
        meter.sent(first.len(), count, None);
        ready.push_back(first);
    }
    let pull = Pull {
        source,
        lease,
        heartbeat,
        goodbye: is_ours.then_some(goodbye),
        ready,
        has_begun: !is_ours || has_first,
        meter,
        is_over: false,
    };
    StreamBody::new(stream::unfold(pull, async |mut pull| {
        let chunk = pull.next().await?;
        Some((Ok(Frame::data(chunk)), pull))
    }))
    .boxed_unsync()
}

impl Pull {
    /// The next bytes; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Some(chunk);
            }
            if self.is_over {
                return None;
            }
            let (source, lease) = (&mut self.source, &mut self.lease);
            let next = async {
                tokio::select! {
                    biased;
                    () = lease.revoked() => {
                        tracing::info!(client = lease.caller.name, "a stream was closed: its token is not what it was");
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
                        return Some(Bytes::from_static(comment));
                    };
                    next
                }
            };
            match next {
                Ok(Some(Piece { chunks, events })) => {
                    let bytes = chunks.iter().map(Bytes::len).sum();
                    self.meter.sent(bytes, events, self.source.arrived().map(Moment::elapsed));
                    self.has_begun = true;
                    self.ready.extend(chunks);
                }
                Ok(None) => {
                    self.is_over = true;
                    self.ready.extend(self.goodbye.take().filter(|_| self.source.was_cut()));
                }
                Err(Gone::Revoked) => return None,
                Err(Gone::Log(error)) => {
                    // The client reconnects with its cursor; the log's own error is ours to know.
                    tracing::error!(%error, "a reader could not read the log");
                    return None;
                }
            }
        }
    }
}
