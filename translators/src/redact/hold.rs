//! The redaction stage: units in, redacted units out, with a queue for units that wait for the next piece of a text.
//!
//! Never: a changed order of units, or a unit that waits although no tail needs it.

use super::channel::{Channel, Segment};
use super::conversations::Conversations;
use super::ends::{Order, Place, conversations_of};
use super::escapes::{Map, unescape};
use super::pieces::{Found, KeyFilter, Pieces, find, value_behind};
use super::record::{look, plain};
use super::sse::{block, field_of};
use super::tail::Wait;
use super::text::Finding;
use super::{Edit, Rules, With};
use crate::framing::{Form, Unit};
use crate::hash::{HashMap, HashSet};
use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A unit on its way out.
#[derive(Debug)]
pub struct Redacted<'u> {
    /// The unit without its secrets.
    pub unit: Unit<'u>,
    /// JSON pointers to the redacted places of its record, in order and without duplicates. The empty pointer means the whole
    /// record, or the whole text if the unit is not JSON. If a record has very many or very deep redacted places, those
    /// beyond the cap are reported under an ancestor, ultimately as the empty pointer.
    pub paths: &'u [String],
    /// When the unit arrived (Unix epoch milliseconds).
    pub now_ms: u64,
}

/// Receives the redacted units.
pub(super) type Sink<'s> = dyn FnMut(Redacted<'_>) + 's;

/// Redacts one input.
#[derive(Debug)]
pub struct Redactor {
    pub(super) rules: Arc<Rules>,
    pub(super) table: &'static [Pieces],
    /// The waiting units, in order. The last one is the latest unit that arrived.
    pub(super) queue: VecDeque<Held>,
    queued_bytes: usize,
    /// The units in the queue that have no piece: their numbers and arrival times.
    others: VecDeque<(u64, u64)>,
    /// The number of the next unit.
    next: u64,
    /// The texts whose last piece left state to keep, by channel id.
    pub(super) channels: HashMap<u64, Channel>,
    pub(super) conversations: Option<Conversations>,
    /// Whether the table has positions whose texts follow each other.
    pub(super) has_successive: bool,
    filter: KeyFilter,
}

/// The changes to make in a unit.
#[derive(Debug, Default)]
pub(super) struct Change {
    edits: Vec<Edit>,
    /// The edits inside the piece, in order.
    found: Vec<Edit>,
    /// Whether the unit may hold a secret outside its record too, such as in the event name of SSE.
    is_suspect: bool,
    /// Where the piece begins in the payload, and the map from its unescaped text to its spelling there.
    base: usize,
    map: Map,
    pointer: Arc<str>,
}

/// A unit that waits.
#[derive(Debug)]
pub(super) struct Held {
    bytes: Vec<u8>,
    /// `None` if the payload is the same bytes as the unit.
    payload: Option<Vec<u8>>,
    event_name: Option<String>,
    offset: u64,
    oversized: Option<u64>,
    cut: bool,
    form: Form,
    now_ms: u64,
    change: Change,
}

/// How many texts keep state at once. A runner does not write more texts than this at the same time.
const CHANNELS: usize = 256;
/// For how many further units the state of a text is kept if nothing waits for it and no secret is open.
const REMEMBERED: u64 = 1;
/// How many units without a piece may wait for a text. After more of them, the text is unlikely to continue.
const OTHERS: usize = 4;
/// The assumed memory of a waiting unit besides its bytes.
const OVERHEAD: usize = 256;

impl Redactor {
    /// Creates a redactor for a new input. `table` lists the places of text pieces in its records.
    pub fn new(rules: Arc<Rules>, table: &'static [Pieces]) -> Self {
        Self {
            rules,
            table,
            queue: VecDeque::new(),
            queued_bytes: 0,
            others: VecDeque::new(),
            next: 0,
            channels: HashMap::default(),
            conversations: conversations_of(table),
            has_successive: table.iter().any(|pieces| matches!(pieces.order, Order::Successive(_))),
            filter: KeyFilter::new(table),
        }
    }

