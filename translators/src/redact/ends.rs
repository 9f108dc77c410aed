//! Where streamed texts end.
//!
//! Input: a record. Output: the texts that it ends. Never: the end of a text that may go on, since the rest of a secret that was cut
//! there would pass.

use super::hold::{Redactor, Sink};
use super::pieces::{Over, Piece, down, enter_all, over, top, value_behind};
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
    /// The keys from the top of a record to the object whose fields tell the texts of a conversation apart.
    pub parent: &'static [&'static str],
    /// The key of the name of a text in that object. Empty if texts have no names.
    pub name: &'static str,
    /// The keys from that object to each other value that differs between two texts that follow each other. At most two.
    pub kinds: &'static [&'static [&'static str]],
    /// Which texts end with a record without a piece.
    pub ends: fn(&str) -> Ends,
}

/// The maximum number of [`Successive::kinds`].
pub(super) const KINDS: usize = 2;

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
        let group = group(row, self.conversation_of(record));
        let (name, kinds) = self.fields(record);
        let mut hasher = hasher();
        (group, name, kinds).hash(&mut hasher);
        Identity { id: hasher.finish(), group, is_named: name.is_some() }
    }

    /// The name of a record's text, and its other values, as JSON. One pass over the object that has them.
    fn fields<'t>(&self, record: &'t str) -> (Option<&'t str>, [Option<&'t str>; KINDS]) {
        let (mut name, mut kinds) = (None, [None; KINDS]);
        let mut scan = Scan::new(top(record));
        let has_none = self.name.is_empty() && self.kinds.is_empty();
        if has_none || !enter_all(&mut scan, self.parent) || scan.peek() != Some(b'{') {
            return (name, kinds);
        }
        let is_whole = |name: Option<&str>, kinds: &[Option<&str>]| {
            name.is_some() && kinds.iter().take(self.kinds.len()).all(Option::is_some)
        };
        while !is_whole(name, &kinds)
            && let Some(key) = scan.key()
            && let Some(value) = scan.value()
        {
            if key.inner == self.name {
                name = Some(value).filter(|name| !matches!(*name, "null" | r#""""#));
            }
            for (way, kind) in self.kinds.iter().zip(&mut kinds) {
                if let Some(rest) = way.strip_prefix(&[key.inner]) {
                    *kind = down(value, rest);
                }
            }
        }
        (name, kinds)
    }

    fn conversation_of<'t>(&self, record: &'t str) -> Option<&'t str> {
        if self.conversation.is_empty() { None } else { down(record, self.conversation) }
    }
}

/// The id of a conversation's texts in one row.
fn group(row: usize, conversation: Option<&str>) -> u64 {
    let mut hasher = hasher();
    (row, conversation).hash(&mut hasher);
    hasher.finish()
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
        if self.first.is_some() && value_behind(record, at + self.key.needle().len()) == self.first.as_deref() {
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
            let mut part = scan;
            if enter_all(&mut part, &[key]) {
                return part.value()?.strip_prefix('"')?.strip_suffix('"');
            }
            scan.value()?;
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
            let conversation = order.conversation_of(record);
            if order.conversation.is_empty() || conversation.is_some() {
                ended.push((row, group(row, conversation), ends));
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
