//! The secrets in one text, also in what is spelt with escapes.
//!
//! In: a text as a string's reader sees it. Out: the places of secrets, and its end where a secret may begin there. A text is
//! looked at as it is, and then with its escapes read, as often as there are any (JSON in a string in JSON): what some
//! reader further on will see as a secret is one here. Never: an entropy, a guess.

use super::assigned::{assigned, front};
use super::levels::Reading;
use super::rules::name_byte;
use super::seen::Seen;
use super::shape::{Found, LONGEST_NAME, Open, Tail, find, keyed};
use super::value::Value;
use super::words::{front_of_sequence, is_inside_a_word};
use super::{Rules, With};
use aho_corasick::AhoCorasick;
use std::ops::Range;

/// How much of a text is read again with its next piece where patterns are configured.
const CONTEXT: usize = 256;

/// A secret's place in a text.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub(super) place: Range<usize>,
    pub(super) rule: usize,
    pub(super) with: With,
    pub(super) open: Option<Open>,
}

/// What a text holds.
#[derive(Debug, Default)]
pub(super) struct Finding {
    pub(super) hits: Vec<Hit>,
    /// The end of the text that may be the beginning of a secret, with the rule's number.
    pub(super) tail: Option<(Tail, usize)>,
    /// The values of secrets' keys that are not over, at most one for each level, and how far they were read.
    pub(super) values: Vec<(Value, usize)>,
}

impl Rules {
    /// Looks through a text and what its escapes hide.
    pub(super) fn scan(&self, text: &[u8]) -> Finding {
        let mut finding = Finding::default();
        let mut reading = Reading::new(text);
        loop {
            let mut inner = Finding::default();
            self.level(&reading, &mut inner);
            let place = |place: Range<usize>| reading.out(place.start)..reading.out(place.end);
            finding.hits.extend(inner.hits.into_iter().map(|hit| Hit { place: place(hit.place), ..hit }));
            if let Some((tail, rule)) = inner.tail {
                let (start, from) = (reading.out(tail.start), reading.out(tail.from));
                merge(&mut finding.tail, Tail { start, from, ..tail }, rule);
            }
            let values = inner.values.into_iter().map(|(value, at)| (value, reading.out(at)));
            finding.values.extend(values);
            if !reading.descend() {
                break;
            }
        }
        if !self.patterns.is_empty() {
            // How much of a text a pattern needs is not known: each piece waits for the next one.
            let start = text.len().saturating_sub(CONTEXT);
            merge(&mut finding.tail, Tail { start, from: text.len(), holds: true, open: None }, 0);
        }
        if let Some((tail, _)) = &mut finding.tail {
            tail.start = reading.whole_from(tail.start);
        }
        finding.settle(text.len(), self.key_rule);
        finding
    }

    /// Whether a piece has no secret in it and may be the beginning of none, as far as one look tells. Its record must not
    /// be worth a look, and nothing be remembered of what came before it.
    pub(super) fn leaves_nothing(&self, piece: &[u8]) -> bool {
        // Without an escape there is no quote in it, so no key either; of URLs the record says too little.
        let has_url = || memchr::memchr_iter(b':', piece).any(|at| piece.get(at..at + 3) == Some(b"://"));
        self.patterns.is_empty()
            && memchr::memchr(b'\\', piece).is_none()
            && !has_url()
            && !(self.in_text && self.ends_in_a_key(piece))
            && front_of_sequence(piece).is_none()
            && self.front_of_literal(piece).is_none()
    }

    /// Whether a name stands at the end that may be a key's, to which the next piece assigns.
    fn ends_in_a_key(&self, piece: &[u8]) -> bool {
        let text = piece.strip_suffix(b" ").unwrap_or(piece);
        let size = text.iter().rev().take(LONGEST_NAME).take_while(|byte| name_byte(**byte)).count();
        self.finder.is_match(text.get(text.len() - size..).unwrap_or_default())
    }

