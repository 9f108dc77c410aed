//! Messages to the assistant, and its output block by block.

use super::SharedStr;
use serde::{Deserialize, Serialize};

/// A message from a person.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserMessage {
    /// The message's id; derived if the runner gives none.
    pub message_id: SharedStr,
    /// Its text.
    pub text: String,
    /// References to stored objects; never base64.
    pub attachments: Vec<Attachment>,
}

/// Something attached to a message, by reference.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// `image`, `file`, or the runner's own value.
    pub kind: SharedStr,
    /// The media type.
    pub mime: Option<SharedStr>,
    /// `sha256:` and the lower-case hex digest of the content; `None` if the content was not in the record.
    pub artifact_id: Option<SharedStr>,
    /// A file name or path.
    pub name: Option<String>,
    /// Size of the content in bytes.
    pub bytes: Option<u64>,
}

/// A piece of a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockDelta {
    /// The message that the block belongs to.
    pub message_id: SharedStr,
    /// The block's index within the message.
    pub block_index: u32,
    /// The piece.
    pub delta: String,
}

/// The whole text of a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockText {
    /// The message that the block belongs to.
    pub message_id: SharedStr,
    /// The block's index within the message.
    pub block_index: u32,
    /// The text.
    pub text: String,
}
