//! What the frame log and the stores of artifacts share: the ids of streams, and the errors of the log.

mod error;

pub use error::LogError;

use framegate_translators::frame::{Frame, StreamKind};
use uuid::Uuid;

/// Identifies a stream across all ingests.
pub type StreamId = (StreamKind, Uuid);

/// A map by stream. Every record is looked up in some of these, so the hash is fast.
pub type ByStream<T> = std::collections::HashMap<StreamId, T, foldhash::fast::RandomState>;

/// The id of the stream that a frame belongs to.
pub fn stream_id(frame: &Frame) -> StreamId {
    (frame.stream.kind, frame.stream.id)
}
