//! Detects pauses in the output of tools.
//!
//! Input: frames as the normalizer numbered them, and when their bytes arrived. Output: the streams whose output has paused for
//! [`HOLD_MS`], with the time before which the stream gets no further frame. Never: a frame; a pause after a piece
//! that arrived alone, after a tool's end, or during replay.
//!
//! An encoder may hold output back to join it with the next piece. It has no clock: the next frame's time tells it that the
//! piece is due. If no frame follows, the pause does (see [`Encoder::paused`](crate::encode::Encoder::paused)).

use crate::encode::HOLD_MS;
use crate::frame::{Body, Frame, StreamKind};
use crate::hash::HashMap;
use std::collections::BTreeSet;
use uuid::Uuid;

/// How long frames of another proxy may be delayed on their way. A frame that arrives later than that in the output of a tool gets a later time.
const DELAY_MS: u64 = 2000;

type StreamId = (StreamKind, Uuid);

/// A pause in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The stream.
    pub stream: (StreamKind, Uuid),
    /// The time before which the stream gets no further frame, in Unix epoch milliseconds.
    pub until_ms: u64,
}

/// The streams whose last frame is output of a tool.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// When the bytes being processed arrived, in Unix epoch milliseconds of the caller's clock.
    arrived_ms: u64,
    open: HashMap<StreamId, Output>,
    /// The streams with a piece that may be held, by the arrival of the first such piece. The first entry has the next deadline.
    due: BTreeSet<(u64, StreamId)>,
    /// How long after that deadline output counts as paused, in milliseconds.
    delay_ms: u64,
}

/// The output of a stream whose end is not known.
#[derive(Clone, Copy, Debug)]
struct Output {
    last: Piece,
    /// The first piece that an encoder may hold; `None` if the last piece came alone.
    held: Option<Piece>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    arrived_ms: u64,
    timestamp_ms: u64,
}

impl Pauses {
    /// Pieces may arrive late.
    pub(super) fn allow_delays(&mut self) {
        self.delay_ms = DELAY_MS;
    }

    /// Bytes arrived.
    pub(super) fn arrive(&mut self, now_ms: u64) {
        if now_ms < self.arrived_ms {
            // The clock was set back, which must not postpone a deadline.
            while let Some(&(arrived_ms, stream)) = self.due.last().filter(|(arrived_ms, _)| *arrived_ms > now_ms) {
                self.due.remove(&(arrived_ms, stream));
                self.due.insert((now_ms, stream));
                if let Some(held) = self.open.get_mut(&stream).and_then(|output| output.held.as_mut()) {
                    held.arrived_ms = now_ms;
                }
            }
            self.open.values_mut().for_each(|output| output.last.arrived_ms = output.last.arrived_ms.min(now_ms));
        }
        self.arrived_ms = now_ms;
    }

    /// Takes note of the frames of those bytes.
    pub(super) fn note(&mut self, frames: &[Frame]) {
        for frame in frames {
            let stream = || (frame.stream.kind, frame.stream.id);
            match &frame.body {
                Body::ToolStdout { chunk, .. }
                | Body::ToolStdoutTail { chunk, .. }
                | Body::ToolStdoutFront { chunk, .. }
                | Body::ToolStderr { chunk, .. }
                    if !chunk.is_empty() =>
                {
                    self.output(stream(), frame.timestamp_ms);
                }
                Body::ToolEnded { .. } | Body::ToolFailed { .. } | Body::SessionEnded(_) => {
                    self.forget(stream());
                }
                _ => {}
            }
        }
    }

    fn output(&mut self, stream: StreamId, timestamp_ms: u64) {
        let last = Piece { arrived_ms: self.arrived_ms, timestamp_ms };
        let is_recent = |piece: &Piece| timestamp_ms.saturating_sub(piece.timestamp_ms) < HOLD_MS;
        let before = self.forget(stream).filter(|before| is_recent(&before.last));
        let held = before.map(|before| before.held.filter(is_recent).unwrap_or(last));
        self.due.extend(held.map(|held| (held.arrived_ms, stream)));
        self.open.insert(stream, Output { last, held });
    }

    fn forget(&mut self, stream: StreamId) -> Option<Output> {
        let output = self.open.remove(&stream)?;
        if let Some(held) = output.held {
            self.due.remove(&(held.arrived_ms, stream));
        }
        Some(output)
    }

    /// When the next pause is due, on the caller's clock; `None` if no output can be held.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.due.first().map(|(arrived_ms, _)| arrived_ms.saturating_add(HOLD_MS + self.delay_ms))
    }

    /// Takes the pauses that are due. An encoder that emitted some of the output meanwhile, because it was large, holds only
    /// later pieces: its pause comes after the last piece.
    pub(super) fn take(&mut self, now_ms: u64) -> Vec<Pause> {
        let mut pauses = Vec::new();
        while self.deadline().is_some_and(|deadline| deadline <= now_ms)
            && let Some((_, stream)) = self.due.pop_first()
        {
            let Some(Output { last, held: Some(held) }) = self.open.remove(&stream) else { continue };
            if held.timestamp_ms < last.timestamp_ms {
                self.due.insert((last.arrived_ms, stream));
                self.open.insert(stream, Output { last, held: Some(last) });
            }
            pauses.push(Pause { stream, until_ms: held.timestamp_ms.saturating_add(HOLD_MS) });
        }
        pauses
    }
}
