//! Text and reasoning blocks: every text is said once.

use super::Block;
use crate::frame::{BlockDelta, BlockText, Body, Name, RawJson};
use crate::json::Utf16Text;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    open: Vec<OpenBlock>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenBlock {
    parent: Option<Uuid>,
    kind: BlockKind,
    message_id: Name,
    index: u32,
    said: String,
    /// Half of a surrogate pair that waits for its other half.
    high: Option<u16>,
}

impl OpenBlock {
    fn delta(&mut self, delta: String) -> Body {
        self.said.push_str(&delta);
        let delta = BlockDelta { message_id: self.message_id.clone(), block_index: self.index, delta };
        match self.kind {
            BlockKind::Text => Body::OutputTextDelta(delta),
            BlockKind::Reasoning => Body::ReasoningDelta(delta),
        }
    }

    /// The half that waited in vain.
    fn lone_half(&mut self) -> Option<Body> {
        self.high.take().map(|_| self.delta(char::REPLACEMENT_CHARACTER.to_string()))
    }

    fn completed(self, opaque: Option<RawJson>) -> Body {
        let block = BlockText { message_id: self.message_id, block_index: self.index, text: self.said };
        match self.kind {
            BlockKind::Text => Body::OutputTextCompleted(block),
            BlockKind::Reasoning => Body::ReasoningCompleted { block, opaque },
        }
    }
}

impl Blocks {
    fn find(&self, parent: Option<Uuid>, block: Block<'_>) -> Option<usize> {
        self.open.iter().position(|open| {
            open.parent == parent
                && open.kind == block.kind
                && open.index == block.index
                && *open.message_id == *block.message_id
        })
    }

    pub(super) fn said(&self, parent: Option<Uuid>, block: Block<'_>) -> Option<&str> {
        self.find(parent, block).and_then(|at| self.open.get(at)).map(|open| open.said.as_str())
    }

    pub(super) fn delta(&mut self, parent: Option<Uuid>, block: Block<'_>, piece: Utf16Text) -> Option<Body> {
        let at = self.find(parent, block).unwrap_or_else(|| {
            // Deltas of one message share its name.
            let message_id = self
                .open
                .iter()
                .find(|open| *open.message_id == *block.message_id)
                .map_or_else(|| Name::from(block.message_id), |open| open.message_id.clone());
            let open =
                OpenBlock { parent, kind: block.kind, message_id, index: block.index, said: String::new(), high: None };
            self.open.push(open);
            self.open.len() - 1
        });
        let open = self.open.get_mut(at)?;
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
        let mut open = match self.find(parent, block) {
            Some(at) => self.open.remove(at),
            None => OpenBlock {
                parent,
                kind: block.kind,
                message_id: Name::from(block.message_id),
                index: block.index,
                said: String::new(),
                high: None,
            },
        };
        let mut agrees = true;
        match snapshot.map(|text| text.strip_prefix(open.said.as_str())) {
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

    /// A block that was completed is no longer open.
    pub(super) fn forget(&mut self, parent: Option<Uuid>, block: Block<'_>) {
        if let Some(at) = self.find(parent, block) {
            self.open.remove(at);
        }
    }

    pub(super) fn take_all(&mut self) -> Vec<(Option<Uuid>, Vec<Body>)> {
        let finish = |mut open: OpenBlock| {
            let parent = open.parent;
            let mut bodies: Vec<Body> = open.lone_half().into_iter().collect();
            bodies.push(open.completed(None));
            (parent, bodies)
        };
        std::mem::take(&mut self.open).into_iter().map(finish).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(low: Option<u16>, text: &str, high: Option<u16>) -> Utf16Text {
        Utf16Text { low, text: text.to_owned(), high }
    }

    fn said(bodies: impl IntoIterator<Item = Body>) -> Vec<String> {
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
    fn a_pair_split_over_two_deltas_is_one_character() {
        let (mut blocks, block) = (Blocks::default(), Block::text("m", 0));
        assert_eq!(said(blocks.delta(None, block, piece(None, "a", Some(0xD83D)))), ["a"]);
        assert_eq!(said(blocks.delta(None, block, piece(None, "", None))), Vec::<String>::new());
        assert_eq!(said(blocks.delta(None, block, piece(Some(0xDE00), "b", None))), ["\u{1F600}b"]);
        assert_eq!(said(blocks.complete(None, block, None, None).0), ["=a\u{1F600}b"]);
    }

    #[test]
    fn a_half_that_waits_in_vain_is_replaced() {
        let (mut blocks, block) = (Blocks::default(), Block::text("m", 0));
        assert!(blocks.delta(None, block, piece(None, "", Some(0xD83D))).is_none());
        assert_eq!(said(blocks.complete(None, block, None, None).0), ["\u{FFFD}", "=\u{FFFD}"]);
    }

    #[test]
    fn a_snapshot_says_only_what_is_missing() {
        let (mut blocks, block) = (Blocks::default(), Block::text("m", 0));
        blocks.delta(None, block, piece(None, "ab", None));
        let (bodies, agrees) = blocks.complete(None, block, Some("abc"), None);
        assert_eq!((said(bodies), agrees), (vec!["c".to_owned(), "=abc".to_owned()], true));
        let (bodies, agrees) = blocks.complete(None, block, Some("whole"), None);
        assert_eq!((said(bodies), agrees), (vec!["whole".to_owned(), "=whole".to_owned()], true));
        blocks.delta(None, block, piece(None, "ab", None));
        let (bodies, agrees) = blocks.complete(None, block, Some("xyz"), None);
        assert_eq!((said(bodies), agrees), (vec!["=ab".to_owned()], false));
    }
}