    /// Reads the next unit, and passes every unit that need not wait to `sink`.
    pub fn unit(&mut self, unit: &Unit<'_>, now_ms: u64, sink: &mut Sink<'_>) {
        self.conversations.iter_mut().for_each(|conversations| conversations.note(unit.payload));
        let is_suspect = self.rules.is_suspect(unit.bytes);
        let is_free = !is_suspect && self.queue.is_empty();
        // Usually the string that may be the piece is the piece: then the verdict is known.
        let leaving = Cell::new(None);
        let leaves_nothing = |piece: &[u8]| {
            let place = (piece.as_ptr(), piece.len());
            if !is_free || !self.channels.is_empty() || leaving.get() == Some(place) {
                return false;
            }
            let verdict = self.rules.leaves_nothing(piece);
            leaving.set((!verdict).then_some(place));
            verdict
        };
        let found = match self.filter.find(unit.bytes) {
            None => None,
            // Fast path: if only one string can be the piece and it leaves no state, skip finding out whether it is one.
            Some(end) if is_free && self.is_only(unit.bytes, end, leaves_nothing) => None,
            Some(_) => self.piece_of(unit),
        };
        let piece = |found: &Found<'_>| unit.payload.get(found.place.clone()).unwrap_or_default();
        if is_free && found.as_ref().is_none_or(|found| leaves_nothing(piece(found))) {
            // The usual case: nothing waits, and the unit has no piece or one that neither completes a secret nor begins one.
            self.next += 1;
            if found.is_none() {
                self.end_texts(unit, sink);
            }
            sink(Redacted { unit: *unit, paths: &[], now_ms });
            return;
        }
        let is_other = found.is_none();
        if is_other {
            self.end_texts(unit, sink);
        }
        let number = self.next;
        self.next += 1;
        let mut change = Change::default();
        if is_suspect {
            change.edits = look(&self.rules, unit.payload, found.as_ref().map(|found| &found.place)).edits;
            change.is_suspect = true;
        }
        let waits = found.is_some_and(|found| self.read(unit, number, found, &mut change));
        if !waits && self.queue.is_empty() {
            self.pass(unit, change, now_ms, sink);
            return;
        }
        if self.queue.back().is_some_and(|before| now_ms < before.now_ms) {
            // The clock was set back. This must not make a unit wait longer.
            self.queue.iter_mut().for_each(|before| before.now_ms = now_ms.min(before.now_ms));
            self.others.iter_mut().for_each(|other| other.1 = now_ms.min(other.1));
        }
        if is_other {
            self.others.push_back((number, now_ms));
        }
        self.queued_bytes += unit.bytes.len() + unit.payload.len() + OVERHEAD;
        self.queue.push_back(Held::new(unit, change, now_ms));
        if self.queued_bytes > self.rules.settings().hold_bytes || self.others.len() > OTHERS {
            self.flush(sink);
        } else {
            self.release(sink);
        }
    }

    /// Whether a record has a key of pieces only before `end`, and the string after it leaves nothing.
    fn is_only(&self, bytes: &[u8], end: usize, leaves_nothing: impl Fn(&[u8]) -> bool) -> bool {
        self.channels.is_empty()
            && value_behind(bytes, end).is_some_and(leaves_nothing)
            && self.filter.is_last(bytes, end)
    }

    /// How many units arrived so far, if some of them wait.
    pub fn units_before_next(&self) -> Option<u64> {
        (!self.queue.is_empty()).then_some(self.next)
    }

    /// The latest time at which waiting units must be released (Unix epoch milliseconds). `None` if no unit waits.
    pub fn deadline(&self) -> Option<u64> {
        let front = self.queue.front()?;
        let hold_ms = self.rules.settings().hold_ms;
        let texts = self.channels.values().filter(|channel| channel.holds()).map(|channel| self.due(channel));
        // A unit that has no piece waits for a text only as long as for a possible prefix of a format.
        let other = self.others.front().map(|(_, since)| since.saturating_add(hold_ms));
        Some(texts.chain(other).min().unwrap_or_else(|| front.now_ms.saturating_add(hold_ms)))
    }

