//! Texts and reasoning that are being written.
//!
//! Input: pieces of blocks. Output: segments of texts as soon as they are settled, reasoning when it is over. Never: more than
//! [`BLOCKS`] blocks open at once, or more than [`THOUGHT_BYTES`] of a block's reasoning held.

use crate::render::blocks::{Segment, SegmentKind, Splitter};
use framegate_translators::frame::{BlockDelta, BlockText, SharedStr};
use uuid::Uuid;

/// How many blocks may be open at once. The block that began first is ended beyond that.
const BLOCKS: usize = 64;

/// How much of a block's reasoning is held, in bytes.
const THOUGHT_BYTES: usize = 16 << 10;

/// A block of a message of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    message: SharedStr,
    index: u32,
    parent: Option<Uuid>,
}

/// A text.
#[derive(Debug)]
pub(super) struct Text {
    key: Key,
    /// The number of the block in its run.
    pub(super) number: u64,
    splitter: Splitter,
}

/// Reasoning.
#[derive(Debug)]
pub(super) struct Thought {
    key: Key,
    /// Its beginning.
    pub(super) text: String,
    /// The length of all of it, in characters.
    pub(super) chars: u64,
}

/// The open blocks.
#[derive(Debug, Default)]
pub(super) struct Texts {
    texts: Vec<Text>,
    thoughts: Vec<Thought>,
    next: u64,
}

fn key(message: &SharedStr, index: u32, parent: Option<Uuid>) -> Key {
    Key { message: message.clone(), index, parent }
}

impl Text {
    /// The subagent that writes it; `None` for the main thread.
    pub(super) fn parent(&self) -> Option<Uuid> {
        self.key.parent
    }

    /// Ends the text.
    pub(super) fn finish(mut self) -> (u64, Vec<Segment>) {
        let mut segments = Vec::new();
        self.splitter.finish(&mut segments);
        (self.number, segments)
    }
}

impl Thought {
    /// The subagent that thinks; `None` for the main thread.
    pub(super) fn parent(&self) -> Option<Uuid> {
        self.key.parent
    }

    fn push(&mut self, piece: &str) {
        self.chars += piece.chars().count() as u64;
        let room = THOUGHT_BYTES.saturating_sub(self.text.len());
        self.text.push_str(piece.get(..piece.floor_char_boundary(room)).unwrap_or_default());
        if piece.len() > room {
            // Later pieces do not fit either.
            self.text.truncate(self.text.floor_char_boundary(THOUGHT_BYTES - 1));
        }
    }
}

impl Texts {
    /// Takes a piece of a text. Returns the block's number, its settled segments, and a block that had to be ended for it.
    pub(super) fn text(&mut self, delta: &BlockDelta, parent: Option<Uuid>) -> (u64, Vec<Segment>, Option<Text>) {
        let key = key(&delta.message_id, delta.block_index, parent);
        let mut ended = None;
        // The newest block is the last one, for the preview.
        let mut text = match self.texts.iter().rposition(|text| text.key == key) {
            Some(at) => self.texts.remove(at),
            None => {
                if self.texts.len() >= BLOCKS {
                    ended = Some(self.texts.remove(0));
                }
                self.next += 1;
                Text { key, number: self.next, splitter: Splitter::default() }
            }
        };
        let mut segments = Vec::new();
        text.splitter.feed(&delta.delta, &mut segments);
        let number = text.number;
        self.texts.push(text);
        (number, segments, ended)
    }

    /// The text is complete. Returns its block, which is new if no piece of it was seen.
    pub(super) fn text_completed(&mut self, block: &BlockText, parent: Option<Uuid>) -> (Text, Vec<Segment>) {
        let key = key(&block.message_id, block.block_index, parent);
        let mut segments = Vec::new();
        match self.texts.iter().rposition(|text| text.key == key) {
            Some(at) => (self.texts.remove(at), segments),
            None => {
                self.next += 1;
                let mut text = Text { key, number: self.next, splitter: Splitter::default() };
                text.splitter.feed(&block.text, &mut segments);
                (text, segments)
            }
        }
    }

    /// Takes a piece of reasoning. Returns reasoning that had to be ended for it.
    pub(super) fn thought(&mut self, delta: &BlockDelta, parent: Option<Uuid>) -> Option<Thought> {
        let key = key(&delta.message_id, delta.block_index, parent);
        if let Some(thought) = self.thoughts.iter_mut().rfind(|thought| thought.key == key) {
            thought.push(&delta.delta);
            return None;
        }
        let ended = if self.thoughts.len() >= BLOCKS { Some(self.thoughts.remove(0)) } else { None };
        let mut thought = Thought { key, text: String::new(), chars: 0 };
        thought.push(&delta.delta);
        self.thoughts.push(thought);
        ended
    }

    /// The reasoning is complete.
    pub(super) fn thought_completed(&mut self, block: &BlockText, parent: Option<Uuid>) -> Thought {
        let key = key(&block.message_id, block.block_index, parent);
        match self.thoughts.iter().rposition(|thought| thought.key == key) {
            Some(at) => self.thoughts.remove(at),
            None => {
                let mut thought = Thought { key, text: String::new(), chars: 0 };
                thought.push(&block.text);
                thought
            }
        }
    }

    /// Takes all open blocks.
    pub(super) fn take(&mut self) -> (Vec<Thought>, Vec<Text>) {
        (std::mem::take(&mut self.thoughts), std::mem::take(&mut self.texts))
    }

    /// What the newest text has that is not settled, and who writes it.
    pub(super) fn preview(&self) -> Option<(Option<Uuid>, SegmentKind, String)> {
        let text = self.texts.last()?;
        let (kind, held) = text.splitter.preview();
        Some((text.key.parent, kind, held))
    }

    /// Whether a text is being written, and whether there is reasoning.
    pub(super) fn activity(&self) -> (bool, bool) {
        (!self.texts.is_empty(), !self.thoughts.is_empty())
    }
}
