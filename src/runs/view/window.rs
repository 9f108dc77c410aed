//! A window: consecutive encoded events of a stream, and the encoder in its state after the last of them.
//!
//! Input: frames from the log, in order. Output: the events as bytes, by number. Never: more memory than the kept events and
//! one batch of frames.
//!
//! The events of a batch are in one buffer as SSE blocks. A block ends in an empty line, so its JSON and the following line end
//! are also one NDJSON line. Both wire formats are slices of the same bytes.

use super::{Ask, Batch, Read, Single, View, Wire};
use crate::gate;
use crate::log::LogError;
use crate::runs::Runs;
use crate::runs::checkpoints::ResumePoint;
use bytes::Bytes;
use framegate_translators::contracts::{Contract, SseStyle};
use framegate_translators::encode::{Encoder, EventId, EventRef, Events, write_raw, write_sse};
use framegate_translators::gate::Verdict;
use framegate_translators::schema::Violation;
use std::collections::VecDeque;
use std::ops::Range;

/// Maximum number of frames encoded at once.
const FRAMES_AT_ONCE: usize = 256;

/// A batch for all readers is closed once it has this many bytes, whatever frames are left.
pub(super) const SHARED_BATCH_BYTES: usize = 1 << 20;

/// The same limit for the batch of a single reader. The batch stays in memory until its client has read it, and there may be as
/// many such clients as connections. So it is about as large as what a reader takes at a time.
pub(super) const OWN_BATCH_BYTES: usize = 64 << 10;

/// Largest buffers that a window keeps for writing the next batch.
const WRITTEN_BYTES: usize = 8 << 10;
const WRITTEN_EVENTS: usize = 32;

/// Consecutive encoded events of a stream, and the encoder after them.
pub(super) struct Window {
    encoder: Box<dyn Encoder>,
    scratch: Events,
    /// Buffers of the last batch, reused for the next one. A small batch is copied out of them, so that its segment has exactly
    /// the size that it needs.
    written: Written,
    /// The next frame to encode.
    next_frame: u64,
    /// How many events of the next frame a pause has emitted before it.
    early: u32,
    /// The number of the next event.
    next: u64,
    /// How many frames to read from the log next: about as many as fitted in a batch.
    at_once: usize,
    segments: VecDeque<Segment>,
    /// Total size of the segments in bytes.
    bytes: usize,
    /// The last event that has a cursor, and its number.
    last: Option<(EventId, u64)>,
}

/// A batch of events while it is written.
#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    events: Vec<Placed>,
}

struct Segment {
    /// The number of the segment's first event.
    first: u64,
    bytes: Bytes,
    events: Vec<Placed>,
}

struct Placed {
    id: EventId,
    kind: &'static str,
    /// The frame that the event comes from.
    frame: u64,
    /// The index of the event among the frame's events.
    nth: u32,
    /// Whether a pause emitted the event before the log had its frame.
    is_early: bool,
    block: Range<usize>,
    payload: Range<usize>,
}

/// An event that broke its schema.
pub(super) struct Broken {
    pub(super) number: u64,
    pub(super) seq: u64,
    pub(super) kind: &'static str,
    pub(super) withheld: bool,
    pub(super) violations: Vec<Violation>,
}

impl Window {
    pub(super) fn at(point: ResumePoint) -> Self {
        let ResumePoint { frame, event, last, encoder } = point;
        Self {
            encoder,
            scratch: Events::default(),
            written: Written::default(),
            next_frame: frame,
            early: 0,
            next: event,
            at_once: FRAMES_AT_ONCE,
            segments: VecDeque::new(),
            bytes: 0,
            last,
        }
    }

    /// The number of the first kept event, or of the next event if none is kept.
    pub(super) fn first(&self) -> u64 {
        self.segments.front().map_or(self.next, |segment| segment.first)
    }

    /// The number of the next event.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The next frame to encode.
    pub(super) fn next_frame(&self) -> u64 {
        self.next_frame
    }

    /// Whether no event of the next frame is encoded yet. Only then can another window start at [`Window::resume_point`].
    pub(super) fn is_between_frames(&self) -> bool {
        self.early == 0
    }

    /// Whether the window has the event with number `from`, or can be advanced to it: frames before `kept_from` are pruned.
    pub(super) fn leads_to(&self, from: u64, kept_from: u64) -> bool {
        self.first() <= from && (from < self.next || self.next_frame >= kept_from)
    }

