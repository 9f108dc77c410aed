//! The assistant's current message.
//!
//! Input: pieces of text. Output: the whole text, once it is known to be complete. Never: text of two messages in one.

use crate::frame::SharedStr;
use serde::{Deserialize, Serialize};

/// The text since the last `assistant_message`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PendingText {
    message_id: Option<SharedStr>,
    text: String,
}

impl PendingText {
    /// Whether a piece of that message continues the text so far.
    pub(super) fn continues_with(&self, message_id: &SharedStr) -> bool {
        self.message_id.as_ref().is_none_or(|current| current == message_id)
    }

    /// How much text is held, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.text.len()
    }

    pub(super) fn add(&mut self, message_id: &SharedStr, piece: &str) {
        self.message_id.get_or_insert_with(|| message_id.clone());
        self.text.push_str(piece);
    }

    /// Takes the text, if there is any.
    pub(super) fn take(&mut self) -> Option<String> {
        self.message_id = None;
        Some(std::mem::take(&mut self.text)).filter(|text| !text.is_empty())
    }
}
