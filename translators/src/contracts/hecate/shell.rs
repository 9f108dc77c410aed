//! Shell output, joined into pieces of a useful size.
//!
//! Input: pieces of output with their times. Output: fewer and larger pieces, each with its offset in its stream. Never: a
//! piece that changes its order relative to other events, or a piece that waits for a clock.
//!
//! A piece after a pause is emitted at once. Pieces within the next [`HOLD_MS`] are joined, until the result is large, a
//! later frame arrives, or any other event is emitted. If nothing arrives, a pause releases the piece (see
//! [`Encoder::paused`](crate::encode::Encoder::paused)). The frames' times decide alone, so a replay cuts at the same points as
//! the live stream.

use crate::encode::{HOLD_MS, Word, data};
use crate::frame::SharedStr;
use serde::{Deserialize, Serialize};

/// The size limit of joined output, in bytes. A single piece may be larger.
pub(super) const JOINED_BYTES: usize = 8 << 10;

/// A static string. The alias is needed because serde would treat a reference type as borrowed from its input.
type StreamName = &'static str;

fn stream<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<StreamName, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = ["stdout", "stderr"].into_iter().find(|known| *known == name);
    known.ok_or_else(|| serde::de::Error::custom(format_args!("there is no stream {name:?}")))
}

/// A piece of output.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chunk {
    pub(super) tool_call_id: SharedStr,
    pub(super) tool_name: SharedStr,
    #[serde(deserialize_with = "stream")]
    pub(super) stream: StreamName,
    pub(super) data: String,
    pub(super) byte_offset: u64,
    /// The piece belongs before the output so far.
    pub(super) is_front: bool,
}

data! {
    pub(super) struct WireChunk<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        stream: Word,
        data: &'a str,
        byte_offset: u64,
        position: Option<Word>,
    }
}

impl Chunk {
    pub(super) fn wire(&self) -> WireChunk<'_> {
        WireChunk {
            tool_call_id: &self.tool_call_id,
            tool_name: &self.tool_name,
            stream: Word(self.stream),
            data: &self.data,
            byte_offset: self.byte_offset,
            position: self.is_front.then_some(Word("front")),
        }
    }
}

/// Output held for joining.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputJoiner {
    waiting: Option<PendingChunk>,
    /// When output was last emitted.
    released_ms: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PendingChunk {
    chunk: Chunk,
    since_ms: u64,
    last_ms: u64,
}

impl OutputJoiner {
    /// Whether a piece can be joined to the held output.
    pub(super) fn joins(&self, chunk: &Chunk) -> bool {
        self.waiting.as_ref().is_none_or(|waiting| {
            let held = &waiting.chunk;
            held.tool_call_id == chunk.tool_call_id
                && held.stream == chunk.stream
                && held.is_front == chunk.is_front
                && held.data.len() + chunk.data.len() <= JOINED_BYTES
        })
    }

    /// Holds a piece; returns whether the held output must be emitted now.
    pub(super) fn take(&mut self, chunk: Chunk, now_ms: u64) -> bool {
        let is_quiet = self.released_ms.is_none_or(|last| now_ms.saturating_sub(last) >= HOLD_MS);
        match &mut self.waiting {
            Some(waiting) => {
                waiting.chunk.data.push_str(&chunk.data);
                waiting.last_ms = now_ms;
            }
            None => self.waiting = Some(PendingChunk { chunk, since_ms: now_ms, last_ms: now_ms }),
        }
        is_quiet || self.waiting.as_ref().is_some_and(|waiting| waiting.chunk.data.len() >= JOINED_BYTES)
    }

    /// Whether the held output is due.
    pub(super) fn is_due(&self, now_ms: u64) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| now_ms.saturating_sub(waiting.since_ms) >= HOLD_MS)
    }

    /// Returns the held output with its time.
    pub(super) fn release(&mut self) -> Option<(u64, Chunk)> {
        let waiting = self.waiting.take()?;
        self.released_ms = Some(waiting.last_ms);
        Some((waiting.last_ms, waiting.chunk))
    }
}
