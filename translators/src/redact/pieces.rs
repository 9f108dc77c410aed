//! Finds pieces of longer texts in a runner's records.
//!
//! Input: a record. Output: the piece in it, and the id of the text that the piece continues. Never: a table of record types.
//! A piece is recognised by its position, so that new record types work too.

use super::ends::Order;
use crate::hash::hasher;
use crate::json::scan::Scan;
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// One position of pieces in the records of a runner.
#[derive(Debug)]
pub struct Pieces {
    /// The keys from the top of the record to the object whose fields identify the text.
    pub parent: &'static [&'static str],
    /// The keys from that object to the piece. One list for each name that the piece may have.
    pub leaves: &'static [&'static [&'static str]],
    /// Fields at the top of the record that also identify the text.
    pub above: &'static [&'static str],
    /// How the texts in this position relate to each other.
    pub order: Order,
}

/// The text that a piece belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The id of the text.
    pub(super) channel: u64,
    /// The id of the message: all its texts share it.
    pub(super) group: u64,
}

/// Finds records that may have a piece: at least one of these keys is on the path to every piece of a table.
#[derive(Debug)]
pub(super) struct KeyFilter {
    /// Each key in its quotes.
    keys: Vec<memchr::memmem::Finder<'static>>,
}

impl KeyFilter {
    /// The smallest set of keys that a greedy choice finds. Keys of leaves only: those of the parents are in nearly every record.
    pub(super) fn new(table: &[Pieces]) -> Self {
        let mut paths: Vec<&[&str]> = table.iter().flat_map(|pieces| pieces.leaves).copied().collect();
        let mut keys = Vec::new();
        while let Some(key) = most_common(&paths) {
            keys.push(memchr::memmem::Finder::new(&format!("\"{key}\"")).into_owned());
            paths.retain(|path| !path.contains(&key));
        }
        Self { keys }
    }

    /// The end of the first of the keys in a record; `None` if the record has no piece.
    pub(super) fn find(&self, bytes: &[u8]) -> Option<usize> {
        self.keys.iter().find_map(|key| Some(key.find(bytes)? + key.needle().len()))
    }

    /// Whether none of the keys occurs again after `end`, the position that [`find`](Self::find) returned.
    pub(super) fn is_last(&self, bytes: &[u8], end: usize) -> bool {
        // An earlier key of the list is not in the record; a later one may be anywhere in it.
        let (before, after) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        let is_first = |key: &memchr::memmem::Finder<'_>| before.ends_with(key.needle());
        self.keys.iter().all(|key| key.find(after).is_none() && (is_first(key) || key.find(before).is_none()))
    }
}

/// The key that most of the paths contain; of several, the last one in the first path, which is usually the rarest in records. `None` if
/// there is no path with a key.
fn most_common<'k>(paths: &[&[&'k str]]) -> Option<&'k str> {
    let count = |key: &str| paths.iter().filter(|path| path.contains(&key)).count();
    let most = paths.iter().copied().flatten().map(|key| count(key)).max()?;
    paths.iter().find_map(|path| path.iter().copied().rev().find(|key| count(key) == most))
}

/// The contents of the string value of a key that ends at `key_end`. `None` if the value is not a string, or has an escape or
/// a control character.
pub(super) fn value_behind(bytes: &[u8], key_end: usize) -> Option<&[u8]> {
    let value = bytes.get(key_end..)?.strip_prefix(b":")?;
    let value = value.strip_prefix(b" ").unwrap_or(value).strip_prefix(b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', value).filter(|end| value.get(*end) == Some(&b'"'))?;
    value.get(..end).filter(|inner| inner.iter().all(|byte| *byte >= b' '))
}

/// The maximum number of fields in [`Pieces::above`].
const ABOVE: usize = 2;

/// The position of a piece in a record, before its text is identified.
#[derive(Debug)]
pub(super) struct Found<'t> {
    /// The byte range of the string's contents in the record.
    pub(super) place: Range<usize>,
    /// The row in the table.
    pub(super) row: usize,
    leaf: usize,
    text: &'t str,
    parent: &'t str,
}

