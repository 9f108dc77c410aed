//! The state of a streamed text between its pieces.
//!
//! Input: the pieces of one text, and the findings in them. Output: edits in the units that the pieces arrived with. Never:
//! more of the text than its end, a carry that begins inside an escape.

use super::With;
use super::escapes::{certain, read_on, swallow};
use super::hold::{Held, Target};
use super::pem::ends_in_a_line;
use super::tail::{Open, Tail, Wait};
use super::text::{Finding, merge};
use super::value::Value;
use std::collections::VecDeque;
use std::ops::Range;

/// The maximum length of the carry in bytes.
const CARRY: usize = 16 << 10;

/// The state of one text.
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// The end of the text. The next piece is read together with it.
    pub(super) carry: Vec<u8>,
    pub(super) segments: Vec<Segment>,
    /// The id of the message, or of the conversation of successive texts: all its texts share it.
    pub(super) group: u64,
    /// Whether the text goes on after records that end texts without a name.
    pub(super) is_named: bool,
    /// The row in the table of pieces.
    pub(super) row: usize,
    /// The number of the unit that the last piece arrived with.
    pub(super) last: u64,
    /// Why there is a carry, with the number of the rule.
    tail: Option<(Tail, usize)>,
    /// The secret that the text ended in.
    pub(super) open: Option<Going>,
    /// The unfinished values of secret keys, and the position in the carry up to which each was read.
    values: Vec<(Value, usize)>,
}

/// A secret that continues.
#[derive(Debug)]
pub(super) struct Going {
    open: Open,
    rule: usize,
    /// The carry is redacted up to this position.
    at: usize,
}

/// Which part of the carry arrived with which unit.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) unit: u64,
    pub(super) place: Range<usize>,
    /// The position of the part in the unit's piece.
    pub(super) offset: usize,
}

impl Channel {
    /// Whether, and how long, units must wait for the next piece.
    pub(super) fn wait(&self) -> Wait {
        self.tail.as_ref().map_or(Wait::No, |(tail, _)| tail.wait)
    }

    /// The first unit that waits.
    pub(super) fn first_held(&self) -> Option<u64> {
        let (tail, _) = self.tail.as_ref().filter(|(tail, _)| tail.wait > Wait::No)?;
        let nth = self.segments.partition_point(|segment| segment.place.end <= tail.held);
        self.segments.get(nth).or(self.segments.last()).map(|segment| segment.unit)
    }

    pub(super) fn holds(&self) -> bool {
        self.wait() > Wait::No
    }

    /// Appends the next piece, which arrived with `unit`.
    pub(super) fn add(&mut self, text: &[u8], unit: u64) {
        let known = self.carry.len();
        self.carry.extend_from_slice(text);
        self.segments.push(Segment { unit, place: known..self.carry.len(), offset: 0 });
    }

    /// Whether an open secret continues in the following text.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some() || !self.values.is_empty()
    }

    pub(super) fn is_needed(&self) -> bool {
        self.is_open() || self.tail.is_some()
    }

    /// Redacts the continuation of an open secret. Returns the positions in the carry where open secrets continue, for
    /// [`Channel::found`].
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

    /// Redacts the findings, and keeps what the next piece must be read with. `finding` is `None` while a secret is open. A
    /// hit that extends over a position of `going` is split there, and its mark is before that position.
    pub(super) fn found(&mut self, finding: Option<Finding>, going: Vec<usize>, target: &mut Target<'_>) {
        let size = self.carry.len();
        // The text before an open secret may continue after it.
        let context =
            self.tail.take().map(|(tail, rule)| (Tail { from: size, ..Tail::waiting(tail.start, Wait::No) }, rule));
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
            let size = self.read_value(&mut value, at, false, target);
            self.values.extend(size.map(|size| (value, at + size)));
        }
        for (value, at) in finding.values {
            if !self.values.iter().any(|(known, _)| known.level == value.level) {
                self.values.push((value, at));
            }
        }
        self.tail = finding.tail;
        let unread = self.unread();
        if unread < size {
            merge(&mut self.tail, Tail { from: size, ..Tail::waiting(unread, Wait::Long) }, 0);
        }
        let Some(start) = self.tail.as_ref().map(|(tail, _)| tail.start) else { return self.forget() };
        self.keep(start);
        if self.carry.len() > CARRY {
            self.decide(target);
            self.forget();
        }
    }

    /// Continues to read a value. Returns how many bytes were read, or `None` if the value is complete.
    fn read_value(&self, value: &mut Value, at: usize, is_last: bool, target: &mut Target<'_>) -> Option<usize> {
        let read = read_on(value, self.carry.get(at..).unwrap_or_default(), is_last);
        for (place, with) in read.places {
            let place = at + place.start..at + place.end;
            target.redact(&self.segments, &place, target.key_rule, with.at_first_level());
        }
        (!read.is_over).then_some(read.size)
    }

    /// The position from which the text must be read again.
    fn unread(&self) -> usize {
        let values = self.values.iter().map(|(_, at)| *at);
        values.chain(self.open.as_ref().map(|going| going.at)).min().unwrap_or(self.carry.len())
    }

    /// Keeps the carry from a position on.
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
            tail.end = tail.end.map(|end| end.saturating_sub(start));
            tail.held = tail.held.saturating_sub(start);
            tail.start = 0;
        }
        self.values.iter_mut().for_each(|(_, at)| *at -= start);
        self.open.iter_mut().for_each(|going| going.at -= start);
    }

    /// Drops all of the carry that need not be read again.
    fn forget(&mut self) {
        self.tail = None;
        self.keep(self.unread());
        if !self.carry.is_empty() {
            self.tail = Some((Tail { from: self.carry.len(), ..Tail::waiting(0, Wait::No) }, 0));
        }
    }

    /// Ends the wait for the next piece, and decides without it.
    pub(super) fn give_up(&mut self, queue: &mut VecDeque<Held>, first: u64, key_rule: usize) {
        if self.holds() {
            self.decide(&mut Target { queue, first, now: None, key_rule });
        }
    }

    /// Decides without the next piece: if the tail certainly begins a secret, it is redacted.
    pub(super) fn decide(&mut self, target: &mut Target<'_>) {
        for (mut value, at) in std::mem::take(&mut self.values) {
            let size = self.read_value(&mut value, at, true, target);
            self.values.extend(size.map(|size| (value, at + size)));
        }
        if let Some(Going { open: Open::Armour { armour, .. }, rule, at }) = &mut self.open
            && ends_in_a_line(&self.carry, *at)
        {
            target.redact(&self.segments, &(*at..self.carry.len()), *rule, With::Nothing);
            *armour = armour.in_line();
            *at = self.carry.len();
        }
        let Some((tail, rule)) = &mut self.tail else { return };
        tail.wait = Wait::No;
        if let Some(open) = tail.open.take() {
            // Leave out an incomplete escape: it may end the secret.
            let end = certain(&self.carry).max(tail.from);
            target.redact(&self.segments, &(tail.from..end), *rule, With::Mark);
            self.open = Some(Going { open, rule: *rule, at: end });
        } else if let Some(end) = tail.end.take() {
            target.redact(&self.segments, &(tail.from..end), *rule, With::Mark);
        }
    }
}
