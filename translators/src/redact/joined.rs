//! Joins strings that a runner split over the items of an array, such as the lines of a diff or the blocks of a message.
//!
//! Input: the strings in a record's arrays, with the keys of their paths. Output: the ranges of secrets in them. Strings with
//! the same path are read as lines of one text and, for formats only, as parts of one line. Never: a string that is read more
//! than twice.

use super::escapes::{Map, unescape};
use super::{Edit, Rules, With};
use crate::hash::HashMap;
use std::ops::Range;

/// How many bytes on each side of the border between two strings the prefilter reads. The beginning of a token that it needs is
/// shorter.
const EDGE: usize = 64;

#[derive(Default)]
pub(super) struct Joined {
    texts: HashMap<u64, Text>,
}

/// The strings with one path.
#[derive(Default)]
struct Text {
    unescaped: Vec<u8>,
    parts: Vec<Part>,
    is_suspect: bool,
    /// The end of the parts so far, as the record spells them, without what separates them.
    end: Vec<u8>,
}

/// One string.
struct Part {
    /// Its range in the joined text.
    place: Range<usize>,
    /// Where it begins in the record, and the map to its spelling there.
    base: usize,
    map: Map,
}

impl Joined {
    pub(super) fn add(&mut self, path: u64, inner: &[u8], base: usize, rules: &Rules) {
        let text = self.texts.entry(path).or_default();
        text.is_suspect |= rules.is_suspect(inner) || text.spans(inner, rules);
        let (unescaped, map) = unescape(inner);
        if !text.parts.is_empty() {
            text.unescaped.push(b'\n');
        }
        let start = text.unescaped.len();
        text.unescaped.extend_from_slice(&unescaped);
        text.parts.push(Part { place: start..text.unescaped.len(), base, map });
    }

    /// The edits, in order, with empty pointers.
    pub(super) fn find(self, rules: &Rules) -> Vec<Edit> {
        let mut edits = Vec::new();
        for mut text in self.texts.into_values().filter(|text| text.is_suspect) {
            text.find(rules, |_| true, &mut edits);
            if text.parts.len() > 1 {
                text.put_together();
                text.find(rules, |rule| rules.is_format(rule), &mut edits);
            }
        }
        edits.sort_by_key(|edit| (edit.place.start, usize::MAX - edit.place.end));
        edits
    }
}

impl Text {
    /// Whether a secret may begin in the parts so far and continue in the next one. Must be called with each part.
    fn spans(&mut self, inner: &[u8], rules: &Rules) -> bool {
        let before = self.end.len();
        self.end.extend_from_slice(inner.get(..inner.len().min(EDGE)).unwrap_or_default());
        let is_suspect = before > 0 && rules.is_suspect(&self.end);
        if inner.len() > EDGE {
            self.end.clear();
            self.end.extend_from_slice(inner.get(inner.len() - EDGE..).unwrap_or_default());
        } else if self.end.len() > EDGE {
            self.end.drain(..self.end.len() - EDGE);
        }
        is_suspect
    }

    fn find(&self, rules: &Rules, is_wanted: impl Fn(usize) -> bool, edits: &mut Vec<Edit>) {
        for hit in rules.hits(&self.unescaped).into_iter().filter(|hit| is_wanted(hit.rule)) {
            let first = self.parts.partition_point(|part| part.place.end <= hit.place.start);
            let mut with = hit.with.escaped(1);
            let parts = self.parts.get(first..).unwrap_or_default();
            for part in parts.iter().take_while(|part| part.place.start < hit.place.end) {
                let start = hit.place.start.max(part.place.start) - part.place.start;
                let end = hit.place.end.min(part.place.end) - part.place.start;
                if start >= end {
                    continue;
                }
                let place = part.map.range(&(start..end));
                let place = part.base + place.start..part.base + place.end;
                edits.push(Edit { place, rule: hit.rule, with, pointer: "".into() });
                with = With::Nothing;
            }
        }
    }

    /// Removes the line ends between the strings.
    fn put_together(&mut self) {
        let mut unescaped = Vec::with_capacity(self.unescaped.len());
        for part in &mut self.parts {
            let start = unescaped.len();
            unescaped.extend_from_slice(self.unescaped.get(part.place.clone()).unwrap_or_default());
            part.place = start..unescaped.len();
        }
        self.unescaped = unescaped;
    }
}
