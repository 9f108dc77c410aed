//! Text and reasoning blocks: every text is emitted once. A block is found in constant time, however many are open.

use super::Block;
use crate::frame::{BlockDelta, BlockText, Body, RawJson, SharedStr};
use crate::hash::{HashMap, hasher};
use crate::json::Utf16Text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use uuid::Uuid;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BlockKind {
    /// The assistant's text.
    Text,
    /// The model's reasoning.
    Reasoning,
}

/// The open blocks of one stream.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Blocks {
    /// In the order of opening.
    open: BTreeMap<u64, OpenBlock>,
    next: u64,
    /// Keys in `open` by a hash of the block's name; not persisted, so empty after a restore.
    #[serde(skip)]
    places: HashMap<u64, Vec<u64>>,
    /// The key of the block that was used last.
    #[serde(skip)]
    last: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenBlock {
    parent: Option<Uuid>,
    kind: BlockKind,
    message_id: SharedStr,
    index: u32,
    text: String,
    /// Half of a surrogate pair, held until its other half arrives.
    high: Option<u16>,
}

/// A hash of what identifies a block. Blocks with equal hashes are compared in full.
fn place_of(parent: Option<Uuid>, kind: BlockKind, index: u32, message_id: &str) -> u64 {
    let mut hasher = hasher();
    (parent, kind, index, message_id).hash(&mut hasher);
    hasher.finish()
}

impl OpenBlock {
    fn is(&self, parent: Option<Uuid>, block: Block<'_>) -> bool {
        self.parent == parent
            && self.kind == block.kind
            && self.index == block.index
            && *self.message_id == *block.message_id
    }

    fn delta(&mut self, delta: String) -> Body {
        self.text.push_str(&delta);
        let delta = BlockDelta { message_id: self.message_id.clone(), block_index: self.index, delta };
        match self.kind {
            BlockKind::Text => Body::OutputTextDelta(delta),
            BlockKind::Reasoning => Body::ReasoningDelta(delta),
        }
    }

    /// The bodies that close the block.
    fn finished(mut self) -> (Option<Uuid>, Vec<Body>) {
        let parent = self.parent;
        let mut bodies: Vec<Body> = self.lone_half().into_iter().collect();
        bodies.push(self.completed(None));
        (parent, bodies)
    }

    /// Takes the half that never got its other half.
    fn lone_half(&mut self) -> Option<Body> {
        self.high.take().map(|_| self.delta(char::REPLACEMENT_CHARACTER.to_string()))
    }

    fn completed(self, opaque: Option<RawJson>) -> Body {
        let block = BlockText { message_id: self.message_id, block_index: self.index, text: self.text };
        match self.kind {
            BlockKind::Text => Body::OutputTextCompleted(block),
            BlockKind::Reasoning => Body::ReasoningCompleted { block, opaque },
        }
    }
}

impl Blocks {
    fn find(&self, parent: Option<Uuid>, block: Block<'_>) -> Option<u64> {
        let is_it = |at: &u64| self.open.get(at).is_some_and(|open| open.is(parent, block));
        if is_it(&self.last) {
            return Some(self.last);
        }
        if self.places.is_empty() && !self.open.is_empty() {
            // These were restored from another process's state.
            return self.open.iter().find(|(_, open)| open.is(parent, block)).map(|(&at, _)| at);
        }
        let places = self.places.get(&place_of(parent, block.kind, block.index, block.message_id))?;
        places.iter().copied().find(is_it)
    }

