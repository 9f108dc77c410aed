//! Whether a secret begins at a place of a text.
//!
//! In: a text, the place of a rule's literal. Out: the secret's place, or that the text stops before it can be told. Never: a
//! longer look than once for each rule at each byte.

use super::armour::{armoured, pem, pem_end};
use super::rules::{Class, Shape, dashed, name_byte};
use super::seen::{Seen, run};
use super::value::Value;
use super::words::is_inside_a_word;
use std::ops::Range;

/// What begins at a place.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing.
    No,
    /// A secret; with [`Open`], it may go on in what follows on the text.
    Full(Range<usize>, Option<Open>),
    /// The text stops where a secret may have begun.
    Tail(Tail),
    /// The value of a secret's key begins here.
    Value(usize),
}

/// The end of a text that may be the beginning of a secret.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    /// What must be known to read on.
    pub(super) start: usize,
    /// Where the secret would begin.
    pub(super) from: usize,
    /// Whether the tail must wait: what is only the name of a secret need not.
    pub(super) holds: bool,
    /// It is taken for a secret when nothing follows; this is then how it goes on.
    pub(super) open: Option<Open>,
}

/// A secret that may go on in what follows.
#[derive(Clone, Debug)]
pub(super) enum Open {
    /// As long as the class lasts, and at most so many bytes.
    Class(Class, usize),
    /// Up to the armour's end, at the level that it was found at; the last bytes there were these.
    Pem { level: usize, last: Vec<u8>, left: usize },
}

/// The longest value of a key, and the longest private key.
pub(super) const LONGEST: usize = 32 << 10;
pub(super) const LONGEST_NAME: usize = 256;

impl Open {
    /// The level that it ends at, where not each can end it.
    pub(super) fn level(&self) -> Option<usize> {
        match self {
            Self::Class(..) => None,
            Self::Pem { level, .. } => Some(*level),
        }
    }

    /// How much of a text, at one level, still belongs to the secret, and what is still open then.
    pub(super) fn swallow(self, text: &[u8]) -> (usize, Option<Self>) {
        match self {
            Self::Class(class, left) => {
                let run = whole(text, run(text, 0, class).min(left));
                (run, (run == text.len() && run < left).then(|| Self::Class(class, left - run)))
            }
            Self::Pem { level, mut last, left } => {
                let known = last.len();
                last.extend_from_slice(text);
                let end = pem_end(&last, 0).map_or_else(|| armoured(text, 0), |end| end.saturating_sub(known));
                let end = whole(text, end.min(left));
                let is_open = end == text.len() && end < left && pem_end(&last, 0).is_none();
                let cut = last.len().saturating_sub(LONGEST_NAME);
                (end, is_open.then(|| Self::Pem { level, last: last.split_off(cut), left: left - end }))
            }
        }
    }
}

/// The end of the character that a place is in.
fn whole(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take(3).take_while(|byte| matches!(byte, 0x80..=0xBF)).count()
}

/// What is found at the literal `at`, which is `len` bytes long, in a text at one of its levels.
pub(super) fn find(
    rule: usize,
    shape: Shape,
    text: &[u8],
    place: &Range<usize>,
    level: usize,
    seen: &mut Seen,
) -> Found {
    let (at, body) = (place.start, place.end);
    let mut runs = |from, class| seen.run(rule, text, from, class);
    match shape {
        Shape::Token { class, min, max, sure } => {
            if is_inside_a_word(text, at) {
                return Found::No;
            }
            let count = runs(body, class);
            let ends = body + count == text.len();
            if count >= min {
                // A secret of a fixed length that goes on is another thing.
                if min == max && count > max {
                    return Found::No;
                }
                let count = count.min(max);
                let open = (ends && count < max).then_some(Open::Class(class, max - count));
                return Found::Full(at..body + count, open);
            }
            if !ends {
                return Found::No;
            }
            let open = (count >= sure).then_some(Open::Class(class, max - count));
            Found::Tail(Tail { start: at, from: at, holds: true, open })
        }
        Shape::After { words, class, min, max } => {
            after(text, place, words, (min, max), |from| runs(from, class), class)
        }
        Shape::Jwt => jwt(rule, text, at, seen),
        Shape::Pem => pem(rule, text, at, body, level, seen),
        Shape::Url => url(text, at, body),
    }
}

