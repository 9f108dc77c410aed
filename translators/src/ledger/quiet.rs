//! Silence behind a tool's output.
//!
//! In: frames, as they are numbered, and when their bytes arrived. Out: whose output has been silent for [`QUIET_MS`]; an empty
//! piece of it then says so. Whoever joins pieces of output cannot know whether another one comes, and may ask no clock: with
//! that frame the answer stands in the log, for the live reader and for every replay. Never: one behind a piece that came
//! alone, behind a tool's end, or twice.

use crate::frame::{Body, OutputStream, Tool};
use crate::ledger::Place;
use crate::sequence::StreamKey;
use std::collections::BTreeMap;

/// How long pieces of output may be joined, in milliseconds; then whoever holds one back lets it go.
pub const QUIET_MS: u64 = 50;

/// The streams in which a tool spoke last.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    /// When the bytes arrived that are being told, in Unix epoch milliseconds of the caller's clock.
    arrived_ms: u64,
    speaking: BTreeMap<StreamKey, Speaking>,
}

/// A tool whose output may go on.
#[derive(Debug)]
struct Speaking {
    silence: Silence,
    /// The frame time of the last piece.
    last_ms: u64,
    /// The first piece that may be held back: its frame time, and when it arrived. A piece after a quiet spell is not.
    held: Option<(u64, u64)>,
}

/// A silence that is to be told.
#[derive(Clone, Debug)]
pub(super) struct Silence {
    pub(super) place: Place,
    pub(super) tool: Tool,
    pub(super) stream: OutputStream,
}

impl Quiet {
    /// Bytes arrived, in Unix epoch milliseconds of the caller's clock.
    pub(super) fn arrive(&mut self, now_ms: u64) {
        if now_ms < self.arrived_ms {
            // The clock was set back: nobody waits longer for that.
            for (_, arrived_ms) in self.speaking.values_mut().filter_map(|speaking| speaking.held.as_mut()) {
                *arrived_ms = now_ms.min(*arrived_ms);
            }
        }
        self.arrived_ms = now_ms;
    }

    /// When the last bytes arrived.
    pub(super) fn arrived_ms(&self) -> u64 {
        self.arrived_ms
    }

    /// Takes what happened at that time (Unix epoch milliseconds).
    pub(super) fn note(&mut self, place: Place, body: &Body, now_ms: u64) {
        let (tool, chunk, stream) = match body {
            Body::ToolStdout { tool, chunk } | Body::ToolStdoutFront { tool, chunk } => {
                (tool, chunk, OutputStream::Stdout)
            }
            Body::ToolStderr { tool, chunk } => (tool, chunk, OutputStream::Stderr),
            // Whatever is held back goes ahead of these.
            Body::ToolEnded { .. } | Body::ToolFailed { .. } | Body::SessionEnded(_) => {
                self.speaking.remove(&place.stream);
                return;
            }
            _ => return,
        };
        if chunk.is_empty() {
            return;
        }
        let is_recent = |then: u64| now_ms.saturating_sub(then) < QUIET_MS;
        let before = self.speaking.get(&place.stream).filter(|speaking| is_recent(speaking.last_ms));
        let held = before.map(|speaking| {
            speaking.held.filter(|(since_ms, _)| is_recent(*since_ms)).unwrap_or((now_ms, self.arrived_ms))
        });
        let silence = Silence { place, tool: tool.clone(), stream };
        self.speaking.insert(place.stream, Speaking { silence, last_ms: now_ms, held });
    }

    /// When a silence is to be told, on the caller's clock; `None` where nobody waits for one.
    pub(super) fn deadline(&self) -> Option<u64> {
        let held = self.speaking.values().filter_map(|speaking| speaking.held);
        held.map(|(_, arrived_ms)| arrived_ms.saturating_add(QUIET_MS)).min()
    }

    /// The silences that are to be told by then, each once.
    pub(super) fn take(&mut self, now_ms: u64) -> Vec<Silence> {
        let due = |(_, arrived_ms): &(u64, u64)| arrived_ms.saturating_add(QUIET_MS) <= now_ms;
        let speaking = self.speaking.values_mut();
        speaking
            .filter_map(|speaking| speaking.held.take_if(|held| due(held)).map(|_| speaking.silence.clone()))
            .collect()
    }
}
