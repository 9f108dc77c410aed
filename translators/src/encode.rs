//! The interface of every encoder: the frames of one stream in, events of one contract out.
//!
//! Input: frames in order, starting with the first one. Output: events, written directly to bytes. Never: a runner's
//! vocabulary, a clock, or randomness. The events depend only on the frames, so a replay equals what the live client saw.

mod adapter;
mod data;
mod escape;
mod event_shape;
mod id;
mod object;
mod writer;

pub(crate) use adapter::{StreamEncoder, encoder};
pub(crate) use data::{Data, Flat, Null, Time, Ulid, Value, Word, data};
pub(crate) use event_shape::key;
pub use event_shape::{EventShape, Field, Key, Kind};
pub(crate) use object::{ObjectWriter, PreparedFields};
pub use writer::{write_ndjson, write_raw, write_sse};

use crate::frame::{Body, Frame, Stream};
use crate::hash::Fingerprint;
use std::ops::Range;
use std::sync::Arc;

/// Options that a client may choose for a contract.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EncoderOptions {
    /// Also emit the event groups that the contract's document calls experimental.
    pub experimental: bool,
    /// Also emit the model's thinking if the contract's document hides it by default.
    pub thinking: bool,
    /// Also emit the user's messages if the contract's document leaves them out of its core.
    pub user_messages: bool,
    /// Also emit events that depend on stored artifacts if the contract's document makes them optional.
    pub artifacts: bool,
    /// The run's budget in millionths of a US dollar, for contracts that report budgets.
    pub task_budget_micros_usd: Option<u64>,
}

/// How long an encoder may hold an event back to join it with the next one, in milliseconds.
pub const HOLD_MS: u64 = 50;

/// Writes one contract's events for one stream.
pub trait Encoder: Send {
    /// Encodes the next frame of the stream as any number of events.
    fn frame(&mut self, frame: &Frame, out: &mut Events);

    /// No frame of the stream is timed before `until_ms`: writes the events that are due then, and returns the encoder that comes
    /// after them; `None` if none is due. A later frame emits the same events first, so a caller may ignore pauses.
    fn paused(&self, _until_ms: u64, _out: &mut Events) -> Option<Box<dyn Encoder>> {
        None
    }

    /// A copy with the same state. A reader can continue from it later without the earlier frames.
    fn fork(&self) -> Box<dyn Encoder>;

    /// The approximate number of bytes of text that a fork copies.
    fn held_bytes(&self) -> usize {
        0
    }

    /// The number of the frame's first event if this encoder needs no earlier frames and can therefore start anywhere;
    /// otherwise `None`.
    fn first_event_of(&self, _frame: u64) -> Option<u64> {
        None
    }

    /// Whether its events depend on [`EncoderOptions`].
    fn uses_options(&self) -> bool {
        false
    }

    /// Serialises the state for [`Encoder::restore`], which may run in another process; `None` if this is not supported.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }

    /// Restores a saved state of an encoder with the same stream and options. Returns `false`, and changes nothing, if this
    /// version cannot read the state.
    fn restore(&mut self, _saved: &[u8]) -> bool {
        false
    }

    /// Reports, as the contract defines it, that this encoder's earlier events are no longer kept: one event with the cursor of
    /// the last dropped one. Emits nothing if there were no events, or if the contract has no way to report this.
    fn pruned(&self, _pruned: &Pruned<'_>, _out: &mut Events) {}
}

/// The beginning of a stream that is no longer kept.
#[derive(Clone, Copy, Debug)]
pub struct Pruned<'a> {
    /// The stream.
    pub stream: &'a Arc<Stream>,
    /// How many frames were dropped, which is also the number of the first kept frame. Not 0.
    pub frames: u64,
    /// Unix epoch milliseconds of the last dropped frame.
    pub last_ms: u64,
    /// Unix epoch milliseconds of the time when they were dropped.
    pub pruned_ms: u64,
}

impl Pruned<'_> {
    /// Why they were dropped; the same in every contract.
    pub const REASON: &'static str = "retention_window";

    /// A frame in the position of the last dropped one.
    pub(crate) fn frame(&self, body: Body) -> Frame {
        let (seq, timestamp_ms) = (self.frames.saturating_sub(1), self.last_ms);
        Frame { stream: self.stream.clone(), seq, timestamp_ms, parent_tool_id: None, given_id: None, body }
    }
}

/// Creates an encoder for a stream; `None` if the contract leaves the stream out.
pub type NewEncoder = fn(&Arc<Stream>, &EncoderOptions) -> Option<Box<dyn Encoder>>;

