//! The events of one stream in one contract: encoded, validated and serialised once, whoever reads them.
//!
//! In: frames from the log, when a reader wants what is not encoded yet. Out: bytes for the wire, shared by all readers.
//! Never: an encoding that no reader asked for, a copy for each reader, a reader held up by another one's socket.
//!
//! The events of a batch stand in one buffer as SSE blocks. A block ends in an empty line, so the JSON in it and the line
//! end behind it are also one NDJSON line: both wires are slices of the same bytes.

use super::{Entry, Runs};
use crate::gate;
use crate::log::LogError;
use bytes::Bytes;
use framegate_translators::contracts::{Contract, SseStyle};
use framegate_translators::encode::{Encoder, EventId, EventRef, Events};
use framegate_translators::framing::{write_raw, write_sse};
use framegate_translators::gate::Verdict;
use framegate_translators::schema::Breach;
use std::ops::Range;
use std::sync::Arc;
use tokio::sync::Mutex;

/// How events are laid out on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Server-sent events.
    Sse,
    /// One event a line.
    Ndjson,
}

/// How many frames are encoded under one lock.
const FRAMES_AT_ONCE: usize = 256;

/// See the module.
pub struct View {
    contract: &'static Contract,
    entry: Arc<Entry>,
    state: Mutex<State>,
}

/// Which events a reader wants.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// The number of the first one.
    pub from: u64,
    /// Only those that come of frames before this one.
    pub frames: u64,
    /// How they are laid out.
    pub wire: Wire,
    /// About how many bytes at most; one event is always given.
    pub max_bytes: usize,
    /// How many at most.
    pub max_events: usize,
}

/// Which events a reader of single events wants: as [`Ask`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) from: u64,
    pub(super) frames: u64,
    pub(super) max_bytes: usize,
    pub(super) max_events: usize,
}

/// One event, with the place that it comes of.
#[derive(Debug)]
pub(super) struct Single {
    pub(super) kind: &'static str,
    pub(super) frame: u64,
    pub(super) nth: u32,
    /// Its JSON, with a line end.
    pub(super) line: Bytes,
}

struct State {
    encoder: Box<dyn Encoder>,
    scratch: Events,
    next_frame: u64,
    segments: Vec<Segment>,
    events: u64,
}

struct Segment {
    /// The number of its first event.
    first: u64,
    bytes: Bytes,
    events: Vec<Placed>,
}

/// An event that broke its schema.
struct Broken {
    number: u64,
    seq: u64,
    kind: &'static str,
    withheld: bool,
    breaches: Vec<Breach>,
}

struct Placed {
    id: EventId,
    kind: &'static str,
    /// The frame that gave rise to it.
    frame: u64,
    /// Which of the frame's events it is.
    nth: u32,
    block: Range<usize>,
    payload: Range<usize>,
}

/// Some events, ready for the wire.
#[derive(Debug, Default)]
pub struct Batch {
    /// The bytes, in order.
    pub chunks: Vec<Bytes>,
    /// The number of the event behind the last one.
    pub next: u64,
    /// The cursor of the last event that has one.
    pub last_id: Option<EventId>,
    /// Whether the last event has a cursor, so that a reader can go on from there.
    pub ends_on_id: bool,
}

impl View {
    pub(super) fn new(contract: &'static Contract, encoder: Box<dyn Encoder>, entry: Arc<Entry>) -> Self {
        let state = State { encoder, scratch: Events::default(), next_frame: 0, segments: Vec::new(), events: 0 };
        Self { contract, entry, state: Mutex::new(state) }
    }

