//! What was said to the assistant, and what it says, block by block.

use super::Name;
use serde::{Deserialize, Serialize};

/// What a person said.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserMessage {
    /// The message's id, derived where the runner has none.
    pub message_id: Name,
    /// Its text.
    pub text: String,
    /// References to stored objects; never base64.
    pub attachments: Vec<Attachment>,
}

/// Something attached to a message, by reference.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// `image`, `file`, or the runner's own word.
    pub kind: Name,
    /// The media type.
    pub mime: Option<Name>,
    /// `sha256:` and the lower-case hex digest of the content, where the content was there.
    pub artifact_id: Option<Name>,
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
    pub message_id: Name,
    /// The block's place in the message.
    pub block_index: u32,
    /// The piece.
    pub delta: String,
}

/// The whole of a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockText {
    /// The message that the block belongs to.
    pub message_id: Name,
    /// The block's place in the message.
    pub block_index: u32,
    /// The text.
    pub text: String,
}
