//! The whole way in one value: bytes in, frames out ([`Ingest`]); bytes in, events out ([`Translator`]).
//!
//! In: chunks of a runner's output with the time they came at. Out: frames in order, or events handed to a callback.
//! Never: waiting, a record without its `provider_event`, state that grows with the length of the input.

use crate::artifacts::{Artifact, Artifacts, Bounds};
use crate::contracts::Contract;
use crate::decode::{Decoder, Record};
use crate::drift::{DriftKey, DriftKind, LiveDrift};
use crate::encode::{Encoder, EncoderOptions, EventRef, Events};
use crate::frame::{ApprovalResolved, Body, Faults, Frame, Name, ProviderEvent, ProviderStatus, Stream, StreamKind};
use crate::framing::{Framing, Limits, Reader, Unit};
use crate::json::{Json, Kind, Object, one_line};
use crate::ledger::{Ledger, RunEnd};
use crate::recognise::{Doubt, Recognised, Verdict, Window};
use crate::records::{self, Part};
use crate::redact::{Redacted, Redactor, Rules};
use crate::runners::{RUNNERS, Runner};
use crate::sequence::Identity;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use uuid::Uuid;

mod holding;

use holding::Holding;

/// Who hears the records of an input as they came, before anything is redacted in them; each once, in order.
pub type Ear<'e> = &'e mut dyn FnMut(&Record<'_>);

/// Reads one runner's output into frames.
pub struct Ingest {
    stage: Stage,
    /// What a stage without frames drains, and what the stages behind the ledger made.
    staged: Vec<Frame>,
    artifacts: Option<Artifacts>,
    recognised: Option<Recognised>,
    watches_drift: bool,
    rules: Option<Arc<Rules>>,
}

enum Stage {
    /// Whose output it is must still be found out.
    Holding(Box<Holding>),
    Reading(Box<Reading>),
    /// Nobody's, as far as can be told.
    Unknown,
}

struct Reading {
    reader: Reader,
    limits: Limits,
    /// Stands before the decoder: what is not let through is in no frame.
    redactor: Option<Redactor>,
    state: State,
}

struct State {
    decoder: Box<dyn Decoder>,
    ledger: Ledger,
    records: u64,
    /// How many of the records were heard as they came.
    heard: u64,
    preview_bytes: usize,
    doubt: Doubt,
    mistaken: Option<Recognised>,
    drift: Option<LiveDrift>,
    runner: &'static str,
    /// The last event names: there are few, and frames share them.
    names: VecDeque<Name>,
}

/// So many event names are remembered.
const NAMES: usize = 8;

impl Ingest {
    /// An ingest at the start of its input. Without `framing`, the first bytes tell it.
    pub fn new(runner: &Runner, framing: Option<Framing>, limits: Limits, identity: Identity) -> Self {
        let reading = Reading::new(runner, framing, limits, identity);
        Self::at(Stage::Reading(Box::new(reading)))
    }

    fn at(stage: Stage) -> Self {
        Self { stage, staged: Vec::new(), artifacts: None, recognised: None, watches_drift: false, rules: None }
    }

    /// An ingest that finds out by itself whose output it reads. Until it knows, it holds what comes; then nothing is
    /// lost of it. See [`Ingest::is_unknown`].
    pub fn auto(framing: Option<Framing>, limits: Limits, identity: Identity, window: Window) -> Self {
        let holding = Holding::new(framing, limits, identity, window);
        Self::at(Stage::Holding(Box::new(holding)))
    }

    /// Compares each record with what is known of its runner.
    #[must_use]
    pub fn watching_drift(mut self) -> Self {
        self.watches_drift = true;
        if let Stage::Reading(reading) = &mut self.stage {
            reading.watch_drift();
        }
        self
    }

    /// Stores what is too large for frames, and images, as artifacts: see [`Ingest::take_artifacts`].
    #[must_use]
    pub fn with_artifacts(mut self, bounds: Bounds) -> Self {
        self.artifacts = Some(Artifacts::new(bounds));
        self
    }

    /// The artifacts of the frames that were given since the last call.
    pub fn take_artifacts(&mut self) -> Vec<Artifact> {
        self.artifacts.as_mut().map(Artifacts::take).unwrap_or_default()
    }

    /// Redacts each record before anything is made of it.
    #[must_use]
    pub fn redacting(mut self, rules: Arc<Rules>) -> Self {
        if let Stage::Reading(reading) = &mut self.stage {
            reading.redact(rules.clone());
        }
        self.rules = Some(rules);
        self
    }

    /// When [`Ingest::flush`] must be called at the latest (Unix epoch milliseconds), unless more is fed before: a record
    /// waits for what may be the rest of a secret, or a piece of a tool's output for the next one. `None` where none waits.
    pub fn deadline(&self) -> Option<u64> {
        match &self.stage {
            Stage::Reading(reading) => {
                let record = reading.redactor.as_ref().and_then(Redactor::deadline);
                record.into_iter().chain(reading.state.ledger.silence_due()).min()
            }
            Stage::Holding(_) | Stage::Unknown => None,
        }
    }

    /// Gives the frames of the records that wait, and of the silence, if it is time (see [`Ingest::deadline`]).
    pub fn flush(&mut self, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        if let Stage::Reading(reading) = &mut self.stage {
            if reading.redactor.as_ref().and_then(Redactor::deadline).is_some_and(|deadline| deadline <= now_ms) {
                reading.flush();
            }
            reading.state.ledger.tell_silence(now_ms);
        }
        self.take()
    }

    /// The places in which records drifted and none had before, with what is wrong there. Each is told once.
    pub fn take_drift(&mut self) -> Vec<(DriftKey, String)> {
        match &mut self.stage {
            Stage::Reading(reading) => reading.state.drift.as_mut().map(LiveDrift::take_news).unwrap_or_default(),
            Stage::Holding(_) | Stage::Unknown => Vec::new(),
        }
    }

    /// Takes the next bytes, which came at `now_ms` (Unix epoch milliseconds); gives the frames that they complete.
    pub fn feed(&mut self, chunk: &[u8], now_ms: u64) -> std::vec::Drain<'_, Frame> {
        self.feed_heard(chunk, now_ms, None)
    }

    /// As [`Ingest::feed`], with somebody who hears the records that the bytes complete; their frames may come later.
    pub fn feed_heard(&mut self, chunk: &[u8], now_ms: u64, ear: Option<Ear<'_>>) -> std::vec::Drain<'_, Frame> {
        if let Stage::Holding(holding) = &mut self.stage {
            let verdict = holding.feed(chunk);
            self.settle(verdict, now_ms, ear);
        } else if let Stage::Reading(reading) = &mut self.stage {
            reading.feed(chunk, now_ms, ear);
        }
        self.take()
    }

    /// A question in an open stream has its answer from the host, at `now_ms`; gives the frame that says so. The runner's own
    /// word for it, which may follow, is then no second answer. Nothing comes where the question is not open there.
    pub fn resolve(
        &mut self,
        stream: (StreamKind, Uuid),
        answer: ApprovalResolved,
        now_ms: u64,
    ) -> std::vec::Drain<'_, Frame> {
        if let Stage::Reading(reading) = &mut self.stage {
            reading.state.ledger.resolve(stream, answer, now_ms);
        }
        self.take()
    }

    /// It is known why the input ends without the runner's word: runs that are open then end like that, and not as interrupted
    /// by `stream_ended`.
    pub fn cut_by(&mut self, end: RunEnd) {
        if let Stage::Reading(reading) = &mut self.stage {
            reading.state.ledger.cut_by(end);
        }
    }

    /// The input broke off at `now_ms`, and goes on behind a gap that nobody knows the size of: what it broke off in is read
    /// as it is, and every run that is open says that there is a gap.
    pub fn gap(&mut self, reason: &str, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        if let Stage::Reading(reading) = &mut self.stage {
            reading.gap(reason, now_ms);
        }
        self.take()
    }

    /// Ends an open run whose end was lost, as interrupted; nothing comes where there is no such run.
    pub fn give_up(&mut self, run: Uuid, code: &str, message: &str, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        if let Stage::Reading(reading) = &mut self.stage {
            let State { decoder, ledger, .. } = &mut reading.state;
            ledger.at(now_ms);
            if let Some(run) = ledger.run_of(run) {
                decoder.give_up(run, RunEnd::interrupted(code, message), ledger);
            }
        }
        self.take()
    }

    /// The input is over: reads what is left and ends what is open.
    pub fn finish(&mut self, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        if let Stage::Holding(holding) = &mut self.stage {
            let verdict = holding.finish();
            self.settle(verdict, now_ms, None);
        }
        if let Stage::Reading(reading) = &mut self.stage {
            reading.finish(now_ms);
        }
        self.take()
    }

    /// How many records came so far; while it is not known whose they are, none.
    pub fn records(&self) -> u64 {
        match &self.stage {
            Stage::Reading(reading) => reading.state.records,
            Stage::Holding(_) | Stage::Unknown => 0,
        }
    }

    /// Whose output it is, where that had to be found out and has been.
    pub fn recognised(&self) -> Option<Recognised> {
        self.recognised
    }

    /// The name of the runner, once it is known.
    pub fn runner(&self) -> Option<&'static str> {
        match &self.stage {
            Stage::Reading(reading) => Some(reading.state.runner),
            Stage::Holding(_) | Stage::Unknown => None,
        }
    }

    /// Whether it is known whose output it is.
    pub fn is_known(&self) -> bool {
        matches!(self.stage, Stage::Reading(_))
    }

    /// Whether it could not be found out whose output it is. Then no frame ever comes, whatever is fed.
    pub fn is_unknown(&self) -> bool {
        matches!(self.stage, Stage::Unknown)
    }

    /// Whose output it looks like, where another runner's was expected. Told once.
    pub fn mistaken(&mut self) -> Option<Recognised> {
        match &mut self.stage {
            Stage::Reading(reading) => reading.state.mistaken.take(),
            Stage::Holding(_) | Stage::Unknown => None,
        }
    }

    fn settle(&mut self, verdict: Verdict, now_ms: u64, ear: Option<Ear<'_>>) {
        let found = match verdict {
            Verdict::Undecided => return,
            Verdict::Unknown => None,
            Verdict::Found(found) => Some(found),
        };
        let Stage::Holding(holding) = std::mem::replace(&mut self.stage, Stage::Unknown) else { return };
        let Some(found) = found else { return };
        self.recognised = Some(found);
        let (held, framing, limits, identity) = holding.into_parts();
        let mut reading = Reading::new(found.runner, framing, limits, identity);
        if self.watches_drift {
            reading.watch_drift();
        }
        if let Some(rules) = &self.rules {
            reading.redact(rules.clone());
        }
        reading.feed(&held, now_ms, ear);
        self.stage = Stage::Reading(Box::new(reading));
    }

    fn take(&mut self) -> std::vec::Drain<'_, Frame> {
        match (&mut self.stage, &mut self.artifacts) {
            (Stage::Reading(reading), None) => return reading.state.ledger.take(),
            (Stage::Reading(reading), Some(artifacts)) => {
                for frame in reading.state.ledger.take() {
                    artifacts.frame(frame, &mut self.staged);
                }
            }
            (Stage::Holding(_) | Stage::Unknown, _) => {}
        }
        self.staged.drain(..)
    }
}

