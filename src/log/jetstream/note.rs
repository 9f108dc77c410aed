//! What the header of a stored message says about it.
//!
//! Input: what a message is about. Output: one line of JSON in the header [`NOTE`], and back. Never: the content of frames. Every
//! proxy reads the headers of all messages, and the content only of those that its readers want.

use crate::log::Gone;
use framegate_translators::frame::Stream;
use framegate_translators::frame::stored::Header;
use framegate_translators::runners::PROVIDERS;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

/// The header that has a message's note.
pub(super) const NOTE: &str = "Framegate-Note";

/// The longest note, in bytes. The servers accept 64 KiB for all headers.
const NOTE_BYTES: usize = 56 << 10;

/// What a message is about.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Note {
    /// Frames of a stream.
    Frames(FramesNote),
    /// A further message with frames of the message before it.
    More,
    /// The front of a stream was cut.
    Cut(CutNote),
    /// A stream was dropped.
    Dropped(DroppedNote),
    /// The status of a stream changed without frames.
    Status {
        /// The status, as JSON.
        status: Box<str>,
    },
    /// A checkpoint of a stream.
    Checkpoint(CheckpointNote),
    /// The key of feed cursors.
    Key,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FramesNote {
    pub(super) stream: Header,
    /// The number of the first frame.
    pub(super) first: u64,
    pub(super) frames: u64,
    /// Bytes of the frames, over all messages.
    pub(super) bytes: u64,
    /// How many messages have them, with this one. They follow each other.
    pub(super) messages: u32,
    /// Whether no frames follow in this stream.
    pub(super) ended: bool,
    /// The proxy that wrote them.
    pub(super) writer: Uuid,
    /// When they were written, in Unix epoch milliseconds.
    pub(super) stored_ms: u64,
    /// The stream's status after them, as JSON; `None` if it is too long for a header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<Box<str>>,
    /// The labels of a status that is too long, as JSON: the frames do not have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) labels: Option<Box<str>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CutNote {
    pub(super) stream: Header,
    /// How many frames are gone.
    pub(super) frames: u64,
    /// Time of the last of them, in Unix epoch milliseconds.
    pub(super) last_ms: u64,
    /// When they were cut.
    pub(super) pruned_ms: u64,
    /// The position of the last of them among all frames.
    pub(super) position: u64,
    /// The sequence of the message that has the first frame that is left.
    pub(super) first: u64,
    /// Bytes of the messages that are left.
    pub(super) bytes: u64,
}

/// What a status has besides what can be read from frames.
#[derive(Deserialize)]
struct Labelled {
    #[serde(default)]
    labels: Option<Value>,
}

impl FramesNote {
    /// The note with the labels alone, if it is too long for a header with the whole status. A status is JSON, so in the note its
    /// quotes are escaped.
    pub(super) fn fitting(mut self) -> Self {
        let escaped = self.status.as_deref().map_or(0, escaped_len);
        if escaped > NOTE_BYTES / 2 && Note::Frames(self.clone()).text().len() > NOTE_BYTES {
            let status = self.status.take().unwrap_or_default();
            let labels = serde_json::from_str(&status).map(|Labelled { labels }| labels).unwrap_or_default();
            self.labels = labels.map(|labels| labels.to_string().into());
        }
        self
    }
}

/// About how long a text is in JSON.
fn escaped_len(text: &str) -> usize {
    text.len() + text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count()
}

impl CutNote {
    pub(super) fn gone(&self) -> Gone {
        Gone { frames: self.frames, last_ms: self.last_ms, pruned_ms: self.pruned_ms }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DroppedNote {
    pub(super) stream: Header,
    pub(super) frames: u64,
    /// The position of its last frame among all frames.
    pub(super) position: u64,
    pub(super) dropped_ms: u64,
    /// The number of its events in each contract, as far as they were counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) events: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckpointNote {
    pub(super) view: Box<str>,
    pub(super) frame: u64,
    pub(super) event: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last: Option<(LastEvent, u64)>,
    /// How many messages have its state, with this one.
    pub(super) messages: u32,
}

/// An event's cursor.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LastEvent {
    Number(u64),
    Id(Box<str>),
}

impl Note {
    /// The header's text.
    pub(super) fn text(&self) -> String {
        // Notes consist of numbers and strings, and every map has strings as keys.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether the text fits into a header.
    pub(super) fn fits(text: &str) -> bool {
        text.len() <= NOTE_BYTES
    }

    /// Reads a header's text.
    pub(super) fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// The stream that a header describes; `None` if this version does not know its runner.
pub(super) fn stream_of(header: &Header) -> Option<Arc<Stream>> {
    header.clone().into_stream(PROVIDERS).ok().map(Arc::new)
}