    /// When the wait for the next piece of a text ends.
    fn due(&self, channel: &Channel) -> u64 {
        let settings = self.rules.settings();
        let begin = channel.first_held().unwrap_or_default().saturating_sub(self.first_number());
        let held = usize::try_from(begin).ok().and_then(|nth| self.queue.get(nth));
        let hold_ms =
            if channel.wait() == Wait::Long { settings.hold_secret_ms.max(settings.hold_ms) } else { settings.hold_ms };
        held.map_or(0, |held| held.now_ms).saturating_add(hold_ms)
    }

    /// Releases all units whose waiting time is over at `now_ms`.
    pub fn flush_due(&mut self, now_ms: u64, sink: &mut Sink<'_>) {
        let hold_ms = self.rules.settings().hold_ms;
        if self.others.front().is_some_and(|(_, since)| since.saturating_add(hold_ms) <= now_ms) {
            self.flush(sink);
            return;
        }
        let is_due = |(id, channel): (&u64, &Channel)| (channel.holds() && self.due(channel) <= now_ms).then_some(*id);
        let due: Vec<u64> = self.channels.iter().filter_map(is_due).collect();
        let first = self.first_number();
        for id in due {
            if let Some(channel) = self.channels.get_mut(&id) {
                channel.give_up(&mut self.queue, first, self.rules.key_rule);
            }
        }
        self.release(sink);
    }

    /// Releases all waiting units, since no more input follows.
    pub fn flush(&mut self, sink: &mut Sink<'_>) {
        if self.queue.is_empty() {
            return;
        }
        let first = self.first_number();
        for channel in self.channels.values_mut() {
            channel.give_up(&mut self.queue, first, self.rules.key_rule);
        }
        self.release(sink);
    }

    pub(super) fn first_number(&self) -> u64 {
        self.next - self.queue.len() as u64
    }

