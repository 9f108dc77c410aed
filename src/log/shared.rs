//! A log that several proxies share.
//!
//! Input: what any of the proxies writes. Output: the news of all streams, in one order that is the same at every proxy; which streams a
//! lost proxy left open; requests between proxies. Never: news of a frame that is not stored; two orders.

use super::{DroppedStream, Gone, LogError, Run, StreamId};
use crate::clock::Moment;
use async_trait::async_trait;
use bytes::Bytes;
use framegate_translators::frame::Stream;
use std::sync::Arc;
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
    },
    /// The front of a stream was dropped.
    Cut {
        /// The stream.
        stream: Arc<Stream>,
        /// What is gone.
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
    /// Whether a server is connected.
    pub is_connected: bool,
}

/// What a log can do that several proxies share.
#[async_trait]
pub trait SharedLog: Send + Sync {
    /// The news, in the log's order, from the first stored message on; `None` if they were taken already. The log waits for
    /// its reader.
    fn take_news(&self) -> Option<mpsc::Receiver<Heard>>;

    /// The position behind everything that any proxy has stored so far.
    ///
    /// # Errors
    /// The log cannot be reached.
    async fn reached(&self) -> Result<u64, LogError>;

    /// Whether the log can be reached at the moment, as far as is known.
    fn is_reachable(&self) -> bool;

    /// Waits for streams that a lost proxy left open.
    async fn orphans(&self) -> Vec<StreamId>;

    /// Whether this proxy wrote the newest frames of a stream.
    fn is_writer(&self, stream: StreamId) -> bool;

    /// Whether this proxy does the work that one proxy does for all.
    fn is_elected(&self) -> bool;

    /// Asks the proxy that writes an open stream; `None` if this one does, or the other does not live.
    async fn ask_writer(&self, stream: StreamId, request: Bytes) -> Option<Result<Bytes, LogError>>;

    /// The requests of other proxies; `None` if they were taken already.
    fn take_requests(&self) -> Option<mpsc::Receiver<Request>>;

    /// Tells the other proxies that this one stops.
    async fn leave(&self);

    /// Figures for metrics.
    fn figures(&self) -> SharedFigures;
}
