//! Messages and thoughts of the agent.
//!
//! Input: chunks, each perhaps with the id of its message; whole messages of version 2. Output: blocks. Never: a message that ends
//! because a tool was used in the middle of it, if it has an id; two blocks with the same id and index.

use super::super::names::NameMap;
use crate::derived::numbered;
use crate::frame::SharedStr;
use crate::json::Utf16Text;
use crate::normalizer::{Block, BlockKind, Normalizer, Target};
use std::hash::{DefaultHasher, Hasher as _};

/// The maximum number of messages whose blocks are counted. Later ones have indexes that no block had before.
const MOST: usize = 4096;

#[derive(Debug)]
struct Open {
    kind: BlockKind,
    message_id: SharedStr,
    index: u32,
    target: Target,
    /// Whether the agent gave the id.
    is_named: bool,
    /// Whether something other than a text followed.
    is_followed: bool,
}

impl Open {
    fn block(&self) -> Block<'_> {
        Block { kind: self.kind, message_id: &self.message_id, index: self.index }
    }
}

/// What a message has said in its complete blocks.
#[derive(Debug, Default)]
struct Said {
    /// In bytes.
    length: usize,
    /// Of all blocks. Unlike the hashes of the process, this one does not depend on where a text was divided.
    hash: DefaultHasher,
}

impl Said {
    fn add(&mut self, text: &str) {
        self.length += text.len();
        self.hash.write(text.as_bytes());
    }

    /// What of the text of the whole message is not in its complete blocks; `None` if it does not begin with them.
    fn rest_of<'t>(&self, text: &'t str) -> Option<&'t str> {
        let (before, rest) = text.split_at_checked(self.length)?;
        let mut hash = DefaultHasher::new();
        hash.write(before.as_bytes());
        (hash.finish() == self.hash.finish()).then_some(rest)
    }
}

/// The texts of a turn.
#[derive(Debug, Default)]
pub(super) struct Texts {
    open: Option<Open>,
    /// The index of the last block of each message.
    next: NameMap<u32>,
    /// What the messages with ids have said; at most [`MOST`].
    said: NameMap<Said>,
    blocks: u32,
    nameless: u64,
}

impl Texts {
    /// Adds a chunk. A chunk without text begins no message.
    pub(super) fn chunk(
        &mut self,
        target: Target,
        kind: BlockKind,
        message_id: Option<&str>,
        piece: Utf16Text,
        normalizer: &mut Normalizer,
    ) {
        if piece.text.is_empty() && piece.low.is_none() && piece.high.is_none() {
            return;
        }
        let goes_on = self.open.as_ref().is_some_and(|open| {
            let is_same = match message_id {
                Some(id) => open.is_named && *open.message_id == *id,
                None => !open.is_named,
            };
            open.kind == kind && open.target == target && is_same
        });
        if !goes_on {
            self.complete(normalizer);
            self.begin(target, kind, message_id, normalizer);
        }
        if let Some(open) = &mut self.open {
            open.is_followed = false;
            normalizer.delta(target, open.block(), piece);
        }
    }

    /// Replaces everything that a message said. If the new text begins with what the message said so far, only the rest is new, and a
    /// repeated text is nothing. Otherwise the open block is cut off, and the new text is a block of its own.
    pub(super) fn replace(
        &mut self,
        target: Target,
        kind: BlockKind,
        message_id: &str,
        text: &str,
        normalizer: &mut Normalizer,
    ) {
        let is_it = |open: &Open| open.kind == kind && open.is_named && *open.message_id == *message_id;
        let whole = |text: &str| Utf16Text { low: None, text: text.to_owned(), high: None };
        let name = key(kind, message_id);
        let new = self.said.get(&*name).and_then(|said| said.rest_of(text));
        if new.is_none() {
            self.said.remove(&*name);
        }
        if let Some(open) = self.open.take_if(|open| is_it(open)) {
            let so_far = normalizer.text_so_far(open.target, open.block()).unwrap_or_default();
            match new.unwrap_or(text).strip_prefix(so_far) {
                Some(rest) => {
                    normalizer.delta(open.target, open.block(), whole(rest));
                    self.open = Some(open);
                    return;
                }
                None => normalizer.cut(open.target, open.block(), None),
            }
        }
        self.chunk(target, kind, Some(message_id), whole(new.unwrap_or(text)), normalizer);
    }

    fn begin(&mut self, target: Target, kind: BlockKind, message_id: Option<&str>, normalizer: &Normalizer) {
        let name = match message_id {
            Some(id) => SharedStr::from(id),
            None => {
                self.nameless += 1;
                let stream = normalizer.stream(target.stream).map(|stream| stream.id).unwrap_or_default();
                SharedStr::from(numbered(&stream, "message-", self.nameless).to_string())
            }
        };
        self.blocks += 1;
        let is_full = self.next.len() >= MOST;
        // A block that is not counted has an index that no block had before.
        let least = if is_full { self.blocks } else { 0 };
        let index = match self.next.get_mut(&name) {
            Some(next) => {
                *next = next.saturating_add(1).max(least);
                *next
            }
            None => least,
        };
        if !is_full {
            self.next.insert(name.clone(), index);
        }
        self.open =
            Some(Open { kind, message_id: name, index, target, is_named: message_id.is_some(), is_followed: false });
    }

    /// Something other than a text follows: a message without an id ends. A message with one may go on.
    pub(super) fn interrupted(&mut self, normalizer: &mut Normalizer) {
        match &mut self.open {
            Some(open) if open.is_named => open.is_followed = true,
            Some(_) => self.complete(normalizer),
            None => {}
        }
    }

    /// A turn ends early: a text that something else followed is whole, and the last one is not.
    pub(super) fn end_early(&mut self, normalizer: &mut Normalizer) {
        if self.open.as_ref().is_some_and(|open| open.is_followed) {
            self.complete(normalizer);
        }
    }

    /// Completes the open block.
    pub(super) fn complete(&mut self, normalizer: &mut Normalizer) {
        let Some(open) = self.open.take() else { return };
        if open.is_named {
            let key = key(open.kind, &open.message_id);
            if self.said.len() < MOST || self.said.contains_key(&*key) {
                let text = normalizer.text_so_far(open.target, open.block()).unwrap_or_default();
                self.said.entry(SharedStr::from(key)).or_default().add(text);
            }
        }
        normalizer.complete(open.target, open.block(), None, None);
    }
}

/// The name of a message or of a thought, which may have the same id.
fn key(kind: BlockKind, message_id: &str) -> String {
    format!("{kind:?} {message_id}")
}
