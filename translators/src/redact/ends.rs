//! Where streamed texts end.
//!
//! Input: a record. Output: the texts that it ends. Never: the end of a text that may go on, since the rest of a secret that was cut
//! there would pass.

use super::channel::Channel;
use super::conversations::{Answered, Conversations, Naming};
use super::hold::{Redactor, Sink};
use super::pieces::{Found, Over, over, top};
use crate::framing::Unit;
use crate::hash::hasher;
use crate::json::{FirstValue, Object, first_value};
use std::hash::{Hash, Hasher};

/// How the texts in one position relate to each other.
#[derive(Debug)]
pub enum Order {
    /// Several texts may grow at the same time. A record without a piece ends the texts whose ids it has, or, if it has no ids but
    /// contains an object, all texts of the message.
    Parallel,
    /// One text follows another.
    Successive(&'static Successive),
}

/// Texts that follow each other, as in a conversation whose records do not say where a text ends. The runner says what a record does to
/// them, as its decoder reads it.
#[derive(Debug)]
pub struct Successive {
    /// What a record does to the texts. Records that are not valid JSON objects do nothing.
    pub effect: fn(&Object<'_>) -> Effect,
    /// How an input names its conversations; `None` if it has only one.
    pub conversations: Option<Naming>,
}

/// What a record does to the texts in one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The text that was being written may go on. A piece in the record is not part of it.
    Nothing,
    /// The record continues a text, or begins it after the one before.
    Says(Said),
    /// Texts end.
    Ends {
        /// The conversation.
        conversation: u64,
        /// Whether texts with names end too.
        named_too: bool,
    },
    /// The record answers a prompt: all texts of its conversation end.
    EndsTurn,
}

/// A text that a record says something of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// The [`identity`] of its conversation.
    pub conversation: u64,
    /// Another conversation whose texts end with this one.
    pub also_ends: Option<u64>,
    /// What tells it apart from the text before it and after it in the conversation.
    pub text: u64,
    /// Whether it has a name, so that it may go on after other records.
    pub is_named: bool,
    /// Whether this is all of it, or its end.
    pub is_last: bool,
}

