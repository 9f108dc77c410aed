//! The canonical frame model: one vocabulary for what every runner does.
//!
//! Input: none; frames are plain values, built by the [normalizer](crate::normalizer) on behalf of a decoder. Output: encoders read
//! them. JSON exists only at the edges: the wire forms of frames live with the `frames` contracts. The serde attributes here
//! define the form in which frames are stored ([`stored`]), which belongs to no contract. Never: vocabulary of one contract or
//! one runner.

mod approvals;
mod body;
mod course;
mod drift;
mod files;
mod messages;
mod record;
mod record_errors;
mod skills;
pub mod stored;
mod stream;
mod tasks;
mod tools;

pub use approvals::*;
pub use body::*;
pub use course::*;
pub use drift::*;
pub use files::*;
pub use messages::*;
pub use record::*;
pub use record_errors::RecordErrors;
pub use skills::*;
pub use stream::*;
pub use tasks::*;
pub use tools::*;

pub use crate::json::RawJson;

use crate::derived::of_number;
use std::sync::Arc;
use uuid::Uuid;

/// One canonical event of one stream.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The stream that the frame belongs to.
    pub stream: Arc<Stream>,
    /// Position in the stream: from 0, without gaps.
    pub seq: u64,
    /// Unix epoch milliseconds: the record's own time if it has one, otherwise the time of ingest. It never decreases within a
    /// stream.
    pub timestamp_ms: u64,
    /// If a subagent caused this frame: the tool call of the main thread (or of an outer subagent) that started the subagent.
    pub parent_tool_id: Option<Uuid>,
    /// The id that a frame had where it was read from, or that of a frame that was added to such a stream; `None` if the id is
    /// [`Frame::derived_id`]. Either all frames of a stream have one, or none has.
    pub given_id: Option<Uuid>,
    /// What happened.
    pub body: Body,
}

impl Frame {
    /// The frame's id: the given one, otherwise the derived one.
    pub fn id(&self) -> Uuid {
        self.given_id.unwrap_or_else(|| self.derived_id())
    }

    /// UUIDv5 of `seq` (decimal) in the namespace of the stream's id, so that a replay produces the same id.
    pub fn derived_id(&self) -> Uuid {
        of_number(&self.stream.id, self.seq)
    }

    /// Whether a subagent caused the frame.
    pub fn is_subagent(&self) -> bool {
        self.parent_tool_id.is_some()
    }
}

/// Whether this is the last frame of its stream.
pub fn is_last(frame: &Frame) -> bool {
    match &frame.body {
        Body::SessionEnded(_) => frame.stream.kind == StreamKind::Session,
        Body::Task(event) => {
            matches!(**event, TaskEvent::Status { status, .. } if status.is_terminal())
        }
        _ => false,
    }
}
