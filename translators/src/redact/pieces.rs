//! Where a runner's records carry pieces of a longer text.
//!
//! In: a record. Out: the piece in it, and which text it goes on with. Never: a table of record types: a piece is known by its
//! place, so that a type that is new tomorrow is found as well.

use crate::hash::hasher;
use crate::json::scan::Scan;
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// One place of pieces.
#[derive(Debug)]
pub struct Pieces {
    /// The keys on the way from the top of the record to the object that says what the piece belongs to.
    pub parent: &'static [&'static str],
    /// The keys from there to the piece, and for each piece of another name again.
    pub leaves: &'static [&'static [&'static str]],
    /// Fields at the top of the record that also say what it belongs to.
    pub above: &'static [&'static str],
}

/// A piece in a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The inside of its string, in the record's bytes.
    pub(super) place: Range<usize>,
    /// What it is a piece of.
    pub(super) channel: u64,
    row: usize,
    leaf: usize,
}

impl Piece {
    /// The JSON pointer to it.
    pub(super) fn pointer(&self, table: &[Pieces]) -> String {
        let Some(pieces) = table.get(self.row) else { return String::new() };
        let leaf = pieces.leaves.get(self.leaf).copied().unwrap_or_default();
        pieces.parent.iter().chain(leaf).flat_map(|key| ["/", key]).collect()
    }
}

/// The key that stands on the way to every piece.
pub(super) const MARK: &[u8] = b"\"delta\"";

/// The inside of the string that is the value of a key which ends here: where it is one, without an escape, on one line.
pub(super) fn value_behind(bytes: &[u8], key_end: usize) -> Option<&[u8]> {
    let value = bytes.get(key_end..)?.strip_prefix(b":")?;
    let value = value.strip_prefix(b" ").unwrap_or(value).strip_prefix(b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', value).filter(|end| value.get(*end) == Some(&b'"'))?;
    value.get(..end).filter(|inner| inner.iter().all(|byte| *byte >= b' '))
}

/// So many fields above say at most what a piece belongs to.
const ABOVE: usize = 2;

/// Where a record has a piece; what it is a piece of is not found out yet.
#[derive(Debug)]
pub(super) struct Found<'t> {
    /// The inside of its string, in the record's bytes.
    pub(super) place: Range<usize>,
    row: usize,
    leaf: usize,
    text: &'t str,
    parent: &'t str,
}

/// The place of a record's piece; its text must have passed for UTF-8.
pub(super) fn find<'t>(table: &[Pieces], text: &'t str) -> Option<Found<'t>> {
    for (row, pieces) in table.iter().enumerate() {
        let mut parent = Scan::new(top(text));
        if !enter_all(&mut parent, pieces.parent) {
            continue;
        }
        parent.peek();
        // Ways that begin alike are gone once as far as they do.
        let mut begun: Option<(&str, Option<Scan<'t>>)> = None;
        for (leaf, way) in pieces.leaves.iter().enumerate() {
            let Some((key, rest)) = way.split_first() else { continue };
            let (_, inner) = *match &mut begun {
                Some(same) if same.0 == *key => same,
                other => {
                    let mut inner = parent;
                    let is_there = enter(&mut inner, key);
                    other.insert((key, is_there.then_some(inner)))
                }
            };
            let Some(mut scan) = inner else { continue };
            if !enter_all(&mut scan, rest) {
                continue;
            }
            let Some(value) = scan.value() else { continue };
            let Some(inner) = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) else { continue };
            let start = (inner.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
            // What is no JSON further on is taken as far as its brackets go.
            let is_closed = way.iter().all(|_| close(&mut scan));
            let whole = if is_closed { parent.text_to(&scan) } else { down(text, pieces.parent) };
            let Some(parent) = whole else { break };
            return Some(Found { place: start..start + inner.len(), row, leaf, text, parent });
        }
    }
    None
}

/// Goes to the value of a key of the object that comes; whether there is such a key.
fn enter(scan: &mut Scan<'_>, key: &str) -> bool {
    if scan.peek() != Some(b'{') {
        return false;
    }
    while let Some(name) = scan.key() {
        if name.inner == key {
            return true;
        }
        if scan.value().is_none() {
            return false;
        }
    }
    false
}

fn enter_all(scan: &mut Scan<'_>, way: &[&str]) -> bool {
    way.iter().all(|key| enter(scan, key))
}

/// Goes behind the end of an object, from behind one of its values; whether it has one.
fn close(scan: &mut Scan<'_>) -> bool {
    while scan.key().is_some() {
        if scan.value().is_none() {
            return false;
        }
    }
    scan.take(b'}')
}

/// The texts that begin or end with a record that has no piece, as far as it names them: it stands where their pieces do and has
/// the same ids. Its text must have passed for UTF-8.
pub(super) fn ended(table: &[Pieces], text: &str) -> Vec<u64> {
    let rows = table.iter().enumerate().filter_map(|(row, pieces)| Some((row, pieces, down(text, pieces.parent)?)));
    let of_row = |(row, pieces, parent): (usize, &Pieces, _)| {
        let found = |leaf| Found { place: 0..0, row, leaf, text, parent }.channel(table);
        (0..pieces.leaves.len()).map(found).collect::<Vec<_>>()
    };
    rows.flat_map(of_row).filter_map(|(channel, is_named)| is_named.then_some(channel)).collect()
}