    /// The number of open blocks.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn text_so_far(&self, parent: Option<Uuid>, block: Block<'_>) -> Option<&str> {
        self.find(parent, block).and_then(|at| self.open.get(&at)).map(|open| open.text.as_str())
    }

    fn insert(&mut self, open: OpenBlock) -> u64 {
        if self.places.is_empty() {
            let known = self
                .open
                .iter()
                .map(|(&at, open)| (place_of(open.parent, open.kind, open.index, &open.message_id), at));
            for (place, at) in known.collect::<Vec<_>>() {
                self.places.entry(place).or_default().push(at);
            }
        }
        // Keys start at 1, so that 0 in `last` matches no block.
        self.next += 1;
        let place = place_of(open.parent, open.kind, open.index, &open.message_id);
        self.places.entry(place).or_default().push(self.next);
        self.open.insert(self.next, open);
        self.next
    }

    fn remove(&mut self, at: u64) -> Option<OpenBlock> {
        let open = self.open.remove(&at)?;
        let place = place_of(open.parent, open.kind, open.index, &open.message_id);
        if let Some(places) = self.places.get_mut(&place) {
            places.retain(|&other| other != at);
            if places.is_empty() {
                self.places.remove(&place);
            }
        }
        Some(open)
    }

    /// Closes the oldest block; returns its parent with the closing bodies.
    pub(super) fn take_oldest(&mut self) -> Option<(Option<Uuid>, Vec<Body>)> {
        let (&at, _) = self.open.first_key_value()?;
        self.remove(at).map(OpenBlock::finished)
    }

    pub(super) fn delta(&mut self, parent: Option<Uuid>, block: Block<'_>, piece: Utf16Text) -> Option<Body> {
        let at = self.find(parent, block).unwrap_or_else(|| {
            // Blocks of one message share the allocation of its id.
            let before = self.open.get(&self.last).map(|open| &open.message_id);
            let message_id = before.filter(|id| ***id == *block.message_id).cloned();
            let message_id = message_id.unwrap_or_else(|| SharedStr::from(block.message_id));
            let open =
                OpenBlock { parent, kind: block.kind, message_id, index: block.index, text: String::new(), high: None };
            self.insert(open)
        });
        self.last = at;
        let open = self.open.get_mut(&at)?;
        let text = piece.after(&mut open.high);
        (!text.is_empty()).then(|| open.delta(text))
    }

    pub(super) fn complete(
        &mut self,
        parent: Option<Uuid>,
        block: Block<'_>,
        snapshot: Option<&str>,
        opaque: Option<RawJson>,
    ) -> (Vec<Body>, bool) {
        let mut bodies = Vec::with_capacity(2);
        let open = self.find(parent, block).and_then(|at| self.remove(at));
        let mut open = open.unwrap_or_else(|| OpenBlock {
            parent,
            kind: block.kind,
            message_id: SharedStr::from(block.message_id),
            index: block.index,
            text: String::new(),
            high: None,
        });
        let mut agrees = true;
        match snapshot.map(|text| text.strip_prefix(open.text.as_str())) {
            Some(Some("")) => open.high = None,
            Some(Some(rest)) => {
                open.high = None;
                bodies.push(open.delta(rest.to_owned()));
            }
            Some(None) => {
                agrees = false;
                bodies.extend(open.lone_half());
            }
            None => bodies.extend(open.lone_half()),
        }
        bodies.push(open.completed(opaque));
        (bodies, agrees)
    }

    /// Removes a block that was completed.
    pub(super) fn forget(&mut self, parent: Option<Uuid>, block: Block<'_>) {
        if let Some(at) = self.find(parent, block) {
            self.remove(at);
        }
    }

    pub(super) fn take_all(&mut self) -> Vec<(Option<Uuid>, Vec<Body>)> {
        self.places.clear();
        std::mem::take(&mut self.open).into_values().map(OpenBlock::finished).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(low: Option<u16>, text: &str, high: Option<u16>) -> Utf16Text {
        Utf16Text { low, text: text.to_owned(), high }
    }

    fn texts_of(bodies: impl IntoIterator<Item = Body>) -> Vec<String> {
        bodies
            .into_iter()
            .map(|body| match body {
                Body::OutputTextDelta(delta) => delta.delta,
                Body::OutputTextCompleted(block) => format!("={}", block.text),
                other => other.kind().to_owned(),
            })
            .collect()
    }

    #[test]
    fn a_surrogate_pair_split_over_two_deltas_is_one_character() {
        let (mut blocks, block) = (Blocks::default(), Block::text("m", 0));
        assert_eq!(texts_of(blocks.delta(None, block, piece(None, "a", Some(0xD83D)))), ["a"]);
        assert_eq!(texts_of(blocks.delta(None, block, piece(None, "", None))), Vec::<String>::new());
        assert_eq!(texts_of(blocks.delta(None, block, piece(Some(0xDE00), "b", None))), ["\u{1F600}b"]);
        assert_eq!(texts_of(blocks.complete(None, block, None, None).0), ["=a\u{1F600}b"]);
    }

    #[test]
    fn an_unmatched_surrogate_is_replaced() {
        let (mut blocks, block) = (Blocks::default(), Block::text("m", 0));
        assert!(blocks.delta(None, block, piece(None, "", Some(0xD83D))).is_none());
        assert_eq!(texts_of(blocks.complete(None, block, None, None).0), ["\u{FFFD}", "=\u{FFFD}"]);
    }

    #[test]
    fn a_snapshot_emits_only_the_missing_text() {
        let (mut blocks, block) = (Blocks::default(), Block::text("m", 0));
        blocks.delta(None, block, piece(None, "ab", None));
        let (bodies, agrees) = blocks.complete(None, block, Some("abc"), None);
        assert_eq!((texts_of(bodies), agrees), (vec!["c".to_owned(), "=abc".to_owned()], true));
        let (bodies, agrees) = blocks.complete(None, block, Some("whole"), None);
        assert_eq!((texts_of(bodies), agrees), (vec!["whole".to_owned(), "=whole".to_owned()], true));
        blocks.delta(None, block, piece(None, "ab", None));
        let (bodies, agrees) = blocks.complete(None, block, Some("xyz"), None);
        assert_eq!((texts_of(bodies), agrees), (vec!["=ab".to_owned()], false));
    }
}
