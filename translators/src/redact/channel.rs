//! What is remembered of a text between its pieces.
//!
//! In: the pieces of one text, and what was found in them. Out: what to redact in the units that they came with. Never: more of the
//! text than its end, a carry that begins within an escape.

use super::With;
use super::hold::{Held, Target};
use super::levels::{certain, read_on, swallow};
use super::shape::{Open, Tail};
use super::text::{Finding, merge};
use super::value::Value;
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
    /// Why there is a carry.
    tail: Option<(Tail, usize)>,
    /// It ended inside a secret.
    pub(super) open: Option<Going>,
    /// It ended inside values of secrets' keys; how far in the carry they were read.
    values: Vec<(Value, usize)>,
}

/// A secret that goes on.
#[derive(Debug)]
pub(super) struct Going {
    open: Open,
    rule: usize,
    /// Up to here in the carry it is redacted.
    at: usize,
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

    /// Whether a secret goes on in what follows.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some() || !self.values.is_empty()
    }

    pub(super) fn is_needed(&self) -> bool {
        self.is_open() || self.tail.is_some()
    }

    /// Redacts what goes on with a secret. Gives the places of the carry from where on that is so, see [`Channel::found`].
    pub(super) fn go_on(&mut self, target: &mut Target<'_>) -> Vec<usize> {
        let inside = self.values.iter().filter(|(value, _)| value.is_inside()).map(|(_, at)| *at);
        let mut going: Vec<usize> = inside.collect();
        if let Some(Going { open, rule, at }) = self.open.take() {
            let (size, still) = swallow(&open, self.carry.get(at..).unwrap_or_default());
            target.redact(&self.segments, &(at..at + size), rule, With::Nothing);
            self.open = still.map(|open| Going { open, rule, at: at + size });
            going.push(at);
        }
        going
    }

    /// Redacts what was found in the text, and remembers of it what the next piece must be read with. Nothing is looked for while
    /// a secret goes on. What lies over a place from where a secret went on has its mark before that.
    pub(super) fn found(&mut self, finding: Option<Finding>, going: Vec<usize>, target: &mut Target<'_>) {
        let size = self.carry.len();
        // What stood before a secret may go on behind it.
        let context =
            self.tail.take().map(|(tail, rule)| (Tail { from: size, holds: false, open: None, ..tail }, rule));
        let finding = finding.unwrap_or_else(|| Finding { tail: context, ..Finding::default() });
        for hit in &finding.hits {
            let place = &hit.place;
            match going.iter().copied().filter(|at| place.start < *at && *at < place.end).min() {
                Some(at) => {
                    target.redact(&self.segments, &(place.start..at), hit.rule, hit.with);
                    target.redact(&self.segments, &(at..place.end), hit.rule, With::Nothing);
                }
                None => target.redact(&self.segments, place, hit.rule, hit.with),
            }
        }
        if let Some((last, open)) = finding.hits.last().and_then(|hit| Some((hit, hit.open.clone()?))) {
            self.open = Some(Going { open, rule: last.rule, at: last.place.end });
        }
        for (mut value, at) in std::mem::take(&mut self.values) {
            let read = read_on(&mut value, self.carry.get(at..).unwrap_or_default());
            for (place, with) in read.places {
                let with = if let With::Quoted(level) = with { With::Quoted(level - 1) } else { with };
                target.redact(&self.segments, &(at + place.start..at + place.end), target.key_rule, with);
            }
            if !read.is_over {
                self.values.push((value, at + read.size));
            }
        }
        for (value, at) in finding.values {
            if !self.values.iter().any(|(known, _)| known.level == value.level) {
                self.values.push((value, at));
            }
        }
        self.tail = finding.tail;
        let unread = self.unread();
        if unread < size {
            merge(&mut self.tail, Tail { start: unread, from: size, holds: true, open: None }, 0);
        }
        let Some(start) = self.tail.as_ref().map(|(tail, _)| tail.start) else { return self.forget() };
        self.keep(start);
        if self.carry.len() > CARRY {
            self.decide(target);
            self.forget();
        }
    }

    /// From where on something must be read again.
    fn unread(&self) -> usize {
        let values = self.values.iter().map(|(_, at)| *at);
        values.chain(self.open.as_ref().map(|going| going.at)).min().unwrap_or(self.carry.len())
    }

    /// Remembers the text from a place on.
    fn keep(&mut self, start: usize) {
        self.carry.drain(..start);
        self.segments.retain(|segment| segment.place.end > start);
        for segment in &mut self.segments {
            let cut = start.saturating_sub(segment.place.start);
            segment.offset += cut;
            segment.place = segment.place.start.saturating_sub(start)..segment.place.end - start;
        }
        if let Some((tail, _)) = &mut self.tail {
            tail.from = tail.from.saturating_sub(start);
            tail.start = 0;
        }
        self.values.iter_mut().for_each(|(_, at)| *at -= start);
        self.open.iter_mut().for_each(|going| going.at -= start);
    }

    /// Remembers no more than what must be read again.
    fn forget(&mut self) {
        self.tail = None;
        self.keep(self.unread());
        if !self.carry.is_empty() {
            self.tail = Some((Tail { start: 0, from: self.carry.len(), holds: false, open: None }, 0));
        }
    }

    /// Lets the units go that wait for the next piece.
    pub(super) fn give_up(&mut self, queue: &mut VecDeque<Held>, first: u64, key_rule: usize) {
        if self.holds() {
            self.decide(&mut Target { queue, first, now: None, key_rule });
        }
    }

    /// Decides without the next piece: what is certainly a secret's beginning is one.
    fn decide(&mut self, target: &mut Target<'_>) {
        let Some((tail, rule)) = &mut self.tail else { return };
        tail.holds = false;
        if let Some(open) = tail.open.take() {
            // An escape that is not whole may be what ends it.
            let end = certain(&self.carry).max(tail.from);
            target.redact(&self.segments, &(tail.from..end), *rule, With::Mark);
            self.open = Some(Going { open, rule: *rule, at: end });
        }
    }
}