/// Finds the piece of a record.
pub(super) fn find<'t>(table: &[Pieces], text: &'t str) -> Option<Found<'t>> {
    // Rows with the same parent share one scan to it.
    let mut entered: Option<(&[&str], Option<Scan<'t>>)> = None;
    // Paths with the same first key share one scan up to the end of that key.
    let mut begun: Option<(&str, Option<Scan<'t>>)> = None;
    for (row, pieces) in table.iter().enumerate() {
        let parent = match entered {
            Some((way, parent)) if way == pieces.parent => parent,
            _ => {
                let mut parent = Scan::new(top(text));
                let is_there = enter_all(&mut parent, pieces.parent);
                parent.peek();
                begun = None;
                entered.insert((pieces.parent, is_there.then_some(parent))).1
            }
        };
        let Some(parent) = parent else { continue };
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
            if let Order::Successive(_) = pieces.order {
                // These texts are not identified by their parent.
                return Some(Found { place: start..start + inner.len(), row, leaf, text, parent: "" });
            }
            // If the rest of the object is not valid JSON, the object extends as far as its brackets go.
            let is_closed = way.iter().all(|_| close(&mut scan));
            let whole = if is_closed { parent.text_to(&scan) } else { down(text, pieces.parent) };
            let Some(parent) = whole else { break };
            return Some(Found { place: start..start + inner.len(), row, leaf, text, parent });
        }
    }
    None
}

/// Moves to the value of a key in the object that follows. Returns whether the object has that key.
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

/// Moves to the value at the end of a path. Returns whether there is one.
pub(super) fn enter_all(scan: &mut Scan<'_>, way: &[&str]) -> bool {
    way.iter().all(|key| enter(scan, key))
}

/// Moves past the end of an object, from after one of its values. Returns whether the object is closed.
fn close(scan: &mut Scan<'_>) -> bool {
    while scan.key().is_some() {
        if scan.value().is_none() {
            return false;
        }
    }
    scan.take(b'}')
}

/// The texts that end with a record.
#[derive(Debug, Default)]
pub(super) struct Over {
    pub(super) texts: Vec<u64>,
    /// All texts of these messages end.
    pub(super) groups: Vec<u64>,
}

/// Finds the parallel texts that begin or end with a record without a piece, among the given rows of the table. Such a record has an
/// object in the place where pieces have theirs. If that object has the same ids, it is about one text. If it has no ids but
/// contains an object, it is about the whole message.
pub(super) fn over(table: &[Pieces], text: &str, rows: impl Fn(usize) -> bool) -> Over {
    let mut over = Over::default();
    let is_parallel = |pieces: &Pieces| matches!(pieces.order, Order::Parallel);
    for (row, pieces) in table.iter().enumerate().filter(|(row, pieces)| is_parallel(pieces) && rows(*row)) {
        let mut begin = Scan::new(top(text));
        if !enter_all(&mut begin, pieces.parent) {
            continue;
        }
        let Some(fields) = Fields::of(begin, pieces, || down(text, pieces.parent)) else { continue };
        if fields.whose.is_none() && !fields.has_object {
            continue;
        }
        let ids = Ids::new(row, pieces, text, &fields);
        match fields.whose {
            Some(_) => over.texts.extend((0..pieces.leaves.len()).map(|leaf| of_leaf(ids.text, leaf))),
            None => over.groups.push(ids.group),
        }
    }
    over
}

/// What the fields of an object say about the texts that its record is about.
struct Fields<'t> {
    object: &'t str,
    /// A hash of the ids. `None` if there are none and only the position identifies the text.
    whose: Option<u64>,
    /// Whether it contains another object, such as a message or a response.
    has_object: bool,
    /// The fields at the top of the record that identify the text, if the object is the record itself.
    above: Option<Above<'t>>,
}

