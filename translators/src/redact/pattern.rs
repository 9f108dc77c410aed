//! Matches the body of a token: what follows its stem.
//!
//! Input: a pattern of the table, such as `%a{22}_%h{40}`, then a text and the position after a stem. Output: whether the
//! body is there, is not there, or may be once more text has arrived. A pattern is a sequence of literals and runs of one
//! class. No part is ambiguous, so matching never backtracks.

use super::class::{Class, Runs};

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Literal(String),
    Run { class: Class, min: usize, max: usize },
}

/// The result of matching a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    No,
    /// The body ends at `end`. If the text ends there, the body may continue by up to `room` bytes.
    Full {
        end: usize,
        room: usize,
    },
    /// The text ends inside this part, this many bytes after its start.
    Part {
        nth: usize,
        bytes: usize,
    },
}

impl Pattern {
    /// Parses a pattern: literals, and `%` with the letter of a class and `{size}` or `{min,max}`.
    pub(super) fn new(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (literal, run) = rest.split_at(rest.find('%').unwrap_or(rest.len()));
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            }
            let Some((head, after)) = run.split_once('}') else { break };
            let letter = head.as_bytes().get(1).copied().unwrap_or_default();
            let sizes = head.get(3..).unwrap_or_default();
            let (min, max) = sizes.split_once(',').unwrap_or((sizes, sizes));
            let size = |text: &str| text.parse().unwrap_or(1);
            parts.push(Part::Run { class: class_of(letter), min: size(min), max: size(max) });
            rest = after;
        }
        Self { parts }
    }

    /// A pattern of one run of a class.
    pub(super) fn run(class: Class, size: usize) -> Self {
        Self { parts: vec![Part::Run { class, min: size, max: size }] }
    }

    /// Matches a text from the end of the stem.
    pub(super) fn read(&self, text: &[u8], from: usize, runs: &mut Runs) -> Body {
        let mut at = from;
        for (nth, part) in self.parts.iter().enumerate() {
            let is_last = nth + 1 == self.parts.len();
            match part {
                Part::Literal(literal) => {
                    let rest = text.get(at..).unwrap_or_default();
                    let size = rest.len().min(literal.len());
                    if rest.get(..size) != literal.as_bytes().get(..size) {
                        return Body::No;
                    }
                    if size < literal.len() {
                        return Body::Part { nth, bytes: size };
                    }
                    at += size;
                }
                Part::Run { class, min, max } => {
                    let run = runs.run(*class, text, at);
                    let ends = at + run == text.len();
                    if ends && (run < *min || (min == max && run == *min) || (!is_last && run <= *max)) {
                        return Body::Part { nth, bytes: run };
                    }
                    let goes_on = text.get(at + run).is_some_and(|byte| Class::Word.has(*byte));
                    // A secret of fixed length must not continue.
                    if run < *min
                        || (is_last && min == max && (run > *max || goes_on))
                        || (!is_last && min != max && run > *max)
                    {
                        return Body::No;
                    }
                    let size = run.min(*max);
                    at += size;
                    if is_last {
                        return Body::Full { end: at, room: if ends { max - size } else { 0 } };
                    }
                }
            }
        }
        Body::Full { end: at, room: 0 }
    }

    /// The class of the bytes that may continue a truncated secret.
    pub(super) fn rest(&self) -> Class {
        let all = [Class::Alnum, Class::Word, Class::Dashed, Class::Dotted, Class::Base64, Class::Token68];
        let fits = |class: &Class| {
            self.parts.iter().all(|part| match part {
                Part::Literal(literal) => literal.bytes().all(|byte| class.has(byte)),
                Part::Run { class: inner, .. } => (0..=u8::MAX).all(|byte| !inner.has(byte) || class.has(byte)),
            })
        };
        all.into_iter().find(fits).unwrap_or(Class::UrlPassword)
    }

    /// The maximum length of a body, which also bounds the rest of a truncated one.
    pub(super) fn longest(&self) -> usize {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Literal(literal) => literal.len(),
                Part::Run { max, .. } => *max,
            })
            .sum()
    }

    /// Whether all bodies have the same length.
    pub(super) fn is_fixed(&self) -> bool {
        self.parts
            .iter()
            .all(|part| matches!(part, Part::Literal(_)) || matches!(part, Part::Run { min, max, .. } if min == max))
    }

    /// The class of a body's first bytes, and their minimum number, at most `most`.
    pub(super) fn front(&self, most: usize) -> (Class, usize) {
        match self.parts.first() {
            Some(Part::Run { class, min, .. }) => (*class, (*min).min(most)),
            _ => (Class::Alnum, 0),
        }
    }

    /// A random body. `random` returns a number below its argument.
    pub(super) fn sample(&self, random: &mut dyn FnMut(usize) -> usize) -> String {
        let mut body = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => body.push_str(literal),
                Part::Run { class, min, max } => {
                    let members: Vec<u8> = (0..128).filter(|byte| class.has(*byte) && *byte != b'=').collect();
                    let size = min + random((max - min).min(6) + 1);
                    let bytes = (0..size).filter_map(|_| members.get(random(members.len())));
                    body.extend(bytes.map(|byte| char::from(*byte)));
                }
            }
        }
        body
    }
}

fn class_of(letter: u8) -> Class {
    match letter {
        b'd' => Class::Digit,
        b'h' => Class::LowerHex,
        b'x' => Class::Hex,
        b'l' => Class::Lower,
        b'u' => Class::Upper,
        b'a' => Class::Alnum,
        b'w' => Class::Word,
        b'-' => Class::Dashed,
        b'.' => Class::Dotted,
        b'b' => Class::Base64,
        _ => Class::Token68,
    }
}
