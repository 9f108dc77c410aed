//! The canonical frame model: what a runner did, in one vocabulary, whatever the runner.
//!
//! In: nothing; these are plain values, built by the [ledger](crate::ledger) on behalf of a decoder.
//! Out: encoders read them. JSON exists only at the edges: the wire forms of frames live with the `frames` contracts, and
//! what serde is told here is the form in which frames are kept ([`stored`]), no contract's.
//! Never: a contract's or a runner's own vocabulary.

mod approvals;
mod body;
mod course;
mod faults;
mod files;
mod messages;
mod record;
mod skills;
pub mod stored;
mod stream;
mod tasks;
mod tools;

pub use approvals::*;
pub use body::*;
pub use course::*;
pub use faults::Faults;
pub use files::*;
pub use messages::*;
pub use record::*;
pub use skills::*;
pub use stream::*;
pub use tasks::*;
pub use tools::*;

use crate::derived::numbered;
use std::sync::Arc;
use uuid::Uuid;

/// One canonical event of one stream.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The stream that the frame belongs to.
    pub stream: Arc<Stream>,
    /// Position in the stream: 0 for the first frame, then without a gap.
    pub seq: u64,
    /// Unix epoch milliseconds: the record's own time where it has one, else the time of ingest; never runs backwards in a stream.
    pub timestamp_ms: u64,
    /// The tool call of the main thread (or of an outer subagent) in whose name a subagent caused this frame.
    pub parent_tool_id: Option<Uuid>,
    /// What happened.
    pub body: Body,
}

impl Frame {
    /// The frame's id: UUIDv5 of `seq` (decimal) in the namespace of the stream's id, so that a replay gives it again.
    pub fn id(&self) -> Uuid {
        numbered(&self.stream.id, "", self.seq)
    }

    /// Whether a subagent caused the frame.
    pub fn is_subagent(&self) -> bool {
        self.parent_tool_id.is_some()
    }
}
