//! Text and reasoning: an item with one part for each block.
//!
//! Input: the pieces and the end of each block. Output: the part's events around its pieces, then the item. Never: a part outside its
//! item, or a text that is held while its block is open (the frame that completes the block has it).

use super::encode::Response;
use super::items::{Item, cut, output_text, quoted, summary_text};
use crate::encode::{Events, PreparedFields, key};
use crate::frame::{BlockDelta, BlockText, SharedStr};
use crate::hash::HashMap;
use crate::saved;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum PartKind {
    Text,
    Reasoning,
}

/// The types of a part's events.
struct Kinds {
    added: &'static str,
    delta: &'static str,
    text_done: &'static str,
    done: &'static str,
}

impl PartKind {
    fn item(self, text: Option<super::items::Quoted>) -> Item {
        match self {
            Self::Text => Item::Message(text),
            Self::Reasoning => Item::Reasoning(text),
        }
    }

    fn events(self) -> Kinds {
        match self {
            Self::Text => Kinds {
                added: "response.content_part.added",
                delta: "response.output_text.delta",
                text_done: "response.output_text.done",
                done: "response.content_part.done",
            },
            Self::Reasoning => Kinds {
                added: "response.reasoning_summary_part.added",
                delta: "response.reasoning_summary_text.delta",
                text_done: "response.reasoning_summary_text.done",
                done: "response.reasoning_summary_part.done",
            },
        }
    }

    /// The fields that all events of a part share.
    fn place(self, run: &Uuid, index: u64) -> PreparedFields {
        PreparedFields::new(|map| {
            map.text(key!("item_id"), &self.item(None).id(run, index));
            map.entry(key!("output_index"), &index);
            match self {
                Self::Text => map.entry(key!("content_index"), &0_u64),
                Self::Reasoning => map.entry(key!("summary_index"), &0_u64),
            }
        })
    }
}

/// A block: its kind, its message, and its index there.
type Block = (PartKind, SharedStr, u32);

/// The open blocks of the main thread.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Texts {
    #[serde(with = "saved::pairs")]
    open: HashMap<Block, OpenText>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenText {
    index: u64,
    #[serde(skip)]
    place: PreparedFields,
}

impl Texts {
    /// The same state with its prepared fields.
    pub(super) fn resumed(mut self, run: &Uuid) -> Self {
        for ((kind, ..), open) in &mut self.open {
            open.place = kind.place(run, open.index);
        }
        self
    }
}

impl Response {
    /// A piece of a block.
    pub(super) fn text_delta(&mut self, kind: PartKind, block: &BlockDelta, out: &mut Events) {
        if block.delta.is_empty() {
            return;
        }
        let events = kind.events();
        let key = (kind, block.message_id.clone(), block.block_index);
        if !self.texts.open.contains_key(&key) {
            let open = self.open_text(kind, out);
            self.texts.open.insert(key.clone(), open);
        }
        let Some(open) = self.texts.open.get(&key) else { return };
        self.writer.event(events.delta, out, |map| {
            map.prepared(&open.place);
            map.text(key!("delta"), &block.delta);
            if kind == PartKind::Text {
                map.raw(key!("logprobs"), "[]");
            }
        });
    }

    fn open_text(&mut self, kind: PartKind, out: &mut Events) -> OpenText {
        let index = self.add(kind.item(None), out);
        let place = kind.place(&self.names.run, index);
        self.part(kind, kind.events().added, &place, "\"\"", out);
        OpenText { index, place }
    }

    /// Writes an event with the part; `text` is JSON.
    fn part(&mut self, kind: PartKind, event: &'static str, place: &PreparedFields, text: &str, out: &mut Events) {
        self.writer.event(event, out, |map| {
            map.prepared(place);
            map.object(key!("part"), |map| match kind {
                PartKind::Text => output_text(text, map),
                PartKind::Reasoning => summary_text(text, map),
            });
        });
    }

    /// A block is complete.
    pub(super) fn text_completed(&mut self, kind: PartKind, block: &BlockText, out: &mut Events) {
        let key = (kind, block.message_id.clone(), block.block_index);
        if let Some(open) = self.texts.open.remove(&key) {
            self.close_text(kind, &open, &block.text, out);
        }
    }

    fn close_text(&mut self, kind: PartKind, open: &OpenText, text: &str, out: &mut Events) {
        let whole = quoted(text);
        let events = kind.events();
        self.writer.event(events.text_done, out, |map| {
            map.prepared(&open.place);
            map.raw(key!("text"), whole.get());
            if kind == PartKind::Text {
                map.raw(key!("logprobs"), "[]");
            }
        });
        self.part(kind, events.done, &open.place, whole.get(), out);
        let item = kind.item(Some(whole.clone()));
        self.item_event("response.output_item.done", open.index, &item, out);
        let held = cut(text).map_or(whole, |cut| quoted(&cut));
        self.items.update(open.index, |item| *item = kind.item(Some(held)));
    }

    /// A text that was never reported in pieces, as an item of its own.
    pub(super) fn whole_text(&mut self, text: &str, out: &mut Events) {
        let kind = PartKind::Text;
        let open = self.open_text(kind, out);
        self.writer.event(kind.events().delta, out, |map| {
            map.prepared(&open.place);
            map.text(key!("delta"), text);
            map.raw(key!("logprobs"), "[]");
        });
        self.close_text(kind, &open, text, out);
    }

    /// The run is over. Frames complete each block before that.
    pub(super) fn close_texts(&mut self, out: &mut Events) {
        let mut left: Vec<(Block, OpenText)> = self.texts.open.drain().collect();
        left.sort_unstable_by_key(|(_, open)| open.index);
        for ((kind, ..), open) in left {
            self.close_text(kind, &open, "", out);
        }
    }
}
