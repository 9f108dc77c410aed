//! The stage itself: units in, units without secrets out, and what waits in between.
//!
//! Never: units in another order than they came in, a unit that waits when no tail needs it.

use super::channel::{Channel, Segment};
use super::glance::{Glance, Mark};
use super::levels::{Map, unescape};
use super::pieces::{Found, Pieces, ended, find, value_behind};
use super::record::{look, plain};
use super::text::Finding;
use super::{Edit, Rules, With};
use crate::framing::Unit;
use crate::hash::{HashMap, HashSet};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A unit on its way out.
#[derive(Debug)]
pub struct Redacted<'u> {
    /// The unit without its secrets.
    pub unit: Unit<'u>,
    /// JSON pointers to the places in its record where something was redacted, in order and each once; the empty one is the
    /// whole text of what is no JSON. Of a record with very many such places, or very deep ones, those behind the first of
    /// them are told by what they stand in, at the last by the empty one too.
    pub paths: &'u [String],
    /// When the unit came.
    pub now_ms: u64,
}

/// Takes the units that come out.
type Sink<'s> = dyn FnMut(Redacted<'_>) + 's;

/// Redacts one input.
#[derive(Debug)]
pub struct Redactor {
    rules: Arc<Rules>,
    table: &'static [Pieces],
    /// What waits, in order; its last one is the last unit that came.
    queue: VecDeque<Held>,
    queued_bytes: usize,
    /// The number of the next unit.
    next: u64,
    /// The texts whose last piece left something to remember.
    channels: HashMap<u64, Channel>,
}

/// What is to be changed in a unit.
#[derive(Debug, Default)]
pub(super) struct Change {
    edits: Vec<Edit>,
    /// Those in the piece, in order.
    found: Vec<Edit>,
    /// Whether there may be a secret elsewhere in the unit than in its record.
    is_suspect: bool,
    /// Where the piece stands in the payload, and how.
    base: usize,
    map: Map,
    pointer: Arc<str>,
}

/// A unit that waits.
#[derive(Debug)]
pub(super) struct Held {
    bytes: Vec<u8>,
    /// `None` where the unit is its payload.
    payload: Option<Vec<u8>>,
    event_name: Option<String>,
    offset: u64,
    oversized: Option<u64>,
    cut: bool,
    now_ms: u64,
    change: Change,
}

/// How many texts are remembered at once; more than these are not written at the same time.
const CHANNELS: usize = 256;
/// What a waiting unit takes besides its bytes.
const OVERHEAD: usize = 256;

impl Redactor {
    /// A redactor at the start of an input whose pieces stand in these places.
    pub fn new(rules: Arc<Rules>, table: &'static [Pieces]) -> Self {
        Self { rules, table, queue: VecDeque::new(), queued_bytes: 0, next: 0, channels: HashMap::default() }
    }

    /// Takes the next unit; gives what need not wait.
    pub fn unit(&mut self, unit: &Unit<'_>, now_ms: u64, sink: &mut Sink<'_>) {
        let Glance { is_suspect, mark } = self.rules.glance(unit.bytes);
        let is_free = !is_suspect && self.queue.is_empty();
        let leaves_nothing = |piece: &[u8]| is_free && self.channels.is_empty() && self.rules.leaves_nothing(piece);
        let found = match mark {
            Mark::Nowhere => None,
            // Where there is but one string that may be the piece, and that leaves nothing, nobody asks whether it is.
            Mark::Once(end) if value_behind(unit.bytes, end).is_some_and(leaves_nothing) => None,
            _ => self.piece_of(unit),
        };
        let piece = |found: &Found<'_>| unit.payload.get(found.place.clone()).unwrap_or_default();
        if is_free && found.as_ref().is_none_or(|found| leaves_nothing(piece(found))) {
            // The usual case: nothing waits, and this has no piece, or one that nothing waits for and that waits for nothing.
            self.next += 1;
            self.forget_ended(unit);
            sink(Redacted { unit: *unit, paths: &[], now_ms });
            return;
        }
        if found.is_none() {
            // Whatever it is, it is not what the tails wait for.
            self.flush(sink);
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
            // The clock was set back: nothing waits longer for that.
            self.queue.iter_mut().for_each(|before| before.now_ms = now_ms.min(before.now_ms));
        }
        self.queued_bytes += unit.bytes.len() + unit.payload.len() + OVERHEAD;
        self.queue.push_back(Held::new(unit, change, now_ms));
        if self.queued_bytes > self.rules.settings().hold_bytes {
            self.flush(sink);
        } else {
            self.release(sink);
        }
    }

