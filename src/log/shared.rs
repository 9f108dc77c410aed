//! A log that several proxies share.
//!
//! Input: what any of the proxies writes. Output: the news of all streams, in one order that is the same at every proxy; which streams a
//! lost proxy left open; requests between proxies. Never: news of a frame that is not stored; two orders.

use super::{ByStream, DroppedStream, Gone, KeptStream, LogError, Run, StreamId};
use crate::clock::Moment;
use async_trait::async_trait;
use bytes::Bytes;
use framegate_translators::frame::Stream;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// What a proxy hears of a stored message.
#[derive(Debug)]
pub struct Heard {
    /// What the runs have to know; `None` if the message does not concern them.
    pub news: Option<News>,
    /// The position behind the message: what is before it is known now.
    pub behind: u64,
    /// How many stored messages this proxy has not heard yet.
    pub pending: u64,
    /// When it was heard.
    pub arrived: Moment,
}

/// A change of a stream.
#[derive(Debug)]
pub enum News {
    /// A stream got frames.
    Frames {
        /// The stream.
        stream: Arc<Stream>,
        /// The frames, and their position.
        run: Run,
        /// Whether no frames follow.
        ended: bool,
        /// Whether this proxy wrote them.
        is_own: bool,
        /// The status after them, as JSON; `None` if it must be read from the frames.
        status: Option<Box<str>>,
        /// The run's labels, as JSON, if the status must be read from the frames.
        labels: Option<Box<str>>,
    },
    /// The front of a stream was dropped.
    Cut {
        /// The stream.
        stream: Arc<Stream>,
        /// The dropped front.
        gone: Gone,
        /// The position of the last frame that is gone.
        position: u64,
    },
    /// A stream was dropped.
    Dropped(DroppedStream),
    /// The status of a stream changed without frames.
    Status {
        /// The stream.
        stream: StreamId,
        /// The status, as JSON.
        status: Box<str>,
    },
}

/// What the news so far say about the streams.
#[derive(Debug, Default)]
pub struct Loaded {
    streams: ByStream<KeptStream>,
    /// The streams that were dropped, in the order of the drops.
    pub dropped: Vec<DroppedStream>,
}

impl Loaded {
    /// Takes in the next news.
    pub fn take_in(&mut self, news: News) {
        match news {
            News::Frames { stream, run, ended, status, labels, .. } => {
                let kept = self.stream(stream);
                kept.frames = run.seq + run.frames;
                (kept.ended, kept.status, kept.labels) = (ended, status.map(String::from), labels.map(String::from));
                kept.runs.push(run);
            }
            News::Cut { stream, gone, position } => {
                let kept = self.stream(stream);
                kept.frames = kept.frames.max(gone.frames);
                kept.runs.retain(|run| run.seq + run.frames > gone.frames);
                if let Some(run) = kept.runs.first_mut() {
                    let cut = gone.frames.saturating_sub(run.seq);
                    *run = Run { position: run.position + cut, seq: run.seq + cut, frames: run.frames - cut };
                }
                (kept.gone, kept.gone_position) = (Some(gone), Some(position));
            }
            News::Dropped(dropped) => {
                self.streams.remove(&(dropped.stream.kind, dropped.stream.id));
                self.dropped.push(dropped);
            }
            News::Status { stream, status } => {
                // A proxy that had not heard of the newest frames describes an earlier state.
                if let Some(kept) = self.streams.get_mut(&stream).filter(|kept| frames_of(&status) == Some(kept.frames))
                {
                    kept.status = Some(status.into());
                }
            }
        }
    }

    fn stream(&mut self, stream: Arc<Stream>) -> &mut KeptStream {
        self.streams.entry((stream.kind, stream.id)).or_insert_with(|| KeptStream::new(stream))
    }

    /// The streams that are kept, in the order in which they began.
    pub fn into_streams(self) -> Vec<KeptStream> {
        let mut streams: Vec<KeptStream> = self.streams.into_values().collect();
        streams.sort_by_key(|kept| kept.gone_position.or(kept.runs.first().map(|run| run.position)));
        streams
    }
}

/// How many frames a status counts.
fn frames_of(status: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct Counted {
        frames: u64,
    }
    serde_json::from_str(status).ok().map(|Counted { frames }| frames)
}

/// What a log has when it is loaded.
#[derive(Debug)]
pub struct Loading {
    /// Its streams.
    pub loaded: Loaded,
    /// The position behind them.
    pub behind: u64,
    /// What comes after that, in the log's order.
    pub news: mpsc::Receiver<Heard>,
}

/// A request of another proxy.
#[derive(Debug)]
pub struct Request {
    /// The request.
    pub payload: Bytes,
    /// Takes the answer. If it is dropped, the other proxy gets none.
    pub answer: oneshot::Sender<Bytes>,
}

