//! Long texts, each kept once.
//!
//! In: the stored bodies of an append, in order. Out: for each, which part of it stands in an earlier frame's body of its
//! stream already. Never: a reference to a body that lacks a part itself, to a later frame, or to another stream's; two
//! references into one body that overlap and are not of the same part, so that what is referred to in a body never needs more
//! room than the body has; more bytes looked through than are in proportion to those of the append.
//!
//! Of a long text the record, the delta, the completed text, the next record and the run's end each hold a copy. They are
//! compared as they are stored, so a text that two runners escape in two ways is kept twice.

use super::texts::{Known, REMEMBERED, Texts};
use crate::log::StreamId;
use memchr::memmem;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// How long a text is that is worth a reference, in bytes.
const LEAST: usize = 1 << 10;

/// Whoever reads a text reads the body in which it stands, and a body in which it is missing is written anew where that one
/// goes. Of a body of more bytes than this, a text must have at least one in [`SHARE`].
const LARGE: usize = 1 << 20;

/// See [`LARGE`].
const SHARE: usize = 16;

/// How many bytes of a text are looked for; the rest is compared where they are found.
const FRONT: usize = 64;

/// In how many places the rest is compared.
const TRIES: usize = 64;

/// How many of the latest records of a stream in an append are looked through for a text.
const RECORDS: usize = 4;

/// How many bytes may be looked through for each byte of an append, and besides.
const PER_BYTE: usize = 8;

/// See [`PER_BYTE`].
const BESIDES: usize = 1 << 20;

/// Where half of what may be looked through has been, how far a text may begin behind the one found last.
const NEAR: usize = 16 << 10;

/// How much is compared at a time.
const BLOCK: usize = 4 << 10;

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

/// See the module.
pub(super) struct Finder<'a> {
    texts: &'a Texts,
    streams: HashMap<StreamId, Stream>,
    search: Search,
}

/// What is known of one stream.
struct Stream {
    last: Option<Text>,
    /// The latest records of the append that hold all of their bytes, the newest one last.
    records: VecDeque<Record>,
}

struct Record {
    seq: u64,
    /// Where in the append's buffer.
    body: Range<usize>,
    /// The parts that are referred to, where they begin and end in the body.
    found: BTreeMap<usize, usize>,
    /// Where the one ends that was found last: texts come in the order of their record.
    next: usize,
}

impl<'a> Finder<'a> {
    pub(super) fn new(texts: &'a Texts) -> Self {
        Self { texts, streams: HashMap::new(), search: Search { granted: BESIDES, scanned: 0 } }
    }

    /// The next body of a stream, which stands there in the append's buffer.
    pub(super) fn next(
        &mut self,
        id: StreamId,
        seq: u64,
        body: Range<usize>,
        is_record: bool,
        bodies: &[u8],
    ) -> Option<Hole> {
        self.search.granted = self.search.granted.saturating_add(PER_BYTE.saturating_mul(body.len()));
        if body.len() < LEAST {
            return None;
        }
        let bytes = bodies.get(body.clone())?;
        let stream = self.streams.entry(id).or_insert_with(|| Stream::new(self.texts.of(id)));
        if is_record {
            stream.record(seq, body, bytes, bodies, &mut self.search)
        } else {
            stream.derived(seq, &body, bytes, bodies, &mut self.search)
        }
    }

    /// A stream is over: nothing will refer to its texts.
    pub(super) fn is_over(&mut self, id: StreamId) {
        self.streams.insert(id, Stream::new(None));
    }

    /// What later appends of the streams may refer to.
    pub(super) fn into_known(self, bodies: &[u8]) -> Vec<(StreamId, Option<Known>)> {
        self.streams.into_iter().map(|(id, stream)| (id, stream.into_known(bodies))).collect()
    }
}

impl Stream {
    fn new(known: Option<Known>) -> Self {
        let text =
            |known: Known| Some(Text { seq: known.seq, at: known.at, bytes: Bytes::Before(known.key?, known.bytes) });
        Self { last: known.and_then(text), records: VecDeque::new() }
    }

    fn record(
        &mut self,
        seq: u64,
        body: Range<usize>,
        bytes: &[u8],
        bodies: &[u8],
        search: &mut Search,
    ) -> Option<Hole> {
        if let Some(last) = &self.last
            && let Some(text) = last.bytes(bodies).filter(|text| is_in_proportion(text, bytes))
            && let Some(at) = search.find(bytes, 0..bytes.len(), &Wanted::new(text)?, |_| true)
        {
            return Some(last.hole(at..at + text.len()));
        }
        if self.records.len() == RECORDS {
            self.records.pop_front();
        }
        self.records.push_back(Record { seq, body, found: BTreeMap::new(), next: 0 });
        None
    }