    /// The contract that the events are of.
    pub fn contract(&self) -> &'static Contract {
        self.contract
    }

    /// The stream that the events are of.
    pub fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    /// The events that are asked for.
    ///
    /// # Errors
    /// The log's.
    pub async fn read(&self, runs: &Runs, ask: Ask) -> Result<Batch, LogError> {
        let mut state = self.state.lock().await;
        while state.next_frame < ask.frames && state.events <= ask.from.saturating_add(ask.max_events as u64) {
            if !self.encode_some(&mut state, runs).await? {
                break;
            }
        }
        Ok(state.batch(ask))
    }

    /// The number of the first event behind a cursor. `None` where no event has that cursor.
    ///
    /// # Errors
    /// The log's.
    pub async fn after(&self, runs: &Runs, cursor: &EventId) -> Result<Option<u64>, LogError> {
        let mut state = self.state.lock().await;
        while self.encode_some(&mut state, runs).await? {}
        Ok(state.after(cursor))
    }

    /// Single events, and the number of the one behind the last.
    ///
    /// # Errors
    /// The log's.
    pub(super) async fn events(&self, runs: &Runs, read: Read) -> Result<(Vec<Single>, u64), LogError> {
        let mut state = self.state.lock().await;
        while state.next_frame < read.frames && state.events <= read.from.saturating_add(read.max_events as u64) {
            if !self.encode_some(&mut state, runs).await? {
                break;
            }
        }
        let (mut found, mut bytes) = (Vec::new(), 0);
        for (segment, event) in state.placed_from(read.from) {
            let is_full = found.len() >= read.max_events || (bytes > 0 && bytes + event.payload.len() > read.max_bytes);
            if event.frame >= read.frames || is_full {
                break;
            }
            bytes += event.payload.len();
            let line = segment.bytes.slice(event.payload.clone());
            found.push(Single { kind: event.kind, frame: event.frame, nth: event.nth, line });
        }
        let next = read.from + found.len() as u64;
        Ok((found, next))
    }

    /// The number of the first event that comes of that frame or a later one, behind the first `seen` of that frame.
    ///
    /// # Errors
    /// The log's.
    pub(super) async fn at_frame(&self, runs: &Runs, frame: u64, seen: u32) -> Result<u64, LogError> {
        let mut state = self.state.lock().await;
        while state.next_frame <= frame {
            if !self.encode_some(&mut state, runs).await? {
                break;
            }
        }
        let before = |event: &Placed| event.frame < frame || (event.frame == frame && event.nth < seen);
        let at = state.segments.partition_point(|segment| segment.events.last().is_some_and(before));
        Ok(state
            .segments
            .get(at)
            .map_or(state.events, |segment| segment.first + segment.events.partition_point(before) as u64))
    }

    async fn encode_some(&self, state: &mut State, runs: &Runs) -> Result<bool, LogError> {
        let frames = runs.log().read(self.entry.id(), state.next_frame, FRAMES_AT_ONCE).await?;
        if frames.is_empty() {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        let mut events = Vec::new();
        let (gate, mut broken) = (runs.gate().of(self.contract), Vec::new());
        for frame in &frames {
            state.scratch.clear();
            state.encoder.frame(frame, &mut state.scratch);
            for (nth, event) in (0..).zip(state.scratch.iter()) {
                let number = state.events + events.len() as u64;
                let mut keep = |event: EventRef<'_>| {
                    let start = bytes.len();
                    self.write(event, &mut bytes);
                    let block = start..bytes.len();
                    let payload = match self.contract.sse {
                        SseStyle::Raw => block.clone(),
                        // Without the last LF: the JSON and one line end.
                        _ => block.end - 2 - event.payload.len()..block.end - 1,
                    };
                    events.push(Placed { id: event.id.clone(), kind: event.kind, frame: frame.seq, nth, block, payload });
                };
                let (withheld, breaches) = match gate::pass(gate.as_ref(), frame, event, &mut keep) {
                    Verdict::Kept => continue,
                    Verdict::Broken(breaches) => (false, breaches),
                    Verdict::Withheld(breaches) => (true, breaches),
                };
                broken.push(Broken { number, seq: frame.seq, kind: event.kind, withheld, breaches });
            }
        }
        if gate.is_some() {
            self.count(state.events + events.len() as u64, &broken);
        }
        state.next_frame += frames.len() as u64;
        if !events.is_empty() {
            let first = state.events;
            state.events += events.len() as u64;
            state.segments.push(Segment { first, bytes: Bytes::from(bytes), events });
        }
        Ok(true)
    }

    fn write(&self, event: EventRef<'_>, out: &mut Vec<u8>) {
        match self.contract.sse {
            SseStyle::Raw => write_raw(event, out),
            style => write_sse(event, style == SseStyle::Named, out),
        }
    }

    /// What the gate found in some events, logged and counted once for each run and contract: what readers had encoded
    /// before, forgot, and want again was told then. `checked` is how many events have passed.
    fn count(&self, checked: u64, broken: &[Broken]) {
        let mut status = self.entry.status();
        let contract = self.contract.name;
        let before = status.events_checked.entry(contract).or_default();
        let told = *before;
        *before = told.max(checked);
        for Broken { number, seq, kind, withheld, breaches } in broken {
            if *number < told {
                continue;
            }
            *status.validation_failures.entry(contract).or_default() += 1;
            if *withheld {
                *status.events_withheld.entry(contract).or_default() += 1;
            }
            for breach in breaches {
                tracing::warn!(
                    run = %status.run_id, runner = status.runner, contract, seq, event = kind, withheld,
                    pointer = breach.pointer, keyword = breach.keyword, "event breaks its schema: {}", breach.message
                );
            }
        }
    }
}