/// Figures of a shared log, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedFigures {
    /// How many proxies have a lease.
    pub proxies: u64,
    /// How many connections to servers were lost.
    pub disconnects: u64,
    /// How often the messages were followed anew.
    pub followed: u64,
    /// How often messages were not read in time.
    pub slow: u64,
    /// How many stored messages this proxy has not heard yet.
    pub pending: u64,
    /// Whether a server is connected.
    pub is_connected: bool,
}

/// What a log can do that several proxies share.
#[async_trait]
pub trait SharedLog: Send + Sync {
    /// Everything that the log has now, and the news from there on. The log waits for their reader. Called once.
    ///
    /// # Errors
    /// The log cannot be reached, or was loaded already.
    async fn load(&self) -> Result<Loading, LogError>;

    /// The position behind everything that any proxy has stored so far.
    ///
    /// # Errors
    /// The log cannot be reached.
    async fn reached(&self) -> Result<u64, LogError>;

    /// Whether the log can be reached at the moment, as far as is known.
    fn is_reachable(&self) -> bool;

    /// Waits for streams of lost proxies that this one has to close.
    async fn orphans(&self) -> Vec<StreamId>;

    /// Whether this proxy wrote the newest frames of a stream.
    fn is_writer(&self, stream: StreamId) -> bool;

    /// Whether this proxy does the work that one proxy does for all.
    fn is_elected(&self) -> bool;

    /// Asks the proxy that wrote a stream last, and waits so long for its answer; `None` if this one did, or the other does not live.
    async fn ask_writer(&self, stream: StreamId, request: Bytes, within: Duration) -> Option<Result<Bytes, LogError>>;

    /// The requests of other proxies; `None` if they were taken already.
    fn take_requests(&self) -> Option<mpsc::Receiver<Request>>;

    /// Tells the other proxies that this one stops.
    async fn leave(&self);

    /// About how many frames are between two positions: at least one for each append.
    fn distance(&self, from: u64, to: u64) -> u64;

    /// Figures for metrics.
    fn figures(&self) -> SharedFigures;
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::stored::read_frame;
    use framegate_translators::runners::PROVIDERS;
    use std::collections::BTreeMap;

    fn streams() -> Vec<Arc<Stream>> {
        let lines = include_str!("../../translators/tests/stored/v1.ndjson").lines();
        let mut streams: Vec<Arc<Stream>> =
            lines.map(|line| read_frame(line.as_bytes(), PROVIDERS).unwrap().stream).collect();
        streams.dedup_by_key(|stream| (stream.kind, stream.id));
        streams
    }

    fn frames(stream: &Arc<Stream>, position: u64, seq: u64) -> News {
        let run = Run { position, seq, frames: 2 };
        let status = Some(format!("{{\"frames\":{}}}", seq + 2).into());
        News::Frames { stream: stream.clone(), run, ended: seq > 0, is_own: false, status, labels: None }
    }

    #[test]
    fn streams_are_known_from_the_news_and_an_older_status_replaces_no_newer_one() {
        let found = streams();
        let (one, two) = (&found[0], &found[1]);
        let id = |stream: &Arc<Stream>| (stream.kind, stream.id);
        let mut loaded = Loaded::default();
        loaded.take_in(frames(two, 1, 0));
        loaded.take_in(frames(one, 2, 0));
        loaded.take_in(frames(one, 3, 2));
        for (frames, labels) in [(4, "new"), (2, "old")] {
            let status = format!("{{\"frames\":{frames},\"labels\":\"{labels}\"}}").into();
            loaded.take_in(News::Status { stream: id(one), status });
        }
        let gone = Gone { frames: 2, last_ms: 5, pruned_ms: 6 };
        loaded.take_in(News::Cut { stream: one.clone(), gone, position: 2 });
        let dropped =
            DroppedStream { stream: two.clone(), frames: 2, position: 1, dropped_ms: 7, events: BTreeMap::new() };
        loaded.take_in(News::Dropped(dropped));
        // A dropped stream may begin again.
        loaded.take_in(frames(two, 9, 0));
        assert_eq!(loaded.dropped.len(), 1);
        let kept = loaded.into_streams();
        assert_eq!(kept.iter().map(KeptStream::id).collect::<Vec<_>>(), [id(one), id(two)]);
        let first = &kept[0];
        assert_eq!((first.frames, first.first(), first.gone, first.ended), (4, 2, Some(gone), true));
        assert_eq!(first.status.as_deref(), Some("{\"frames\":4,\"labels\":\"new\"}"));
        assert_eq!(first.runs, [Run { position: 3, seq: 2, frames: 2 }]);
        assert_eq!((kept[1].frames, kept[1].ended), (2, false));
    }
}
