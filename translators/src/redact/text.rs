//! Finds the secrets in one text, including those spelt with escapes.
//!
//! Input: a text as the reader of a string sees it. Output: the ranges of secrets, and the end of the text if a secret may
//! begin there. The text is searched as it is, and again at each level of escapes (JSON in a string of JSON). Whatever a
//! later reader would see as a secret counts as one here.

use super::carrier::{assigned, behind, front, keyed};
use super::class::{Class, Runs};
use super::escapes::{Reading, behind_blanks, read_on};
use super::formats::{Format, Shape};
use super::pattern::{Body, Pattern};
use super::plausible::{SHORTEST, begins_a_placeholder, is_placeholder};
use super::tail::{Found, LONGEST_NAME, Open, Tail, Wait};
use super::value::Value;
use super::words::{front_of_sequence, is_inside_a_word, name_start, opening};
use super::{Rules, With, pem, url};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::ops::Range;

/// How many bytes of a text are read again with its next piece if patterns are configured.
const CONTEXT: usize = 256;

/// The range of a secret in a text.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub(super) place: Range<usize>,
    pub(super) rule: usize,
    pub(super) with: With,
    pub(super) open: Option<Open>,
}

/// The result of a search.
#[derive(Debug, Default)]
pub(super) struct Finding {
    pub(super) hits: Vec<Hit>,
    /// The end of the text that may begin a secret, with the number of its rule.
    pub(super) tail: Option<(Tail, usize)>,
    /// The values of secret keys that are not complete, at most one per level, and the position up to which each was read.
    pub(super) values: Vec<(Value, usize)>,
}

/// What a literal of the finder belongs to. The finder's pattern numbers index a list of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    Format(usize),
    Key,
}

/// A compiled format.
pub(super) struct Prepared {
    pub(super) format: &'static Format,
    pattern: Pattern,
    /// The bytes that may continue a truncated secret, and how many.
    rest: Class,
    longest: usize,
}

impl Prepared {
    pub(super) fn new(format: &'static Format) -> Self {
        let body = match &format.shape {
            Shape::Token(body) | Shape::Around(_, _, _, body) => body,
            _ => "",
        };
        let pattern = Pattern::new(body);
        Self { format, rest: pattern.rest(), longest: pattern.longest(), pattern }
    }

    /// The class of the first bytes of a body, and how many of them the prefilter checks.
    pub(super) fn front(&self) -> (Class, usize) {
        let (part, bytes) = self.format.sure();
        self.pattern.front(if part == 0 { bytes.clamp(1, 6) } else { 6 })
    }

    /// Creates a random secret of this format. `None` if the format has no fixed form.
    pub(super) fn sample(&self, random: &mut dyn FnMut(usize) -> usize) -> Option<String> {
        let stem = self.format.stems.get(random(self.format.stems.len()))?;
        let before = match &self.format.shape {
            Shape::Token(_) => String::new(),
            Shape::Around(class, min, ..) => Pattern::run(*class, *min).sample(random),
            _ => return None,
        };
        Some(format!("{before}{stem}{}", self.pattern.sample(random)))
    }

    /// Matches a secret at a stem.
    fn token(&self, text: &[u8], literal: &Range<usize>, runs: &mut Runs) -> Found {
        let mut start = literal.start;
        if let Shape::Around(class, min, max, _) = self.format.shape {
            let size = class.run_before(text, start, max + 1);
            start -= size;
            // At the start of a text, the part before the stem may have arrived with earlier pieces.
            if !(min..=max).contains(&size) && (size > max || start > 0) {
                return Found::No;
            }
        } else if is_inside_a_word(text, start) {
            return Found::No;
        }
        match self.pattern.read(text, literal.end, runs) {
            Body::No => Found::No,
            Body::Full { end, room } => {
                if text.get(literal.end..end).is_some_and(|body| body.len() >= SHORTEST && is_placeholder(body)) {
                    return if room > 0 { Found::Tail(Tail::waiting(start, Wait::Short)) } else { Found::No };
                }
                Found::Full(start..end, (room > 0).then_some(Open::Class(self.rest, room)))
            }
            Body::Part { nth, bytes } => {
                let is_sure = (nth, bytes) >= self.format.sure()
                    && !begins_a_placeholder(text.get(literal.end..).unwrap_or_default());
                let open = is_sure.then_some(Open::Class(self.rest, self.longest));
                // The rest of a secret of fixed size arrives soon, so a longer wait is acceptable.
                let may_go = if is_sure { !self.pattern.is_fixed() } else { (nth, bytes) == (0, 0) };
                let wait = if may_go { Wait::Short } else { Wait::Long };
                Found::Tail(Tail {
                    start,
                    from: start,
                    wait,
                    held: start,
                    end: open.is_some().then_some(text.len()),
                    open,
                })
            }
        }
    }
}