impl State {
    /// The events from that number on.
    fn placed_from(&self, from: u64) -> impl Iterator<Item = (&Segment, &Placed)> {
        let at = self.segments.partition_point(|segment| segment.first + segment.events.len() as u64 <= from);
        self.segments.iter().skip(at).flat_map(move |segment| {
            let skip = usize::try_from(from.saturating_sub(segment.first)).unwrap_or(usize::MAX);
            segment.events.iter().skip(skip).map(move |event| (segment, event))
        })
    }

    fn batch(&self, ask: Ask) -> Batch {
        let Ask { from, frames, wire, max_bytes, max_events } = ask;
        let mut batch = Batch { next: from, ..Batch::default() };
        let (mut room, mut left) = (max_bytes, max_events);
        let at = self.segments.partition_point(|segment| segment.first + segment.events.len() as u64 <= from);
        for segment in self.segments.iter().skip(at) {
            let skip = usize::try_from(from.saturating_sub(segment.first)).unwrap_or(usize::MAX);
            let mut taken: Option<Range<usize>> = None;
            for event in segment.events.iter().skip(skip) {
                if event.frame >= frames || left == 0 || (room == 0 && batch.next > from) {
                    batch.push(segment, taken);
                    return batch;
                }
                let slice = if wire == Wire::Sse { &event.block } else { &event.payload };
                // Blocks stand one behind the other: a run of them is one slice.
                taken = match taken {
                    Some(range) if range.end == slice.start => Some(range.start..slice.end),
                    other => {
                        batch.push(segment, other);
                        Some(slice.clone())
                    }
                };
                room = room.saturating_sub(slice.len());
                left -= 1;
                batch.next += 1;
                batch.ends_on_id = event.id != EventId::None;
                if batch.ends_on_id {
                    batch.last_id = Some(event.id.clone());
                }
            }
            batch.push(segment, taken);
        }
        batch
    }

    fn after(&self, cursor: &EventId) -> Option<u64> {
        // Numbers go up, and an event without one belongs behind the numbered event before it: what follows the last
        // number that is not beyond the cursor is new to the reader, be it numbered or not.
        if let EventId::Number(number) = cursor {
            let is_seen = |event: &Placed| matches!(event.id, EventId::Number(id) if id <= *number);
            let last = self
                .segments
                .iter()
                .rev()
                .find_map(|segment| Some(segment.first + segment.events.iter().rposition(is_seen)? as u64));
            return Some(last.map_or(0, |last| last + 1));
        }
        self.segments.iter().find_map(|segment| {
            let at = segment.events.iter().position(|event| event.id == *cursor)?;
            Some(segment.first + at as u64 + 1)
        })
    }
}