impl Reading {
    fn new(runner: &Runner, framing: Option<Framing>, limits: Limits, identity: Identity) -> Self {
        let reader = framing.map_or_else(|| Reader::sniffing(limits), |framing| Reader::new(framing, limits));
        let state = State {
            decoder: (runner.decoder)(),
            ledger: Ledger::new(runner.provider, identity),
            records: 0,
            heard: 0,
            preview_bytes: limits.preview_bytes,
            doubt: Doubt::new(runner),
            mistaken: None,
            drift: None,
            runner: runner.name,
            names: VecDeque::new(),
        };
        Self { reader, limits, redactor: None, state }
    }

    fn watch_drift(&mut self) {
        self.state.drift = RUNNERS.iter().find(|runner| runner.name == self.state.runner).map(LiveDrift::new);
    }

    fn redact(&mut self, rules: Arc<Rules>) {
        let pieces =
            RUNNERS.iter().find(|runner| runner.name == self.state.runner).map_or(&[][..], |runner| runner.pieces);
        self.redactor = Some(Redactor::new(rules, pieces));
    }

    fn feed(&mut self, chunk: &[u8], now_ms: u64, mut ear: Option<Ear<'_>>) {
        let Self { reader, redactor, state, .. } = self;
        reader.feed(chunk, &mut |unit| {
            if let Some(ear) = &mut ear {
                state.tell(&unit, *ear);
            }
            match redactor {
                None => state.unit(&unit, &[], now_ms),
                Some(redactor) => redactor.unit(&unit, now_ms, &mut |unit| state.redacted(unit)),
            }
        });
    }

