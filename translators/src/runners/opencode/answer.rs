//! Which text a run ends with.
//!
//! In: the blocks of messages, as they are closed, and whole texts that come behind that. Out: the blocks' ends, and the
//! run's final text. Never: a text as the answer that was cut off, or that stands before a newer one.

use super::stage::Stage;
use super::talk::PartState;
use crate::frame::RawJson;
use crate::ledger::{Block, BlockKind};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A block, and the place of its message among those of its session.
#[derive(Clone, Copy)]
pub(super) struct Spot<'m> {
    /// The block.
    pub(super) block: Block<'m>,
    /// Newer messages have greater ones.
    pub(super) order: u64,
}

/// The place of a run's newest whole text.
#[derive(Debug, Default)]
pub(super) struct Answer {
    order: u64,
    index: u32,
}

/// What is kept of a block that was closed before its whole text came: hashes of what was said.
#[derive(Debug)]
pub(super) struct Left {
    said: u64,
    /// Without the space at its end.
    trimmed: u64,
    /// It was cut off, so that its text was not the answer.
    cut: bool,
}

impl Left {
    /// Whether the whole text is what was said. A runner that leaves away the space at a text's end contradicts nothing.
    pub(super) fn is_whole(&self, text: &str) -> bool {
        [self.said, self.trimmed].contains(&hash(text))
    }
}

/// Closes a block. With `whole`, what was not said of it yet is said first.
pub(super) fn close(stage: &mut Stage<'_>, spot: Spot<'_>, whole: Option<&str>, opaque: Option<RawJson>) {
    if is_answer(stage, spot) {
        stage.ledger.complete(stage.place, spot.block, whole, opaque);
    } else {
        stage.ledger.cut(stage.place, spot.block, whole);
    }
}

/// Closes a block whose whole text may still come; `None` where nothing was said of it, so that it stays as it is.
pub(super) fn leave(stage: &mut Stage<'_>, spot: Spot<'_>, cut: bool) -> Option<Left> {
    let said = stage.ledger.said(stage.place, spot.block)?;
    let (said, trimmed) = (hash(said), hash(said.trim_end()));
    let cut = cut || !is_answer(stage, spot);
    if cut {
        stage.ledger.cut(stage.place, spot.block, None);
    } else {
        stage.ledger.complete(stage.place, spot.block, None, None);
    }
    Some(Left { said, trimmed, cut })
}

/// The whole text of a block comes after the block was closed: too late to say more of it, but not to be the answer.
pub(super) fn late(stage: &mut Stage<'_>, spot: Spot<'_>, state: &mut PartState, text: &str) {
    let PartState::Left(left) = std::mem::replace(state, PartState::Done) else { return };
    let is_whole = left.is_whole(text);
    if !is_whole {
        stage.ledger.fault("a text came whole after it was closed, and is not what was said of it");
    }
    if (left.cut || !is_whole) && !text.is_empty() && is_answer(stage, spot) {
        stage.ledger.set_final_text(stage.place, spot.block, text.to_owned());
    }
}

/// Whether a block's text is what the run ends with, as far as is known.
fn is_answer(stage: &mut Stage<'_>, Spot { block, order }: Spot<'_>) -> bool {
    if stage.failing || block.kind != BlockKind::Text || !stage.is_main() {
        return !stage.failing;
    }
    let newest = (stage.answer.order, stage.answer.index);
    let is_newest = newest <= (order, block.index);
    if is_newest {
        *stage.answer = Answer { order, index: block.index };
    }
    is_newest
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