/// The fields at the top of a record that identify a text.
#[derive(Clone, Copy, Default)]
struct Above<'t> {
    /// Each with whether it is the record's kind.
    fields: [Option<(bool, &'t str)>; ABOVE],
    found: usize,
}

impl<'t> Above<'t> {
    /// Reads the fields. `known` is the place of a value that need not be scanned again.
    fn read(pieces: &Pieces, text: &'t str, known: &'t Range<usize>) -> Self {
        let mut above = Self::default();
        let mut scan = Scan::knowing(text, std::slice::from_ref(known));
        while above.found < pieces.above.len()
            && text.starts_with('{')
            && let Some(key) = scan.key()
            && let Some(value) = scan.value()
        {
            above.note(pieces, key.inner, value);
        }
        above
    }

    fn note(&mut self, pieces: &Pieces, key: &str, value: &'t str) {
        let field = pieces.above.iter().position(|name| *name == key).and_then(|nth| self.fields.get_mut(nth));
        if let Some(field) = field.filter(|field| field.is_none()) {
            *field = Some((matches!(key, "type" | "method"), value));
            self.found += 1;
        }
    }
}

impl<'t> Fields<'t> {
    /// Reads the object that begins here. `whole` returns it if it is not valid JSON: as far as its brackets go.
    fn of(begin: Scan<'t>, pieces: &Pieces, whole: impl FnOnce() -> Option<&'t str>) -> Option<Self> {
        let mut scan = begin;
        let (mut whose, mut has_object) = (None, false);
        if scan.peek() != Some(b'{') {
            return None;
        }
        let begin = scan;
        let mut above = pieces.parent.is_empty().then(Above::default);
        while let Some(key) = scan.key() {
            let Some(value) = scan.value() else { break };
            has_object |= value.starts_with('{');
            above.iter_mut().for_each(|above| above.note(pieces, key.inner, value));
            // The `id` of a whole record is that of an event.
            if says_whose(key.inner) && (key.inner != "id" || !pieces.parent.is_empty()) {
                (key.inner, value).hash(whose.get_or_insert_with(hasher));
            }
        }
        let object = if scan.take(b'}') { begin.text_to(&scan) } else { whole() };
        Some(Self { object: object?, whose: whose.map(|hasher| hasher.finish()), has_object, above })
    }
}

/// The id of one of several texts that differ only in their leaf.
fn of_leaf(whose: u64, leaf: usize) -> u64 {
    let mut hasher = hasher();
    (whose, leaf).hash(&mut hasher);
    hasher.finish()
}

impl Found<'_> {
    /// The record that the piece is in.
    pub(super) fn record(&self) -> &str {
        self.text
    }

    /// The JSON pointer to the piece.
    pub(super) fn pointer(&self, table: &[Pieces]) -> String {
        let Some(pieces) = table.get(self.row) else { return String::new() };
        let leaf = pieces.leaves.get(self.leaf).copied().unwrap_or_default();
        pieces.parent.iter().chain(leaf).flat_map(|key| ["/", key]).collect()
    }

    /// Identifies the text of the piece, if texts grow in parallel.
    pub(super) fn piece(&self, table: &[Pieces]) -> Piece {
        let (row, leaf) = (self.row, self.leaf);
        let ids = table.get(row).and_then(|pieces| {
            let parent = Fields::of(Scan::new(self.parent), pieces, || Some(self.parent))?;
            Some(Ids::new(row, pieces, self.text, &parent))
        });
        let Ids { text, group } = ids.unwrap_or_default();
        Piece { channel: of_leaf(text, leaf), group }
    }
}

/// The ids of a text, without its leaf, and of its message.
#[derive(Default)]
struct Ids {
    text: u64,
    group: u64,
}

