//! Shell output, joined into pieces of a useful size.
//!
//! In: pieces of output with their times. Out: fewer, larger pieces, each with its place in its stream. Never: a piece
//! that goes ahead of, or stays behind, an event that it came before or after; a piece that waits for a clock.
//!
//! A piece after a quiet spell goes out at once. What follows within [`WINDOW_MS`] is joined until it is large, until a
//! frame comes that is later, or until any other event does. Where nothing comes, the ingest says so with an empty piece
//! (see [`QUIET_MS`]). Frames alone decide, so a replay cuts where the live stream did.

use crate::encode::{Word, data};
use crate::frame::Name;
use crate::ledger::QUIET_MS;
use serde::{Deserialize, Serialize};

/// How long output is joined, in milliseconds.
pub(super) const WINDOW_MS: u64 = QUIET_MS;

/// How large joined output grows, in bytes. A single piece may be larger.
pub(super) const JOINED_BYTES: usize = 8 << 10;

/// A word of the program. Under a name of its own, for serde takes a reference that it sees for one into its input.
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
    pub(super) tool_call_id: Name,
    pub(super) tool_name: Name,
    #[serde(deserialize_with = "stream")]
    pub(super) stream: StreamName,
    pub(super) data: String,
    pub(super) byte_offset: u64,
    /// The piece belongs before what was told so far.
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

/// Output that waits for more.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Held {
    waiting: Option<Waiting>,
    /// When output last went out.
    released_ms: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Waiting {
    chunk: Chunk,
    since_ms: u64,
    last_ms: u64,
}

impl Held {
    /// Whether a piece can be joined to what waits.
    pub(super) fn joins(&self, chunk: &Chunk) -> bool {
        self.waiting.as_ref().is_none_or(|waiting| {
            let held = &waiting.chunk;
            held.tool_call_id == chunk.tool_call_id
                && held.stream == chunk.stream
                && held.is_front == chunk.is_front
                && held.data.len() + chunk.data.len() <= JOINED_BYTES
        })
    }

    /// Takes a piece; says whether what waits now is to go out.
    pub(super) fn take(&mut self, chunk: Chunk, now_ms: u64) -> bool {
        let is_quiet = self.released_ms.is_none_or(|last| now_ms.saturating_sub(last) >= WINDOW_MS);
        match &mut self.waiting {
            Some(waiting) => {
                waiting.chunk.data.push_str(&chunk.data);
                waiting.last_ms = now_ms;
            }
            None => self.waiting = Some(Waiting { chunk, since_ms: now_ms, last_ms: now_ms }),
        }
        is_quiet || self.waiting.as_ref().is_some_and(|waiting| waiting.chunk.data.len() >= JOINED_BYTES)
    }

    /// Whether what waits has waited long enough.
    pub(super) fn is_due(&self, now_ms: u64) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| now_ms.saturating_sub(waiting.since_ms) >= WINDOW_MS)
    }

    /// Lets go of what waits, with its time.
    pub(super) fn release(&mut self) -> Option<(u64, Chunk)> {
        let waiting = self.waiting.take()?;
        self.released_ms = Some(waiting.last_ms);
        Some((waiting.last_ms, waiting.chunk))
    }
}