impl Batch {
    fn push(&mut self, segment: &Segment, range: Option<Range<usize>>) {
        if let Some(range) = range {
            self.chunks.push(segment.bytes.slice(range));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GateMode;
    use crate::gate::Gate;
    use crate::log::MemoryLog;
    use framegate_translators::contracts::CONTRACTS;
    use framegate_translators::encode::EncoderOptions;
    use framegate_translators::frame::{Frame, StreamKind};
    use framegate_translators::framing::Limits;
    use framegate_translators::pipeline::Ingest;
    use framegate_translators::schema::{SchemaFile, Schemas};
    use framegate_translators::sequence::Identity;
    use uuid::Uuid;

    const ASK: Ask =
        Ask { from: 0, frames: u64::MAX, wire: Wire::Ndjson, max_bytes: usize::MAX, max_events: 1_000_000 };

    /// The frames of a run with a tool call and text, and the run.
    fn run() -> (Vec<Arc<Frame>>, Uuid) {
        let input = include_bytes!("../../tests/fixtures/claude-code/bash_ok.partial.ndjson");
        let runner = framegate_translators::runners::runner("claude-code").unwrap();
        let run = Uuid::from_u128(1);
        let mut ingest = Ingest::new(runner, None, Limits::default(), Identity { run_id: run, session_id: None });
        let mut frames: Vec<Arc<Frame>> = ingest.feed(input, 0).map(Arc::new).collect();
        frames.extend(ingest.finish(0).map(Arc::new));
        (frames, run)
    }

    /// Runs whose gate finds every event broken.
    fn runs(mode: GateMode, contract: &Contract) -> Runs {
        let text = r#"{"required":["what no event has"]}"#;
        let files: Vec<SchemaFile> = contract.schemas.iter().map(|file| SchemaFile { kind: file.kind, text }).collect();
        let schemas = Schemas::compile_with(&files, &[]).unwrap();
        Runs::new(Arc::new(MemoryLog::new(1 << 30, 100)), Gate::with_schemas(mode, contract, schemas))
    }

    async fn all(runs: &Runs, view: &View) -> Vec<u8> {
        view.read(runs, ASK).await.unwrap().chunks.concat()
    }

    #[tokio::test]
    async fn a_replay_of_a_gated_stream_is_the_live_stream_and_is_counted_once() {
        let (frames, run) = run();
        for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
            let mut lengths = Vec::new();
            for mode in [GateMode::Warn, GateMode::Enforce] {
                let runs = runs(mode, contract);
                let options = EncoderOptions::default();
                let (mut live, mut next) = (Vec::new(), 0);
                let mut reader = None;
                for batch in frames.chunks(3) {
                    runs.append(batch).await.unwrap();
                    let entry = runs.find((StreamKind::Session, run)).unwrap();
                    let view = reader.get_or_insert_with(|| runs.view(&entry, contract, &options).unwrap());
                    let read = view.read(&runs, Ask { from: next, ..ASK }).await.unwrap();
                    next = read.next;
                    live.extend(read.chunks.concat());
                }
                drop(reader);
                let entry = runs.find((StreamKind::Session, run)).unwrap();
                let again = runs.view(&entry, contract, &options).unwrap();
                assert_eq!(all(&runs, &again).await, live, "{}", contract.name);
                lengths.push(live.split(|byte| *byte == b'\n').count());
                let status = entry.status();
                let count = |counts: &std::collections::BTreeMap<&str, u64>| counts.get(contract.name).copied();
                assert_eq!(count(&status.events_checked), Some(next));
                assert_eq!(count(&status.validation_failures), Some(next));
                let withheld = (mode == GateMode::Enforce).then_some(next);
                assert_eq!(count(&status.events_withheld), withheld);
                let says = String::from_utf8_lossy(&live).contains("event withheld");
                assert_eq!(says, mode == GateMode::Enforce, "{}", contract.name);
            }
            assert_eq!(lengths[0], lengths[1], "{}: as many events in both modes", contract.name);
        }
    }

    #[tokio::test]
    async fn a_gate_that_is_off_counts_nothing() {
        let (frames, run) = run();
        let runs = Runs::new(Arc::new(MemoryLog::new(1 << 30, 100)), Gate::new(GateMode::Off).unwrap());
        runs.append(&frames).await.unwrap();
        let entry = runs.find((StreamKind::Session, run)).unwrap();
        let contract = framegate_translators::contracts::contract("frames.v2").unwrap();
        let view = runs.view(&entry, contract, &EncoderOptions::default()).unwrap();
        assert!(!all(&runs, &view).await.is_empty());
        assert!(entry.status().events_checked.is_empty());
    }
}
