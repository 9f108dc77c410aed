//! How far the bytes of a class go on, read once.
//!
//! In: a text, the places in it where the secrets of a rule may go on. Out: how far its bytes do. Where a rule's literals stand
//! close together (`sk-ant-sk-ant-…`), all go on up to the same end, and that is read for the first of them alone: the whole
//! text is read once for each rule, however many literals it has. Never: more kept than one place for each rule.

use super::armour::pem_end;
use super::rules::{Class, RULES};
use std::ops::Range;

/// How many classes there are besides the one of each rule.
const OTHERS: usize = 3;

/// What is known of one level of a text.
pub(super) struct Seen {
    /// For each rule, the last run of its class, which ends before a byte that is not of the class.
    runs: [Option<Range<usize>>; RULES.len() + OTHERS],
    /// How far no private key's end was found, from where on; and the one that was found there.
    searched: Range<usize>,
    foot: Option<(usize, Option<usize>)>,
}

/// How much of a text from a place on is of a class.
pub(super) fn run(text: &[u8], from: usize, class: Class) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.iter().position(|byte| !class(*byte)).unwrap_or(rest.len())
}

impl Default for Seen {
    fn default() -> Self {
        Self { runs: [const { None }; RULES.len() + OTHERS], searched: 0..0, foot: None }
    }
}

impl Seen {
    /// Whether the place lies in the last run of this rule.
    pub(super) fn has(&self, rule: usize, from: usize) -> bool {
        let known = self.runs.get(rule).and_then(Option::as_ref);
        known.is_some_and(|known| known.start <= from && from <= known.end)
    }

    /// As [`run`], for the one class of a rule.
    pub(super) fn run(&mut self, rule: usize, text: &[u8], from: usize, class: Class) -> usize {
        let is_known = self.has(rule, from);
        let Some(known) = self.runs.get_mut(rule) else { return run(text, from, class) };
        if !is_known {
            *known = Some(from..from + run(text, from, class));
        }
        known.as_ref().map_or(0, |known| known.end - from)
    }

    /// The same for one of the other classes.
    pub(super) fn run_of(&mut self, other: usize, text: &[u8], from: usize, class: Class) -> usize {
        self.run(RULES.len() + other, text, from, class)
    }

    /// Whether the place lies in the last run of one of the other classes.
    pub(super) fn has_of(&self, other: usize, from: usize) -> bool {
        self.has(RULES.len() + other, from)
    }

    /// Behind the end of the first private key that ends within a part of the text.
    pub(super) fn pem_end(&mut self, text: &[u8], part: Range<usize>) -> Option<usize> {
        if self.foot.is_some_and(|(foot, _)| foot < part.start) || !self.searched.contains(&part.start) {
            self.searched = part.start..part.start;
            self.foot = None;
        }
        if self.foot.is_none() && self.searched.end < part.end {
            let from = self.searched.end.saturating_sub(FOOT.len()).max(part.start);
            let found = memchr::memmem::find(text.get(from..part.end).unwrap_or_default(), FOOT);
            self.searched.end = part.end;
            self.foot = found.map(|at| (from + at, pem_end(text, from + at)));
        }
        self.foot.filter(|(foot, _)| *foot < part.end)?.1
    }
}

/// What a private key's last line begins with.
pub(super) const FOOT: &[u8] = b"-----END ";
