//! Deduplication of long texts: each is stored once.
//!
//! Input: the stored bodies of an append, in order. Output: for each body, the part of it that an earlier frame of its stream
//! already contains. Never: a reference to a body that is itself incomplete, to a later frame, or to another stream; two
//! references into one body that overlap without being the same part (so the parts that others refer to never take more room
//! than the body itself); a search over more bytes than is proportional to the size of the append.
//!
//! A long text usually has several copies: in the record, the delta, the completed text, the next record and the end of the
//! run. Copies are compared in their stored form, so a text that two runners escape differently is stored twice.

use super::known_texts::{Known, KnownTexts, REMEMBERED};
use crate::log::StreamId;
use memchr::memmem;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// Minimum length of a text for a reference, in bytes.
const LEAST: usize = 1 << 10;

/// A reader of a referring frame also reads the referenced body, and a referring body is rewritten if the referenced one is
/// pruned. So in a body of more bytes than this, only a text of at least 1/[`SHARE`] of the body is shared.
const LARGE: usize = 1 << 20;

/// See [`LARGE`].
const SHARE: usize = 16;

/// How many bytes at the start of a text are searched for. The rest is compared where they are found.
const FRONT: usize = 64;

/// In how many places the rest is compared.
const TRIES: usize = 64;

/// How many of the latest records of a stream in an append are searched for a text.
const RECORDS: usize = 4;

/// The search budget: how many bytes may be searched for each byte of an append, plus [`BESIDES`].
const PER_BYTE: usize = 8;

/// See [`PER_BYTE`].
const BESIDES: usize = 1 << 20;

/// Once half of the search budget is used, how far after the last match a text may begin.
const NEAR: usize = 16 << 10;

/// How many bytes are compared at a time.
const BLOCK: usize = 4 << 10;

/// A part of a body that is stored elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    /// The part of the body, in bytes.
    pub(super) part: Range<usize>,
    /// The number of the frame that contains the same bytes.
    pub(super) source: u64,
    /// The offset in that frame's body.
    pub(super) source_at: usize,
    /// The stream's key, if that frame is from an earlier append: the stream id may belong to another stream by now.
    pub(super) key: Option<i64>,
}

/// A long text and its location.
#[derive(Clone, Debug)]
struct Text {
    seq: u64,
    at: usize,
    bytes: Bytes,
}

#[derive(Clone, Debug)]
enum Bytes {
    /// In the buffer of this append.
    Here(Range<usize>),
    /// From an earlier append to the stream with that key.
    Before(i64, Arc<[u8]>),
}

/// Finds duplicate texts in one append.
pub(super) struct Dedup<'a> {
    texts: &'a KnownTexts,
    streams: HashMap<StreamId, Stream>,
    search: Search,
}

/// The search state of one stream.
struct Stream {
    last: Option<Text>,
    /// The latest records of the append that are stored completely; the newest is last.
    records: VecDeque<Record>,
}

struct Record {
    seq: u64,
    /// The location in the append's buffer.
    body: Range<usize>,
    /// The referenced parts, by start, with their end in the body.
    found: BTreeMap<usize, usize>,
    /// The end of the last match. Texts come in the order of their record, so the search starts here.
    next: usize,
}

impl<'a> Dedup<'a> {
    pub(super) fn new(texts: &'a KnownTexts) -> Self {
        Self { texts, streams: HashMap::new(), search: Search { granted: BESIDES, scanned: 0 } }
    }

    /// Handles the next body of a stream, which is at `body` in the append's buffer. Returns the part that need not be stored.
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

    /// The stream is over, so no later append can refer to its texts.
    pub(super) fn is_over(&mut self, id: StreamId) {
        self.streams.insert(id, Stream::new(None));
    }

    /// The texts that later appends to the streams may refer to.
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
        // This is the first copy.
        let here = body.start + part.start..body.start + part.end;
        self.last = Some(Text { seq, at: part.start, bytes: Bytes::Here(here) });
        None
    }

    /// Finds a text in one of the records.
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
    /// Whether a part equals one that is already referenced, or overlaps none.
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

    /// The hole for a part of a body that repeats this text.
    fn hole(&self, part: Range<usize>) -> Hole {
        let key = match self.bytes {
            Bytes::Here(_) => None,
            Bytes::Before(key, _) => Some(key),
        };
        Hole { part, source: self.seq, source_at: self.at, key }
    }
}

/// A text to search for.
struct Wanted<'a> {
    text: &'a [u8],
    front: memmem::Finder<'a>,
}

impl<'a> Wanted<'a> {
    fn new(text: &'a [u8]) -> Option<Self> {
        Some(Self { text, front: memmem::Finder::new(text.get(..FRONT)?) })
    }
}

/// The search budget of an append, in bytes.
struct Search {
    /// How many bytes may be searched.
    granted: usize,
    /// How many bytes were searched.
    scanned: usize,
}

impl Search {
    fn left(&self) -> usize {
        self.granted.saturating_sub(self.scanned)
    }

    /// Finds the text in `bytes`, starting within `range`, at an offset that `may` accepts.
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

    /// Whether `bytes` begins with `text`.
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

/// Whether a text is large enough in proportion to the body that contains it, or that will lack it.
fn is_in_proportion(text: &[u8], body: &[u8]) -> bool {
    body.len() <= LARGE || text.len() >= body.len() / SHARE
}

/// The range of the longest string in a JSON text, in its escaped form and without quotes; `0..0` if there is none.
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
