//! Selects the final text of a run.
//!
//! Input: the blocks of messages as they are closed, whole texts that arrive after that, and results that follow a schema. Output: the
//! ends of the blocks, and the run's final text. Never: a truncated text as the answer; a text as the answer if a newer one exists.

use super::super::stops::Stop;
use super::message_log::PartState;
use super::session_context::SessionContext;
use crate::frame::{RawJson, SharedStr};
use crate::json::Object;
use crate::normalizer::{Block, BlockKind};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A block, and the position of its message within the session.
#[derive(Clone, Copy)]
pub(super) struct BlockPosition<'m> {
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
    /// The result of the newest message, if the prompt asked for one that follows a schema.
    pub(super) structured: Option<String>,
}

impl Answer {
    /// Reads the `structured` result of a message.
    pub(super) fn read_structured(&mut self, message: &Object<'_>, order: u64) {
        if let Some(result) = message.some("structured").filter(|_| self.order <= order) {
            self.note(order, 0);
            self.structured = Some(result.to_raw().get().to_owned());
        }
    }

    /// Notes the position of the newest answer. The result of an older message is then not the answer.
    fn note(&mut self, order: u64, index: u32) {
        if self.order < order {
            self.structured = None;
        }
        (self.order, self.index) = (order, index);
    }
}

/// What is kept of a block that was closed before its whole text arrived: hashes of the text delivered so far.
#[derive(Debug)]
pub(super) struct ClosedBlock {
    delivered: u64,
    /// The hash without trailing whitespace.
    trimmed: u64,
    /// Whether the block was cut off, so that its text is not the answer.
    cut: bool,
}

impl ClosedBlock {
    /// Whether the whole text equals the delivered text. Trailing whitespace that the runner omits does not count as a
    /// difference.
    pub(super) fn is_whole(&self, text: &str) -> bool {
        [self.delivered, self.trimmed].contains(&hash(text))
    }
}

/// Closes a block. If `whole` is given, the undelivered rest of the text is delivered first.
pub(super) fn close(
    context: &mut SessionContext<'_>,
    spot: BlockPosition<'_>,
    whole: Option<&str>,
    opaque: Option<RawJson>,
) {
    if is_answer(context, spot) {
        context.normalizer.complete(context.target, spot.block, whole, opaque);
    } else {
        context.normalizer.cut(context.target, spot.block, whole);
    }
}

/// Closes a block whose whole text may still arrive. Returns `None`, without closing it, if no text was delivered.
pub(super) fn leave(context: &mut SessionContext<'_>, spot: BlockPosition<'_>, cut: bool) -> Option<ClosedBlock> {
    let delivered = context.normalizer.text_so_far(context.target, spot.block)?;
    let (delivered, trimmed) = (hash(delivered), hash(delivered.trim_end()));
    let cut = cut || !is_answer(context, spot);
    if cut {
        context.normalizer.cut(context.target, spot.block, None);
    } else {
        context.normalizer.complete(context.target, spot.block, None, None);
    }
    Some(ClosedBlock { delivered, trimmed, cut })
}

/// Handles a block's whole text that arrives after the block was closed. It is too late to deliver more text, but the text can
/// still be the answer.
pub(super) fn late(context: &mut SessionContext<'_>, spot: BlockPosition<'_>, state: &mut PartState, text: &str) {
    let PartState::Left(left) = std::mem::replace(state, PartState::Done) else { return };
    let is_whole = left.is_whole(text);
    if !is_whole {
        context.normalizer.add_error("a text came whole after it was closed, and is not what was said of it");
    }
    if (left.cut || !is_whole) && !text.is_empty() && is_answer(context, spot) {
        context.normalizer.set_final_text(context.target, spot.block, text.to_owned());
    }
}

/// Whether a block's text is the run's final text, as far as known now.
fn is_answer(context: &mut SessionContext<'_>, BlockPosition { block, order }: BlockPosition<'_>) -> bool {
    if context.failing || block.kind != BlockKind::Text || !context.is_main() {
        return !context.failing;
    }
    let newest = (context.answer.order, context.answer.index);
    let is_newest = newest <= (order, block.index);
    if is_newest {
        context.answer.note(order, block.index);
    }
    is_newest
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
