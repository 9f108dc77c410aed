//! The frame log: the one source of truth.
//!
//! In: frames, in the order in which they were made. Out: the frames of a stream from any sequence on that is kept. Never: a
//! frame changed or left out, a reader that waits for another reader. Everything that clients see is a function of what is
//! here. Where the front of a stream goes, what was made of it stays as [`Mark`]s.

mod ended;
mod error;
mod memory;
pub mod sqlite;
mod weight;

pub use error::LogError;
pub use memory::MemoryLog;
pub use sqlite::SqliteLog;
pub use weight::weight;

use async_trait::async_trait;
use framegate_translators::encode::EventId;
use framegate_translators::frame::{Frame, Stream, StreamKind};
use std::sync::Arc;
use uuid::Uuid;

/// Names a stream across all ingests.
pub type StreamId = (StreamKind, Uuid);

/// Things by the stream that they are of. Every record is looked up in some of these.
pub type ByStream<T> = std::collections::HashMap<StreamId, T, foldhash::fast::RandomState>;

/// The id of the stream that a frame belongs to.
pub fn stream_id(frame: &Frame) -> StreamId {
    (frame.stream.kind, frame.stream.id)
}

/// What is known of a stream at a glance, to be kept beside its frames.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The stream.
    pub stream: StreamId,
    /// Its status behind the frames that are appended with it, as JSON.
    pub status: String,
}

/// The front of a stream that is not kept any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// How many frames are gone: the number of the first that is kept. Not 0.
    pub frames: u64,
    /// Unix epoch milliseconds of the last of them.
    pub last_ms: u64,
    /// Unix epoch milliseconds of when they went.
    pub pruned_ms: u64,
}

/// A place in a stream from which something that is made of its frames can go on without the frames before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// What is made: the name of a contract, with its options.
    pub view: Arc<str>,
    /// The frame that is taken next.
    pub frame: u64,
    /// The number that the next event gets.
    pub event: u64,
    /// The last event before it that has a cursor, and its number.
    pub last: Option<(EventId, u64)>,
    /// What whoever makes it held there.
    pub state: Vec<u8>,
}

/// Where a mark is wanted: the last one that is not behind it.
#[derive(Clone, Debug)]
pub enum MarkAt {
    /// The event with that number.
    Event(u64),
    /// The frame with that number.
    Frame(u64),
    /// The event with that cursor.
    Cursor(EventId),
}

/// A stream that a log has kept from before.
#[derive(Clone, Debug)]
pub struct KeptStream {
    /// The stream.
    pub stream: Arc<Stream>,
    /// How many frames there were of it.
    pub frames: u64,
    /// Its front, where that is gone.
    pub gone: Option<Gone>,
    /// Whether there will be no more.
    pub ended: bool,
    /// The status that was kept last.
    pub status: Option<String>,
}

/// Where frames are kept.
#[async_trait]
pub trait FrameLog: Send + Sync + 'static {
    /// Appends frames, all or none. On return they are as durable as the log is.
    ///
    /// # Errors
    /// Whatever keeps them from being appended: nothing was.
    async fn append(&self, frames: &[Arc<Frame>], summaries: Vec<Summary>) -> Result<(), LogError>;

    /// The frames of a stream from `from` on, at most `max`, and fewer where they are large; empty only at the tail, and for
    /// a stream that is not kept. Where `from` is gone, the first is a later one.
    ///
    /// # Errors
    /// Whatever keeps a log from being read.
    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError>;

    /// Whether an append would find room now, for one byte at least: where what cannot be dropped is less than there may be.
    ///
    /// # Errors
    /// Why it would not.
    async fn check_writable(&self) -> Result<(), LogError> {
        Ok(())
    }

    /// How many bytes of frames are kept, and how many streams; `None` where that is not known at little cost.
    async fn usage(&self) -> Option<(u64, u64)> {
        None
    }

    /// Drops the front of a stream, and keeps what it leaves: marks at the first frame that stays.
    ///
    /// # Errors
    /// Whatever keeps them from being dropped: nothing was.
    async fn drop_front(&self, stream: StreamId, gone: Gone, marks: Vec<Mark>) -> Result<(), LogError>;

    /// The number of the first frame behind which no more than `max_bytes` of a stream are kept; at most that of its last.
    ///
    /// # Errors
    /// Whatever keeps a log from being read.
    async fn front_beyond(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError>;

    /// Keeps marks beside a stream, where the log outlives the process.
    ///
    /// # Errors
    /// Whatever keeps them from being kept.
    async fn keep_marks(&self, _stream: StreamId, _marks: Vec<Mark>) -> Result<(), LogError> {
        Ok(())
    }

    /// The last mark of a view that is not behind a place.
    ///
    /// # Errors
    /// Whatever keeps a log from being read.
    async fn mark(&self, _stream: StreamId, _view: &str, _at: &MarkAt) -> Result<Option<Mark>, LogError> {
        Ok(None)
    }

    /// Keeps statuses that changed although nothing was appended, where the log outlives the process.
    ///
    /// # Errors
    /// Whatever keeps them from being kept.
    async fn keep_status(&self, _summaries: Vec<Summary>) -> Result<(), LogError> {
        Ok(())
    }

    /// Streams that were dropped to make room since the last call.
    async fn take_dropped(&self) -> Vec<StreamId>;

    /// Whether the log outlives the process, and keeps the [`Summary`] of each stream for it.
    fn is_durable(&self) -> bool {
        false
    }

    /// The streams that were kept before, in the order in which they began.
    ///
    /// # Errors
    /// Whatever keeps a log from being read.
    async fn streams(&self) -> Result<Vec<KeptStream>, LogError> {
        Ok(Vec::new())
    }
}
