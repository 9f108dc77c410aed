//! Selects the final text of a run.
//!
//! Input: the blocks of messages as they are closed, and whole texts that arrive after that. Output: the ends of the blocks,
//! and the run's final text. Never: a truncated text as the answer; a text as the answer if a newer one exists.

use super::super::stops::Stop;
use super::stage::Stage;
use super::talk::PartState;
use crate::frame::{RawJson, SharedStr};
use crate::normalizer::{Block, BlockKind};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A block, and the position of its message within the session.
#[derive(Clone, Copy)]
pub(super) struct Spot<'m> {
    /// The block.
    pub(super) block: Block<'m>,
    /// The position of the message. Newer messages have greater values.
    pub(super) order: u64,
}

/// The position of a run's newest whole text, and why the model stopped after it.
#[derive(Debug, Default)]
pub(super) struct Answer {
    order: u64,
    index: u32,
    /// Why the main thread's last model request stopped; `None` if its answer is complete.
    pub(super) stop: Option<(Stop, SharedStr)>,
}

/// What is kept of a block that was closed before its whole text arrived: hashes of the text delivered so far.
#[derive(Debug)]
pub(super) struct Left {
    said: u64,
    /// The hash without trailing whitespace.
    trimmed: u64,
    /// Whether the block was cut off, so that its text is not the answer.
    cut: bool,
}

impl Left {
    /// Whether the whole text equals the delivered text. Trailing whitespace that the runner omits does not count as a
    /// difference.
    pub(super) fn is_whole(&self, text: &str) -> bool {
        [self.said, self.trimmed].contains(&hash(text))
    }
}

/// Closes a block. If `whole` is given, the undelivered rest of the text is delivered first.
pub(super) fn close(stage: &mut Stage<'_>, spot: Spot<'_>, whole: Option<&str>, opaque: Option<RawJson>) {
    if is_answer(stage, spot) {
        stage.normalizer.complete(stage.place, spot.block, whole, opaque);
    } else {
        stage.normalizer.cut(stage.place, spot.block, whole);
    }
}

/// Closes a block whose whole text may still arrive. Returns `None`, without closing it, if no text was delivered.
pub(super) fn leave(stage: &mut Stage<'_>, spot: Spot<'_>, cut: bool) -> Option<Left> {
    let said = stage.normalizer.said(stage.place, spot.block)?;
    let (said, trimmed) = (hash(said), hash(said.trim_end()));
    let cut = cut || !is_answer(stage, spot);
    if cut {
        stage.normalizer.cut(stage.place, spot.block, None);
    } else {
        stage.normalizer.complete(stage.place, spot.block, None, None);
    }
    Some(Left { said, trimmed, cut })
}

/// Handles a block's whole text that arrives after the block was closed. It is too late to deliver more text, but the text can
/// still be the answer.
pub(super) fn late(stage: &mut Stage<'_>, spot: Spot<'_>, state: &mut PartState, text: &str) {
    let PartState::Left(left) = std::mem::replace(state, PartState::Done) else { return };
    let is_whole = left.is_whole(text);
    if !is_whole {
        stage.normalizer.fault("a text came whole after it was closed, and is not what was said of it");
    }
    if (left.cut || !is_whole) && !text.is_empty() && is_answer(stage, spot) {
        stage.normalizer.set_final_text(stage.place, spot.block, text.to_owned());
    }
}

/// Whether a block's text is the run's final text, as far as known now.
fn is_answer(stage: &mut Stage<'_>, Spot { block, order }: Spot<'_>) -> bool {
    if stage.failing || block.kind != BlockKind::Text || !stage.is_main() {
        return !stage.failing;
    }
    let newest = (stage.answer.order, stage.answer.index);
    let is_newest = newest <= (order, block.index);
    if is_newest {
        (stage.answer.order, stage.answer.index) = (order, block.index);
    }
    is_newest
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
