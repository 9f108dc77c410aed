//! The formats of secrets that vendors document.
//!
//! Each format is one row of `formats.json`. To add a format, add a row. Its tests create samples from the row. Several
//! formats of one vendor may share a name; rows with the same description are adjacent. Never: a rule that judges by how
//! random a text looks.

use super::class::Class;
use serde::Deserialize;
use std::sync::LazyLock;

/// One format.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Format {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// What the secret begins with or is found by.
    #[serde(borrow)]
    pub(super) stems: Vec<&'static str>,
    pub(super) shape: Shape,
    /// From which point on a truncated secret is certain enough to redact: a part of the body, and a number of its bytes.
    sure: Option<(usize, usize)>,
}

/// Where the secret is relative to its stem.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    /// The secret begins with the stem, and a body follows (see [`Pattern`](super::pattern::Pattern)).
    Token(&'static str),
    /// The secret begins before the stem, with a run of this class of a minimum and maximum length. A body follows the stem.
    Around(Class, usize, usize, &'static str),
    /// The secret is assigned to a name that the stem ends, or that contains it.
    Value(Assigned),
    /// A private key in PEM armour.
    Pem,
    /// The password in a URL.
    Url,
}

/// A value behind the stem: a sign of assignment, a word, the value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Assigned {
    /// If not empty, one of these words precedes the value.
    #[serde(borrow, default)]
    pub(super) words: Vec<&'static str>,
    pub(super) class: Class,
    /// The minimum and maximum lengths. The value has one of them.
    pub(super) sizes: Vec<(usize, usize)>,
    /// Whether the name may continue after the stem. Then only the name of the vendor and the size identify the value.
    #[serde(default)]
    pub(super) in_name: bool,
}

impl Format {
    /// See [`Format::sure`]. A short stem is weaker evidence than a long one.
    pub(super) fn sure(&self) -> (usize, usize) {
        let longest = self.stems.iter().map(|stem| stem.len()).max().unwrap_or_default();
        let bytes = match longest {
            5.. => 1,
            4 => 4,
            _ => 12,
        };
        self.sure.unwrap_or((0, bytes))
    }

    /// Whether the case of its stems matters.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self.shape, Shape::Token(_) | Shape::Around(..))
    }
}

/// All formats, in the order of the table.
pub(super) fn all() -> std::slice::Iter<'static, Format> {
    #[allow(clippy::unwrap_used, reason = "every test of redaction reads the table")]
    static ALL: LazyLock<Vec<Format>> = LazyLock::new(|| serde_json::from_str(include_str!("formats.json")).unwrap());
    ALL.iter()
}
