//! Text and thinking.
//!
//! Input: deltas and whole blocks of the main thread. Output: `assistant.text_*`, and `assistant.thinking_*` if experimental
//! groups are enabled. Never: a subagent's text, or an empty delta.

use super::envelope::EventSink;
use crate::encode::{Flat, data};
use crate::frame::{BlockDelta, BlockText, SharedStr};
use crate::hash::HashMap;
use serde::{Deserialize, Serialize};

/// Text or thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Channel {
    Text,
    Thinking,
}

/// The open blocks, and the block counter of the turn.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Blocks {
    #[serde(with = "crate::saved::pairs")]
    open: HashMap<(Channel, SharedStr, u32), BlockPosition>,
    turn_index: u32,
    next: u32,
}

data! {
    #[derive(Clone, Copy, Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct BlockPosition {
        turn_index: u32,
        block_index: u32,
    }

    struct Delta<'a> {
        place: Flat<BlockPosition>,
        delta: &'a str,
    }

    struct Complete<'a> {
        place: Flat<BlockPosition>,
        text: &'a str,
    }
}

impl Blocks {
    /// A turn begins: its blocks are counted from 0. Blocks before the first turn belong to that turn, so its count does not
    /// restart.
    pub(super) fn begin_turn(&mut self, turn_index: u32) {
        if turn_index != self.turn_index {
            self.turn_index = turn_index;
            self.next = 0;
        }
    }

    /// Handles a piece of a block. Without `is_emitted` it is only counted, so that block indexes do not depend on
    /// the options.
    pub(super) fn delta(&mut self, channel: Channel, block: &BlockDelta, is_emitted: bool, sink: &mut EventSink<'_>) {
        let place = self.place(channel, &block.message_id, block.block_index);
        if is_emitted && !block.delta.is_empty() {
            let kind = match channel {
                Channel::Text => "assistant.text_delta",
                Channel::Thinking => "assistant.thinking_delta",
            };
            sink.emit(kind, &Delta { place: Flat(place), delta: &block.delta });
        }
    }

    /// Handles a whole block.
    pub(super) fn complete(&mut self, channel: Channel, block: &BlockText, is_emitted: bool, sink: &mut EventSink<'_>) {
        let place = self.place(channel, &block.message_id, block.block_index);
        self.open.remove(&(channel, block.message_id.clone(), block.block_index));
        if is_emitted {
            let kind = match channel {
                Channel::Text => "assistant.text_complete",
                Channel::Thinking => "assistant.thinking_complete",
            };
            sink.emit(kind, &Complete { place: Flat(place), text: &block.text });
        }
    }

    fn place(&mut self, channel: Channel, message_id: &SharedStr, block_index: u32) -> BlockPosition {
        let next = &mut self.next;
        let turn_index = self.turn_index;
        *self.open.entry((channel, message_id.clone(), block_index)).or_insert_with(|| {
            let place = BlockPosition { turn_index, block_index: *next };
            *next += 1;
            place
        })
    }
}
