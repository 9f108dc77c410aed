//! Response bodies: a whole text, or a stream that is pulled as fast as the client reads.

use super::limits::StreamSlot;
use super::live::Live;
use crate::auth::Caller;
use crate::log::LogError;
use crate::runs::{FeedFollower, Follower, IngestFollower, Wire};
use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep};

/// What we answer with.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A text that is there already.
pub fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).boxed_unsync()
}

/// Nothing.
pub fn empty() -> Body {
    full(Bytes::new())
}

/// Something that gives events until it is over.
pub enum Source {
    /// One stream.
    Run(Box<Follower>),
    /// All streams of an ingest.
    Ingest(Box<IngestFollower>),
    /// Many runs.
    Feed(Box<FeedFollower>, Wire),
}

impl Source {
    async fn next(&mut self) -> Result<Option<Vec<Bytes>>, LogError> {
        Ok(match self {
            Self::Run(follower) => follower.next().await?.map(|batch| batch.chunks),
            Self::Ingest(follower) => follower.next().await?.map(|batch| batch.chunks),
            Self::Feed(follower, wire) => follower.next(*wire).await?.map(|bytes| vec![bytes]),
        })
    }
}

/// What an open event stream holds: its place among those that may be open, and its reader's rights.
#[derive(Debug)]
pub struct Lease {
    _slot: StreamSlot,
    caller: Arc<Caller>,
    live: watch::Receiver<Arc<Live>>,
}

impl Lease {
    pub(super) fn new(slot: StreamSlot, caller: Arc<Caller>, live: watch::Receiver<Arc<Live>>) -> Self {
        Self { _slot: slot, caller, live }
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
    ready: std::collections::VecDeque<Bytes>,
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

/// Streams events, as long as the lease holds. With `heartbeat`, a comment is sent whenever nothing else was for that long.
pub fn events(source: Source, heartbeat: Option<Duration>, hello: Option<&'static str>, lease: Lease) -> Body {
    let heartbeat = heartbeat.map(Heartbeat::new);
    let ready = hello.map(|text| Bytes::from_static(text.as_bytes())).into_iter().collect();
    let pull = Pull { source, lease, heartbeat, ready };
    let stream = stream::unfold(pull, |mut pull| async move {
        loop {
            if let Some(chunk) = pull.ready.pop_front() {
                return Some((Ok(Frame::data(chunk)), pull));
            }
            let (source, lease) = (&mut pull.source, &mut pull.lease);
            let next = async {
                tokio::select! {
                    biased;
                    () = lease.revoked() => {
                        tracing::info!(client = lease.caller.name, "a stream was closed: its token is not what it was");
                        Ok(None)
                    }
                    next = source.next() => next,
                }
            };
            let next = match &mut pull.heartbeat {
                None => next.await,
                Some(heartbeat) => {
                    let next = tokio::select! {
                        biased;
                        next = next => Some(next),
                        () = heartbeat.due() => None,
                    };
                    heartbeat.last_sent = Instant::now();
                    let Some(next) = next else {
                        return Some((Ok(Frame::data(Bytes::from_static(b": heartbeat\n\n"))), pull));
                    };
                    next
                }
            };
            match next {
                Ok(Some(chunks)) => pull.ready.extend(chunks),
                Ok(None) => return None,
                Err(error) => {
                    // The client reconnects with its cursor; the log's own error is ours to know.
                    tracing::error!(%error, "a reader could not read the log");
                    return None;
                }
            }
        }
    });
    StreamBody::new(stream).boxed_unsync()
}