impl Rules {
    /// The secrets of a text that does not continue.
    pub(super) fn hits(&self, text: &[u8]) -> Vec<Hit> {
        let Finding { mut hits, tail, values } = self.scan(text);
        for hit in &mut hits {
            hit.place.end = match hit.open {
                // Only an incomplete escape follows the hit.
                Some(Open::Class(..)) => text.len(),
                Some(Open::Armour { .. }) if pem::ends_in_a_line(text, hit.place.end) => text.len(),
                _ => hit.place.end,
            };
        }
        // The text stops in the middle of what is certainly a secret, because it was truncated or is not complete yet.
        if let Some((tail, rule)) = tail
            && let Some(end) = tail.end.filter(|end| tail.from < *end)
        {
            hits.push(Hit { place: tail.from..end, rule, with: With::Mark, open: None });
        }
        for (mut value, at) in values {
            let read = read_on(&mut value, text.get(at..).unwrap_or_default(), true);
            hits.extend(read.places.into_iter().map(|(place, with)| Hit {
                place: at + place.start..at + place.end,
                rule: self.key_rule,
                with: with.at_first_level(),
                open: None,
            }));
        }
        hits
    }

    /// Searches a text at all levels of escapes.
    pub(super) fn scan(&self, text: &[u8]) -> Finding {
        let mut finding = Finding::default();
        let mut reading = Reading::new(text);
        loop {
            let mut inner = Finding::default();
            self.level(&reading, &mut inner);
            let place = |place: Range<usize>| reading.out(place.start)..reading.out(place.end);
            finding.hits.extend(inner.hits.into_iter().map(|hit| Hit { place: place(hit.place), ..hit }));
            if let Some((tail, rule)) = inner.tail {
                let (start, from, held) = (reading.out(tail.start), reading.out(tail.from), reading.out(tail.held));
                let end = tail.end.map(|end| if end >= reading.known().len() { text.len() } else { reading.out(end) });
                merge(&mut finding.tail, Tail { start, from, held, end, ..tail }, rule);
            }
            let values = inner.values.into_iter().map(|(value, at)| (value, reading.out(at)));
            finding.values.extend(values);
            if !reading.descend() {
                break;
            }
        }
        if !self.patterns.is_empty() {
            // It is unknown how much text a pattern needs, so each piece waits for the next one.
            let start = text.len().saturating_sub(CONTEXT);
            merge(&mut finding.tail, Tail { from: text.len(), ..Tail::waiting(start, Wait::Short) }, 0);
        }
        if let Some((tail, _)) = &mut finding.tail {
            // Keep a terminal's control sequence before the tail too: it shows that a new word begins there.
            tail.start = reading.whole_from(opening(text, tail.start).unwrap_or(tail.start));
        }
        finding.settle(text.len(), self.key_rule);
        finding
    }

    /// Whether a piece, in its escaped spelling, has no secret and cannot be the beginning of one, by a quick check. Only valid
    /// if the prefilter found nothing in its record and no text has kept state.
    pub(super) fn leaves_nothing(&self, piece: &[u8]) -> bool {
        // The prefilter does not decide about unfinished URLs.
        let has_url = || memchr::memchr_iter(b':', piece).any(|at| piece.get(at..at + 3) == Some(b"://"));
        // What may continue is within the last line, or behind the last tab.
        let Some(end) = behind_blanks(piece).filter(|_| self.patterns.is_empty()) else { return false };
        if has_url() || (self.in_text && self.ends_in_a_name(end)) {
            return false;
        }
        front_of_sequence(end).is_none() && !self.ends_in_a_front(end) && !self.ends_in_a_format(end)
    }

    /// Whether the last word of a text contains a stem.
    fn ends_in_a_format(&self, piece: &[u8]) -> bool {
        let word = piece.iter().rev().take(LONGEST_NAME).take_while(|byte| !byte.is_ascii_whitespace()).count();
        word > 2 && self.finder.is_match(piece.get(piece.len() - word..).unwrap_or_default())
    }

    /// Whether the text ends in a name that is a key or may become one, or in such a name and the beginning of a value.
    fn ends_in_a_name(&self, piece: &[u8]) -> bool {
        let value = piece.iter().rev().take(LONGEST_NAME).take_while(|byte| !byte.is_ascii_whitespace()).count();
        let before = piece.get(..piece.len() - value).unwrap_or_default();
        self.is_named(piece) || self.is_named(before) || front(piece, |word| self.keys.has_word(word)).is_some()
    }

