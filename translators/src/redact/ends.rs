//! Where streamed texts end.
//!
//! Input: a record. Output: the texts that it ends. Never: the end of a text that may go on, since the rest of a secret that was cut
//! there would pass.

use super::hold::{Redactor, Sink};
use super::pieces::{Over, Piece, down, over, top, value_behind};
use crate::framing::Unit;
use crate::hash::hasher;
use crate::json::scan::Scan;
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

/// Texts that follow each other, as in a conversation whose records do not say where a text ends. A text ends with the next one, and
/// with the records that the runner names.
#[derive(Debug)]
pub struct Successive {
    /// The keys from the top of a record to the id of its conversation: texts of several conversations may grow at the same time.
    /// Empty if an input has only one.
    pub conversation: &'static [&'static str],
    /// The keys from the top of a record to each value that differs between two texts that follow each other.
    pub kinds: &'static [&'static [&'static str]],
    /// The keys from the top of a record to the name of its text. Empty if texts have no names.
    pub name: &'static [&'static str],
    /// Which texts end with a record without a piece.
    pub ends: fn(&str) -> Ends,
}

/// The texts of a conversation that end with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The text that was being written may go on.
    Nothing,
    /// Texts without a name end; one with a name may go on.
    Nameless,
    /// All texts end.
    All,
}

/// A text of a conversation.
pub(super) struct Identity {
    pub(super) id: u64,
    pub(super) group: u64,
    pub(super) is_named: bool,
}

/// The content of the string at the end of a path from the top of a record, with its escapes. `None` if there is no string.
pub fn string_at<'t>(record: &'t str, way: &[&str]) -> Option<&'t str> {
    down(record, way)?.strip_prefix('"')?.strip_suffix('"')
}

impl Successive {
    /// Identifies the text of a record's piece.
    pub(super) fn identify(&self, row: usize, record: &str) -> Identity {
        let group = self.group(row, record);
        let name = string_at(record, self.name).filter(|name| !name.is_empty());
        let mut hasher = hasher();
        (group, name).hash(&mut hasher);
        self.kinds.iter().for_each(|way| down(record, way).hash(&mut hasher));
        Identity { id: hasher.finish(), group, is_named: name.is_some() }
    }

    fn group(&self, row: usize, record: &str) -> u64 {
        let mut hasher = hasher();
        (row, self.conversation_of(record)).hash(&mut hasher);
        hasher.finish()
    }

    fn conversation_of<'t>(&self, record: &'t str) -> Option<&'t str> {
        if self.conversation.is_empty() { None } else { down(record, self.conversation) }
    }
}

/// Whether the input has several conversations. Then a record that does not name its conversation, such as an answer in JSON-RPC, may
/// belong to any of them.
#[derive(Debug)]
pub(super) struct Conversations {
    /// The last key of the path to the id of a conversation, in its quotes.
    key: memchr::memmem::Finder<'static>,
    first: Option<Box<[u8]>>,
    are_several: bool,
}

impl Conversations {
    /// `None` if no text of the table is of a conversation with an id.
    pub(super) fn new(table: &[super::Pieces]) -> Option<Self> {
        let key = table.iter().find_map(|pieces| match &pieces.order {
            Order::Successive(order) => order.conversation.last(),
            Order::Parallel => None,
        })?;
        let key = memchr::memmem::Finder::new(&format!("\"{key}\"")).into_owned();
        Some(Self { key, first: None, are_several: false })
    }

    /// Notes the conversation of a record.
    pub(super) fn note(&mut self, record: &[u8]) {
        if self.are_several {
            return;
        }
        let Some(at) = self.key.find(record) else { return };
        let id = value_behind(record, at + self.key.needle().len());
        if id.is_some() && id == self.first.as_deref() {
            return;
        }
        // The key may be in a deeper object, such as a tool's arguments.
        let Some(id) = simdutf8::basic::from_utf8(record).ok().and_then(|record| self.of_part(record)) else { return };
        match &self.first {
            None => self.first = Some(id.as_bytes().into()),
            Some(first) => self.are_several = id.as_bytes() != &**first,
        }
    }

    /// The id in one of the objects at the top of a record, such as the parameters or the result.
    fn of_part<'t>(&self, record: &'t str) -> Option<&'t str> {
        let key = std::str::from_utf8(self.key.needle()).ok()?.trim_matches('"');
        let mut scan = Scan::new(top(record));
        while scan.key().is_some() {
            let id = string_at(scan.value()?, &[key]);
            if id.is_some() {
                return id;
            }
        }
        None
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
        let successive: Vec<(usize, u64, Ends)> = self.ended_successive(text, is_written);
        let first = self.first_number();
        let (queue, key_rule) = (&mut self.queue, self.rules.key_rule);
        self.channels.retain(|id, channel| {
            let is_of = |(row, group, ends): &(usize, u64, Ends)| {
                *row == channel.row && *group == channel.group && (*ends == Ends::All || !channel.is_named)
            };
            let is_over =
                over.texts.contains(id) || over.groups.contains(&channel.group) || successive.iter().any(is_of);
            if is_over {
                channel.give_up(queue, first, key_rule);
            }
            !is_over
        });
        self.release(sink);
    }

    /// The rows and conversations whose texts a record ends.
    fn ended_successive(&self, record: &str, is_written: impl Fn(usize) -> bool) -> Vec<(usize, u64, Ends)> {
        let mut ended = Vec::new();
        for (row, pieces) in self.table.iter().enumerate() {
            let Order::Successive(order) = &pieces.order else { continue };
            if !is_written(row) {
                continue;
            }
            let ends = (order.ends)(record);
            if ends == Ends::Nothing {
                continue;
            }
            if order.conversation.is_empty() || order.conversation_of(record).is_some() {
                ended.push((row, order.group(row, record), ends));
            } else if self.conversations.as_ref().is_none_or(|conversations| !conversations.are_several) {
                let groups = self.channels.values().filter(|channel| channel.row == row).map(|channel| channel.group);
                ended.extend(groups.map(|group| (row, group, ends)));
            }
        }
        ended
    }

    /// Forgets the texts that the text of a piece follows.
    pub(super) fn end_before(&mut self, piece: &Piece, first: u64) {
        let Some(Order::Successive(_)) = self.table.get(piece.row).map(|pieces| &pieces.order) else { return };
        let (queue, key_rule) = (&mut self.queue, self.rules.key_rule);
        self.channels.retain(|id, channel| {
            let is_over = channel.row == piece.row && channel.group == piece.group && *id != piece.channel;
            if is_over {
                channel.give_up(queue, first, key_rule);
            }
            !is_over
        });
    }
}