    fn flush(&mut self) {
        let state = &mut self.state;
        if let Some(redactor) = &mut self.redactor {
            redactor.flush(&mut |unit| state.redacted(unit));
        }
    }

    fn gap(&mut self, reason: &str, now_ms: u64) {
        self.read_rest(now_ms);
        self.reader = match self.reader.framing() {
            Some(framing) => Reader::new(framing, self.limits),
            None => Reader::sniffing(self.limits),
        };
        self.state.ledger.at(now_ms);
        self.state.ledger.gap(reason);
    }

    /// Reads what the input broke off in, and what still waits.
    fn read_rest(&mut self, now_ms: u64) {
        let Self { reader, redactor, state, .. } = self;
        match redactor {
            None => reader.finish(&mut |unit| state.unit(&unit, &[], now_ms)),
            Some(redactor) => {
                reader.finish(&mut |unit| redactor.unit(&unit, now_ms, &mut |unit| state.redacted(unit)));
            }
        }
        self.flush();
    }

    fn finish(&mut self, now_ms: u64) {
        self.read_rest(now_ms);
        self.state.decoder.end(&mut self.state.ledger);
        self.state.ledger.finish(now_ms);
    }
}

impl State {
    /// Lets somebody hear what a unit holds.
    fn tell(&mut self, unit: &Unit<'_>, ear: Ear<'_>) {
        records::read(unit, &mut |part| {
            if let Part::Value { json, fields, .. } = part {
                ear(&Record { json, fields, event_name: unit.event_name, index: self.heard, offset: unit.offset });
            }
            self.heard += 1;
        });
    }