    /// Whether the text ends in a key's name and signs of an assignment.
    fn is_named(&self, piece: &[u8]) -> bool {
        let is_sign = |byte: &u8| matches!(byte, b' ' | b'\t' | b'=' | b':' | b'>' | b',' | b'\'' | b'`');
        let signs = piece.iter().rev().take(16).take_while(|byte| is_sign(byte)).count();
        let text = piece.get(..piece.len() - signs).unwrap_or_default();
        let size = Class::Dotted.run_before(text, text.len(), LONGEST_NAME);
        self.finder.is_match(text.get(text.len() - size..).unwrap_or_default())
    }

    fn level(&self, reading: &Reading<'_>, finding: &mut Finding) {
        let text = reading.known();
        let mut runs = Runs::default();
        // Ends of the last private key and of the last value of a key. Matches before them are redacted already.
        let (mut armoured, mut read_to) = (0, 0);
        // Keys in plain text are handled last: a match of a format is more specific than the name of a key before it.
        let mut keys: Vec<Range<usize>> = Vec::new();
        for found in self.finder.find_overlapping_iter(text) {
            let place = found.range();
            let (what, rule) = match self.literals.get(found.pattern().as_usize()) {
                Some(Literal::Format(nth)) => {
                    let Some(prepared) = self.formats.get(*nth) else { continue };
                    let is_its = !prepared.format.is_exact()
                        || self.is_spelt(found.pattern().as_usize(), text.get(place.clone()));
                    if !is_its || (matches!(prepared.format.shape, Shape::Pem) && place.start < armoured) {
                        continue;
                    }
                    (self.format(prepared, text, &place, reading.level(), &mut runs), *nth)
                }
                Some(Literal::Key) => {
                    if self.in_text {
                        keys.push(place.clone());
                    }
                    if !self.in_json {
                        continue;
                    }
                    (keyed(text, &place, |key| self.keys.has(key)), self.key_rule)
                }
                None => continue,
            };
            match what {
                Found::No => {}
                Found::Full(place, open) => {
                    if let Some(Open::Armour { .. }) = open {
                        armoured = place.end;
                    }
                    finding.hits.push(Hit { place, rule, with: With::Mark, open });
                }
                Found::Tail(tail) => merge(&mut finding.tail, tail, rule),
                // This match is inside a value that was read already, so it is redacted.
                Found::Value(at) if at < read_to => {}
                Found::Value(at) => {
                    let name = std::str::from_utf8(name_before(text, place.end)).unwrap_or_default();
                    let Some(kind) = self.keys.kind(&super::keys::canonical(name)) else { continue };
                    let mut value = Value::new(reading.level(), kind);
                    let read = value.read(text.get(at..).unwrap_or_default());
                    finding.hits.extend(read.places.into_iter().map(|(place, with)| Hit {
                        place: at + place.start..at + place.end,
                        rule,
                        // In a text as it is, the quotes of its first level are not escaped.
                        with: with.at_first_level(),
                        open: None,
                    }));
                    read_to = at + read.size;
                    if !read.is_over {
                        finding.values.push((value, read_to));
                    }
                }
            }
        }
        for place in keys {
            match assigned(text, &place, &self.keys, &mut runs) {
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
        for tail in self.fronts(text) {
            merge(&mut finding.tail, tail, 0);
        }
        if reading.is_broken() {
            merge(&mut finding.tail, Tail::waiting(text.len(), Wait::Short), 0);
        }
    }

    fn format(&self, prepared: &Prepared, text: &[u8], place: &Range<usize>, level: usize, runs: &mut Runs) -> Found {
        match &prepared.format.shape {
            Shape::Token(_) | Shape::Around(..) => prepared.token(text, place, runs),
            Shape::Value(what) => behind(text, place, what, runs),
            Shape::Pem => pem::find(text, place.start, place.end, level),
            Shape::Url => url::password(text, place.start, place.end, runs),
        }
    }

    /// The reasons to keep the end of a text for reading the next piece.
    fn fronts(&self, text: &[u8]) -> impl Iterator<Item = Tail> {
        let stem = self.stems.front(text).map(|(start, is_exact)| {
            let wait = if is_exact { Wait::Short } else { Wait::No };
            let begin = start - scheme_before(text, start);
            Tail { from: if is_exact { start } else { text.len() }, held: start, ..Tail::waiting(begin, wait) }
        });
        let context = |start: usize| Tail::context(start, text);
        // An unfinished name of an assignment.
        let name = if self.in_text { front(text, |word| self.keys.has_word(word)).map(context) } else { None };
        // An unfinished control sequence of a terminal: the text after it is not inside a word.
        let sequence = front_of_sequence(text).map(context);
        // An unfinished quoted name.
        let size = Class::Dotted.run_before(text, text.len(), LONGEST_NAME);
        let quote = text.len().checked_sub(size + 1).filter(|at| text.get(*at) == Some(&b'"'));
        // Characters that may precede a stem in a secret.
        let before = self.ends_in_digits(text).map(context);
        [stem, name, sequence, quote.map(context), before].into_iter().flatten()
    }

    /// Whether a text ends in a possible prefix of a format.
    pub(super) fn ends_in_a_front(&self, text: &[u8]) -> bool {
        self.ends_in_digits(text).is_some() || self.stems.front(text).is_some()
    }

    /// The start of the run at the end of a text that may precede a stem: it has a digit.
    fn ends_in_digits(&self, text: &[u8]) -> Option<usize> {
        let start = name_start(text, text.len(), 64, |byte| Class::Dashed.has(byte));
        let has_digit = text.get(start..)?.iter().any(u8::is_ascii_digit);
        // Fewer bytes of a secret are of no use to an attacker.
        (has_digit && text.len() - start >= 6).then_some(start)
    }

    fn is_spelt(&self, pattern: usize, literal: Option<&[u8]>) -> bool {
        self.spellings.get(pattern).map(String::as_bytes) == literal
    }
}

fn name_before(text: &[u8], end: usize) -> &[u8] {
    text.get(end - Class::Dotted.run_before(text, end, LONGEST_NAME)..end).unwrap_or_default()
}

/// The length of the scheme before a URL's colon.
fn scheme_before(text: &[u8], colon: usize) -> usize {
    if text.get(colon) != Some(&b':') {
        return 0;
    }
    let front = text.get(..colon).unwrap_or_default();
    let is_scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-');
    front.iter().rev().take(32).take_while(is_scheme).count()
}

pub(super) fn merge(into: &mut Option<(Tail, usize)>, tail: Tail, rule: usize) {
    let Some((old, of)) = into else {
        *into = Some((tail, rule));
        return;
    };
    let held = [(old.wait, old.held), (tail.wait, tail.held)]
        .into_iter()
        .filter(|(wait, _)| *wait > Wait::No)
        .map(|(_, held)| held)
        .min();
    let wait = old.wait.max(tail.wait);
    // The more certain tail decides what is redacted if nothing follows.
    let better = (tail.open.is_some() && (old.open.is_none() || tail.from < old.from))
        || (old.open.is_none() && tail.end.is_some() && old.end.is_none())
        || (old.open.is_none()
            && old.end.is_none()
            && tail.wait > Wait::No
            && (old.wait == Wait::No || tail.from < old.from));
    old.start = old.start.min(tail.start);
    if better {
        old.from = tail.from;
        old.open = tail.open;
        old.end = tail.end;
        *of = rule;
    }
    old.wait = wait;
    old.held = held.unwrap_or(old.held);
}

impl Finding {
    /// Whether there is nothing to redact and nothing to keep.
    pub(super) fn is_empty(&self) -> bool {
        self.hits.is_empty() && self.tail.is_none() && self.values.is_empty()
    }

    /// Sorts the hits, merges overlapping ones, and drops a tail inside a hit. `size` is the length of the text.
    fn settle(&mut self, size: usize, key_rule: usize) {
        // The value of a key includes all other hits inside it, even if the value continues.
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
        // A possible longer secret that would be redacted anyway takes precedence over the hit inside it.
        let is_within = |tail: &Tail| tail.open.is_some() && tail.from <= last.place.start;
        if self.tail.as_ref().is_some_and(|(tail, _)| is_within(tail)) {
            last.open = None;
        } else {
            // Everything up to the end is certain. But what begins before the hit, or inside it, may continue after it.
            let (start, end) = (last.place.start, last.place.end);
            let context = self.tail.take().map(|(tail, _)| tail);
            let mut tail = context.map(|tail| Tail {
                from: size,
                wait: if tail.start < start { tail.wait } else { Wait::No },
                open: None,
                end: None,
                ..tail
            });
            if end < size {
                // The hit is followed by an incomplete escape, or by what may separate two lines of a private key.
                let start = tail.as_ref().map_or(end, |tail| tail.start.min(end));
                tail = Some(Tail { from: size, held: end, ..Tail::waiting(start, Wait::Long) });
            }
            self.tail = tail.map(|tail| (tail, 0));
        }
    }
}

/// How many bytes of literals the quicker automaton may have. It takes about 250 bytes of memory for each of them. Those of the
/// default rules are a third of this.
const QUICK_BYTES: usize = 16 << 10;

/// Creates the automaton that finds the literals, whatever their case.
pub(super) fn finder(literals: &[String]) -> Result<AhoCorasick, aho_corasick::BuildError> {
    let bytes: usize = literals.iter().map(String::len).sum();
    // With a table for each state, the search takes less than half the instructions, and ten times the memory.
    let kind = if bytes <= QUICK_BYTES { AhoCorasickKind::DFA } else { AhoCorasickKind::ContiguousNFA };
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(aho_corasick::MatchKind::Standard)
        .kind(Some(kind))
        .build(literals)
}
