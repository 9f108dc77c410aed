//! A text with its escapes read, once and again: JSON in a string in JSON.
//!
//! In: a text. Out: what it says at each level, as far as that is certain, and where each byte of that stands in the text. Never:
//! a reading of an escape that the text breaks off in (`\`, `\u00`): what that says is in what follows.

use super::shape::Open;
use super::value::{Read, Value};
use std::borrow::Cow;
use std::ops::Range;

/// How many levels are looked at, the text as it is being the first.
pub(super) const LEVELS: usize = 4;

/// How many backslashes stand before a quote at the last level.
pub(super) const MOST_ESCAPES: usize = (1 << LEVELS) - 1;

/// A text at one of its levels.
pub(super) struct Reading<'t> {
    text: Cow<'t, [u8]>,
    /// How much of it is certain.
    known: usize,
    /// The way to here, from the first level on.
    maps: Vec<Map>,
}

impl<'t> Reading<'t> {
    /// A text as it is.
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { text: Cow::Borrowed(text), known: broken_escape(text).unwrap_or(text.len()), maps: Vec::new() }
    }

    /// The number of this level.
    pub(super) fn level(&self) -> usize {
        self.maps.len() + 1
    }

    /// All that stands here, the escape that is not whole too.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// What stands here for certain.
    pub(super) fn known(&self) -> &[u8] {
        self.text.get(..self.known).unwrap_or_default()
    }

    /// Whether the text breaks off in an escape of this level.
    pub(super) fn is_broken(&self) -> bool {
        self.known < self.text.len()
    }

    /// Where a place of this level is in the text as it is.
    pub(super) fn out(&self, place: usize) -> usize {
        out(&self.maps, place)
    }

    /// Whether there is another level: there are escapes to be read, and the levels are not done.
    fn has_more(&self) -> bool {
        self.level() < LEVELS && memchr::memchr(b'\\', self.known()).is_some()
    }

    /// Reads the escapes of this level; `false`, and nothing else, where there is no other.
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

    /// The last place of the text that is not behind this one and lies within no escape of any level read so far. Who
    /// reads on from there reads what stands there.
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

/// How much of a text is certain at every level.
pub(super) fn certain(text: &[u8]) -> usize {
    let mut reading = Reading::new(text);
    let mut end = reading.out(reading.known);
    while reading.descend() {
        end = end.min(reading.out(reading.known));
    }
    end
}

/// How much of a text still belongs to an open secret, and how that goes on then. What stands behind that all the same is an
/// escape that is not whole.
pub(super) fn swallow(open: &Open, text: &[u8]) -> (usize, Option<Open>) {
    let mut reading = Reading::new(text);
    let mut most = (0, None);
    loop {
        let here = reading.level();
        // A level without escapes stands for all below it.
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

/// Reads on in a value of a secret's key; the places are those of the text as it is.
pub(super) fn read_on(value: &mut Value, text: &[u8]) -> Read {
    let mut reading = Reading::new(text);
    // A level without escapes stands for all below it.
    while reading.level() < value.level && reading.descend() {}
    let mut read = value.read(reading.known());
    read.size = reading.out(read.size);
    for (place, _) in &mut read.places {
        *place = reading.out(place.start)..reading.out(place.end);
    }
    read
}

/// Where the bytes of a text without escapes stand in the text with them.
#[derive(Clone, Debug, Default)]
pub(super) struct Map {
    /// The place without and with escapes behind each escape.
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

    /// The place of the text with escapes that is this one or, if this one lies within an escape, where that begins; and
    /// where it stands in the text without.
    fn begin(&self, at: usize) -> (usize, usize) {
        let nth = self.steps.partition_point(|step| step.1 <= at);
        let (plain, escaped) = nth.checked_sub(1).and_then(|nth| self.steps.get(nth)).copied().unwrap_or_default();
        let begin = self.steps.get(nth).map_or(at, |next| {
            // Two bytes stand for one, or six for one to three.
            let saved = (next.1 - escaped) - (next.0 - plain);
            at.min(next.1 - if saved == 1 { 2 } else { 6 })
        });
        (begin, plain + (begin - escaped))
    }
}

/// Reads a text's escapes; what is no escape stays.
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

/// A backslash at the end, or the front of `\u0000`: what it escapes comes next.
fn broken_escape(text: &[u8]) -> Option<usize> {
    let from = text.len().saturating_sub(5);
    let end = text.get(from..)?;
    let slash = from + end.iter().rposition(|&byte| byte == b'\\')?;
    let rest = text.get(slash + 1..)?;
    let is_front = rest.is_empty() || (rest.first() == Some(&b'u') && rest.iter().skip(1).all(u8::is_ascii_hexdigit));
    let slashes = text.get(..slash)?.iter().rev().take_while(|&&byte| byte == b'\\').count();
    (is_front && slashes.is_multiple_of(2)).then_some(slash)
}