    fn redacted(&mut self, redacted: Redacted<'_>) {
        self.unit(&redacted.unit, redacted.paths, redacted.now_ms);
    }

    fn unit(&mut self, unit: &Unit<'_>, redacted: &[String], now_ms: u64) {
        records::read(unit, &mut |part| match part {
            Part::Value { json, fields, source, whole, broken } => {
                self.record(unit, json, fields, source, whole, broken, redacted, now_ms);
            }
            Part::Done => self.opaque(unit, ProviderStatus::Done, unit.payload, Faults::NONE, redacted, now_ms),
            Part::Invalid { bytes, error } => {
                self.opaque(unit, ProviderStatus::InvalidJson, bytes, Faults::from(vec![error]), redacted, now_ms);
            }
        });
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one record, used once")]
    fn record(
        &mut self,
        unit: &Unit<'_>,
        json: Json<'_>,
        fields: Object<'_>,
        source: &[u8],
        whole: bool,
        broken: Option<&str>,
        redacted: &[String],
        now_ms: u64,
    ) {
        let mut errors: Faults = broken.map(str::to_owned).into_iter().collect();
        let is_object = json.kind() == Kind::Object;
        if !is_object {
            errors.push(format!("not a JSON object but {}", json.kind().as_str()));
        }
        // A document may span lines, and so may the data of an SSE event; a frame may not.
        let data = is_object.then(|| -> Box<str> { one_line(json.text()).into() });
        let exact = data.as_ref().is_some_and(|data| data.as_bytes() == source);
        let mut redacted_paths = Vec::new();
        if data.is_some() {
            redacted_paths.extend(redacted.iter().map(|pointer| format!("/data{pointer}")));
        }
        if !exact && !redacted.is_empty() {
            redacted_paths.push("/raw".to_owned());
        }
        let event_name = self.event_name(unit);
        let record = Record { json, fields, event_name: unit.event_name, index: self.records, offset: unit.offset };
        let drift = self.drift.as_mut().map(|drift| drift.record(&record)).unwrap_or_default();
        self.ledger.begin(
            Box::new(ProviderEvent {
                status: ProviderStatus::Event,
                event_name,
                data,
                raw: (!exact).then(|| source.into()),
                block: if whole { block_of(unit) } else { None },
                sse: is_sse(unit),
                errors,
                response_errors: Faults::NONE,
                drift,
                redacted_paths,
            }),
            now_ms,
        );
        if let Some(other) = self.doubt.record(&record) {
            self.mistaken = Some(other);
        }
        self.decoder.record(&record, &mut self.ledger);
        self.close_record();
    }

    fn opaque(
        &mut self,
        unit: &Unit<'_>,
        status: ProviderStatus,
        bytes: &[u8],
        errors: Faults,
        redacted: &[String],
        now_ms: u64,
    ) {
        let is_drift = status == ProviderStatus::InvalidJson && self.drift.is_some();
        let event_name = self.event_name(unit);
        let kept = if unit.oversized.is_some() { bytes.get(..self.preview_bytes).unwrap_or(bytes) } else { bytes };
        self.ledger.begin(
            Box::new(ProviderEvent {
                status,
                event_name,
                data: None,
                raw: Some(kept.into()),
                block: block_of(unit),
                sse: is_sse(unit),
                errors,
                response_errors: Faults::NONE,
                drift: if is_drift { vec![DriftKind::NotJson] } else { Vec::new() },
                redacted_paths: if redacted.is_empty() { Vec::new() } else { vec!["/raw".to_owned()] },
            }),
            now_ms,
        );
        self.decoder.opaque(status == ProviderStatus::Done, &mut self.ledger);
        self.close_record();
    }

    fn event_name(&mut self, unit: &Unit<'_>) -> Option<Name> {
        let said = unit.event_name?;
        if let Some(known) = self.names.iter().find(|name| ***name == *said) {
            return Some(known.clone());
        }
        let name = Name::from(said);
        self.names.truncate(NAMES - 1);
        self.names.push_front(name.clone());
        Some(name)
    }

    fn close_record(&mut self) {
        self.ledger.settle();
        self.records += 1;
    }
}

/// Outside SSE, a unit says what it is.
fn is_sse(unit: &Unit<'_>) -> bool {
    !std::ptr::eq(unit.bytes, unit.payload)
}

/// The SSE block, where the event's name and data are not enough to print it again.
fn block_of(unit: &Unit<'_>) -> Option<Box<[u8]>> {
    (is_sse(unit) && !is_usual_block(unit)).then(|| unit.bytes.into())
}

/// Whether an event's block is [`sse_block`].
fn is_usual_block(unit: &Unit<'_>) -> bool {
    let behind_name =
        |name: &str| unit.bytes.strip_prefix(b"event: ")?.strip_prefix(name.as_bytes())?.strip_prefix(b"\n");
    let rest = unit.event_name.map_or(Some(unit.bytes), behind_name);
    rest.and_then(|rest| rest.strip_prefix(b"data: ")) == Some(unit.payload)
}

/// The SSE block that an event has unless it says otherwise.
pub(crate) fn sse_block(event_name: Option<&str>, payload: &[u8]) -> Vec<u8> {
    let mut block = Vec::with_capacity(payload.len() + 32);
    if let Some(name) = event_name {
        block.extend_from_slice(b"event: ");
        block.extend_from_slice(name.as_bytes());
        block.push(b'\n');
    }
    block.extend_from_slice(b"data: ");
    block.extend_from_slice(payload);
    block
}

/// The encoder of each open stream; `None` where the contract leaves the stream out.
#[derive(Default)]
struct Encoders {
    /// The stream of the last frame: most frames are of the same stream as the one before.
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