pub(super) fn name_only(start: usize, text: &[u8]) -> Found {
    Found::Tail(Tail { start, from: text.len(), holds: false, open: None })
}

fn after(
    text: &[u8],
    place: &Range<usize>,
    words: &[&str],
    (min, max): (usize, usize),
    mut runs: impl FnMut(usize) -> usize,
    class: Class,
) -> Found {
    let (at, body) = (place.start, place.end);
    let separates = |byte: u8| matches!(byte, b' ' | b'\t' | b':' | b'=' | b'"' | b'\'' | b'\\' | b'>' | b',');
    let gap = run(text, body, separates);
    let mut value = body + gap;
    if value == text.len() {
        return if gap <= 16 { name_only(at, text) } else { Found::No };
    }
    let assigns = text.get(body..value).unwrap_or_default().iter().any(|byte| matches!(byte, b':' | b'=' | b'>'));
    if !assigns || gap > 16 {
        return Found::No;
    }
    if !words.is_empty() {
        let rest = text.get(value..).unwrap_or_default();
        let begins = |word: &&&str| {
            let size = word.len().min(rest.len());
            rest.get(..size)
                .zip(word.as_bytes().get(..size))
                .is_some_and(|(rest, word)| rest.eq_ignore_ascii_case(word))
        };
        match words.iter().find(begins) {
            None => return Found::No,
            Some(word) if rest.len() <= word.len() => return name_only(at, text),
            Some(word) => value += word.len(),
        }
    }
    let count = runs(value);
    let ends = value + count == text.len();
    // A word of prose is no credential.
    let is_prose = !words.is_empty()
        && text
            .get(value..value + count)
            .unwrap_or_default()
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || *byte == b'.');
    if is_prose && !ends {
        return Found::No;
    }
    if !is_prose && count >= min && (min < max || count == max) {
        let count = count.min(max);
        let open = (ends && count < max).then_some(Open::Class(class, max - count));
        return Found::Full(value..value + count, open);
    }
    if !ends || count > max {
        return Found::No;
    }
    let open = (count > 0 && !is_prose).then(|| Open::Class(class, max - count));
    Found::Tail(Tail { start: at, from: value, holds: count > 0, open })
}

/// Header, payload and signature in base64url, the first two of them JSON objects.
fn jwt(rule: usize, text: &[u8], at: usize, seen: &mut Seen) -> Found {
    if is_inside_a_word(text, at) {
        return Found::No;
    }
    let tail = |open| Found::Tail(Tail { start: at, from: at, holds: true, open });
    let is_json = |part: usize| {
        let rest = text.get(part..).unwrap_or_default();
        rest.starts_with(b"eyJ") || b"eyJ".starts_with(rest)
    };
    let open = || Some(Open::Class(|byte| dashed(byte) || byte == b'.', LONGEST));
    let is_within = seen.has(rule, at);
    let header = seen.run(rule, text, at, dashed);
    let dot = at + header;
    if dot == text.len() {
        // A header is no secret, and base64 of JSON is no token yet.
        return if header <= LONGEST_NAME * 4 { tail(None) } else { Found::No };
    }
    // What ends like a header that was read already is no other token.
    if is_within || header < 10 || text.get(dot) != Some(&b'.') || !is_json(dot + 1) {
        return Found::No;
    }
    let payload = run(text, dot + 1, dashed);
    let second = dot + 1 + payload;
    if second == text.len() {
        return tail(if payload > 3 { open() } else { None });
    }
    if payload < 6 || text.get(second) != Some(&b'.') {
        return Found::No;
    }
    let signature = run(text, second + 1, dashed);
    let end = second + 1 + signature;
    if end == text.len() && signature < 16 {
        return tail(open());
    }
    if signature < 16 {
        return Found::No;
    }
    Found::Full(at..end, (end == text.len()).then_some(Open::Class(dashed, LONGEST)))
}