/// An event's cursor: what a client sends to resume after the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventId {
    /// A client cannot resume after this event.
    None,
    /// A sequence number.
    Number(u64),
    /// An opaque id.
    Text(String),
    /// The last event of a run, which has no number: it comes after the event with that number. The contract's log leaves it out.
    Closing(u64),
}

impl EventId {
    /// What an event stream's `id:` line has after the number in [`EventId::Closing`].
    pub const CLOSING_SUFFIX: &str = ".end";

    /// Whether the contract's log has the event.
    pub fn is_logged(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Text(_))
    }

    /// The number of an `id:` line that ends a run, as `7.end`; `None` for any other text.
    pub fn closing(text: &str) -> Option<u64> {
        text.strip_suffix(Self::CLOSING_SUFFIX)?.parse().ok()
    }
}

/// The events of an encoder, concatenated in one buffer.
#[derive(Debug, Default)]
pub struct Events {
    bytes: Vec<u8>,
    list: Vec<Entry>,
    notes: object::Notes,
    is_unwritten: bool,
}

/// The usual upper bounds for the bytes and fields of an event.
const USUAL: (usize, usize) = (512, 24);

#[derive(Debug)]
struct Entry {
    kind: &'static str,
    id: EventId,
    start: usize,
    end: usize,
    known: Range<usize>,
    fields: Range<usize>,
    fingerprint: Fingerprint,
}

impl Entry {
    fn without_shape(kind: &'static str, id: EventId, bytes: Range<usize>) -> Self {
        let (start, end) = (bytes.start, bytes.end);
        Self { kind, id, start, end, known: 0..0, fields: 0..0, fingerprint: Fingerprint::default() }
    }
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub struct EventRef<'a> {
    /// Its type as the contract names it.
    pub kind: &'static str,
    /// Its cursor.
    pub id: &'a EventId,
    /// Its JSON text on one line (for the contract `raw`: the record's bytes).
    pub payload: &'a [u8],
    /// The ranges of long values in the payload, in order. Each is a complete string, or JSON exactly as it arrived. The list
    /// may be incomplete.
    pub known: &'a [Range<usize>],
    /// Its shape; without fields if they were not recorded.
    pub shape: EventShape<'a>,
}

impl Events {
    /// Records only the types and cursors of events and leaves their payloads empty. For bringing an encoder up to a position.
    pub fn unwritten() -> Self {
        Self { is_unwritten: true, ..Self::default() }
    }

    /// Writes one event field by field. `fields` must have no side effects, because it is not always called.
    pub(crate) fn object(&mut self, kind: &'static str, id: EventId, fields: impl Fn(&mut ObjectWriter<'_>)) {
        if self.is_unwritten {
            return self.leave_unwritten(kind, id);
        }
        let (start, first, first_field) = (self.bytes.len(), self.notes.known.len(), self.notes.fields.len());
        // Reserve the usual size once instead of growing in small steps.
        self.bytes.reserve(USUAL.0);
        self.notes.fields.reserve(USUAL.1);
        self.notes.fingerprint = Fingerprint::default();
        let mut object = ObjectWriter::begin(&mut self.bytes, &mut self.notes);
        fields(&mut object);
        object.end();
        for place in self.notes.known.iter_mut().skip(first) {
            *place = place.start - start..place.end - start;
        }
        self.list.push(Entry {
            kind,
            id,
            start,
            end: self.bytes.len(),
            known: first..self.notes.known.len(),
            fields: first_field..self.notes.fields.len(),
            fingerprint: self.notes.fingerprint,
        });
    }

    /// Records an event without its payload.
    fn leave_unwritten(&mut self, kind: &'static str, id: EventId) {
        self.list.push(Entry::without_shape(kind, id, 0..0));
    }

    /// Writes one event as bytes.
    pub fn bytes(&mut self, kind: &'static str, id: EventId, payload: &[u8]) {
        if self.is_unwritten {
            return self.leave_unwritten(kind, id);
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(payload);
        self.list.push(Entry::without_shape(kind, id, start..self.bytes.len()));
    }

    /// The events in order.
    pub fn iter(&self) -> impl Iterator<Item = EventRef<'_>> {
        self.list.iter().map(|entry| EventRef {
            kind: entry.kind,
            id: &entry.id,
            payload: self.bytes.get(entry.start..entry.end).unwrap_or_default(),
            known: self.notes.known.get(entry.known.clone()).unwrap_or_default(),
            shape: EventShape::with_fingerprint(
                self.notes.fields.get(entry.fields.clone()).unwrap_or_default(),
                entry.fingerprint,
            ),
        })
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Removes the events. Keeps the buffer unless it grew large.
    pub fn clear(&mut self) {
        self.list.clear();
        self.notes.known.clear();
        self.notes.fields.clear();
        self.bytes.clear();
        self.bytes.shrink_to(1 << 20);
    }
}
