//! The frame log: the single source of truth.
//!
//! Input: frames, in the order in which they were made. Output: the frames of a stream from any kept sequence number on.
//! Never: a frame changed or left out, or a reader that waits for another reader. Everything that clients see is a function
//! of the frames here. If the front of a stream is pruned, [`Checkpoint`]s keep what was derived from it.

#[cfg(feature = "jetstream")]
pub mod jetstream;
mod membership;
mod memory;
mod read_cache;
mod room;
mod shared;
pub mod sqlite;
mod tail_cache;
mod weight;

pub use membership::{LeftOpen, Membership};
pub use memory::MemoryLog;
pub use read_cache::ReadCache;
pub use shared::{Heard, Loaded, Loading, News, Request, SharedFigures, SharedLog};
pub use sqlite::SqliteLog;
pub use weight::weight;

pub use crate::storage::{ByStream, LogError, StreamId, stream_id};

use async_trait::async_trait;
use framegate_translators::encode::EventId;
use framegate_translators::frame::{Frame, Stream};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A summary of a stream, stored beside its frames.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The stream's id.
    pub stream: StreamId,
    /// The stream's status after the frames that are appended with it, as JSON.
    pub status: String,
}

/// The pruned front of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// How many frames are gone; also the number of the first kept frame. Never 0.
    pub frames: u64,
    /// Time of the last pruned frame, in Unix epoch milliseconds.
    pub last_ms: u64,
    /// When they were pruned, in Unix epoch milliseconds.
    pub pruned_ms: u64,
}

/// A point in a stream from which an encoder can continue without the frames before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which encoder: the name of a contract, with its options.
    pub view: Arc<str>,
    /// The number of the next frame.
    pub frame: u64,
    /// The number of the next event.
    pub event: u64,
    /// The last event before it that has a cursor, and its number.
    pub last: Option<(EventId, u64)>,
    /// The encoder's saved state at this point.
    pub state: Vec<u8>,
}

/// Selects a checkpoint: the last one that is not after this place.
#[derive(Clone, Debug)]
pub enum CheckpointAt {
    /// The event with that number.
    Event(u64),
    /// The frame with that number.
    Frame(u64),
    /// The event with that cursor.
    Cursor(EventId),
}

/// A stream that a log has kept from an earlier process.
#[derive(Clone, Debug)]
pub struct KeptStream {
    /// The stream.
    pub stream: Arc<Stream>,
    /// The number of its frames, including pruned ones.
    pub frames: u64,
    /// Its pruned front; `None` if it is complete.
    pub gone: Option<Gone>,
    /// The position of the last pruned frame among all frames, if known.
    pub gone_position: Option<u64>,
    /// The positions of the kept frames among all frames, in order; empty if only streams are listed.
    pub runs: Vec<Run>,
    /// Whether the stream is over: no more frames will follow.
    pub ended: bool,
    /// The status that was stored last.
    pub status: Option<String>,
    /// The run's labels, as JSON, if they were stored without a status.
    pub labels: Option<String>,
}

impl KeptStream {
    /// A stream of which nothing is known yet.
    pub fn new(stream: Arc<Stream>) -> Self {
        Self {
            stream,
            frames: 0,
            gone: None,
            gone_position: None,
            runs: Vec::new(),
            ended: false,
            status: None,
            labels: None,
        }
    }

    /// Its kind and id.
    pub fn id(&self) -> StreamId {
        (self.stream.kind, self.stream.id)
    }

    /// The number of the first frame that is kept.
    pub fn first(&self) -> u64 {
        self.gone.map_or(0, |gone| gone.frames)
    }
}

/// Consecutive frames of one stream that are also consecutive among all frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The position of the first frame among all frames.
    pub position: u64,
    /// The number of the first frame in its stream.
    pub seq: u64,
    /// The number of frames.
    pub frames: u64,
}

/// A dropped stream.
#[derive(Clone, Debug)]
pub struct DroppedStream {
    /// The stream.
    pub stream: Arc<Stream>,
    /// The number of its frames.
    pub frames: u64,
    /// The position of its last frame among all frames.
    pub position: u64,
    /// When it was dropped, in Unix epoch milliseconds.
    pub dropped_ms: u64,
    /// The number of its events in each contract, as far as they were counted.
    pub events: BTreeMap<String, u64>,
}

