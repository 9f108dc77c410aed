//! What every encoder is: the frames of one stream in, events of one contract out.
//!
//! In: frames, in order, from the first one on. Out: events, written straight to bytes. Never: a runner's vocabulary, a
//! clock, anything random: the events are a function of the frames, so a replay is what the live client saw.

mod data;
mod escape;
mod object;
mod outline;
pub(crate) mod state;

pub(crate) use data::{Data, Flat, Null, Time, Ulid, Value, Word, data};
pub(crate) use object::{Kept, ObjectWriter};
pub(crate) use outline::key;
pub use outline::{Field, Key, Kind, Outline};

use crate::frame::{Body, Frame, Stream};
use std::ops::Range;
use std::sync::Arc;

/// What a client may ask of a contract, besides its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EncoderOptions {
    /// Also emit the groups that the contract's document calls experimental.
    pub experimental: bool,
    /// Also emit the model's thinking, where the contract's document hides it by default.
    pub thinking: bool,
    /// Also emit what depends on stored artifacts, where the contract's document leaves it optional.
    pub artifacts: bool,
    /// What the run may cost, in millionths of a US dollar, for contracts that tell of budgets.
    pub task_budget_micros_usd: Option<u64>,
}

/// Writes one contract's events for one stream.
pub trait Encoder: Send {
    /// Turns the next frame of the stream into any number of events.
    fn frame(&mut self, frame: &Frame, out: &mut Events);

    /// An encoder that stands where this one stands: a reader can go on from here later, without the frames before.
    fn fork(&self) -> Box<dyn Encoder>;

    /// About how many bytes of text a fork would copy.
    fn held_bytes(&self) -> usize {
        0
    }

    /// The number of the first event of that frame, where this encoder's events need nothing of the frames before, so that
    /// it can begin anywhere; `None` where they do.
    fn first_event_of(&self, _frame: u64) -> Option<u64> {
        None
    }

    /// Whether its events depend on the [`EncoderOptions`].
    fn heeds_options(&self) -> bool {
        false
    }

    /// What it holds of the frames so far, for [`Encoder::restore`], also in another process; `None` where that cannot be
    /// told.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }

    /// Stands where an encoder of the same stream and options stood that gave these bytes. `false` where they are no state of
    /// this version's: nothing changed then.
    fn restore(&mut self, _saved: &[u8]) -> bool {
        false
    }

    /// Says, in the contract's own words, that what this encoder would have said before is not kept any more: one event, with
    /// the cursor of the last that is gone. Nothing where there was none, or where the contract has no words for it.
    fn pruned(&self, _pruned: &Pruned<'_>, _out: &mut Events) {}
}

/// The front of a stream that is not kept any more.
#[derive(Clone, Copy, Debug)]
pub struct Pruned<'a> {
    /// The stream.
    pub stream: &'a Arc<Stream>,
    /// How many frames are gone: the number of the first that is kept. Not 0.
    pub frames: u64,
    /// Unix epoch milliseconds of the last frame that is gone.
    pub last_ms: u64,
    /// Unix epoch milliseconds of when they went.
    pub pruned_ms: u64,
}

impl Pruned<'_> {
    /// Why they went, as every contract says it.
    pub const REASON: &'static str = "retention_window";

    /// A frame in the place of the last one that is gone.
    pub(crate) fn frame(&self, body: Body) -> Frame {
        let (seq, timestamp_ms) = (self.frames.saturating_sub(1), self.last_ms);
        Frame { stream: self.stream.clone(), seq, timestamp_ms, parent_tool_id: None, body }
    }
}

/// Makes an encoder for a stream; `None` where the contract leaves the stream out.
pub type NewEncoder = fn(&Arc<Stream>, &EncoderOptions) -> Option<Box<dyn Encoder>>;

/// What a client gives back to go on after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventId {
    /// The event is no place to go on from.
    None,
    /// A sequence number.
    Number(u64),
    /// An opaque id.
    Text(String),
}

/// The events of an encoder, one behind the other in one buffer.
#[derive(Debug, Default)]
pub struct Events {
    bytes: Vec<u8>,
    list: Vec<Entry>,
    notes: object::Notes,
    is_unwritten: bool,
}

/// How many bytes and fields an event usually has at most.
const USUAL: (usize, usize) = (512, 24);

#[derive(Debug)]
struct Entry {
    kind: &'static str,
    id: EventId,
    start: usize,
    end: usize,
    known: Range<usize>,
    outline: Range<usize>,
    print: u64,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub struct EventRef<'a> {
    /// Its type, as the contract names it.
    pub kind: &'static str,
    /// Its cursor.
    pub id: &'a EventId,
    /// Its JSON text on one line (contract `raw`: the record's bytes).
    pub payload: &'a [u8],
    /// The places of long values in the payload: they are known to be whole strings, or JSON as it came. In order; not
    /// every long value need be there.
    pub known: &'a [Range<usize>],
    /// Its fields; none where nobody took note of them.
    pub outline: Outline<'a>,
}

impl Events {
    /// Events of which nobody wants more than their types and cursors: their payloads stay empty. For who brings an encoder to a
    /// place.
    pub fn unwritten() -> Self {
        Self { is_unwritten: true, ..Self::default() }
    }

    /// Writes one event field by field. `fields` changes nothing, for it is not always asked.
    pub(crate) fn object(&mut self, kind: &'static str, id: EventId, fields: impl Fn(&mut ObjectWriter<'_>)) {
        if self.is_unwritten {
            return self.leave_unwritten(kind, id);
        }
        let (start, first, outline) = (self.bytes.len(), self.notes.known.len(), self.notes.outline.len());
        // Room for what an event usually needs, so that it need not be asked for bit by bit.
        self.bytes.reserve(USUAL.0);
        self.notes.outline.reserve(USUAL.1);
        self.notes.print = 0;
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
            outline: outline..self.notes.outline.len(),
            print: self.notes.print,
        });
    }

    /// Notes an event whose payload nobody asks for.
    fn leave_unwritten(&mut self, kind: &'static str, id: EventId) {
        self.list.push(Entry { kind, id, start: 0, end: 0, known: 0..0, outline: 0..0, print: 0 });
    }

    /// Writes one event as bytes.
    pub fn bytes(&mut self, kind: &'static str, id: EventId, payload: &[u8]) {
        if self.is_unwritten {
            return self.leave_unwritten(kind, id);
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(payload);
        self.list.push(Entry { kind, id, start, end: self.bytes.len(), known: 0..0, outline: 0..0, print: 0 });
    }

    /// The events in order.
    pub fn iter(&self) -> impl Iterator<Item = EventRef<'_>> {
        self.list.iter().map(|entry| EventRef {
            kind: entry.kind,
            id: &entry.id,
            payload: self.bytes.get(entry.start..entry.end).unwrap_or_default(),
            known: self.notes.known.get(entry.known.clone()).unwrap_or_default(),
            outline: Outline::known(self.notes.outline.get(entry.outline.clone()).unwrap_or_default(), entry.print),
        })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Forgets the events, keeps the buffer unless it grew large.
    pub fn clear(&mut self) {
        self.list.clear();
        self.notes.known.clear();
        self.notes.outline.clear();
        self.bytes.clear();
        self.bytes.shrink_to(1 << 20);
    }
}
