//! Long texts, each kept once.
//!
//! In: the stored bodies of a stream's frames, in order. Out: for each, which part of it stands in an earlier frame's body
//! already. Never: a reference to a body that lacks a part itself, to a later frame, or to another stream's.
//!
//! Of a long text the record, the delta, the completed text, the next record and the run's end each hold a copy. They are
//! compared as they are stored, so a text that two runners escape in two ways is kept twice.

use crate::log::StreamId;
use memchr::memmem;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// How long a text is that is worth a reference, in bytes.
pub(super) const LEAST: usize = 1 << 10;

/// How long a text is at most that is remembered for later appends.
const REMEMBERED: usize = 1 << 20;

/// How many bytes of texts are remembered, of all streams.
const REMEMBERED_ALL: usize = 16 << 20;

/// How many bytes of a text are looked for; the rest is compared where they are found.
const FRONT: usize = 64;

/// In how many places the rest is compared.
const TRIES: usize = 64;

/// How many of the latest records of an append are looked through for a text.
const RECORDS: usize = 4;

/// A part of a body that stands elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    /// Where in the body, in bytes.
    pub(super) part: Range<usize>,
    /// The frame in which the same bytes stand.
    pub(super) source: u64,
    /// Where in that frame's body.
    pub(super) source_at: usize,
    /// The stream's key, where that frame is of an earlier append: another stream may have its id by now.
    pub(super) key: Option<i64>,
}

/// A long text and where it stands.
#[derive(Clone, Debug)]
struct Text {
    seq: u64,
    at: usize,
    bytes: Bytes,
}

#[derive(Clone, Debug)]
enum Bytes {
    /// In the buffer of the append.
    Here(Range<usize>),
    /// Of an earlier append, to the stream with that key.
    Before(i64, Arc<[u8]>),
}

/// The last long text of a stream, as of an append that was kept.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// The stream's; 0 before it has one.
    key: i64,
    seq: u64,
    at: usize,
    bytes: Arc<[u8]>,
}

/// The last long text of each stream.
#[derive(Debug, Default)]
pub(super) struct Texts(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    of: HashMap<StreamId, Known>,
    bytes: usize,
}

impl Known {
    /// The same, of the stream with that key.
    pub(super) fn of_stream(self, key: i64) -> Self {
        Self { key, ..self }
    }
}

impl Texts {
    pub(super) fn of(&self, stream: StreamId) -> Option<Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).of.get(&stream).cloned()
    }

    /// The last long text of a stream is that one now; `None`: it is over.
    pub(super) fn learn(&self, stream: StreamId, known: Option<Known>) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let more = known.as_ref().map_or(0, |known| known.bytes.len());
        if remembered.bytes + more > REMEMBERED_ALL {
            // They save room, and nothing depends on them.
            *remembered = Remembered::default();
        }
        let before = match known {
            Some(known) => remembered.of.insert(stream, known),
            None => remembered.of.remove(&stream),
        };
        remembered.bytes = remembered.bytes + more - before.map_or(0, |before| before.bytes.len());
    }
}

/// Looks for what the frames of one stream, in one append, have in common.
pub(super) struct Finder {
    last: Option<Text>,
    /// Records of the append that hold all of their bytes, and their numbers.
    records: Vec<(u64, Range<usize>)>,
}

impl Finder {
    pub(super) fn new(known: Option<Known>) -> Self {
        let last = known.map(|Known { key, seq, at, bytes }| Text { seq, at, bytes: Bytes::Before(key, bytes) });
        Self { last, records: Vec::new() }
    }

    /// The next body, which stands there in the append's buffer.
    pub(super) fn next(&mut self, seq: u64, body: Range<usize>, is_record: bool, bodies: &[u8]) -> Option<Hole> {
        if body.len() < LEAST {
            return None;
        }
        let bytes = bodies.get(body.clone())?;
        if is_record {
            let hole = self.last_in(bytes, bodies);
            if hole.is_none() {
                self.records.push((seq, body));
            }
            return hole;
        }
        let part = longest_string(bytes);
        let text = bytes.get(part.clone()).filter(|text| text.len() >= LEAST)?;
        if let Some(last) = &self.last
            && last.bytes(bodies) == Some(text)
        {
            return Some(last.hole(part));
        }
        for (source, record) in self.records.iter().rev().take(RECORDS) {
            let Some(found) = bodies.get(record.clone()).and_then(|record| find(record, text)) else { continue };
            let here = record.start + found..record.start + found + text.len();
            self.last = Some(Text { seq: *source, at: found, bytes: Bytes::Here(here) });
            return Some(Hole { part, source: *source, source_at: found, key: None });
        }
        // It stands here first.
        let here = body.start + part.start..body.start + part.end;
        self.last = Some(Text { seq, at: part.start, bytes: Bytes::Here(here) });
        None
    }