/// The order of all frames, as the log knows it.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The key that seals feed cursors.
    pub secret: [u8; 32],
    /// The position of the next frame.
    pub next: u64,
    /// Streams whose last frame is before this position may have been dropped without an entry in `dropped`.
    pub forgotten: u64,
    /// The most recently dropped streams, in the order of the drops.
    pub dropped: Vec<DroppedStream>,
}

/// Where the frames of an append are among all frames ever kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The position of the first frame. The others follow it, except in a log that several proxies share.
    pub first: u64,
    /// The position behind the last frame.
    pub behind: u64,
}

/// Storage for frames.
#[async_trait]
pub trait FrameLog: Send + Sync + 'static {
    /// Appends frames, all or none. On return they are as durable as the log can make them.
    ///
    /// # Errors
    /// The reason why the frames could not be appended. None was, except that with [`LogError::Unreachable`] this is unknown.
    async fn append(&self, frames: &[Arc<Frame>], summaries: Vec<Summary>) -> Result<Place, LogError>;

    /// What this log can do because several proxies share it; `None` if only one uses it.
    fn shared(&self) -> Option<&dyn SharedLog> {
        None
    }

    /// Positions and counts of kept frames whose appender was cancelled before it got the answer; since the last call.
    fn take_abandoned(&self) -> Vec<(u64, u64)> {
        Vec::new()
    }

    /// The order of all frames when the log was opened.
    fn order(&self) -> Order;

    /// The frames of a stream from `from` on: at most `max`, fewer if they are large. Empty only at the tail. If `from` is
    /// pruned, the first frame returned is a later one.
    ///
    /// # Errors
    /// [`LogError::Dropped`] for a stream that is not kept; otherwise the reason why the log cannot be read.
    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError>;

    /// Checks whether an append of at least one byte would find room now, that is, whether the streams that cannot be dropped
    /// leave any room.
    ///
    /// # Errors
    /// The reason why it would not.
    async fn check_writable(&self) -> Result<(), LogError> {
        Ok(())
    }

    /// How many bytes of frames and how many streams are kept; `None` if finding out is expensive.
    async fn usage(&self) -> Option<(u64, u64)> {
        None
    }

    /// Drops the front of a stream, and stores the checkpoints at the first kept frame in its place.
    ///
    /// # Errors
    /// The reason why it could not be dropped; nothing was.
    async fn prune(&self, stream: StreamId, gone: Gone, checkpoints: Vec<Checkpoint>) -> Result<(), LogError>;

    /// The number of the first frame from which on at most `max_bytes` of a stream are kept; at most the number of the last
    /// frame.
    ///
    /// # Errors
    /// The reason why the log cannot be read.
    async fn first_within(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError>;

    /// Stores checkpoints of a stream, if the log outlives the process.
    ///
    /// # Errors
    /// The reason why they cannot be stored.
    async fn keep_checkpoints(&self, _stream: StreamId, _checkpoints: Vec<Checkpoint>) -> Result<(), LogError> {
        Ok(())
    }

    /// The last checkpoint of a view that is not after a place.
    ///
    /// # Errors
    /// The reason why the log cannot be read.
    async fn checkpoint(
        &self,
        _stream: StreamId,
        _view: &str,
        _at: &CheckpointAt,
    ) -> Result<Option<Checkpoint>, LogError> {
        Ok(None)
    }

    /// Stores statuses that changed without an append, if the log outlives the process.
    ///
    /// # Errors
    /// The reason why they cannot be stored.
    async fn keep_status(&self, _summaries: Vec<Summary>) -> Result<(), LogError> {
        Ok(())
    }

    /// Drops a stream of any kind and in any state.
    ///
    /// # Errors
    /// The reason why it could not be dropped; it is still there.
    async fn drop_stream(&self, stream: StreamId) -> Result<(), LogError>;

    /// Drops streams that are too old, if the log does not do so on its own.
    async fn drop_aged(&self) {}

    /// Drops streams until the log is within its limits, if it does so only before the next append.
    async fn make_room(&self) {}

    /// Streams that were dropped to make room since the last call.
    async fn take_dropped(&self) -> Vec<StreamId>;

    /// Whether the log outlives the process, and stores the [`Summary`] of each stream.
    fn is_durable(&self) -> bool {
        false
    }

    /// The streams kept from an earlier process, in the order in which they began.
    ///
    /// # Errors
    /// The reason why the log cannot be read.
    async fn streams(&self) -> Result<Vec<KeptStream>, LogError> {
        Ok(Vec::new())
    }
}
