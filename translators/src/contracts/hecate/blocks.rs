//! Text and thinking.
//!
//! Input: deltas and whole blocks of the main thread. Output: `assistant.text_*`, and `assistant.thinking_*` if experimental
//! groups are enabled. Never: a subagent's text, or an empty delta.

use super::envelope::Stage;
use crate::encode::{Flat, data};
use crate::frame::{BlockDelta, BlockText, SharedStr};
use crate::hash::HashMap;
use serde::{Deserialize, Serialize};

/// Text or thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Voice {
    Text,
    Thinking,
}

/// The open blocks, and the block counter of the turn.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Blocks {
    #[serde(with = "crate::saved::pairs")]
    open: HashMap<(Voice, SharedStr, u32), Place>,
    turn_index: u32,
    next: u32,
}

data! {
    #[derive(Clone, Copy, Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Place {
        turn_index: u32,
        block_index: u32,
    }

    struct Delta<'a> {
        place: Flat<Place>,
        delta: &'a str,
    }

    struct Complete<'a> {
        place: Flat<Place>,
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

    /// Handles a piece of a block. If it is not `told`, it is only counted, so that block indexes do not depend on the options.
    pub(super) fn delta(&mut self, voice: Voice, block: &BlockDelta, told: bool, stage: &mut Stage<'_>) {
        let place = self.place(voice, &block.message_id, block.block_index);
        if told && !block.delta.is_empty() {
            let kind = match voice {
                Voice::Text => "assistant.text_delta",
                Voice::Thinking => "assistant.thinking_delta",
            };
            stage.say(kind, &Delta { place: Flat(place), delta: &block.delta });
        }
    }

    /// Handles a whole block.
    pub(super) fn complete(&mut self, voice: Voice, block: &BlockText, told: bool, stage: &mut Stage<'_>) {
        let place = self.place(voice, &block.message_id, block.block_index);
        self.open.remove(&(voice, block.message_id.clone(), block.block_index));
        if told {
            let kind = match voice {
                Voice::Text => "assistant.text_complete",
                Voice::Thinking => "assistant.thinking_complete",
            };
            stage.say(kind, &Complete { place: Flat(place), text: &block.text });
        }
    }

    fn place(&mut self, voice: Voice, message_id: &SharedStr, block_index: u32) -> Place {
        let next = &mut self.next;
        let turn_index = self.turn_index;
        *self.open.entry((voice, message_id.clone(), block_index)).or_insert_with(|| {
            let place = Place { turn_index, block_index: *next };
            *next += 1;
            place
        })
    }
}
