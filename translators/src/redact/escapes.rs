//! Reads the escapes of a text, level by level: JSON in a string of JSON.
//!
//! Input: a text. Output: its unescaped form at each level, as far as it is certain, with a map back to positions of the
//! original text. Never: a guess about an escape that the text ends in (`\`, `\u00`). Its meaning depends on what follows.

use super::tail::Open;
use super::value::{Read, Value};
use std::borrow::Cow;
use std::ops::Range;

/// The maximum number of levels. The first is the original text.
pub(super) const LEVELS: usize = 4;

/// A text at one of its levels.
pub(super) struct Reading<'t> {
    text: Cow<'t, [u8]>,
    /// The length of the certain part.
    known: usize,
    /// The maps from the first level to this one.
    maps: Vec<Map>,
}

impl<'t> Reading<'t> {
    /// Reads a text at its first level.
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { text: Cow::Borrowed(text), known: broken_escape(text).unwrap_or(text.len()), maps: Vec::new() }
    }

    /// The number of this level, from 1.
    pub(super) fn level(&self) -> usize {
        self.maps.len() + 1
    }

    /// The text of this level, including an incomplete escape at its end.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The text of this level up to an incomplete escape.
    pub(super) fn known(&self) -> &[u8] {
        self.text.get(..self.known).unwrap_or_default()
    }

    /// Whether the text ends in an incomplete escape of this level.
    pub(super) fn is_broken(&self) -> bool {
        self.known < self.text.len()
    }

    /// The position in the original text of a position at this level.
    pub(super) fn out(&self, place: usize) -> usize {
        out(&self.maps, place)
    }

    /// Whether there is another level: the text has escapes, and the maximum is not reached.
    fn has_more(&self) -> bool {
        self.level() < LEVELS && memchr::memchr(b'\\', self.known()).is_some()
    }

    /// Descends to the next level. Returns `false` and changes nothing if there is none.
    pub(super) fn descend(&mut self) -> bool {
        if !self.has_more() {
            return false;
        }
        let (plain, map) = unescape(self.known());
        let plain = plain.into_owned();
        self.known = broken_escape(&plain).unwrap_or(plain.len());
        self.text = Cow::Owned(plain);
        self.maps.push(map);
        true
    }

    /// The last position at or before `place` that is not inside an escape of any level so far. A later reading can start
    /// there without changing the meaning of what follows.
    pub(super) fn whole_from(&self, place: usize) -> usize {
        let (mut start, mut at) = (place, place);
        for (nth, map) in self.maps.iter().enumerate() {
            let (begin, plain) = map.begin(at);
            if begin < at {
                start = out(self.maps.get(..nth).unwrap_or_default(), begin);
            }
            at = plain;
        }
        start
    }
}

fn out(maps: &[Map], place: usize) -> usize {
    maps.iter().rev().fold(place, |place, map| map.place(place))
}

/// How many bytes of a text are certain at every level.
pub(super) fn certain(text: &[u8]) -> usize {
    let mut reading = Reading::new(text);
    let mut end = reading.out(reading.known);
    while reading.descend() {
        end = end.min(reading.out(reading.known));
    }
    end
}

/// How many bytes of a text still belong to an open secret, and how the secret continues after them. If the secret is still
/// open and bytes remain, they are an incomplete escape.
pub(super) fn swallow(open: &Open, text: &[u8]) -> (usize, Option<Open>) {
    let mut reading = Reading::new(text);
    let mut most = (0, None);
    loop {
        let here = reading.level();
        // A level without escapes is the same as all deeper ones.
        let is_its = open.level().is_none_or(|its| its == here || (its > here && !reading.has_more()));
        if is_its {
            let (size, still) = open.clone().swallow(reading.known());
            let size = reading.out(size);
            if size > most.0 || (size == most.0 && most.1.is_none()) {
                most = (size, still);
            }
        }
        if !reading.descend() {
            return most;
        }
    }
}

/// Continues to read the value of a secret key. The returned ranges are positions in `text`. `is_last` means that no more
/// text arrives in time.
pub(super) fn read_on(value: &mut Value, text: &[u8], is_last: bool) -> Read {
    let mut reading = Reading::new(text);
    // A level without escapes is the same as all deeper ones.
    while reading.level() < value.level && reading.descend() {}
    let mut read = if is_last { value.read_all(reading.known()) } else { value.read(reading.known()) };
    read.size = reading.out(read.size);
    for (place, _) in &mut read.places {
        *place = reading.out(place.start)..reading.out(place.end);
    }
    read
}