    /// How much text the encoder holds, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.encoder.held_bytes()
    }

    /// The point after the last event.
    pub(super) fn resume_point(&self) -> ResumePoint {
        ResumePoint { frame: self.next_frame, event: self.next, last: self.last.clone(), encoder: self.encoder.fork() }
    }

    /// Encodes more frames, until their events have about `batch_bytes` bytes; `false` if the log has no more frames.
    ///
    /// # Errors
    /// The log's error; [`LogError::Gone`] if the next frames are not kept any more.
    pub(super) async fn advance(&mut self, view: &View, runs: &Runs, batch_bytes: usize) -> Result<bool, LogError> {
        let frames = view.frames(runs, self.next_frame, self.at_once).await?;
        let before = self.next_frame;
        let Written { mut bytes, mut events } = std::mem::take(&mut self.written);
        let (gate, mut broken) = (runs.gate().of(view.contract), Vec::new());
        let first = self.next;
        for frame in &frames {
            self.scratch.clear();
            self.encoder.frame(frame, &mut self.scratch);
            let (of_frame, early) = (events.len(), std::mem::take(&mut self.early));
            for event in self.scratch.iter() {
                let number = first + events.len() as u64;
                let nth = u32::try_from(events.len() - of_frame).unwrap_or(u32::MAX).saturating_add(early);
                let mut keep = |event: EventRef<'_>| {
                    events.push(Placed::write(view.contract, event, (frame.seq, nth), &mut bytes));
                };
                let (withheld, violations) = match gate::pass(gate.as_ref(), frame, event, &mut keep) {
                    Verdict::Kept => continue,
                    Verdict::Broken(violations) => (false, violations),
                    Verdict::Withheld(violations) => (true, violations),
                };
                broken.push(Broken { number, seq: frame.seq, kind: event.kind, withheld, violations });
            }
            self.next_frame += 1;
            if bytes.len() >= batch_bytes {
                break;
            }
        }
        let taken = usize::try_from(self.next_frame - before).unwrap_or(usize::MAX);
        let had_room = if taken < frames.len() { taken } else { self.at_once };
        self.at_once = had_room.saturating_mul(2).clamp(1, FRAMES_AT_ONCE);
        self.next += events.len() as u64;
        if gate.is_some() {
            view.count(self.next, &broken, runs.metrics());
        }
        self.keep(first, Written { bytes, events });
        Ok(!frames.is_empty())
    }

    /// Encodes the events that are due because the stream has paused after its newest frame. They are the first events of the
    /// next frame, as every later reader sees them.
    pub(super) fn pause(&mut self, view: &View, runs: &Runs) {
        let tail = *view.entry.tail.borrow();
        let Some(until_ms) = tail.paused_until_ms.filter(|_| tail.frames == self.next_frame) else { return };
        self.scratch.clear();
        let Some(encoder) = self.encoder.paused(until_ms, &mut self.scratch) else { return };
        let gate = runs.gate().of(view.contract);
        // The gate's stand-in for an invalid event depends on the frame, which is not known yet.
        if gate.as_ref().is_some_and(|gate| !gate.accepts(&self.scratch)) {
            return;
        }
        self.encoder = encoder;
        let Written { mut bytes, mut events } = std::mem::take(&mut self.written);
        for event in self.scratch.iter() {
            let placed = Placed::write(view.contract, event, (self.next_frame, self.early), &mut bytes);
            events.push(Placed { is_early: true, ..placed });
            self.early += 1;
        }
        let first = self.next;
        self.next += events.len() as u64;
        if gate.is_some() {
            view.count(self.next, &[], runs.metrics());
        }
        self.keep(first, Written { bytes, events });
    }

    /// Keeps the events of a batch; `first` is the number of the first of them.
    fn keep(&mut self, first: u64, written: Written) {
        let Written { mut bytes, mut events } = written;
        if let Some(at) = events.iter().rposition(|event| event.id.is_logged()) {
            self.last = events.get(at).map(|event| (event.id.clone(), first + at as u64));
        }
        self.bytes += bytes.len();
        let is_small = bytes.capacity() <= WRITTEN_BYTES && events.capacity() <= WRITTEN_EVENTS;
        if !events.is_empty() {
            let segment = if is_small {
                let events = Vec::from_iter(events.drain(..));
                Segment { first, bytes: Bytes::copy_from_slice(&bytes), events }
            } else {
                // Spare capacity would stay allocated as long as the segment, without being counted.
                let (mut bytes, mut events) = (std::mem::take(&mut bytes), std::mem::take(&mut events));
                bytes.shrink_to_fit();
                events.shrink_to_fit();
                Segment { first, bytes: Bytes::from(bytes), events }
            };
            self.segments.push_back(segment);
        }
        bytes.clear();
        self.written = Written { bytes, events };
    }

    /// Removes events from the front until at most `max_bytes` are kept, but no event from number `wanted` on.
    pub(super) fn trim(&mut self, wanted: u64, max_bytes: usize) {
        while let Some(front) = self.segments.front()
            && self.bytes > max_bytes
            && front.first + front.events.len() as u64 <= wanted
        {
            self.bytes -= front.bytes.len();
            self.segments.pop_front();
        }
    }

    /// Whether the window holds as many events from number `from` on as a reader wants at once.
    pub(super) fn has(&self, from: u64, max_bytes: usize, max_events: usize) -> bool {
        let enough = self.next.saturating_sub(from) >= max_events as u64;
        let mut room = max_bytes;
        enough
            || self.segments.iter().skip(self.segment_of(from)).any(|segment| {
                room = room.saturating_sub(segment.bytes_from(from));
                room == 0
            })
    }

    /// The requested events, as far as they are kept.
    pub(super) fn batch(&self, ask: Ask<'_>) -> Batch {
        let Ask { from, frames, wire, max_bytes, max_events, .. } = ask;
        let mut batch = Batch { next: from, ..Batch::default() };
        let (mut room, mut left) = (max_bytes, max_events);
        for segment in self.segments.iter().skip(self.segment_of(from)) {
            let mut taken: Option<Range<usize>> = None;
            for event in segment.from(from) {
                if event.readable_from() > frames || left == 0 || (room == 0 && batch.events > 0) {
                    batch.push(segment, taken);
                    return batch;
                }
                if ask.wants(event.kind) {
                    let slice = if wire == Wire::Sse { &event.block } else { &event.payload };
                    // Blocks are adjacent in the buffer, so consecutive blocks form one slice.
                    taken = match taken {
                        Some(range) if range.end == slice.start => Some(range.start..slice.end),
                        other => {
                            batch.push(segment, other);
                            Some(slice.clone())
                        }
                    };
                    room = room.saturating_sub(slice.len());
                    left -= 1;
                    batch.events += 1;
                }
                batch.next += 1;
                batch.frames = event.readable_from();
                batch.ends_on_id = event.id != EventId::None;
                if batch.ends_on_id {
                    batch.last_id = Some(event.id.clone());
                }
            }
            batch.push(segment, taken);
        }
        batch
    }

    /// Single events, as far as they are kept.
    pub(super) fn singles(&self, read: Read) -> Vec<Single> {
        let (mut found, mut bytes) = (Vec::new(), 0);
        for segment in self.segments.iter().skip(self.segment_of(read.from)) {
            for event in segment.from(read.from) {
                let is_full =
                    found.len() >= read.max_events || (bytes > 0 && bytes + event.payload.len() > read.max_bytes);
                if event.frame >= read.frames || is_full {
                    return found;
                }
                bytes += event.payload.len();
                let line = segment.bytes.slice(event.payload.clone());
                found.push(Single { kind: event.kind, frame: event.frame, nth: event.nth, line });
            }
        }
        found
    }

    /// The number of the first kept event that comes from that frame or a later one, not counting the first `seen` events of
    /// that frame.
    pub(super) fn at_frame(&self, frame: u64, seen: u32) -> u64 {
        let before = |event: &Placed| event.frame < frame || (event.frame == frame && event.nth < seen);
        let at = self.segments.partition_point(|segment| segment.events.last().is_some_and(before));
        self.segments.get(at).map_or(self.next, |segment| segment.first + segment.events.partition_point(before) as u64)
    }

    /// Goes through the kept events from number `from` on, until `found` returns a value.
    pub(super) fn find<T>(&self, from: u64, mut found: impl FnMut(&EventId, u64) -> Option<T>) -> Option<T> {
        self.segments.iter().skip(self.segment_of(from)).find_map(|segment| {
            let start = from.max(segment.first);
            (start..).zip(segment.from(from)).find_map(|(number, event)| found(&event.id, number))
        })
    }

    /// The index of the segment that holds that event.
    fn segment_of(&self, number: u64) -> usize {
        self.segments.partition_point(|segment| segment.first + segment.events.len() as u64 <= number)
    }
}