impl Ids {
    /// Hashes the ids in the parent object and the fields at the top of the record that identify the text. The record's kind
    /// (`response.output_text.delta`) counts only in part, because the record that ends a text has a different kind.
    fn new(row: usize, pieces: &Pieces, text: &str, parent: &Fields<'_>) -> Self {
        let text = top(text);
        // The parent was scanned already, so the scanner can skip it.
        let start = (parent.object.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
        let known = start..start.wrapping_add(parent.object.len());
        let above = parent.above.unwrap_or_else(|| Above::read(pieces, text, &known));
        let hash = |whose: Option<u64>, cut: fn(u8, u8, &[u8]) -> Option<usize>| {
            let mut hasher = hasher();
            (row, whose).hash(&mut hasher);
            for field in above.fields {
                let end = field.filter(|(is_kind, _)| *is_kind).and_then(|(_, kind)| cut(b'.', b'/', kind.as_bytes()));
                field.map(|(_, value)| end.and_then(|end| value.get(..end)).unwrap_or(value)).hash(&mut hasher);
            }
            hasher.finish()
        };
        let whose = parent.whose.unwrap_or_default();
        Self { text: hash(Some(whose), memchr::memrchr2), group: hash(None, memchr::memchr2) }
    }
}

/// The record without a byte order mark and surrounding white space.
pub(super) fn top(text: &str) -> &str {
    text.trim_start_matches('\u{FEFF}').trim()
}

/// Ids, indexes and names of fields are the same on all pieces of a text. Ids of events are not.
fn says_whose(key: &str) -> bool {
    match key.as_bytes() {
        b"event_id" => false,
        [.., b'i' | b'I', b'd'] | [.., b'I', b'D'] | [.., b'n', b'd', b'e', b'x'] => true,
        [.., b'f', b'i', b'e', b'l', b'd'] | [.., b's', b't', b'r', b'e', b'a', b'm'] => true,
        _ => false,
    }
}

/// The value at the end of a path from the top of a record.
pub(super) fn down<'t>(text: &'t str, way: &[&str]) -> Option<&'t str> {
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

    /// A slow reference implementation of `find`: follows each path from the top, and accepts only complete values.
    fn plainly<'t>(table: &[Pieces], text: &'t str) -> Option<(Range<usize>, usize, usize, &'t str)> {
        table.iter().enumerate().find_map(|(row, pieces)| {
            let parent = down(text, pieces.parent)?;
            pieces.leaves.iter().enumerate().find_map(|(leaf, way)| {
                let inner = down(parent, way)?.strip_prefix('"')?.strip_suffix('"')?;
                let start = inner.as_ptr() as usize - text.as_ptr() as usize;
                // Successive texts are not identified by their parent.
                let parent = if matches!(pieces.order, Order::Parallel) { parent } else { "" };
                Some((start..start + inner.len(), row, leaf, parent))
            })
        })
    }

    #[test]
    fn pieces_are_found_by_each_path_alone() {
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
        let mut found = std::collections::HashSet::new();
        for (table, record) in RUNNERS.iter().flat_map(|runner| records.map(|record| (runner.pieces, record))) {
            let one = find(table, record).map(|one| (one.place, one.row, one.leaf, one.parent));
            assert_eq!(one, plainly(table, record), "{record}");
            found.extend(one.is_some().then_some(record));
            // If the record is truncated, a complete piece is still found in the same place.
            for end in (0..record.len()).filter(|end| record.is_char_boundary(*end)) {
                let cut = &record[..end];
                let plain = plainly(table, cut);
                let found = find(table, cut).map(|one| (one.place, one.row, one.leaf, one.parent));
                assert!(plain.is_none() || found == plain, "{cut}: {found:?} {plain:?}");
            }
        }
        assert_eq!(
            found.len(),
            records.len() - 1,
            "only the record whose first delta is a list has no piece: {found:?}"
        );
    }

    /// The recordings of a runner, as text.
    fn recordings(runner: &str) -> Vec<(std::path::PathBuf, String)> {
        let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(runner)];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else if let Ok(text) = std::fs::read_to_string(&entry) {
                    found.push((entry, text));
                }
            }
        }
        found
    }

    #[test]
    fn recordings_have_pieces_at_the_declared_paths() {
        for runner in RUNNERS {
            let (name, table) = (runner.name, runner.pieces);
            let filter = KeyFilter::new(table);
            let mut found = 0;
            for (path, text) in recordings(name) {
                for line in text.lines() {
                    let record = line.strip_prefix("data:").unwrap_or(line);
                    let one = find(table, record).map(|one| (one.place, one.row, one.leaf, one.parent));
                    assert_eq!(one, plainly(table, record), "{}: {record}", path.display());
                    if one.is_some() {
                        found += 1;
                        assert!(filter.find(record.as_bytes()).is_some(), "{}: {record}", path.display());
                    }
                }
            }
            assert!(table.iter().all(|pieces| pieces.above.len() <= ABOVE), "{name}: at most {ABOVE} fields above");
            assert!(found > 0 || table.is_empty(), "add a recording to tests/fixtures/{name}/ that streams text");
        }
    }

    #[test]
    fn one_key_selects_all_tables_that_share_it() {
        let keys = |table: &[Pieces]| -> Vec<String> {
            let keys = KeyFilter::new(table).keys;
            keys.iter().map(|key| String::from_utf8_lossy(key.needle()).into_owned()).collect()
        };
        const SHARED: &[Pieces] = &[
            Pieces {
                parent: &["event"],
                leaves: &[&["delta", "text"], &["delta", "thinking"]],
                above: &[],
                order: Order::Parallel,
            },
            Pieces { parent: &[], leaves: &[&["delta"]], above: &[], order: Order::Parallel },
        ];
        assert_eq!(keys(SHARED), ["\"delta\""]);
        const APART: &[Pieces] =
            &[Pieces { parent: &["a"], leaves: &[&["text"], &["thought"]], above: &[], order: Order::Parallel }];
        assert_eq!(keys(APART), ["\"text\"", "\"thought\""]);
        assert_eq!(keys(&[]), [""; 0]);
        let filter = KeyFilter::new(APART);
        for (record, expected) in [
            (r#"{"a":{"text":"x"}}"#, Some(true)),
            (r#"{"a":{"thought":"x"}}"#, Some(true)),
            (r#"{"a":{"text":"x","thought":"x"}}"#, Some(false)),
            (r#"{"a":{"thought":"x","text":"x"}}"#, Some(false)),
            (r#"{"a":{"thought":"x","thought":"x"}}"#, Some(false)),
            (r#"{"a":{"texts":"x"}}"#, None),
        ] {
            let found = filter.find(record.as_bytes());
            assert_eq!(found.map(|end| filter.is_last(record.as_bytes(), end)), expected, "{record}");
        }
    }
}