    fn level(&self, reading: &Reading<'_>, finding: &mut Finding) {
        let text = reading.known();
        let mut seen = Seen::default();
        let mut read_to = 0;
        // A format's own name says more than that a key stands before it: keys in plain text come last.
        let mut keys: Vec<Range<usize>> = Vec::new();
        for found in self.finder.find_overlapping_iter(text) {
            let (what, rule) = match self.literals.get(found.pattern().as_usize()) {
                Some(&Literal::Rule { rule, shape, is_exact }) => {
                    let literal = text.get(found.range()).unwrap_or_default();
                    if is_exact && !self.is_spelt(found.pattern().as_usize(), literal) {
                        continue;
                    }
                    (find(rule, shape, text, &found.range(), reading.level(), &mut seen), rule)
                }
                Some(Literal::Key) => {
                    if self.in_text {
                        keys.push(found.range());
                    }
                    if !self.in_json {
                        continue;
                    }
                    (keyed(text, &found.range(), |key| self.keys.has(key)), self.key_rule)
                }
                None => continue,
            };
            match what {
                Found::No => {}
                Found::Full(place, open) => finding.hits.push(Hit { place, rule, with: With::Mark, open }),
                Found::Tail(tail) => merge(&mut finding.tail, tail, rule),
                // What stands in a value that was read already was redacted with it.
                Found::Value(at) if at < read_to => {}
                Found::Value(at) => {
                    let mut value = Value::new(reading.level());
                    let read = value.read(text.get(at..).unwrap_or_default());
                    let places = read.places.into_iter();
                    finding.hits.extend(places.map(|(place, with)| {
                        // In the text as it is, the quotes of its first level are not escaped.
                        let with = if let With::Quoted(level) = with { With::Quoted(level - 1) } else { with };
                        Hit { place: at + place.start..at + place.end, rule, with, open: None }
                    }));
                    read_to = at + read.size;
                    if !read.is_over {
                        finding.values.push((value, read_to));
                    }
                }
            }
        }
        for place in keys {
            match assigned(text, &place, |key| self.keys.has(key), &mut seen) {
                Found::No | Found::Value(_) => {}
                Found::Full(place, open) => {
                    finding.hits.push(Hit { place, rule: self.assignment_rule, with: With::Mark, open });
                }
                Found::Tail(tail) => merge(&mut finding.tail, tail, self.assignment_rule),
            }
        }
        for (rule, pattern) in &self.patterns {
            for found in pattern.find_iter(reading.text()).filter(|found| !found.range().is_empty()) {
                finding.hits.push(Hit { place: found.range(), rule: *rule, with: With::Mark, open: None });
            }
        }
        if let Some(tail) = self.front_of_literal(text) {
            merge(&mut finding.tail, tail, 0);
        }
        if reading.is_broken() {
            merge(&mut finding.tail, nothing_yet(text.len()), 0);
        }
    }

    /// The end of a text that is the front of a literal.
    pub(super) fn front_of_literal(&self, text: &[u8]) -> Option<Tail> {
        let last = usize::from(*text.last()?);
        let mut found: Option<Tail> = None;
        for front in self.fronts.get(last).map(Vec::as_slice).unwrap_or_default() {
            let Some(start) = text.len().checked_sub(front.bytes.len()) else { continue };
            let end = text.get(start..).unwrap_or_default();
            let is_it = if front.is_token {
                end == &*front.bytes && !is_inside_a_word(text, start)
            } else {
                // One letter or two are the front of too many words.
                end.eq_ignore_ascii_case(&front.bytes)
                    && (front.bytes.len() > 2
                        || !end.first().is_some_and(u8::is_ascii_alphabetic)
                        || !is_inside_a_word(text, start))
            };
            if !is_it {
                continue;
            }
            let start = if front.bytes.first() == Some(&b':') { start - scheme_before(text, start) } else { start };
            let tail = found.get_or_insert(Tail { start, from: text.len(), holds: false, open: None });
            tail.start = tail.start.min(start);
            if front.holds {
                tail.holds = true;
                tail.from = tail.from.min(start);
            }
        }
        // The name of an assignment that is not over.
        if let Some(start) = self.in_text.then(|| front(text, |word| self.keys.has_word(word))).flatten() {
            let mut both = found.map(|tail| (tail, 0));
            merge(&mut both, Tail { start, from: text.len(), holds: false, open: None }, 0);
            found = both.map(|(tail, _)| tail);
        }
        // A terminal's sequence that is not over: what stands behind its end is not inside a word.
        if let Some(start) = front_of_sequence(text) {
            let mut both = found.map(|tail| (tail, 0));
            merge(&mut both, Tail { start, from: text.len(), holds: false, open: None }, 0);
            found = both.map(|(tail, _)| tail);
        }
        // A quoted name that is not over.
        let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let name = text.iter().rev().take(LONGEST_NAME).take_while(in_name).count();
        if let Some(quote) = text.len().checked_sub(name + 1)
            && text.get(quote) == Some(&b'"')
        {
            let quoted = Tail { start: quote, from: text.len(), holds: false, open: None };
            let mut both = found.map(|tail| (tail, 0));
            merge(&mut both, quoted, 0);
            found = both.map(|(tail, _)| tail);
        }
        found
    }

