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
    exact: Sorted,
    /// Stems inside a secret, which bytes of the secret may precede.
    inner: Sorted,
    /// Stems whose case is ignored, in lower case.
    others: Sorted,
    longest: usize,
    /// Whether any stem has these two bytes, and whether any begins with this byte, in either case.
    pairs: Vec<bool>,
    firsts: Vec<bool>,
}

/// A list of stems.
#[derive(Default)]
struct Sorted {
    stems: Vec<String>,
    /// Whether a stem begins with these two bytes: most texts end in no such pair.
    begins: Vec<bool>,
}

impl Sorted {
    /// Must be called after the last stem is added.
    fn sort(&mut self) {
        self.stems.sort();
        self.begins = vec![false; 1 << 16];
        for pair in self.stems.iter().filter_map(|stem| pair_of(stem.as_bytes())) {
            self.begins.get_mut(pair).into_iter().for_each(|begins| *begins = true);
        }
    }

    /// Whether a stem begins with `front`.
    fn has(&self, front: &[u8]) -> bool {
        if pair_of(front).is_some_and(|pair| self.begins.get(pair) != Some(&true)) {
            return false;
        }
        let at = self.stems.partition_point(|stem| stem.as_bytes() < front);
        self.stems.get(at).is_some_and(|stem| stem.as_bytes().starts_with(front))
    }
}

/// The first two bytes of a text, as an index; `None` if it is shorter.
fn pair_of(text: &[u8]) -> Option<usize> {
    text.first_chunk().map(|pair| usize::from(u16::from_le_bytes(*pair)))
}

impl Stems {
    pub(super) fn new<'f>(formats: impl Iterator<Item = &'f Prepared>) -> Self {
        let mut this = Self::default();
        for format in formats.map(|prepared| prepared.format) {
            if let Shape::Around(..) = format.shape {
                this.inner.stems.extend(format.stems.iter().map(|stem| (*stem).to_owned()));
            } else if format.is_exact() || matches!(format.shape, Shape::Pem) {
                this.exact.stems.extend(format.stems.iter().map(|stem| (*stem).to_owned()));
            } else {
                this.others.stems.extend(format.stems.iter().map(|stem| stem.to_ascii_lowercase()));
            }
        }
        (this.pairs, this.firsts) = (vec![false; 1 << 16], vec![false; 1 << 8]);
        for list in [&mut this.exact, &mut this.inner, &mut this.others] {
            list.sort();
            let mark = |list: Option<&mut bool>| list.into_iter().for_each(|is_one| *is_one = true);
            for stem in &list.stems {
                for one in stem.bytes().take(1).flat_map(either) {
                    mark(this.firsts.get_mut(usize::from(one)));
                }
                for (one, two) in stem.bytes().zip(stem.bytes().skip(1)) {
                    for (one, two) in either(one).flat_map(|one| either(two).map(move |two| (one, two))) {
                        mark(this.pairs.get_mut(usize::from(u16::from_le_bytes([one, two]))));
                    }
                }
            }
            this.longest = list.stems.iter().map(String::len).max().unwrap_or_default().max(this.longest);
        }
        this
    }

    /// The start of the longest prefix of a stem that the text ends in, and whether its case matters.
    pub(super) fn front(&self, text: &[u8]) -> Option<(usize, bool)> {
        let mut lower = [0; 64];
        let most = self.longest.min(lower.len()) - 1;
        let is_pair = |two: &&[u8]| pair_of(two).and_then(|pair| self.pairs.get(pair)) == Some(&true);
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
            if (!is_inside && self.exact.has(rest)) || self.inner.has(rest) {
                return Some((start, true));
            }
            // One or two letters are a prefix of too many words.
            ((size > 2 || !is_inside) && self.others.has(lower.get(start - first..)?)).then_some((start, false))
        })
    }
}

/// A byte in both cases.
fn either(byte: u8) -> impl Iterator<Item = u8> {
    [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()].into_iter()
}