    fn piece_of<'u>(&self, unit: &Unit<'u>) -> Option<Found<'u>> {
        if self.table.is_empty() || unit.oversized.is_some() {
            return None;
        }
        find(self.table, simdutf8::basic::from_utf8(unit.payload).ok()?)
    }

    /// Reads a piece together with the state kept for its text. Returns whether its unit must wait.
    fn read(&mut self, unit: &Unit<'_>, number: u64, found: Found<'_>, change: &mut Change) -> bool {
        let raw = unit.payload.get(found.place.clone()).unwrap_or_default();
        let (unescaped, map) = unescape(raw);
        change.base = found.place.start;
        change.map = map;
        // Fast path: if no text has kept state, skip computing which text this piece belongs to. Most such pieces leave no
        // state either.
        let finding = self.channels.is_empty().then(|| self.rules.scan(&unescaped));
        if finding.as_ref().is_some_and(Finding::is_empty) {
            return false;
        }
        let first = self.next - 1 - self.queue.len() as u64;
        let place = self.place_of(&found, first).unwrap_or_else(|| {
            let piece = found.piece(self.table);
            Place { channel: piece.channel, group: piece.group, is_named: false, is_last: false }
        });
        let known = self.channels.remove(&place.channel);
        let finding = finding.or_else(|| known.is_none().then(|| self.rules.scan(&unescaped)));
        let mut channel = known.unwrap_or_default();
        if finding.as_ref().is_some_and(Finding::is_empty) {
            return false;
        }
        (channel.group, channel.row, channel.last) = (place.group, found.row, number);
        channel.is_named = place.is_named;
        channel.add(&unescaped, number);
        change.pointer = found.pointer(self.table).into();
        let key_rule = self.rules.key_rule;
        let mut target = Target { queue: &mut self.queue, first, now: Some((number, change)), key_rule };
        let going = channel.go_on(&mut target);
        let finding = finding.or_else(|| channel.open.is_none().then(|| self.rules.scan(&channel.carry)));
        channel.found(finding, going, &mut target);
        if place.is_last {
            channel.decide(&mut target);
            return false;
        }
        let waits = channel.holds();
        if channel.is_needed() {
            self.make_room();
            self.channels.insert(place.channel, channel);
        }
        waits
    }

    /// Forgets state that is kept without a wait or an open secret: it is only useful for the units that follow directly.
    pub(super) fn forget_past(&mut self) {
        let next = self.next;
        self.channels.retain(|_, channel| channel.holds() || channel.is_open() || next - channel.last <= REMEMBERED);
    }

    /// Limits how many texts keep state. Drops those without a wait or an open secret first, and then all of them.
    fn make_room(&mut self) {
        if self.channels.len() >= CHANNELS {
            self.channels.retain(|_, channel| channel.holds() || channel.is_open());
        }
        if self.channels.len() >= CHANNELS {
            let first = self.next - 1 - self.queue.len() as u64;
            for (_, mut channel) in self.channels.drain() {
                channel.give_up(&mut self.queue, first, self.rules.key_rule);
            }
        }
    }

    /// Releases the units that no tail waits for.
    pub(super) fn release(&mut self, sink: &mut Sink<'_>) {
        let needed = self.channels.values().filter_map(Channel::first_held).min();
        while !self.queue.is_empty() && needed.is_none_or(|needed| self.first_number() < needed) {
            if self.others.front().is_some_and(|(number, _)| *number == self.first_number()) {
                self.others.pop_front();
            }
            let Some(held) = self.queue.pop_front() else { return };
            self.queued_bytes = self.queued_bytes.saturating_sub(held.size());
            let unit = Unit {
                bytes: &held.bytes,
                payload: held.payload.as_deref().unwrap_or(&held.bytes),
                event_name: held.event_name.as_deref(),
                offset: held.offset,
                oversized: held.oversized,
                cut: held.cut,
                form: held.form,
            };
            self.pass(&unit, held.change, held.now_ms, sink);
        }
    }

    /// Passes one unit on, with its changes applied.
    fn pass(&mut self, unit: &Unit<'_>, change: Change, now_ms: u64, sink: &mut Sink<'_>) {
        let is_sse = !std::ptr::eq(unit.bytes, unit.payload);
        let mut name = Vec::new();
        if let Some(event_name) = unit.event_name.filter(|_| change.is_suspect) {
            plain(&self.rules, event_name.as_bytes(), &mut name);
        }
        let frame = if is_sse && change.is_suspect { self.other_lines(unit) } else { None };
        if change.edits.is_empty() && change.found.is_empty() && name.is_empty() && frame.is_none() {
            sink(Redacted { unit: *unit, paths: &[], now_ms });
            return;
        }
        let (payload, paths) = self.apply(unit.payload, change);
        let event_name = unit.event_name.map(|event_name| {
            let changed = self.apply(event_name.as_bytes(), Change { edits: name, ..Change::default() }).0;
            String::from_utf8_lossy(&changed).into_owned()
        });
        let bytes = if is_sse {
            Some(block(frame.as_deref().unwrap_or(unit.bytes), &payload, event_name.as_deref()))
        } else {
            None
        };
        let unit = Unit {
            bytes: bytes.as_deref().unwrap_or(&payload),
            payload: &payload,
            event_name: event_name.as_deref(),
            ..*unit
        };
        sink(Redacted { unit, paths: &paths, now_ms });
    }

    /// Redacts the lines of an SSE block that are not data. Returns the new block, or `None` if nothing changed.
    fn other_lines(&self, unit: &Unit<'_>) -> Option<Vec<u8>> {
        let mut changed = false;
        let mut out = Vec::with_capacity(unit.bytes.len());
        for line in unit.bytes.split_inclusive(|&byte| byte == b'\n') {
            let mut edits = Vec::new();
            if field_of(line) != b"data" {
                // The line may also be a record.
                edits = look(&self.rules, line, None).edits;
            }
            changed |= !edits.is_empty();
            out.extend_from_slice(&self.apply(line, Change { edits, ..Change::default() }).0);
        }
        changed.then_some(out)
    }

    fn apply(&self, payload: &[u8], change: Change) -> (Vec<u8>, Vec<String>) {
        let mut edits = change.edits;
        edits.extend(change.found);
        if !edits.is_empty() && memchr::memmem::find(payload, b"logprobs").is_some() {
            // The logprobs repeat the text token by token.
            edits.extend(look(&self.rules, payload, None).logprobs.into_iter().map(|(place, pointer)| Edit {
                place,
                rule: self.rules.logprobs_rule,
                with: With::EmptyList,
                pointer,
            }));
        }
        let out = self.rules.apply(payload, &mut edits);
        let mut known: HashSet<Arc<str>> = HashSet::default();
        let new = edits.into_iter().map(|edit| edit.pointer).filter(|pointer| known.insert(pointer.clone()));
        (out, new.map(|pointer| pointer.to_string()).collect())
    }
}