    pub(super) fn is_spelt(&self, pattern: usize, literal: &[u8]) -> bool {
        self.spellings.get(pattern).is_some_and(|spelling| spelling.as_bytes() == literal)
    }
}

/// How long the scheme is that stands before a URL's colon.
fn scheme_before(text: &[u8], colon: usize) -> usize {
    let front = text.get(..colon).unwrap_or_default();
    front.iter().rev().take(32).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'+').count()
}

/// The tail that an escape is which is not whole.
fn nothing_yet(at: usize) -> Tail {
    Tail { start: at, from: at, holds: true, open: None }
}

pub(super) fn merge(into: &mut Option<(Tail, usize)>, tail: Tail, rule: usize) {
    let Some((old, of)) = into else {
        *into = Some((tail, rule));
        return;
    };
    let holds = old.holds || tail.holds;
    // The surer one says what is hidden when nothing follows.
    let better = (tail.open.is_some() && (old.open.is_none() || tail.from < old.from))
        || (old.open.is_none() && tail.holds && (!old.holds || tail.from < old.from));
    old.start = old.start.min(tail.start);
    if better {
        old.from = tail.from;
        old.open = tail.open;
        *of = rule;
    }
    old.holds = holds;
}

impl Finding {
    /// Whether there is nothing to redact, and nothing to remember.
    pub(super) fn is_empty(&self) -> bool {
        self.hits.is_empty() && self.tail.is_none() && self.values.is_empty()
    }

    /// Puts the hits in order, one where several lie over each other, and drops a tail that lies in one. `size` is the text's.
    fn settle(&mut self, size: usize, key_rule: usize) {
        // A key's value has all in it that is found there, also when it goes on.
        self.hits.sort_by_key(|hit| (hit.place.start, hit.rule != key_rule, usize::MAX - hit.place.end));
        let mut kept: Vec<Hit> = Vec::with_capacity(self.hits.len());
        for hit in self.hits.drain(..) {
            match kept.last_mut() {
                Some(last) if hit.place.start < last.place.end => {
                    if hit.place.end > last.place.end {
                        last.place.end = hit.place.end;
                        last.open = hit.open;
                    } else if hit.place.end == last.place.end && last.open.is_none() {
                        last.open = hit.open;
                    }
                }
                _ => kept.push(hit),
            }
        }
        self.hits = kept;
        let Some(last) = self.hits.last_mut().filter(|last| last.open.is_some()) else { return };
        // What may be a longer secret, and is one if nothing follows, goes before the one in it.
        let is_within = |tail: &Tail| tail.open.is_some() && tail.from <= last.place.start;
        if self.tail.as_ref().is_some_and(|(tail, _)| is_within(tail)) {
            last.open = None;
        } else {
            // All is certain up to the end; but what begins before it, or in it, may go on behind it.
            let (start, end) = (last.place.start, last.place.end);
            let context = self.tail.take().map(|(tail, _)| tail);
            let mut tail =
                context.map(|tail| Tail { from: size, holds: tail.holds && tail.start < start, open: None, ..tail });
            if end < size {
                // An escape that is not whole.
                let start = tail.as_ref().map_or(end, |tail| tail.start.min(end));
                tail = Some(Tail { start, from: size, holds: true, open: None });
            }
            self.tail = tail.map(|tail| (tail, 0));
        }
    }
}

/// What a literal is the beginning of.
#[derive(Clone, Copy)]
pub(super) enum Literal {
    Rule {
        rule: usize,
        shape: super::rules::Shape,
        /// Whether upper and lower case matter.
        is_exact: bool,
    },
    Key,
}

/// The front of a literal, for the end of a text.
pub(super) struct Front {
    pub(super) bytes: Box<[u8]>,
    pub(super) is_token: bool,
    /// Whether what it begins would be redacted from its first byte on.
    pub(super) holds: bool,
}

pub(super) fn finder<'l>(
    literals: impl IntoIterator<Item = &'l [u8]>,
) -> Result<AhoCorasick, aho_corasick::BuildError> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(aho_corasick::MatchKind::Standard)
        .kind(Some(aho_corasick::AhoCorasickKind::DFA))
        .build(literals)
}