/// The id of a conversation or a text, from what tells it apart.
pub fn identity(of: impl Hash) -> u64 {
    let mut hasher = hasher();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The texts that end: of a row, and in it of one conversation, or of all.
struct Ended {
    row: usize,
    group: Option<u64>,
    /// Whether texts with names end too.
    named_too: bool,
    /// The text that goes on.
    except: Option<u64>,
}

impl Ended {
    fn has(&self, id: u64, channel: &Channel) -> bool {
        self.row == channel.row
            && self.group.is_none_or(|group| group == channel.group)
            && (self.named_too || !channel.is_named)
            && self.except != Some(id)
    }
}

/// The id of a conversation's texts in one row.
fn group(row: usize, conversation: u64) -> u64 {
    identity((row, conversation))
}

/// The text of a piece in a row of successive texts.
pub(super) struct Place {
    pub(super) channel: u64,
    pub(super) group: u64,
    pub(super) is_named: bool,
    pub(super) is_last: bool,
}

impl Place {
    fn of(row: usize, said: Said) -> Self {
        let group = group(row, said.conversation);
        Self { channel: identity((group, said.text)), group, is_named: said.is_named, is_last: said.is_last }
    }

    /// The place of pieces that are part of no text: they are read together, and end nothing.
    fn apart(row: usize) -> Self {
        let group = identity((row, "apart"));
        Self { channel: group, group, is_named: true, is_last: false }
    }
}

impl Redactor {
    /// Forgets the texts that begin or end with a unit without a piece: an open secret of one text does not continue in the
    /// next.
    pub(super) fn end_texts(&mut self, unit: &Unit<'_>, sink: &mut Sink<'_>) {
        if unit.oversized.is_some() || self.channels.is_empty() {
            return;
        }
        self.forget_past();
        if self.channels.is_empty() {
            return;
        }
        let Ok(text) = simdutf8::basic::from_utf8(unit.payload) else { return };
        let is_written = |row| self.channels.values().any(|channel| channel.row == row);
        let over: Over = over(self.table, text, is_written);
        let first = self.first_number();
        self.end(first, |id, channel| over.texts.contains(&id) || over.groups.contains(&channel.group));
        if self.has_successive {
            let ended = self.effects(text, None).1;
            self.end(first, |id, channel| ended.iter().any(|ended| ended.has(id, channel)));
        }
        self.release(sink);
    }

    /// Identifies the text of a piece in a row of successive texts, and forgets the texts that its record ends. `None` if the row has
    /// parallel texts.
    pub(super) fn place_of(&mut self, found: &Found<'_>, first: u64) -> Option<Place> {
        if !self.is_successive(found.row) {
            return None;
        }
        let (place, ended) = self.effects(found.record(), Some(found.row));
        self.end(first, |id, channel| ended.iter().any(|ended| ended.has(id, channel)));
        Some(place.unwrap_or_else(|| Place::apart(found.row)))
    }

    fn is_successive(&self, row: usize) -> bool {
        self.table.get(row).is_some_and(|pieces| matches!(pieces.order, Order::Successive(_)))
    }

    /// What a record does to the successive texts: the place of its piece, which is in a given row, and what ends.
    fn effects(&mut self, record: &str, with_piece: Option<usize>) -> (Option<Place>, Vec<Ended>) {
        let (mut place, mut ended) = (None, Vec::new());
        // Read as the decoder does: a line that is cut off does nothing.
        let FirstValue::Value { fields: object, .. } = first_value(top(record)) else { return (place, ended) };
        for (row, pieces) in self.table.iter().enumerate() {
            let Order::Successive(order) = &pieces.order else { continue };
            let has_piece = with_piece == Some(row);
            if !has_piece && !self.channels.values().any(|channel| channel.row == row) {
                continue;
            }
            match (order.effect)(&object) {
                Effect::Nothing => {}
                Effect::Says(said) => {
                    let of = Place::of(row, said);
                    // A text ends with the next one, named or not.
                    ended.push(Ended { row, group: Some(of.group), named_too: true, except: Some(of.channel) });
                    let also = said.also_ends.map(|conversation| group(row, conversation));
                    ended.extend(also.map(|group| Ended { row, group: Some(group), named_too: true, except: None }));
                    place = if has_piece { Some(of) } else { place };
                }
                Effect::Ends { conversation, named_too } => {
                    ended.push(Ended { row, group: Some(group(row, conversation)), named_too, except: None });
                }
                Effect::EndsTurn => {
                    let answered = self.conversations.as_mut().and_then(|known| known.answered(&object));
                    ended.extend(answered.map(|of| {
                        let group = match of {
                            Answered::One(conversation) => Some(group(row, conversation)),
                            Answered::TheOnly => None,
                        };
                        Ended { row, group, named_too: true, except: None }
                    }));
                }
            }
        }
        (place, ended)
    }

    /// Forgets the texts that are over, and decides about what waits in them. `first` is the number of the first unit in the queue.
    fn end(&mut self, first: u64, is_over: impl Fn(u64, &Channel) -> bool) {
        let (queue, key_rule) = (&mut self.queue, self.rules.key_rule);
        self.channels.retain(|id, channel| {
            let is_over = is_over(*id, channel);
            if is_over {
                channel.give_up(queue, first, key_rule);
            }
            !is_over
        });
    }
}

/// The conversations of an input, if one of the positions has texts of several.
pub(super) fn conversations_of(table: &[super::Pieces]) -> Option<Conversations> {
    let naming = table.iter().find_map(|pieces| match &pieces.order {
        Order::Successive(order) => order.conversations.as_ref(),
        Order::Parallel => None,
    });
    naming.map(Conversations::new)
}
