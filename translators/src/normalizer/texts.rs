//! Turns, texts and reasoning: what a decoder reports in pieces or as a whole becomes deltas and one complete text.
//!
//! Input: pieces and complete texts of blocks, in any mixture. Output: each text once. Never: a delta of a text that is complete.

use super::stream_state::StreamState;
use super::{Block, BlockKind, Normalizer, Target};
use crate::frame::{Body, RawJson, SharedStr};
use crate::json::Utf16Text;
use crate::sequence::StreamKey;

/// The error of a record whose complete text differs from the pieces that preceded it.
const DIFFERS: &str = "the whole text differs from the pieces that came before it; the pieces stand";

impl Normalizer {
    /// Emits a body that needs no tracking.
    pub fn push(&mut self, target: Target, body: Body) {
        self.emit(target, body);
    }

    /// Begins a turn. A turn that is still open ends first, without a stop reason.
    pub fn turn_started(&mut self, stream: StreamKey, model: Option<SharedStr>) {
        self.turn_ended(stream, None);
        let time_ms = self.time_ms;
        let turn_index = self.book(stream).begin_turn(time_ms);
        self.emit(Target::main(stream), Body::TurnStarted { turn_index, model });
    }

    /// Whether a turn is open.
    pub fn in_turn(&self, stream: StreamKey) -> bool {
        self.open.get(&stream).is_some_and(StreamState::in_turn)
    }

    /// Ends the open turn, if there is one.
    pub fn turn_ended(&mut self, stream: StreamKey, stop_reason: Option<SharedStr>) {
        let time_ms = self.time_ms;
        if let Some((turn_index, duration_ms)) = self.open.get_mut(&stream).and_then(|open| open.end_turn(time_ms)) {
            let body = Body::TurnEnded { turn_index, stop_reason, duration_ms: Some(duration_ms) };
            self.emit(Target::main(stream), body);
        }
    }

    /// Adds a piece to a block. Half of a surrogate pair is held until its other half arrives.
    pub fn delta(&mut self, target: Target, block: Block<'_>, piece: Utf16Text) {
        let body = self.book(target.stream).blocks.delta(target.parent, block, piece);
        self.emit_all(target, body);
        self.bound_blocks(target.stream);
    }

    /// Completes a block. If there is a `snapshot`, the part that the deltas did not contain is emitted first. A snapshot that
    /// contradicts the deltas does not change them: it becomes an error of its record and the final text of the run, and the
    /// call returns `false`.
    pub fn complete(
        &mut self,
        target: Target,
        block: Block<'_>,
        snapshot: Option<&str>,
        opaque: Option<RawJson>,
    ) -> bool {
        let book = self.book(target.stream);
        let (bodies, agrees) = book.blocks.complete(target.parent, block, snapshot, opaque);
        if target.parent.is_none()
            && block.kind == BlockKind::Text
            && let Some(Body::OutputTextCompleted(whole)) = bodies.last()
        {
            let better = snapshot.filter(|text| !agrees && !text.is_empty());
            let text = better.map_or_else(|| whole.text.clone(), str::to_owned);
            self.set_final_text(target, block, text);
        }
        if !agrees {
            self.add_error(DIFFERS);
        }
        self.emit_all(target, bodies);
        agrees
    }

    /// Sets the run's final text until another one replaces it, whatever the block contained. Only the main thread's text
    /// counts.
    pub fn set_final_text(&mut self, target: Target, block: Block<'_>, text: String) {
        if target.parent.is_none() && block.kind == BlockKind::Text {
            let book = self.book(target.stream);
            (book.final_text, book.cut_text) = (Some(text), None);
        }
    }

    /// Closes a block that was cut off. Like [`Normalizer::complete`], but the text becomes the run's final text only if the run's
    /// answer was cut off.
    pub fn cut(&mut self, target: Target, block: Block<'_>, snapshot: Option<&str>) {
        let book = self.book(target.stream);
        let (bodies, agrees) = book.blocks.complete(target.parent, block, snapshot, None);
        if target.parent.is_none() {
            book.note_cut(&bodies);
        }
        if !agrees {
            self.add_error(DIFFERS);
        }
        self.emit_all(target, bodies);
    }

    /// The main thread's last complete text.
    pub fn last_text(&self, stream: StreamKey) -> Option<&str> {
        self.open.get(&stream)?.final_text.as_deref()
    }

    /// The text so far from the deltas of an open block; `None` if the block is not open.
    pub fn text_so_far(&self, target: Target, block: Block<'_>) -> Option<&str> {
        self.open.get(&target.stream)?.blocks.text_so_far(target.parent, block)
    }
}
