//! Text and reasoning as chunks, with an id for each block of a message.
//!
//! Input: the pieces and the ends of blocks. Output: chunks. Never: one id for text and reasoning, or for two blocks: clients join the
//! chunks of one id, although a call came between them.

use super::data::{Chunk, text};
use super::writer::Writer;
use crate::encode::Events;
use crate::frame::{BlockDelta, SharedStr};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use uuid::Uuid;

/// The maximum number of open blocks. The rest of an older one has another id.
const MAX_OPEN: usize = 16;

/// The kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum BlockKind {
    Text,
    Reasoning,
}

/// The open blocks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Blocks {
    open: VecDeque<Block>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    kind: BlockKind,
    message_id: SharedStr,
    block_index: u32,
    id: Uuid,
}

impl BlockKind {
    fn chunk(self) -> &'static str {
        match self {
            Self::Text => "agent_message_chunk",
            Self::Reasoning => "agent_thought_chunk",
        }
    }
}

impl Blocks {
    fn position(&self, kind: BlockKind, message_id: &str, block_index: u32) -> Option<usize> {
        let is_same =
            |block: &Block| block.kind == kind && block.block_index == block_index && *block.message_id == *message_id;
        self.open.iter().rposition(is_same)
    }

    /// Emits a piece of a block.
    pub(super) fn delta(&mut self, kind: BlockKind, block: &BlockDelta, writer: &mut Writer, out: &mut Events) {
        let known = self.position(kind, &block.message_id, block.block_index).and_then(|at| self.open.get(at));
        let id = match known {
            Some(open) => open.id,
            None => {
                if self.open.len() == MAX_OPEN {
                    self.open.pop_front();
                }
                let (message_id, block_index, id) = (block.message_id.clone(), block.block_index, writer.fresh_id());
                self.open.push_back(Block { kind, message_id, block_index, id });
                id
            }
        };
        writer.update(kind.chunk(), &Chunk { content: text(&block.delta), message_id: id }, out);
    }

    /// A block is complete.
    pub(super) fn complete(&mut self, kind: BlockKind, message_id: &str, block_index: u32) {
        if let Some(at) = self.position(kind, message_id, block_index) {
            self.open.remove(at);
        }
    }

    /// Every block is complete.
    pub(super) fn close(&mut self) {
        self.open.clear();
    }
}

/// Emits a text that is a message of its own.
pub(super) fn whole(said: &str, writer: &mut Writer, out: &mut Events) {
    let message_id = writer.fresh_id();
    writer.update(BlockKind::Text.chunk(), &Chunk { content: text(said), message_id }, out);
}
