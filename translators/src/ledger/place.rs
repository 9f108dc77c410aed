//! Where something is said, what it is a part of, and how a run ended: what a decoder says beside its words.

use super::BlockKind;
use crate::frame::{EndReason, Name};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// A stream, and the tool call in whose name a subagent speaks on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The stream.
    pub stream: StreamKey,
    /// The subagent's tool call; `None` for the main thread.
    pub parent: Option<Uuid>,
}

impl Place {
    /// The main thread of a stream.
    pub fn main(stream: StreamKey) -> Self {
        Self { stream, parent: None }
    }
}

/// A block of a message: where its text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// Text or reasoning.
    pub kind: BlockKind,
    /// The message's id.
    pub message_id: &'a str,
    /// The block's place in the message.
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

/// How a run ends, as far as the decoder says it.
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// The verdict.
    pub reason: EndReason,
    /// The final text, where the runner's own word is better than the last whole text block.
    pub final_text: Option<String>,
    /// A stable code where the run failed.
    pub error_code: Option<Name>,
    /// What a person is told where the run failed.
    pub message: Option<String>,
}

impl RunEnd {
    /// The run went well.
    pub fn completed() -> Self {
        Self { reason: EndReason::Completed, final_text: None, error_code: None, message: None }
    }

    /// The run failed.
    pub fn failed(code: impl Into<Name>, message: impl Into<String>) -> Self {
        Self {
            reason: EndReason::Failed,
            final_text: None,
            error_code: Some(code.into()),
            message: Some(message.into()),
        }
    }

    /// The run was stopped.
    pub fn interrupted(code: impl Into<Name>, message: impl Into<String>) -> Self {
        Self { reason: EndReason::Interrupted, ..Self::failed(code, message) }
    }
}

/// The code of a run whose stream ended without the runner's own end.
pub const STREAM_ENDED: &str = "stream_ended";