/// The units that an edit may change.
pub(super) struct Target<'t> {
    pub(super) queue: &'t mut VecDeque<Held>,
    /// The number of the first unit in the queue.
    pub(super) first: u64,
    pub(super) now: Option<(u64, &'t mut Change)>,
    /// The rule of values of secret keys.
    pub(super) key_rule: usize,
}

impl Target<'_> {
    /// Redacts a range of a carry in all units that it arrived with. The mark, if any, goes into the first of them that is
    /// still queued.
    pub(super) fn redact(&mut self, segments: &[Segment], place: &Range<usize>, rule: usize, mut with: With) {
        for segment in segments {
            let (start, end) = (place.start.max(segment.place.start), place.end.min(segment.place.end));
            if start >= end {
                continue;
            }
            let local = segment.offset + start - segment.place.start..segment.offset + end - segment.place.start;
            let change = match &mut self.now {
                Some((number, change)) if *number == segment.unit => Some(&mut **change),
                _ => {
                    let at = segment.unit.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
                    at.and_then(|at| self.queue.get_mut(at)).map(|held| &mut held.change)
                }
            };
            if let Some(change) = change {
                change.redact(local, rule, with, self.key_rule);
                with = With::Nothing;
            }
        }
    }
}

impl Change {
    /// Redacts a range of the piece.
    fn redact(&mut self, place: Range<usize>, rule: usize, with: With, key_rule: usize) {
        // A piece is inside a string of its record, so it is escaped once more.
        let with = with.escaped(1);
        let place = self.map.range(&place);
        let place = self.base + place.start..self.base + place.end;
        // The end of a text is read again with each piece, and the latest reading is the most accurate.
        let nth = self.found.partition_point(|edit| edit.place.start <= place.start);
        let before = nth.checked_sub(1).and_then(|nth| self.found.get_mut(nth));
        if let Some(known) = before.filter(|known| place.end <= known.place.end) {
            if known.place == place {
                // The continuation of a secret has no mark: the mark is at the beginning of the secret.
                known.with = if with == With::Nothing { with } else { known.with };
                known.rule = if known.rule == key_rule { key_rule } else { rule };
            }
            return;
        }
        self.found.insert(nth, Edit { place, rule, with, pointer: self.pointer.clone() });
    }
}

impl Held {
    fn new(unit: &Unit<'_>, change: Change, now_ms: u64) -> Self {
        Self {
            bytes: unit.bytes.to_vec(),
            payload: (!std::ptr::eq(unit.bytes, unit.payload)).then(|| unit.payload.to_vec()),
            event_name: unit.event_name.map(str::to_owned),
            offset: unit.offset,
            oversized: unit.oversized,
            cut: unit.cut,
            form: unit.form,
            now_ms,
            change,
        }
    }

    fn size(&self) -> usize {
        self.bytes.len() + self.payload.as_ref().map_or(self.bytes.len(), Vec::len) + OVERHEAD
    }
}
