//! Classes of bytes, and runs of one class in a text.
//!
//! Input: a text and a position in it. Output: the length of the run of a class from that position. Each run is read once,
//! however many secrets may begin inside it. This keeps the search linear for hostile text such as `sk-ant-sk-ant-…`. Never:
//! state that grows with the text.

use serde::Deserialize;
use std::ops::Range;

/// A class of bytes that part of a secret consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Class {
    Digit,
    LowerHex,
    Hex,
    /// Digits and lower-case letters. [`Class::Upper`] has upper-case letters instead.
    Lower,
    Upper,
    Alnum,
    /// Letters, digits and `_`.
    Word,
    /// The bytes of [`Class::Word`] and `-`: base64url.
    Dashed,
    /// The bytes of [`Class::Dashed`] and `.`: names.
    Dotted,
    Base64,
    /// The bytes of a credential in an `Authorization` header.
    Token68,
    /// The bytes of an assigned value without quotes.
    Bare,
    InDouble,
    InSingle,
    InBacktick,
    Query,
    UrlUser,
    UrlPassword,
    /// Base64 with its padding.
    Armour,
}

const COUNT: usize = Class::Armour as usize + 1;

const fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>')
        || matches!(byte, b',' | b';' | b'|' | b'&' | b'\\')
}

const fn contains(class: usize, byte: u8) -> bool {
    let alnum = byte.is_ascii_alphanumeric();
    let word = alnum || byte == b'_';
    let dashed = word || byte == b'-';
    let visible = byte.is_ascii_graphic() || byte >= 0x80;
    // Neither a quote, a bracket nor a separator of shells, lists and queries.
    let undelimited = byte.is_ascii_graphic() && !is_delimiter(byte);
    match class {
        0 => byte.is_ascii_digit(),
        1 => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
        2 => byte.is_ascii_hexdigit(),
        3 => byte.is_ascii_digit() || byte.is_ascii_lowercase(),
        4 => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
        5 => alnum,
        6 => word,
        7 => dashed,
        8 => dashed || byte == b'.',
        9 => alnum || matches!(byte, b'+' | b'/'),
        10 => dashed || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'='),
        11 => undelimited && byte != b'$',
        12 => visible && !matches!(byte, b'"' | b'\\'),
        13 => visible && !matches!(byte, b'\'' | b'\\'),
        14 => visible && !matches!(byte, b'`' | b'\\'),
        15 => undelimited && byte != b'#',
        16 => {
            visible && (byte == b'&' || !is_delimiter(byte)) && !matches!(byte, b'/' | b'?' | b'#' | b'@' | b':' | b'$')
        }
        17 => visible && !matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'\\' | b'`'),
        _ => alnum || matches!(byte, b'+' | b'/' | b'='),
    }
}

/// For each byte, a bit for each class that contains it.
#[allow(clippy::indexing_slicing, reason = "computed when it is compiled")]
static TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut class = 0;
        while class < COUNT {
            if contains(class, byte as u8) {
                table[byte] |= 1 << class;
            }
            class += 1;
        }
        byte += 1;
    }
    table
};

impl Class {
    pub(super) fn has(self, byte: u8) -> bool {
        TABLE.get(usize::from(byte)).is_some_and(|bits| bits & (1 << self as u32) != 0)
    }

    /// The length of the run of this class from a position.
    pub(super) fn run(self, text: &[u8], from: usize) -> usize {
        let rest = text.get(from..).unwrap_or_default();
        rest.iter().position(|byte| !self.has(*byte)).unwrap_or(rest.len())
    }

    /// The length of the run of this class before a position, at most `most`.
    pub(super) fn run_before(self, text: &[u8], at: usize, most: usize) -> usize {
        let front = text.get(..at).unwrap_or_default();
        front.iter().rev().take(most).take_while(|byte| self.has(**byte)).count()
    }
}

/// A cache of the latest runs of a text.
#[derive(Default)]
pub(super) struct Runs {
    known: [Recent; COUNT],
}

/// A token has up to three parts of one class. The cache has one more entry than that.
const REMEMBERED: usize = 4;

#[derive(Default)]
struct Recent {
    runs: [Range<usize>; REMEMBERED],
    next: usize,
}

impl Runs {
    /// The length of the run of a class from a position.
    pub(super) fn run(&mut self, class: Class, text: &[u8], from: usize) -> usize {
        let Some(recent) = self.known.get_mut(class as usize) else { return class.run(text, from) };
        if let Some(known) = recent.runs.iter().find(|run| run.start <= from && from < run.end) {
            return known.end - from;
        }
        let size = class.run(text, from);
        if let Some(oldest) = recent.runs.get_mut(recent.next) {
            *oldest = from..from + size;
        }
        recent.next = (recent.next + 1) % REMEMBERED;
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_run_ends_at_another_class() {
        for (class, text, size) in [
            (Class::Digit, "12a", 2),
            (Class::LowerHex, "09afAF", 4),
            (Class::Upper, "AZ09z", 4),
            (Class::Dashed, "a_-.", 3),
            (Class::Base64, "aZ+/=", 4),
            (Class::Token68, "a.~+/= ", 6),
            (Class::UrlPassword, "a@b#c/d\"", 7),
            (Class::InSingle, "\"é'", 3),
        ] {
            assert_eq!(class.run(text.as_bytes(), 0), size, "{class:?}");
        }
    }

    #[test]
    fn a_cached_character_run_is_not_read_again() {
        let mut runs = Runs::default();
        let text = b"abc def abc";
        for from in [0, 1, 2, 4, 5, 8, 3, 0] {
            assert_eq!(runs.run(Class::Alnum, text, from), Class::Alnum.run(text, from), "{from}");
        }
    }
}
