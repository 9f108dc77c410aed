//! One model message and its blocks, which arrive as stream events, as whole frames, or as both.
//!
//! Input: what stream events and whole frames say about blocks. Output: the index of a block within its message, so that both
//! sources address the same block of the normalizer. Never: a block left over from a broken stream reported as completed.

use super::runs::Runs;
use super::usage::Tokens;
use crate::frame::{SharedStr, Tool, UsageScope};
use crate::normalizer::{Block, BlockKind, Normalizer, Target};
use crate::sequence::StreamKey;

/// The maximum number of blocks of a message that await their whole frame. Beyond it, a new block displaces the oldest.
const MAX_OPEN: usize = 256;

/// The message that a speaker is writing.
#[derive(Debug)]
pub(super) struct Message {
    /// The provider's id.
    pub(super) id: SharedStr,
    /// The model that writes it.
    pub(super) model: Option<SharedStr>,
    /// The index of the next block.
    next_index: u32,
    /// Streamed blocks whose whole frame has not arrived.
    open: Vec<OpenBlock>,
    /// Why the model stopped, once known.
    pub(super) stop_reason: Option<SharedStr>,
    /// The token figures so far.
    pub(super) tokens: Tokens,
    /// Whether its usage has been reported.
    pub(super) counted: bool,
}

/// A streamed block.
#[derive(Debug)]
pub(super) struct OpenBlock {
    index: u32,
    pub(super) content: Content,
    stopped: bool,
}

/// What a streamed block holds.
#[derive(Debug)]
pub(super) enum Content {
    Text,
    Reasoning,
    Tool { tool: Tool, name: SharedStr },
    Other,
}

impl Content {
    fn kind(&self) -> Option<BlockKind> {
        match self {
            Self::Text => Some(BlockKind::Text),
            Self::Reasoning => Some(BlockKind::Reasoning),
            Self::Tool { .. } | Self::Other => None,
        }
    }
}

impl Message {
    fn new(id: &str, model: Option<SharedStr>) -> Self {
        Self {
            id: SharedStr::from(id),
            model,
            next_index: 0,
            open: Vec::new(),
            stop_reason: None,
            tokens: Tokens::default(),
            counted: false,
        }
    }

    /// Starts a streamed block.
    pub(super) fn start(&mut self, index: u32, content: Content) {
        self.open.retain(|block| block.index != index);
        if self.open.len() == MAX_OPEN {
            self.open.remove(0);
        }
        self.open.push(OpenBlock { index, content, stopped: false });
    }

    /// The streamed block with this index.
    pub(super) fn block(&self, index: u32) -> Option<&OpenBlock> {
        self.open.iter().find(|block| block.index == index)
    }

    /// Marks a block as no longer streaming. Its whole frame usually arrives earlier, but may still follow.
    pub(super) fn stop(&mut self, index: u32) {
        for block in self.open.iter_mut().filter(|block| block.index == index) {
            block.stopped = true;
        }
        self.open.retain(|block| !(block.stopped && block.content.kind().is_none()));
    }

    /// Handles the whole frame of a text or reasoning block. Returns its index: that of the matching streamed block, or the
    /// index in the record, or the next free one.
    pub(super) fn whole(&mut self, kind: BlockKind, reported: Option<u32>) -> u32 {
        let fits = |block: &OpenBlock| {
            block.content.kind() == Some(kind) && reported.is_none_or(|reported| reported == block.index)
        };
        let index = match self.open.iter().position(fits) {
            Some(at) => self.open.remove(at).index,
            None => reported.unwrap_or(self.next_index),
        };
        self.passed(index);
        index
    }

    /// Handles the whole frame of a block without text.
    pub(super) fn whole_other(&mut self, call_id: Option<&str>) {
        let fits = |block: &OpenBlock| match (&block.content, call_id) {
            (Content::Tool { tool, .. }, Some(call_id)) => *tool.call_id == *call_id,
            (Content::Other, None) => true,
            _ => false,
        };
        let index = match self.open.iter().position(fits) {
            Some(at) => self.open.remove(at).index,
            None => self.next_index,
        };
        self.passed(index);
    }

    fn passed(&mut self, index: u32) {
        self.next_index = self.next_index.max(index.saturating_add(1));
    }
}

impl Runs {
    /// The message that this speaker is writing.
    pub(super) fn message(&mut self, target: Target) -> Option<&mut Message> {
        self.messages.get_mut(&(target.stream, target.parent))
    }

    /// Starts a message, unless the speaker is already writing it. On the main thread a message is a turn.
    pub(super) fn enter(&mut self, normalizer: &mut Normalizer, target: Target, id: &str, model: Option<SharedStr>) {
        if self.message(target).is_some_and(|message| *message.id == *id) {
            return;
        }
        self.leave(normalizer, target);
        self.messages.insert((target.stream, target.parent), Message::new(id, model.clone()));
        if target.parent.is_none() {
            self.begin_turn(normalizer, target.stream, model);
        }
    }

    /// Ends the messages of all subagents on a stream, so that their usage is counted.
    pub(super) fn leave_children(&mut self, normalizer: &mut Normalizer, key: StreamKey) {
        let mut parents: Vec<_> =
            self.messages.keys().filter(|(stream, _)| *stream == key).filter_map(|(_, parent)| *parent).collect();
        // The order of the map is arbitrary.
        parents.sort_unstable();
        for parent in parents {
            self.leave(normalizer, Target { stream: key, parent: Some(parent) });
        }
    }

    /// Ends the speaker's message. Blocks whose whole frame has not arrived by now will never get one. Such a block counts as
    /// complete only if the model stopped regularly.
    pub(super) fn leave(&mut self, normalizer: &mut Normalizer, target: Target) {
        let Some(message) = self.messages.remove(&(target.stream, target.parent)) else { return };
        // A transcript without stop reasons has no better figures than those of the message's last line.
        if !message.counted
            && self.run(target.stream).is_some_and(|run| run.transcript)
            && let Some(usage) = message.tokens.report(UsageScope::Turn, message.model.clone(), None)
        {
            normalizer.call_used(target, usage);
        }
        for open in message.open {
            let Some(kind) = open.content.kind() else { continue };
            let block = Block { kind, message_id: &message.id, index: open.index };
            if normalizer.text_so_far(target, block).is_none() {
                continue;
            }
            if open.stopped && message.stop_reason.is_some() {
                normalizer.complete(target, block, None, None);
            } else {
                normalizer.cut(target, block, None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_frames_take_the_index_of_their_streamed_block() {
        let mut message = Message::new("m", None);
        message.start(0, Content::Reasoning);
        message.start(1, Content::Text);
        assert_eq!(message.whole(BlockKind::Text, None), 1);
        assert_eq!(message.whole(BlockKind::Reasoning, None), 0);
        assert_eq!(message.whole(BlockKind::Text, None), 2, "one that did not stream is the next");
        message.whole_other(None);
        assert_eq!(message.whole(BlockKind::Text, None), 4);
        assert_eq!(message.whole(BlockKind::Text, Some(7)), 7, "a transcript tells the index");
    }

    #[test]
    fn the_open_blocks_of_a_message_are_bounded() {
        let mut message = Message::new("m", None);
        for index in 0..256 {
            message.start(index, Content::Text);
        }
        assert!(message.block(0).is_some());
        message.start(256, Content::Text);
        assert!(message.block(0).is_none());
        assert_eq!(message.whole(BlockKind::Text, None), 1);
    }
}