    /// The stream of the last frame is over.
    fn forget(&mut self) {
        self.current = None;
    }
}

/// Reads one runner's output into one contract's events.
pub struct Translator {
    ingest: Ingest,
    contract: &'static Contract,
    options: EncoderOptions,
    encoders: Encoders,
    events: Events,
}

impl Translator {
    /// A translator at the start of its input.
    pub fn new(ingest: Ingest, contract: &'static Contract, options: EncoderOptions) -> Self {
        Self { ingest, contract, options, encoders: Encoders::default(), events: Events::default() }
    }

    /// Takes the next bytes; `sink` gets each frame with the events that it gives rise to.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        now_ms: u64,
        sink: &mut dyn FnMut(&Frame, &mut dyn Iterator<Item = EventRef<'_>>),
    ) {
        let frames = self.ingest.feed(chunk, now_ms);
        encode(frames, self.contract, &self.options, &mut self.encoders, &mut self.events, sink);
    }

    /// Lets the records go that wait, if it is time; see [`Ingest::deadline`].
    pub fn flush(&mut self, now_ms: u64, sink: &mut dyn FnMut(&Frame, &mut dyn Iterator<Item = EventRef<'_>>)) {
        let frames = self.ingest.flush(now_ms);
        encode(frames, self.contract, &self.options, &mut self.encoders, &mut self.events, sink);
    }

    /// The input is over.
    pub fn finish(&mut self, now_ms: u64, sink: &mut dyn FnMut(&Frame, &mut dyn Iterator<Item = EventRef<'_>>)) {
        let frames = self.ingest.finish(now_ms);
        encode(frames, self.contract, &self.options, &mut self.encoders, &mut self.events, sink);
    }

    /// How many records came so far.
    pub fn records(&self) -> u64 {
        self.ingest.records()
    }

    /// The ingest that it translates.
    pub fn ingest(&mut self) -> &mut Ingest {
        &mut self.ingest
    }
}

fn encode(
    frames: std::vec::Drain<'_, Frame>,
    contract: &Contract,
    options: &EncoderOptions,
    encoders: &mut Encoders,
    events: &mut Events,
    sink: &mut dyn FnMut(&Frame, &mut dyn Iterator<Item = EventRef<'_>>),
) {
    for frame in frames {
        events.clear();
        if let Some(encoder) = encoders.of(&frame.stream, || (contract.encoder)(&frame.stream, options)) {
            encoder.frame(&frame, events);
        }
        sink(&frame, &mut events.iter());
        if is_last(&frame) {
            encoders.forget();
        }
    }
}

/// Whether a stream is over with this frame.
pub fn is_last(frame: &Frame) -> bool {
    match &frame.body {
        Body::SessionEnded(_) => frame.stream.kind == StreamKind::Session,
        Body::Task(event) => {
            matches!(**event, crate::frame::TaskEvent::Status { status, .. } if status.is_terminal())
        }
        _ => false,
    }
}