    /// The last long text, where it stands in these bytes.
    fn last_in(&self, bytes: &[u8], bodies: &[u8]) -> Option<Hole> {
        let last = self.last.as_ref()?;
        let text = last.bytes(bodies)?;
        let at = find(bytes, text)?;
        Some(last.hole(at..at + text.len()))
    }

    /// What a later append of the stream may refer to.
    pub(super) fn into_known(self, bodies: &[u8]) -> Option<Known> {
        let Text { seq, at, bytes } = self.last?;
        let (key, bytes) = match bytes {
            Bytes::Before(key, bytes) => (key, bytes),
            Bytes::Here(range) => (0, bodies.get(range).filter(|text| text.len() <= REMEMBERED)?.into()),
        };
        Some(Known { key, seq, at, bytes })
    }
}

impl Text {
    fn bytes<'a>(&'a self, bodies: &'a [u8]) -> Option<&'a [u8]> {
        match &self.bytes {
            Bytes::Here(range) => bodies.get(range.clone()),
            Bytes::Before(_, bytes) => Some(bytes),
        }
    }

    /// What such a part of a body is, where the text stands there again.
    fn hole(&self, part: Range<usize>) -> Hole {
        let key = match self.bytes {
            Bytes::Here(_) => None,
            Bytes::Before(key, _) => Some(key),
        };
        Hole { part, source: self.seq, source_at: self.at, key }
    }
}

/// Where a text stands in some bytes.
fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    let front = memmem::Finder::new(text.get(..FRONT)?);
    front.find_iter(bytes).take(TRIES).find(|at| bytes.get(*at..).is_some_and(|rest| rest.starts_with(text)))
}

