//! Finds a prefix of a format's stem at the end of a text.
//!
//! Input: the formats, once, then a text. Output: the start of the longest prefix of a stem that the text ends in. Never: a
//! search beyond the length of the longest stem.

use super::class::Class;
use super::formats::Shape;
use super::text::Prepared;
use super::words::is_inside_a_word;

/// The stems of all formats.
#[derive(Default)]
pub(super) struct Stems {
    exact: Vec<String>,
    /// Stems inside a secret, which bytes of the secret may precede.
    inner: Vec<String>,
    /// Stems whose case is ignored, in lower case.
    others: Vec<String>,
    longest: usize,
    /// Whether any stem has these two bytes, and whether any begins with this byte, in either case.
    pairs: Vec<bool>,
    firsts: Vec<bool>,
}

impl Stems {
    pub(super) fn new<'f>(formats: impl Iterator<Item = &'f Prepared>) -> Self {
        let mut this = Self::default();
        for format in formats.map(|prepared| prepared.format) {
            if let Shape::Around(..) = format.shape {
                this.inner.extend(format.stems.iter().map(|stem| (*stem).to_owned()));
            } else if format.is_exact() || matches!(format.shape, Shape::Pem) {
                this.exact.extend(format.stems.iter().map(|stem| (*stem).to_owned()));
            } else {
                this.others.extend(format.stems.iter().map(|stem| stem.to_ascii_lowercase()));
            }
        }
        (this.pairs, this.firsts) = (vec![false; 1 << 16], vec![false; 1 << 8]);
        for list in [&mut this.exact, &mut this.inner, &mut this.others] {
            list.sort();
            let mark = |list: Option<&mut bool>| list.into_iter().for_each(|is_one| *is_one = true);
            for stem in list.iter() {
                for one in stem.bytes().take(1).flat_map(either) {
                    mark(this.firsts.get_mut(usize::from(one)));
                }
                for (one, two) in stem.bytes().zip(stem.bytes().skip(1)) {
                    for (one, two) in either(one).flat_map(|one| either(two).map(move |two| (one, two))) {
                        mark(this.pairs.get_mut(usize::from(u16::from_le_bytes([one, two]))));
                    }
                }
            }
            this.longest = list.iter().map(String::len).max().unwrap_or_default().max(this.longest);
        }
        this
    }

    /// The start of the longest prefix of a stem that the text ends in, and whether its case matters.
    pub(super) fn front(&self, text: &[u8]) -> Option<(usize, bool)> {
        let mut lower = [0; 64];
        let most = self.longest.min(lower.len()) - 1;
        let is_pair = |two: &&[u8]| {
            let pair = two.first_chunk().map(|two| usize::from(u16::from_le_bytes(*two)));
            pair.and_then(|pair| self.pairs.get(pair)).is_some_and(|is_pair| *is_pair)
        };
        // A prefix has only pairs of bytes that occur in stems.
        let size = 1 + text.windows(2).rev().take(most.saturating_sub(1)).take_while(is_pair).count();
        let first = text.len().saturating_sub(size);
        let end = text.get(first..)?;
        let lower = lower.get_mut(..end.len())?;
        lower.copy_from_slice(end);
        lower.make_ascii_lowercase();
        (first..text.len()).find_map(|start| {
            let &byte = text.get(start)?;
            if !self.firsts.get(usize::from(byte)).is_some_and(|is_first| *is_first) {
                return None;
            }
            let is_inside = Class::Word.has(byte) && is_inside_a_word(text, start);
            let size = text.len() - start;
            let rest = text.get(start..)?;
            if (!is_inside && begins(&self.exact, rest)) || begins(&self.inner, rest) {
                return Some((start, true));
            }
            // One or two letters are a prefix of too many words.
            ((size > 2 || !is_inside) && begins(&self.others, lower.get(start - first..)?)).then_some((start, false))
        })
    }
}

/// A byte in both cases.
fn either(byte: u8) -> impl Iterator<Item = u8> {
    [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()].into_iter()
}

fn begins(sorted: &[String], front: &[u8]) -> bool {
    let at = sorted.partition_point(|stem| stem.as_bytes() < front);
    sorted.get(at).is_some_and(|stem| stem.as_bytes().starts_with(front))
}
