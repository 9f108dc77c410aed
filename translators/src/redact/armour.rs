//! Private keys in their armour.
//!
//! In: a text, the place of what such a key begins with. Out: how far it goes, to its last line or as long as nothing else stands
//! there than what may. Never: a key that is longer than the longest one.

use super::levels::MOST_ESCAPES;
use super::seen::{FOOT, Seen, run};
use super::shape::{Found, LONGEST, LONGEST_NAME, Open, Tail};
use std::ops::Range;

/// What may stand in an armoured key: base64, its line ends (escaped or not), its headers, quotes and joints of source text.
fn armour(byte: u8) -> bool {
    base64_or_space(byte) || matches!(byte, b'\\' | b'-' | b':' | b',')
}

/// How long an armoured key goes on.
pub(super) fn armoured(text: &[u8], from: usize) -> usize {
    let count = run(text, from, armour);
    count - escapes_before_a_quote(text, from..from + count)
}

/// The backslashes at a part's end that are a quote's which stands behind them.
fn escapes_before_a_quote(text: &[u8], part: Range<usize>) -> usize {
    if text.get(part.end) != Some(&b'"') {
        return 0;
    }
    let said = text.get(part).unwrap_or_default();
    said.iter().rev().take(MOST_ESCAPES).take_while(|byte| **byte == b'\\').count()
}

fn base64_or_space(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || matches!(byte, b'+' | b'/' | b'=')
}

/// A private key whose armour begins at `at`, and its title at `body`.
pub(super) fn pem(rule: usize, text: &[u8], at: usize, body: usize, level: usize, seen: &mut Seen) -> Found {
    let head = || Found::Tail(Tail { start: at, from: at, holds: true, open: None });
    let title = run(text, body, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    if body + title == text.len() && title < 64 {
        return head();
    }
    let name = text.get(body..body + title).unwrap_or_default();
    let is_private = name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK");
    let dashes = run(text, body + title, |byte| byte == b'-');
    let inside = body + title + dashes;
    if !is_private || (dashes < 5 && inside < text.len()) {
        return Found::No;
    }
    if inside == text.len() {
        return head();
    }
    let most = text.len().min(inside + LONGEST);
    if let Some(end) = seen.pem_end(text, inside..most) {
        return Found::Full(at..end, None);
    }
    let count = seen.run(rule, text, inside, armour).min(most - inside);
    let count = count - escapes_before_a_quote(text, inside..inside + count);
    let end = inside + count;
    let armoured = text.get(inside..end).unwrap_or_default();
    let said = armoured.iter().filter(|byte| byte.is_ascii_alphanumeric()).take(16).count();
    let last = || text.get(end.saturating_sub(LONGEST_NAME).max(inside)..end).unwrap_or_default().to_vec();
    let open = || Some(Open::Pem { level, last: last(), left: LONGEST.saturating_sub(count) });
    if end == text.len() && said < 16 {
        return Found::Tail(Tail { start: at, from: at, holds: true, open: open().filter(|_| said > 0) });
    }
    if said < 16 {
        return Found::No;
    }
    Found::Full(at..end, if end == text.len() { open() } else { None })
}

/// Behind a private key's end, which is looked for from a place on.
pub(super) fn pem_end(text: &[u8], from: usize) -> Option<usize> {
    let at = from + memchr::memmem::find(text.get(from..)?, FOOT)?;
    let title = at + FOOT.len();
    let size = run(text, title, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ');
    let dashes = run(text, title + size, |byte| byte == b'-');
    (dashes >= 5).then_some(title + size + dashes)
}