/// Where the longest string stands in a JSON text, as it is spelled, without its quotes; nowhere: `0..0`.
fn longest_string(json: &[u8]) -> Range<usize> {
    let (mut longest, mut open) = (0..0, None);
    for quote in memchr::memchr_iter(b'"', json) {
        let Some(start) = open else {
            open = Some(quote + 1);
            continue;
        };
        let slashes =
            json.get(start..quote).unwrap_or_default().iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes % 2 == 0 {
            if quote - start > longest.len() {
                longest = start..quote;
            }
            open = None;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(finder: &mut Finder, bodies: &mut Vec<u8>, seq: u64, body: &str, is_record: bool) -> Option<Hole> {
        let start = bodies.len();
        bodies.extend_from_slice(body.as_bytes());
        finder.next(seq, start..bodies.len(), is_record, bodies)
    }

    /// A text of about that length that is not like itself moved by anything.
    fn text(bytes: usize, salt: usize) -> String {
        let words = (0..).map(|nth| format!("{}-{salt} ", nth * nth + salt));
        words.take(bytes / 6).collect::<String>().split_at(bytes / 2).0.repeat(2)
    }

    #[test]
    fn a_text_is_found_in_its_record_and_in_what_follows() {
        let (mut finder, mut bodies) = (Finder::new(None), Vec::new());
        let long = text(5_000, 1);
        let record = format!(r#"{{"provider_event":{{"a":"\\","data":{{"text":"{long}","b":1}}}}}}"#);
        let at = record.find(&long).unwrap();
        assert_eq!(append(&mut finder, &mut bodies, 0, &record, true), None);
        let delta = format!(r#"{{"output_text_delta":{{"id":"m","delta":"{long}"}}}}"#);
        let part = delta.find(&long).unwrap();
        let hole = Hole { part: part..part + long.len(), source: 0, source_at: at, key: None };
        assert_eq!(append(&mut finder, &mut bodies, 1, &delta, false), Some(hole.clone()));
        assert_eq!(append(&mut finder, &mut bodies, 2, &delta, false), Some(hole));
        // Of a later append: the next record, and the end.
        let known = finder.into_known(&bodies).map(|known| known.of_stream(5));
        let (mut finder, mut bodies) = (Finder::new(known), Vec::new());
        let result = format!(r#"{{"provider_event":{{"data":{{"result":"{long}"}}}}}}"#);
        let part = result.find(&long).unwrap();
        let hole = Hole { part: part..part + long.len(), source: 0, source_at: at, key: Some(5) };
        assert_eq!(append(&mut finder, &mut bodies, 3, &result, true), Some(hole));
        let end = append(&mut finder, &mut bodies, 4, &delta, false).unwrap();
        // Not to record 3, which lacks that part.
        assert_eq!((end.source, end.source_at), (0, at));
    }

    #[test]
    fn a_text_that_no_record_has_is_what_later_ones_refer_to() {
        let (mut finder, mut bodies) = (Finder::new(None), Vec::new());
        let long = text(3_000, 2);
        let completed = format!(r#"{{"output_text_completed":{{"text":"{long}"}}}}"#);
        assert_eq!(append(&mut finder, &mut bodies, 7, &completed, false), None);
        let record = format!(r#"{{"provider_event":{{"data":"{long}"}}}}"#);
        let hole = append(&mut finder, &mut bodies, 8, &record, true).unwrap();
        assert_eq!((hole.source, hole.source_at), (7, completed.find(&long).unwrap()));
    }

    #[test]
    fn what_is_short_or_only_alike_is_kept_as_it_is() {
        let (mut finder, mut bodies) = (Finder::new(None), Vec::new());
        let short = text(LEAST / 2, 3);
        for seq in 0..4 {
            assert_eq!(append(&mut finder, &mut bodies, seq, &format!(r#"{{"a":"{short}"}}"#), seq == 0), None);
        }
        let long = text(LEAST * 2, 4);
        append(&mut finder, &mut bodies, 4, &format!(r#"{{"data":"{long}x"}}"#), true);
        assert_eq!(append(&mut finder, &mut bodies, 5, &format!(r#"{{"a":"{long}y"}}"#), false), None);
        // A front that stands everywhere is not looked through for ever.
        let many = format!(r#"{{"data":"{}"}}"#, " ".repeat(10_000));
        append(&mut finder, &mut bodies, 6, &many, true);
        let spaces = format!(r#"{{"a":"{}x"}}"#, " ".repeat(5_000));
        assert_eq!(append(&mut finder, &mut bodies, 7, &spaces, false), None);
    }

    #[test]
    fn the_longest_string_ends_at_its_own_quote() {
        let longest = |json: &str| json[longest_string(json.as_bytes())].to_owned();
        assert_eq!(longest(r#"{"a":"b\"cd","ef":1}"#), r#"b\"cd"#);
        assert_eq!(longest(r#"{"a":"b\\","cd":"e"}"#), r"b\\");
        assert_eq!(longest("{}"), "");
        assert_eq!(longest(r#"{"a":"never ends"#), "a");
    }

    #[test]
    fn texts_are_remembered_up_to_a_bound() {
        let texts = Texts::default();
        let stream = |nth: u128| (framegate_translators::frame::StreamKind::Session, uuid::Uuid::from_u128(nth));
        let known = || Some(Known { key: 1, seq: 0, at: 0, bytes: vec![b'x'; REMEMBERED].into() });
        for nth in 0..100 {
            texts.learn(stream(nth), known());
            assert!(texts.of(stream(nth)).is_some());
            let remembered = texts.0.lock().unwrap();
            let sum: usize = remembered.of.values().map(|known| known.bytes.len()).sum();
            assert!(sum == remembered.bytes && sum <= REMEMBERED_ALL);
        }
        texts.learn(stream(99), known());
        texts.learn(stream(99), None);
        assert!(texts.of(stream(99)).is_none());
        let remembered = texts.0.lock().unwrap();
        assert_eq!(remembered.of.values().map(|known| known.bytes.len()).sum::<usize>(), remembered.bytes);
        // One that is longer than a text may be is not remembered.
        let (mut finder, mut bodies) = (Finder::new(None), Vec::new());
        append(&mut finder, &mut bodies, 0, &format!(r#"{{"a":"{}"}}"#, "x".repeat(REMEMBERED + 1)), false);
        assert!(finder.into_known(&bodies).is_none());
    }
}
