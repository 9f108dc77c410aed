//! Detects pauses in a tool's output.
//!
//! Input: numbered frames, and when their bytes arrived. Output: the tools whose output has paused for [`QUIET_MS`]; the normalizer
//! then emits an empty piece. An encoder that joins pieces of output cannot know whether another piece follows, and it has no
//! clock. The empty piece records the pause in the log, so the live reader and every replay cut at the same point. Never: an
//! empty piece after a piece that arrived alone, after a tool's end, or twice.

use crate::frame::{Body, OutputStream, Tool};
use crate::normalizer::Target;
use crate::sequence::StreamKey;
use std::collections::{BTreeMap, BTreeSet};

/// How long pieces of output may be joined, in milliseconds; then an encoder flushes what it holds back.
pub const QUIET_MS: u64 = 50;

/// The streams whose latest output is from a tool.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    /// When the bytes being processed arrived, in Unix epoch milliseconds of the caller's clock.
    arrived_ms: u64,
    speaking: BTreeMap<StreamKey, Speaking>,
    /// The streams whose last piece may be held back, by the arrival time of the first such piece. The first entry is the next
    /// deadline.
    due: BTreeSet<(u64, StreamKey)>,
}

/// A tool whose output may continue.
#[derive(Debug)]
struct Speaking {
    silence: Silence,
    /// The frame time of the last piece.
    last_ms: u64,
    /// The first piece that may be held back: its frame time and its arrival time. A piece after a pause is not held back.
    held: Option<(u64, u64)>,
}

/// A pause to report.
#[derive(Clone, Debug)]
pub(super) struct Silence {
    pub(super) target: Target,
    pub(super) tool: Tool,
    pub(super) stream: OutputStream,
}

impl Quiet {
    /// Bytes arrived, in Unix epoch milliseconds of the caller's clock.
    pub(super) fn arrive(&mut self, now_ms: u64) {
        if now_ms < self.arrived_ms {
            // The clock was set back; this must not postpone a deadline.
            while let Some(&(arrived_ms, stream)) = self.due.last().filter(|(arrived_ms, _)| *arrived_ms > now_ms) {
                self.due.remove(&(arrived_ms, stream));
                self.due.insert((now_ms, stream));
                if let Some((_, arrived_ms)) =
                    self.speaking.get_mut(&stream).and_then(|speaking| speaking.held.as_mut())
                {
                    *arrived_ms = now_ms;
                }
            }
        }
        self.arrived_ms = now_ms;
    }

    /// When the last bytes arrived.
    pub(super) fn arrived_ms(&self) -> u64 {
        self.arrived_ms
    }

    /// Records a frame that happened at `now_ms` (Unix epoch milliseconds).
    pub(super) fn note(&mut self, target: Target, body: &Body, now_ms: u64) {
        let (tool, chunk, stream) = match body {
            Body::ToolStdout { tool, chunk }
            | Body::ToolStdoutTail { tool, chunk }
            | Body::ToolStdoutFront { tool, chunk } => (tool, chunk, OutputStream::Stdout),
            Body::ToolStderr { tool, chunk } => (tool, chunk, OutputStream::Stderr),
            // These frames flush what is held back.
            Body::ToolEnded { .. } | Body::ToolFailed { .. } | Body::SessionEnded(_) => {
                self.forget(target.stream);
                return;
            }
            _ => return,
        };
        if chunk.is_empty() {
            return;
        }
        let is_recent = |then: u64| now_ms.saturating_sub(then) < QUIET_MS;
        let before = self.speaking.get(&target.stream).filter(|speaking| is_recent(speaking.last_ms));
        let held = before.map(|speaking| {
            speaking.held.filter(|(since_ms, _)| is_recent(*since_ms)).unwrap_or((now_ms, self.arrived_ms))
        });
        let silence = Silence { target, tool: tool.clone(), stream };
        self.forget(target.stream);
        self.due.extend(held.map(|(_, arrived_ms)| (arrived_ms, target.stream)));
        self.speaking.insert(target.stream, Speaking { silence, last_ms: now_ms, held });
    }

    fn forget(&mut self, stream: StreamKey) {
        if let Some((_, arrived_ms)) = self.speaking.remove(&stream).and_then(|speaking| speaking.held) {
            self.due.remove(&(arrived_ms, stream));
        }
    }

    /// When the next pause must be reported, on the caller's clock; `None` if none is pending.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.due.first().map(|(arrived_ms, _)| arrived_ms.saturating_add(QUIET_MS))
    }

    /// Takes the pauses that are due, each once, in the order of their streams.
    pub(super) fn take(&mut self, now_ms: u64) -> Vec<Silence> {
        let mut due = Vec::new();
        while self.deadline().is_some_and(|deadline| deadline <= now_ms) {
            due.extend(self.due.pop_first().map(|(_, stream)| stream));
        }
        due.sort_unstable();
        let silence = |stream: StreamKey| {
            let speaking = self.speaking.get_mut(&stream)?;
            speaking.held.take().map(|_| speaking.silence.clone())
        };
        due.into_iter().filter_map(silence).collect()
    }
}
