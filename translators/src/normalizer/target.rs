//! The arguments of a decoder's calls: where a frame goes, a block, and how a run ended.

use super::BlockKind;
use crate::frame::{CONTENT_FILTER, EndReason, SharedStr};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// A stream, and the tool call of the subagent that acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The stream.
    pub stream: StreamKey,
    /// The subagent's tool call; `None` for the main thread.
    pub parent: Option<Uuid>,
}

impl Target {
    /// The main thread of a stream.
    pub fn main(stream: StreamKey) -> Self {
        Self { stream, parent: None }
    }
}

/// Identifies a block of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// Text or reasoning.
    pub kind: BlockKind,
    /// The message's id.
    pub message_id: &'a str,
    /// The block's index within the message.
    pub index: u32,
}

impl<'a> Block<'a> {
    /// A block of the assistant's text.
    pub fn text(message_id: &'a str, index: u32) -> Self {
        Self { kind: BlockKind::Text, message_id, index }
    }

    /// A block of reasoning.
    pub fn reasoning(message_id: &'a str, index: u32) -> Self {
        Self { kind: BlockKind::Reasoning, message_id, index }
    }
}

/// How a run ends, as far as the decoder knows.
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// The outcome.
    pub reason: EndReason,
    /// The final text, if the runner reports a better one than the last complete text block.
    pub final_text: Option<String>,
    /// A stable error code if the run failed.
    pub error_code: Option<SharedStr>,
    /// The message for a person if the run failed.
    pub message: Option<String>,
}

impl RunEnd {
    /// A completed run.
    pub fn completed() -> Self {
        Self { reason: EndReason::Completed, final_text: None, error_code: None, message: None }
    }

    /// Whether a limit or a filter cut the answer off, so that an incomplete text is the answer.
    pub(super) fn cuts_answer(&self) -> bool {
        match self.reason {
            EndReason::Completed => self.error_code.is_some(),
            EndReason::Failed => self.error_code.as_deref() == Some(CONTENT_FILTER),
            EndReason::Interrupted => false,
        }
    }

    /// A failed run.
    pub fn failed(code: impl Into<SharedStr>, message: impl Into<String>) -> Self {
        Self {
            reason: EndReason::Failed,
            final_text: None,
            error_code: Some(code.into()),
            message: Some(message.into()),
        }
    }

    /// A run that was stopped.
    pub fn interrupted(code: impl Into<SharedStr>, message: impl Into<String>) -> Self {
        Self { reason: EndReason::Interrupted, ..Self::failed(code, message) }
    }
}

/// The code of a run whose stream ended before the runner reported an outcome.
pub const STREAM_ENDED: &str = "stream_ended";