/// `scheme://user:password@host`: the password alone is the secret.
fn url(text: &[u8], at: usize, body: usize) -> Found {
    let front = text.get(..at).unwrap_or_default();
    let scheme = front.iter().rev().take(32).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'+').count();
    // At the start of a text, the scheme may have come with the piece before.
    if scheme < 2 && scheme != at {
        return Found::No;
    }
    let start = at - scheme;
    let in_user = |byte: u8| (byte.is_ascii_graphic() && !b"/?#@:\"'<>\\`(){}[]|,;$".contains(&byte)) || byte >= 0x80;
    let in_password = |byte: u8| (byte.is_ascii_graphic() && !b"/?#@\"'<>\\`".contains(&byte)) || byte >= 0x80;
    let user = run(text, body, in_user);
    let colon = body + user;
    if user > LONGEST_NAME {
        return Found::No;
    }
    if colon == text.len() {
        return name_only(start, text);
    }
    if text.get(colon) != Some(&b':') {
        return Found::No;
    }
    let password = colon + 1;
    let count = run(text, password, in_password);
    let end = password + count;
    let value = text.get(password..end).unwrap_or_default();
    let stands_for_one = value.starts_with(b"$")
        || value.starts_with(b"{")
        || value.starts_with(b"%")
        || value.starts_with(b"[")
        || value.iter().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X'));
    if end == text.len() && count <= LONGEST_NAME {
        let sure = count > 0 && !stands_for_one && !begins_as_a_port(value);
        let open = sure.then_some(Open::Class(in_password, LONGEST_NAME));
        return Found::Tail(Tail { start, from: password, holds: count > 0, open });
    }
    if text.get(end) != Some(&b'@') || stands_for_one || count > LONGEST_NAME {
        return Found::No;
    }
    Found::Full(password..end, None)
}

/// Whether what stands behind a host's colon can be a port and what a sentence puts behind it: digits alone, or a few of them
/// before what is in no name (`:3000.`, `:5173**`).
fn begins_as_a_port(value: &[u8]) -> bool {
    let digits = run(value, 0, |byte| byte.is_ascii_digit());
    match value.get(digits) {
        None => true,
        Some(&behind) => (1..=5).contains(&digits) && !dashed(behind),
    }
}

/// The value of a quoted key in a text at one of its levels: `"key": "value"`. At the place, there is a literal of a key.
pub(super) fn keyed(text: &[u8], place: &Range<usize>, is_secret: impl Fn(&str) -> bool) -> Found {
    // A key's name ends where one of its literals does.
    let end = place.end;
    if text.get(end).is_some_and(|byte| name_byte(*byte)) {
        return Found::No;
    }
    let front = text.get(..end).unwrap_or_default();
    let start = end - front.iter().rev().take(LONGEST_NAME).take_while(|byte| name_byte(**byte)).count();
    let Some(context) = start.checked_sub(1).filter(|quote| text.get(*quote) == Some(&b'"')) else {
        return Found::No;
    };
    if end == text.len() {
        return name_only(context, text);
    }
    let name = text.get(start..end).and_then(|name| std::str::from_utf8(name).ok());
    if text.get(end) != Some(&b'"') || !name.is_some_and(is_secret) {
        return Found::No;
    }
    let is_gap = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let colon = end + 1 + run(text, end + 1, is_gap);
    if colon == text.len() {
        return name_only(context, text);
    }
    if text.get(colon) != Some(&b':') {
        return Found::No;
    }
    let opening = colon + 1 + run(text, colon + 1, is_gap);
    if opening == text.len() {
        return name_only(context, text);
    }
    if text.get(opening).is_some_and(|byte| Value::begins(*byte)) { Found::Value(opening) } else { Found::No }
}

/// Whether there may be a password behind a URL's `://`, or the text stops too early to tell.
pub(super) fn has_a_password(text: &[u8], body: usize) -> bool {
    let rest = text.get(body..).unwrap_or_default();
    let user =
        rest.iter().position(|&byte| matches!(byte, b':' | b'/' | b'"' | b'?' | b'#' | b' ' | b'<' | b'>' | b')'));
    user.is_none_or(|user| rest.get(user) == Some(&b':'))
}