/// Maps positions of an unescaped text to positions of the escaped one.
#[derive(Clone, Debug, Default)]
pub(super) struct Map {
    /// For each escape, the positions after it: in the unescaped and in the escaped text.
    steps: Vec<(usize, usize)>,
}

impl Map {
    pub(super) fn place(&self, at: usize) -> usize {
        let before = self.steps.partition_point(|step| step.0 <= at);
        let (plain, escaped) = before.checked_sub(1).and_then(|at| self.steps.get(at)).copied().unwrap_or_default();
        escaped + (at - plain)
    }

    pub(super) fn range(&self, range: &Range<usize>) -> Range<usize> {
        self.place(range.start)..self.place(range.end)
    }

    /// Moves a position of the escaped text back to the beginning of the escape that contains it, if any. Returns that
    /// position in the escaped and in the unescaped text.
    fn begin(&self, at: usize) -> (usize, usize) {
        let nth = self.steps.partition_point(|step| step.1 <= at);
        let (plain, escaped) = nth.checked_sub(1).and_then(|nth| self.steps.get(nth)).copied().unwrap_or_default();
        let begin = self.steps.get(nth).map_or(at, |next| {
            // An escape has two bytes for one, or six bytes for one to three.
            let saved = (next.1 - escaped) - (next.0 - plain);
            at.min(next.1 - if saved == 1 { 2 } else { 6 })
        });
        (begin, plain + (begin - escaped))
    }
}

/// What follows the last escaped line end or tab. `None` if the text has any other escape, such as a quote.
pub(super) fn behind_blanks(text: &[u8]) -> Option<&[u8]> {
    // Without a branch for each byte, so that it is compiled to vector instructions: tool output has many line ends.
    let is_other = |byte: &u8, next: &u8| *byte == b'\\' && !matches!(next, b'n' | b'r' | b't');
    let next = text.get(1..).unwrap_or_default();
    let has_other = text.iter().zip(next).fold(false, |has, (byte, next)| has | is_other(byte, next));
    if has_other || text.last() == Some(&b'\\') {
        return None;
    }
    memchr::memrchr(b'\\', text).map_or(Some(text), |at| text.get(at + 2..))
}

/// Unescapes a text. Invalid escapes stay as they are.
pub(super) fn unescape(text: &[u8]) -> (Cow<'_, [u8]>, Map) {
    let Some(first) = memchr::memchr(b'\\', text) else { return (Cow::Borrowed(text), Map::default()) };
    let mut plain = Vec::with_capacity(text.len());
    let mut map = Map::default();
    plain.extend_from_slice(text.get(..first).unwrap_or_default());
    let mut at = first;
    while let Some(&byte) = text.get(at) {
        if byte != b'\\' {
            let rest = text.get(at..).unwrap_or_default();
            let size = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            plain.extend_from_slice(rest.get(..size).unwrap_or_default());
            at += size;
            continue;
        }
        let short = match text.get(at + 1) {
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(&mark @ (b'"' | b'\\' | b'/')) => mark,
            Some(b'u') => {
                if let Some(unit) = text.get(at + 2..at + 6).and_then(hex) {
                    let mut buffer = [0; 4];
                    let char = char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER);
                    plain.extend_from_slice(char.encode_utf8(&mut buffer).as_bytes());
                    at += 6;
                    map.steps.push((plain.len(), at));
                } else {
                    plain.push(byte);
                    at += 1;
                }
                continue;
            }
            _ => {
                plain.push(byte);
                at += 1;
                continue;
            }
        };
        plain.push(short);
        at += 2;
        map.steps.push((plain.len(), at));
    }
    (Cow::Owned(plain), map)
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |unit, &digit| Some(unit * 16 + char::from(digit).to_digit(16)?))
}

/// The start of an incomplete escape at the end of a text: a backslash, or a prefix of `\u0000`.
fn broken_escape(text: &[u8]) -> Option<usize> {
    let from = text.len().saturating_sub(5);
    let end = text.get(from..)?;
    let slash = from + end.iter().rposition(|&byte| byte == b'\\')?;
    let rest = text.get(slash + 1..)?;
    let is_front = rest.is_empty() || (rest.first() == Some(&b'u') && rest.iter().skip(1).all(u8::is_ascii_hexdigit));
    let slashes = text.get(..slash)?.iter().rev().take_while(|&&byte| byte == b'\\').count();
    (is_front && slashes.is_multiple_of(2)).then_some(slash)
}