    fn derived(
        &mut self,
        seq: u64,
        body: &Range<usize>,
        bytes: &[u8],
        bodies: &[u8],
        search: &mut Search,
    ) -> Option<Hole> {
        let part = longest_string(bytes);
        let text = bytes.get(part.clone()).filter(|text| text.len() >= LEAST && is_in_proportion(text, bytes))?;
        if let Some(last) = &self.last
            && last.bytes(bodies) == Some(text)
        {
            return Some(last.hole(part));
        }
        if let Some(text) = self.in_records(text, bodies, search) {
            return Some(self.last.insert(text).hole(part));
        }
        // It stands here first.
        let here = body.start + part.start..body.start + part.end;
        self.last = Some(Text { seq, at: part.start, bytes: Bytes::Here(here) });
        None
    }

    /// A text, as it stands in one of the records.
    fn in_records(&mut self, text: &[u8], bodies: &[u8], search: &mut Search) -> Option<Text> {
        let wanted = Wanted::new(text)?;
        let is_far = search.left() > search.granted / 2;
        let records = self.records.iter_mut().rev().take(if is_far { RECORDS } else { 1 });
        for record in records {
            let Some(bytes) = bodies.get(record.body.clone()).filter(|bytes| is_in_proportion(text, bytes)) else {
                continue;
            };
            let (next, end) = (record.next, bytes.len());
            let is_free = |at: usize| record.admits(&(at..at + text.len()));
            let found = if is_far {
                let behind = search.find(bytes, next..end, &wanted, is_free);
                behind.or_else(|| search.find(bytes, 0..next, &wanted, is_free))
            } else {
                search.find(bytes, next..end.min(next + NEAR), &wanted, is_free)
            };
            let Some(at) = found else { continue };
            let end = at + text.len();
            record.found.insert(at, end);
            record.next = end.max(next);
            let here = record.body.start + at..record.body.start + end;
            return Some(Text { seq: record.seq, at, bytes: Bytes::Here(here) });
        }
        None
    }

    fn into_known(self, bodies: &[u8]) -> Option<Known> {
        let Text { seq, at, bytes } = self.last?;
        let (key, bytes) = match bytes {
            Bytes::Before(key, bytes) => (Some(key), bytes),
            Bytes::Here(range) => (None, bodies.get(range).filter(|text| text.len() <= REMEMBERED)?.into()),
        };
        Some(Known { key, seq, at, bytes })
    }
}

impl Record {
    /// Whether a part is one that is referred to already, or has nothing in common with any of those.
    fn admits(&self, part: &Range<usize>) -> bool {
        let before = self.found.range(..part.end).next_back();
        before.is_none_or(|(start, end)| *end <= part.start || (*start == part.start && *end == part.end))
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

/// A text that is looked for.
struct Wanted<'a> {
    text: &'a [u8],
    front: memmem::Finder<'a>,
}

impl<'a> Wanted<'a> {
    fn new(text: &'a [u8]) -> Option<Self> {
        Some(Self { text, front: memmem::Finder::new(text.get(..FRONT)?) })
    }
}

/// How much is looked through for an append, in bytes.
struct Search {
    /// May be.
    granted: usize,
    /// Has been.
    scanned: usize,
}

impl Search {
    fn left(&self) -> usize {
        self.granted.saturating_sub(self.scanned)
    }

    /// Where a text stands in some bytes, and begins in that range of them, and may be taken.
    fn find(
        &mut self,
        bytes: &[u8],
        range: Range<usize>,
        wanted: &Wanted<'_>,
        may: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let (mut at, end) = (range.start, bytes.len().min(range.end.saturating_add(FRONT - 1)));
        for _ in 0..TRIES {
            let end = end.min(at.saturating_add(self.left()));
            let rest = bytes.get(at..end)?;
            let Some(hit) = wanted.front.find(rest) else {
                self.scanned += rest.len();
                return None;
            };
            self.scanned += hit + FRONT;
            if may(at + hit) && self.is_there(bytes.get(at + hit..)?, wanted.text) {
                return Some(at + hit);
            }
            at += hit + 1;
        }
        None
    }

    /// Whether some bytes begin with a text.
    fn is_there(&mut self, bytes: &[u8], text: &[u8]) -> bool {
        let Some(bytes) = bytes.get(..text.len()) else { return false };
        bytes.chunks(BLOCK).zip(text.chunks(BLOCK)).all(|(one, other)| {
            if self.left() == 0 {
                return false;
            }
            self.scanned += other.len();
            one == other
        })
    }
}

/// Whether a text is large enough for the body in which it stands, or in which it will be missing.
fn is_in_proportion(text: &[u8], body: &[u8]) -> bool {
    body.len() <= LARGE || text.len() >= body.len() / SHARE
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
mod tests;
