//! An ingest with one contract: bytes in, events out.
//!
//! Input: bytes. Output: each frame with its events. Never: an encoder kept after its stream's end.

use super::{Ingest, is_last};
use crate::contract::Contract;
use crate::encode::{Encoder, EncoderOptions, EventRef, Events};
use crate::frame::{Frame, Stream, StreamKind};
use crate::hash::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// The encoder of each open stream; `None` if the contract leaves the stream out.
#[derive(Default)]
struct Encoders {
    /// The stream of the latest frame: consecutive frames mostly belong to the same stream.
    current: Option<(Arc<Stream>, Slot)>,
    others: HashMap<(StreamKind, Uuid), Slot>,
}

type Slot = Option<Box<dyn Encoder>>;

impl Encoders {
    fn of(&mut self, stream: &Arc<Stream>, new: impl FnOnce() -> Slot) -> Option<&mut dyn Encoder> {
        if !self.current.as_ref().is_some_and(|(current, _)| Arc::ptr_eq(current, stream)) {
            let next = self.others.remove(&(stream.kind, stream.id)).unwrap_or_else(new);
            if let Some((last, encoder)) = self.current.replace((stream.clone(), next)) {
                self.others.insert((last.kind, last.id), encoder);
            }
        }
        match &mut self.current {
            Some((_, Some(encoder))) => Some(&mut **encoder),
            _ => None,
        }
    }

    /// The slot of an open stream.
    fn open(&mut self, id: (StreamKind, Uuid)) -> Option<&mut Slot> {
        match &mut self.current {
            Some((stream, slot)) if (stream.kind, stream.id) == id => Some(slot),
            _ => self.others.get_mut(&id),
        }
    }

    /// Removes the encoder of the latest frame's stream, which is over.
    fn forget(&mut self) {
        self.current = None;
    }
}

/// Translates one runner's output into one contract's events.
pub struct Translator {
    ingest: Ingest,
    /// `None`: frames have no events.
    contract: Option<&'static Contract>,
    options: EncoderOptions,
    encoders: Encoders,
    events: Events,
}

impl Translator {
    /// A translator at the start of its input.
    pub fn new(ingest: Ingest, contract: &'static Contract, options: EncoderOptions) -> Self {
        Self { contract: Some(contract), options, ..Self::without_events(ingest) }
    }

    /// A translator at the start of its input that only reads frames.
    pub fn without_events(ingest: Ingest) -> Self {
        let (options, encoders, events) = (EncoderOptions::default(), Encoders::default(), Events::default());
        Self { ingest, contract: None, options, encoders, events }
    }

    /// Feeds the next bytes; `sink` is called with each frame and its events.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        now_ms: u64,
        sink: &mut dyn FnMut(&Frame, &mut dyn Iterator<Item = EventRef<'_>>),
    ) {
        let frames = self.ingest.feed(chunk, now_ms);
        encode(frames, self.contract, &self.options, &mut self.encoders, &mut self.events, sink);
    }

    /// Emits the records that are held and due; see [`Ingest::deadline`].
    pub fn flush(&mut self, now_ms: u64, sink: &mut dyn FnMut(&Frame, &mut dyn Iterator<Item = EventRef<'_>>)) {
        let frames = self.ingest.flush(now_ms);
        encode(frames, self.contract, &self.options, &mut self.encoders, &mut self.events, sink);
    }

    /// Encodes the events that a pause at `now_ms` makes due; see [`Ingest::take_pauses`]. If `accept` returns `false`, they are
    /// encoded again with the next frame of their stream.
    pub fn pause(&mut self, now_ms: u64, accept: &mut dyn FnMut(&Events) -> bool) {
        for pause in self.ingest.take_pauses(now_ms) {
            self.events.clear();
            if let Some(Some(encoder)) = self.encoders.open(pause.stream)
                && let Some(after) = encoder.paused(pause.until_ms, &mut self.events)
                && accept(&self.events)
            {
                *encoder = after;
            }
        }
    }

    /// The input is over.
    pub fn finish(&mut self, now_ms: u64, sink: &mut dyn FnMut(&Frame, &mut dyn Iterator<Item = EventRef<'_>>)) {
        let frames = self.ingest.finish(now_ms);
        encode(frames, self.contract, &self.options, &mut self.encoders, &mut self.events, sink);
    }

    /// The number of records so far.
    pub fn records(&self) -> u64 {
        self.ingest.records()
    }

    /// The underlying ingest.
    pub fn ingest(&mut self) -> &mut Ingest {
        &mut self.ingest
    }
}

fn encode(
    frames: std::vec::Drain<'_, Frame>,
    contract: Option<&Contract>,
    options: &EncoderOptions,
    encoders: &mut Encoders,
    events: &mut Events,
    sink: &mut dyn FnMut(&Frame, &mut dyn Iterator<Item = EventRef<'_>>),
) {
    // By reference: a frame is a few hundred bytes to move.
    for frame in frames.as_slice() {
        events.clear();
        if let Some(encoder) = encoders.of(&frame.stream, || (contract?.encoder)(&frame.stream, options)) {
            encoder.frame(frame, events);
        }
        sink(frame, &mut events.iter());
        if is_last(frame) {
            encoders.forget();
        }
    }
}