    /// When the units that wait must go on at the latest (Unix epoch milliseconds); `None` where none waits.
    pub fn deadline(&self) -> Option<u64> {
        self.queue.front().map(|held| held.now_ms.saturating_add(self.rules.settings().hold_ms))
    }

    /// Lets everything go that waits: nothing came in time.
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

    fn first_number(&self) -> u64 {
        self.next - self.queue.len() as u64
    }

    fn piece_of<'u>(&self, unit: &Unit<'u>) -> Option<Found<'u>> {
        if self.table.is_empty() || unit.oversized.is_some() {
            return None;
        }
        find(self.table, simdutf8::basic::from_utf8(unit.payload).ok()?)
    }

    /// Reads a piece together with what is remembered of its text; says whether its unit must wait.
    fn read(&mut self, unit: &Unit<'_>, number: u64, found: Found<'_>, change: &mut Change) -> bool {
        let raw = unit.payload.get(found.place.clone()).unwrap_or_default();
        let (said, map) = unescape(raw);
        change.base = found.place.start;
        change.map = map;
        // A text of which nothing is remembered is mostly one of which nothing is to be; where nothing is remembered of any,
        // nobody asks which one it is.
        let finding = self.channels.is_empty().then(|| self.rules.scan(&said));
        if finding.as_ref().is_some_and(Finding::is_empty) {
            return false;
        }
        let piece = found.piece(self.table);
        let known = self.channels.remove(&piece.channel);
        let finding = finding.or_else(|| known.is_none().then(|| self.rules.scan(&said)));
        let mut channel = known.unwrap_or_default();
        if finding.as_ref().is_some_and(Finding::is_empty) {
            return false;
        }
        channel.add(&said, number);
        change.pointer = piece.pointer(self.table).into();
        let first = self.next - 1 - self.queue.len() as u64;
        let key_rule = self.rules.key_rule;
        let mut target = Target { queue: &mut self.queue, first, now: Some((number, change)), key_rule };
        let going = channel.go_on(&mut target);
        let finding = finding.or_else(|| channel.open.is_none().then(|| self.rules.scan(&channel.carry)));
        channel.found(finding, going, &mut target);
        let waits = channel.holds();
        if channel.is_needed() {
            self.make_room();
            self.channels.insert(piece.channel, channel);
        }
        waits
    }

    /// Texts that nobody writes any more are forgotten when there are too many.
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

    /// Gives what no tail waits for.
    fn release(&mut self, sink: &mut Sink<'_>) {
        let needed = self.channels.values().filter(|channel| channel.holds());
        let needed = needed.filter_map(|channel| channel.segments.first()).map(|segment| segment.unit).min();
        while !self.queue.is_empty() && needed.is_none_or(|needed| self.first_number() < needed) {
            let Some(held) = self.queue.pop_front() else { return };
            self.queued_bytes = self.queued_bytes.saturating_sub(held.size());
            let unit = Unit {
                bytes: &held.bytes,
                payload: held.payload.as_deref().unwrap_or(&held.bytes),
                event_name: held.event_name.as_deref(),
                offset: held.offset,
                oversized: held.oversized,
                cut: held.cut,
            };
            self.pass(&unit, held.change, held.now_ms, sink);
        }
    }

    /// What a text left open is over with the text: its quote cannot come in the next one that has its ids.
    fn forget_ended(&mut self, unit: &Unit<'_>) {
        if unit.oversized.is_some() || !self.channels.values().any(Channel::is_open) {
            return;
        }
        let Ok(text) = std::str::from_utf8(unit.payload) else { return };
        if find(self.table, text).is_none() {
            for channel in ended(self.table, text) {
                self.channels.remove(&channel);
            }
        }
    }

    /// Gives one unit, changed as far as it must be.
    fn pass(&mut self, unit: &Unit<'_>, change: Change, now_ms: u64, sink: &mut Sink<'_>) {
        self.forget_ended(unit);
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

    /// An SSE event's block, where lines of it that are no data have a secret.
    fn other_lines(&self, unit: &Unit<'_>) -> Option<Vec<u8>> {
        let mut changed = false;
        let mut out = Vec::with_capacity(unit.bytes.len());
        for line in unit.bytes.split_inclusive(|&byte| byte == b'\n') {
            let mut edits = Vec::new();
            if field_of(line) != b"data" {
                plain(&self.rules, line, &mut edits);
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
            // They say the text again, token by token.
            edits.extend(look(&self.rules, payload, None).logprobs.into_iter().map(|(place, pointer)| Edit {
                place,
                rule: self.rules.logprobs_rule,
                with: With::EmptyList,
                pointer,
            }));
        }
        edits.sort_by_key(|edit| (edit.place.start, usize::MAX - edit.place.end));
        let mut out = Vec::with_capacity(payload.len());
        let mut paths: Vec<String> = Vec::new();
        let mut known: HashSet<Arc<str>> = HashSet::default();
        let mut done = 0;
        for edit in edits {
            if edit.place.start >= done {
                out.extend_from_slice(payload.get(done..edit.place.start).unwrap_or_default());
                out.extend_from_slice(self.rules.word(edit.with, edit.rule).unwrap_or_default().as_bytes());
            }
            // One that lies over the one before it makes that one longer.
            done = done.max(edit.place.end);
            if !known.contains(&edit.pointer) {
                paths.push(edit.pointer.to_string());
                known.insert(edit.pointer);
            }
        }
        out.extend_from_slice(payload.get(done..).unwrap_or_default());
        (out, paths)
    }
}

/// An SSE event's block with another payload; its other lines stay.
fn block(old: &[u8], payload: &[u8], event_name: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(old.len());
    let mut is_said = false;
    for line in old.split(|&byte| byte == b'\n') {
        let field = field_of(line);
        if field == b"data" {
            if !std::mem::replace(&mut is_said, true) {
                let gap: &[u8] =
                    if line.get(4..6) == Some(b": ") || payload.starts_with(b" ") { b"data: " } else { b"data:" };
                for part in payload.split(|&byte| byte == b'\n') {
                    out.extend_from_slice(gap);
                    out.extend_from_slice(part);
                    out.push(b'\n');
                }
            }
            continue;
        }
        if let (b"event", Some(name)) = (field, event_name) {
            let gap: &[u8] = if line.get(5..7) == Some(b": ") { b"event: " } else { b"event:" };
            out.extend_from_slice(gap);
            out.extend_from_slice(name.as_bytes());
        } else {
            out.extend_from_slice(line);
        }
        out.push(b'\n');
    }
    out.pop();
    out
}

/// The name of an SSE line's field.
fn field_of(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(line);
    line.split(|byte| matches!(byte, b':' | b'\n' | b'\r')).next().unwrap_or_default()
}

/// The units that an edit may be made in.
pub(super) struct Target<'t> {
    pub(super) queue: &'t mut VecDeque<Held>,
    /// The number of the first one in the queue.
    pub(super) first: u64,
    pub(super) now: Option<(u64, &'t mut Change)>,
    /// The rule that all in a key's value is redacted by.
    pub(super) key_rule: usize,
}

impl Target<'_> {
    /// Redacts a place of a carry in all units that it came with; the mark, if any, stands in the first one that is still here.
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
    /// Redacts a place of the piece.
    fn redact(&mut self, place: Range<usize>, rule: usize, with: With, key_rule: usize) {
        // A piece stands in a string of its record.
        let with = with.escaped(1);
        let place = self.map.range(&place);
        let place = self.base + place.start..self.base + place.end;
        // What waits is read again with each piece, and the last reading knows best what it is.
        let nth = self.found.partition_point(|edit| edit.place.start <= place.start);
        let before = nth.checked_sub(1).and_then(|nth| self.found.get_mut(nth));
        if let Some(known) = before.filter(|known| place.end <= known.place.end) {
            if known.place == place {
                // What goes on with a secret has its mark where that began.
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
            now_ms,
            change,
        }
    }

    fn size(&self) -> usize {
        self.bytes.len() + self.payload.as_ref().map_or(self.bytes.len(), Vec::len) + OVERHEAD
    }
}
