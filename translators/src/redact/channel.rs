//! What is remembered of a text between its pieces.
//!
//! In: the pieces of one text, and what was found in them. Out: what to redact in the units that they came with. Never: more of the
//! text than its end, a carry that begins within an escape.

use super::With;
use super::hold::{Held, Target};
use super::levels::{certain, swallow};
use super::shape::{Open, Tail};
use super::text::Finding;
use std::collections::VecDeque;
use std::ops::Range;

/// How much of a text is remembered at most.
const CARRY: usize = 16 << 10;

/// What is remembered of a text.
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// Its end, from where the next piece is read on.
    pub(super) carry: Vec<u8>,
    pub(super) segments: Vec<Segment>,
    pub(super) tail: Option<(Tail, usize)>,
    /// It ended inside a secret, of this rule.
    pub(super) open: Option<(Open, usize)>,
}

/// What part of a carry came with which unit.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) unit: u64,
    pub(super) place: Range<usize>,
    /// Where it begins in the unit's piece.
    pub(super) offset: usize,
}

impl Channel {
    pub(super) fn holds(&self) -> bool {
        self.tail.as_ref().is_some_and(|(tail, _)| tail.holds)
    }

    /// Takes the next piece, which came with this unit.
    pub(super) fn add(&mut self, said: &[u8], unit: u64) {
        let known = self.carry.len();
        self.carry.extend_from_slice(said);
        self.segments.push(Segment { unit, place: known..self.carry.len(), offset: 0 });
    }

    /// Redacts what goes on with a secret; says whether that is over, and the text is what stands behind it.
    pub(super) fn go_on(&mut self, open: &Open, rule: usize, target: &mut Target<'_>) -> bool {
        let (size, still) = swallow(open, &self.carry);
        target.redact(&self.segments, &(0..size), rule, With::Nothing);
        let is_over = still.is_none();
        self.open = still.map(|open| (open, rule));
        if is_over || size < self.carry.len() {
            // Where it is not over, the rest is an escape that is not whole.
            self.keep(Tail { start: size, from: size, holds: !is_over, open: None }, rule);
        } else {
            self.forget();
        }
        is_over
    }

    /// Redacts what was found in the text, and remembers of it what the next piece must be read with.
    pub(super) fn found(&mut self, finding: Finding, target: &mut Target<'_>) {
        for hit in &finding.hits {
            target.redact(&self.segments, &hit.place, hit.rule, With::Mark);
        }
        self.open = finding.hits.last().and_then(|hit| hit.open.clone().map(|open| (open, hit.rule)));
        match finding.tail {
            Some((tail, rule)) => {
                let is_too_long = self.carry.len() - tail.start > CARRY;
                self.keep(tail, rule);
                if is_too_long {
                    self.decide(target);
                }
                if is_too_long && self.open.is_none() {
                    self.forget();
                }
            }
            None => self.forget(),
        }
    }

    /// Remembers the text from a tail on.
    fn keep(&mut self, tail: Tail, rule: usize) {
        let start = tail.start;
        self.carry.drain(..start);
        self.segments.retain(|segment| segment.place.end > start);
        for segment in &mut self.segments {
            let cut = start.saturating_sub(segment.place.start);
            segment.offset += cut;
            segment.place = segment.place.start.saturating_sub(start)..segment.place.end - start;
        }
        self.tail = Some((Tail { start: 0, from: tail.from - start, ..tail }, rule));
    }

    fn forget(&mut self) {
        self.carry.clear();
        self.segments.clear();
        self.tail = None;
    }

    /// Lets the units go that wait for the next piece.
    pub(super) fn give_up(&mut self, queue: &mut VecDeque<Held>, first: u64) {
        if self.holds() {
            self.decide(&mut Target { queue, first, now: None });
        }
    }

    /// Decides without the next piece: what is certainly a secret's beginning is one.
    fn decide(&mut self, target: &mut Target<'_>) {
        let Some((tail, rule)) = &mut self.tail else { return };
        tail.holds = false;
        if let Some(open) = tail.open.take() {
            let (from, rule) = (tail.from, *rule);
            // An escape that is not whole may be what ends it.
            let end = certain(&self.carry).max(from);
            target.redact(&self.segments, &(from..end), rule, With::Mark);
            self.open = Some((open, rule));
            self.keep(Tail { start: end, from: end, holds: false, open: None }, rule);
        }
    }
}
