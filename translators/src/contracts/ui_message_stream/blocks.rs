//! Text and reasoning parts, one for each block of a message.
//!
//! Input: the pieces and the ends of blocks. Output: a part with a fresh id for each block. Never: two parts with one id, or a
//! piece outside a part.

use super::data::{Delta, Part};
use super::writer::Writer;
use crate::encode::Events;
use crate::frame::{BlockDelta, SharedStr};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The maximum number of open parts. One more closes the oldest part; the rest of its block is a part of its own.
const MAX_OPEN: usize = 16;

/// The kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PartKind {
    Text,
    Reasoning,
}

/// The open parts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Blocks {
    open: VecDeque<Block>,
    opened: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    kind: PartKind,
    message_id: SharedStr,
    block_index: u32,
    number: u64,
}

impl PartKind {
    fn id(self, number: u64) -> String {
        match self {
            Self::Text => format!("text-{number}"),
            Self::Reasoning => format!("reasoning-{number}"),
        }
    }

    /// The types of the chunks: start, delta, end.
    fn chunks(self) -> [&'static str; 3] {
        match self {
            Self::Text => ["text-start", "text-delta", "text-end"],
            Self::Reasoning => ["reasoning-start", "reasoning-delta", "reasoning-end"],
        }
    }
}

impl Blocks {
    fn position(&self, kind: PartKind, message_id: &str, block_index: u32) -> Option<usize> {
        let is_same =
            |block: &Block| block.kind == kind && block.block_index == block_index && *block.message_id == *message_id;
        self.open.iter().rposition(is_same)
    }

    /// Emits a piece of a block.
    pub(super) fn delta(&mut self, kind: PartKind, block: &BlockDelta, writer: &mut Writer, out: &mut Events) {
        let known = self.position(kind, &block.message_id, block.block_index).and_then(|at| self.open.get(at));
        let number = match known {
            Some(open) => open.number,
            None => {
                if self.open.len() == MAX_OPEN
                    && let Some(oldest) = self.open.pop_front()
                {
                    end(&oldest, writer, out);
                }
                let number = self.opened;
                self.opened += 1;
                let (message_id, block_index) = (block.message_id.clone(), block.block_index);
                self.open.push_back(Block { kind, message_id, block_index, number });
                let [start, ..] = kind.chunks();
                writer.chunk(start, &Part { id: &kind.id(number) }, out);
                number
            }
        };
        let [_, delta, _] = kind.chunks();
        writer.chunk(delta, &Delta { id: &kind.id(number), delta: &block.delta }, out);
    }

    /// A block is complete.
    pub(super) fn complete(
        &mut self,
        kind: PartKind,
        message_id: &str,
        block_index: u32,
        writer: &mut Writer,
        out: &mut Events,
    ) {
        let at = self.position(kind, message_id, block_index);
        if let Some(block) = at.and_then(|at| self.open.remove(at)) {
            end(&block, writer, out);
        }
    }

    /// Emits a text as a whole part.
    pub(super) fn whole(&mut self, text: &str, writer: &mut Writer, out: &mut Events) {
        let kind = PartKind::Text;
        let id = kind.id(self.opened);
        self.opened += 1;
        let [start, delta, end] = kind.chunks();
        writer.chunk(start, &Part { id: &id }, out);
        writer.chunk(delta, &Delta { id: &id, delta: text }, out);
        writer.chunk(end, &Part { id: &id }, out);
    }

    /// Closes every open part, in the order of their starts.
    pub(super) fn close(&mut self, writer: &mut Writer, out: &mut Events) {
        for block in self.open.drain(..) {
            end(&block, writer, out);
        }
    }
}

fn end(block: &Block, writer: &mut Writer, out: &mut Events) {
    let [.., end] = block.kind.chunks();
    writer.chunk(end, &Part { id: &block.kind.id(block.number) }, out);
}
