//! The formats of secrets that vendors document: the stem of each, and what follows it.
//!
//! Each format is one row: its name (several formats of one vendor may share it), a description, its stems, and its body (see
//! [`Pattern`](super::pattern::Pattern): `%` with the letter of a class and a size). To add a format, add a row. Its tests
//! create samples from the row. Never: a rule that judges by how random a text looks.

mod a_to_g;
mod h_to_p;
mod named;
mod q_to_z;

use super::class::Class;

/// One format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// What the secret begins with or is found by.
    pub(super) stems: &'static [&'static str],
    pub(super) shape: Shape,
    /// From which point on a truncated secret is certain enough to redact.
    pub(super) sure: Sure,
}

/// A point in a body: this many bytes of this part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sure {
    pub(super) part: usize,
    pub(super) bytes: usize,
}

/// Where the secret is relative to its stem.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// The secret begins with the stem, and a body follows.
    Token(&'static str),
    /// The secret begins before the stem, with a run of this class of `min` to `max` bytes. The body follows the stem.
    Around { class: Class, min: usize, max: usize, body: &'static str },
    /// The secret is a value after the stem: a sign of assignment, one of the words (if there are any), then the value.
    After { words: &'static [&'static str], class: Class, min: usize, max: usize },
    /// The value of a name that contains the stem. It has one of these sizes.
    Named { class: Class, sizes: &'static [(usize, usize)] },
    /// A private key in PEM armour.
    Pem,
    /// The password in a URL.
    Url,
}

#[allow(clippy::indexing_slicing, reason = "computed when it is compiled")]
const fn token(name: &'static str, about: &'static str, stems: &'static [&'static str], body: &'static str) -> Format {
    // A short stem is weaker evidence than a long one.
    let mut longest = 0;
    let mut nth = 0;
    while nth < stems.len() {
        if stems[nth].len() > longest {
            longest = stems[nth].len();
        }
        nth += 1;
    }
    let bytes = if longest >= 5 {
        1
    } else if longest == 4 {
        4
    } else {
        12
    };
    Format { name, about, stems, shape: Shape::Token(body), sure: Sure { part: 0, bytes } }
}

impl Format {
    const fn sure(mut self, part: usize, bytes: usize) -> Self {
        self.sure = Sure { part, bytes };
        self
    }

    /// Adds a run of this class before the stem.
    const fn behind(mut self, class: Class, min: usize, max: usize) -> Self {
        if let Shape::Token(body) = self.shape {
            self.shape = Shape::Around { class, min, max, body };
        }
        self
    }

    /// Whether the case of its stems matters.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self.shape, Shape::Token(_) | Shape::Around { .. })
    }
}

/// All formats, in the order of the tables.
pub(super) fn all() -> impl Iterator<Item = &'static Format> + Clone {
    a_to_g::FORMATS.iter().chain(h_to_p::FORMATS).chain(q_to_z::FORMATS).chain(named::FORMATS)
}
