//! The frame log: the one source of truth.
//!
//! In: frames, in the order in which they were made. Out: the frames of a stream from any sequence on. Never: a frame
//! changed or left out, a reader that waits for another reader. Everything that clients see is a function of what is here.

mod memory;

pub use memory::MemoryLog;

use async_trait::async_trait;
use framegate_translators::frame::{Body, Frame, StreamKind};
use std::sync::Arc;
use uuid::Uuid;

/// Names a stream across all ingests.
pub type StreamId = (StreamKind, Uuid);

/// The id of the stream that a frame belongs to.
pub fn stream_id(frame: &Frame) -> StreamId {
    (frame.stream.kind, frame.stream.id)
}

/// Why a log could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The frames that are kept and may not be dropped fill the log.
    #[error("the frame log is full: {bytes} bytes of open runs, the limit is {limit}")]
    Full {
        /// Bytes that are held.
        bytes: u64,
        /// Bytes that may be held.
        limit: u64,
    },
}

/// Where frames are kept.
#[async_trait]
pub trait FrameLog: Send + Sync + 'static {
    /// Appends frames, all or none. On return they are as durable as the log is.
    ///
    /// # Errors
    /// [`LogError::Full`]: nothing was appended.
    async fn append(&self, frames: &[Arc<Frame>]) -> Result<(), LogError>;

    /// The frames of a stream from `from` on, at most `max`; empty at the tail, and for a stream that is not kept.
    ///
    /// # Errors
    /// Whatever keeps a log from being read.
    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError>;

    /// Whether an append would find room now.
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

    /// Streams that were dropped to make room since the last call.
    async fn take_dropped(&self) -> Vec<StreamId>;
}

/// About how many bytes of memory a frame takes.
pub fn weight(frame: &Frame) -> u64 {
    let payload = match &frame.body {
        Body::ProviderEvent(record) => {
            record.data.as_ref().map_or(0, |data| data.len())
                + record.raw.as_ref().map_or(0, |raw| raw.len())
                + record.block.as_ref().map_or(0, |block| block.len())
        }
        Body::OutputTextDelta(block) | Body::ReasoningDelta(block) => block.delta.len(),
        Body::OutputTextCompleted(block) | Body::ReasoningCompleted { block, .. } => block.text.len(),
        Body::ToolCallProposed(call) => call.args.get().len(),
        Body::ToolStdout { chunk, .. } | Body::ToolStderr { chunk, .. } => chunk.len(),
        Body::ToolInputDelta { delta, .. } => delta.len(),
        Body::FileChanged(change) => change.diff.as_ref().map_or(0, String::len),
        Body::SessionStarted { input } => input.len(),
        Body::SessionEnded(end) => end.final_text.as_ref().map_or(0, String::len),
        Body::ArtifactWritten(artifact) => artifact.preview.as_ref().map_or(0, String::len),
        _ => 0,
    };
    (size_of::<Frame>() + payload + 96) as u64
}