impl Placed {
    /// Writes an event behind those in `bytes`. `at` is its frame, and its index among the frame's events.
    fn write(contract: &Contract, event: EventRef<'_>, at: (u64, u32), bytes: &mut Vec<u8>) -> Self {
        let start = bytes.len();
        write(contract, event, bytes);
        let block = start..bytes.len();
        let payload = match contract.sse {
            SseStyle::Raw => block.clone(),
            // Without the last LF: the JSON and one line end.
            _ => block.end - 2 - event.payload.len()..block.end - 1,
        };
        let ((frame, nth), id, kind) = (at, event.id.clone(), event.kind);
        Self { id, kind, frame, nth, is_early: false, block, payload }
    }

    /// How many frames of the stream a reader must know to get the event.
    fn readable_from(&self) -> u64 {
        if self.is_early { self.frame } else { self.frame + 1 }
    }
}

impl Segment {
    /// The segment's events from that number on.
    fn from(&self, number: u64) -> impl Iterator<Item = &Placed> {
        let skip = usize::try_from(number.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.events.iter().skip(skip)
    }

    /// Total size of the segment's events from that number on, in bytes.
    fn bytes_from(&self, number: u64) -> usize {
        self.from(number).next().map_or(0, |event| self.bytes.len() - event.block.start)
    }
}

impl Batch {
    fn push(&mut self, segment: &Segment, range: Option<Range<usize>>) {
        if let Some(range) = range {
            self.chunks.push(segment.bytes.slice(range));
        }
    }
}

pub(super) fn write(contract: &Contract, event: EventRef<'_>, out: &mut Vec<u8>) {
    match contract.sse {
        SseStyle::Raw => write_raw(event, out),
        style => write_sse(event, style == SseStyle::Named, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::contracts::contract;
    use framegate_translators::encode::EncoderOptions;

    fn window() -> Window {
        let (frames, _) = super::super::tests::run();
        let encoder = (contract("frames.v2").unwrap().encoder)(&frames[0].stream, &EncoderOptions::default()).unwrap();
        Window::at(ResumePoint { frame: 0, event: 0, last: None, encoder })
    }

    fn written(bytes: usize, events: usize) -> Written {
        let mut list = Vec::with_capacity(events);
        let place = |nth| bytes * nth / events..bytes * (nth + 1) / events;
        list.extend((0..events).map(|nth| Placed {
            id: EventId::None,
            kind: "k",
            frame: nth as u64,
            nth: 0,
            is_early: false,
            block: place(nth),
            payload: place(nth),
        }));
        Written { bytes: (0..bytes).map(|nth| nth as u8).collect(), events: list }
    }

    #[test]
    fn small_write_buffers_are_reused() {
        for (bytes, events, stays) in [
            (WRITTEN_BYTES, WRITTEN_EVENTS, true),
            (WRITTEN_BYTES + 1, 1, false),
            (1 << 20, WRITTEN_EVENTS, false),
            (WRITTEN_BYTES, WRITTEN_EVENTS + 1, false),
        ] {
            let mut window = window();
            let batch = written(bytes, events);
            let expected = batch.bytes.clone();
            window.keep(0, batch);
            window.next = events as u64;
            let ask = Ask {
                from: 0,
                frames: u64::MAX,
                wire: Wire::Sse,
                max_bytes: usize::MAX,
                max_events: usize::MAX,
                types: None,
            };
            let kept = window.batch(ask);
            assert_eq!((kept.events, kept.chunks.concat()), (events as u64, expected), "{bytes} {events}");
            assert_eq!(window.bytes, bytes);
            let Written { bytes: room, events: list } = &window.written;
            assert!(room.is_empty() && list.is_empty());
            assert_eq!(room.capacity() == bytes && list.capacity() == events, stays, "{bytes} {events}");
            assert!(room.capacity() <= WRITTEN_BYTES && list.capacity() <= WRITTEN_EVENTS, "{bytes} {events}");
        }
    }
}