impl Found<'_> {
    /// The piece, with what it is a piece of.
    pub(super) fn piece(self, table: &[Pieces]) -> Piece {
        let (channel, _) = self.channel(table);
        Piece { place: self.place, channel, row: self.row, leaf: self.leaf }
    }

    /// What it is a piece of, and whether anything but its place says so.
    fn channel(&self, table: &[Pieces]) -> (u64, bool) {
        let mut hasher = hasher();
        let mut is_named = false;
        (self.row, self.leaf).hash(&mut hasher);
        let mut scan = Scan::new(self.parent);
        while let Some(key) = scan.key() {
            let Some(value) = scan.value() else { break };
            if says_whose(key.inner) {
                is_named = true;
                (key.inner, value).hash(&mut hasher);
            }
        }
        let above = table.get(self.row).map_or(&[][..], |pieces| pieces.above);
        if !above.is_empty() {
            self.hash_above(above, &mut hasher);
        }
        (hasher.finish(), is_named)
    }
}

impl Found<'_> {
    /// Adds what some fields at the top of the record say.
    fn hash_above(&self, keys: &[&str], hasher: &mut impl Hasher) {
        let mut said: [Option<&str>; ABOVE] = [None; ABOVE];
        let text = top(self.text);
        // What stands in the parent need not be read again.
        let start = (self.parent.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
        let known = start..start.wrapping_add(self.parent.len());
        let mut scan = Scan::knowing(text, std::slice::from_ref(&known));
        let mut left = keys.len();
        while left > 0
            && text.starts_with('{')
            && let Some(key) = scan.key()
            && let Some(value) = scan.value()
        {
            let field = keys.iter().position(|name| *name == key.inner).and_then(|nth| said.get_mut(nth));
            if let Some(field) = field.filter(|field| field.is_none()) {
                *field = Some(value);
                left -= 1;
            }
        }
        said.hash(hasher);
    }
}

/// The record itself.
fn top(text: &str) -> &str {
    text.trim_start_matches('\u{FEFF}').trim()
}

/// Ids, indexes and names of fields are the same on all pieces of a text.
fn says_whose(key: &str) -> bool {
    ["id", "Id", "ID", "ndex", "field", "stream"].iter().any(|end| key.ends_with(end)) && key != "event_id"
}

fn down<'t>(text: &'t str, way: &[&str]) -> Option<&'t str> {
    let mut at = top(text);
    for key in way {
        if !at.starts_with('{') {
            return None;
        }
        let mut scan = Scan::new(at);
        loop {
            let name = scan.key()?;
            let value = scan.value()?;
            if name.inner == *key {
                at = value;
                break;
            }
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runners::RUNNERS;

    /// The same, each way gone from the top, over whole values alone.
    fn plainly<'t>(table: &[Pieces], text: &'t str) -> Option<(Range<usize>, usize, usize, &'t str)> {
        table.iter().enumerate().find_map(|(row, pieces)| {
            let parent = down(text, pieces.parent)?;
            pieces.leaves.iter().enumerate().find_map(|(leaf, way)| {
                let inner = down(parent, way)?.strip_prefix('"')?.strip_suffix('"')?;
                let start = inner.as_ptr() as usize - text.as_ptr() as usize;
                Some((start..start + inner.len(), row, leaf, parent))
            })
        })
    }

    #[test]
    fn a_piece_is_where_each_way_leads_by_itself() {
        let records = [
            r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}}"#,
            r#" { "event" : { "delta" : { "thinking" : "b\"", "text" : 7 } , "index" : [1,{"delta":2}] } } "#,
            r#"{"event":{"delta":{"thinking":"b","text":"c"},"delta":{"text":"d"}},"event":{}}"#,
            r#"{"event":{"x":{"delta":{"text":"no"}},"delta":{"x":{"text":"no"},"partial_json":"{\"k\":"}},"y":1}"#,
            r#"{"method":"item/agentMessage/delta","params":{"itemId":"i","turnId":"t","threadId":"h","delta":"e"}}"#,
            r#"{"type":"message.part.updated","properties":{"part":{"id":"p","text":"f"},"delta":"g"}}"#,
            r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"h"}"#,
            r#"{"event":{"delta":[{"text":"no"}]},"delta":{"text":"i"}}"#,
            "\u{feff}{\"event\":{\"delta\":{\"text\":\"j\"}}}",
        ];
        let mut found = 0;
        for (table, record) in RUNNERS.iter().flat_map(|runner| records.map(|record| (runner.pieces, record))) {
            let one = find(table, record).map(|one| (one.place, one.row, one.leaf, one.parent));
            assert_eq!(one, plainly(table, record), "{record}");
            found += usize::from(one.is_some());
            // Where the record breaks off, what is found is found where it stood; nothing is lost but what is cut.
            for end in (0..record.len()).filter(|end| record.is_char_boundary(*end)) {
                let cut = &record[..end];
                let plain = plainly(table, cut);
                let found = find(table, cut).map(|one| (one.place, one.row, one.leaf, one.parent));
                assert!(plain.is_none() || found == plain, "{cut}: {found:?} {plain:?}");
            }
        }
        assert_eq!(found, 8, "five of claude-code, one of each other runner");
    }

    #[test]
    fn the_mark_stands_on_the_way_to_every_piece() {
        let key = std::str::from_utf8(MARK).unwrap().trim_matches('"');
        for runner in RUNNERS {
            for pieces in runner.pieces {
                assert!(pieces.above.len() <= ABOVE, "{}: {pieces:?}", runner.name);
                assert!(pieces.leaves.iter().all(|leaf| leaf.contains(&key)), "{}: {pieces:?}", runner.name);
            }
        }
    }
}
