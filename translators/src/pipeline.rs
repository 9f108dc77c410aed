//! The whole way in one value: bytes in, frames out ([`Ingest`]); bytes in, events out ([`Translator`]).
//!
//! In: chunks of a runner's output with the time they came at. Out: frames in order, or events handed to a callback.
//! Never: waiting, a record without its `provider_event`, state that grows with the length of the input.

use crate::contracts::Contract;
use crate::decode::{Decoder, Record};
use crate::encode::{Encoder, EncoderOptions, EventRef, Events};
use crate::frame::{Body, Frame, Name, ProviderEvent, ProviderStatus, Stream, StreamKind};
use crate::framing::{Framing, Limits, Reader, Unit};
use crate::json::{Front, Json, Kind, Object, front, one_line};
use crate::ledger::Ledger;
use crate::runners::Runner;
use crate::sequence::Identity;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// Reads one runner's output into frames.
pub struct Ingest {
    reader: Reader,
    state: State,
}

struct State {
    decoder: Box<dyn Decoder>,
    ledger: Ledger,
    records: u64,
    preview_bytes: usize,
}

impl Ingest {
    /// An ingest at the start of its input. Without `framing`, the first bytes tell it.
    pub fn new(runner: &Runner, framing: Option<Framing>, limits: Limits, identity: Identity) -> Self {
        let reader = match framing {
            Some(framing) => Reader::new(framing, limits),
            None => Reader::sniffing(limits),
        };
        let state = State {
            decoder: (runner.decoder)(),
            ledger: Ledger::new(runner.provider, identity),
            records: 0,
            preview_bytes: limits.preview_bytes,
        };
        Self { reader, state }
    }

    /// Takes the next bytes, which came at `now_ms` (Unix epoch milliseconds); gives the frames that they complete.
    pub fn feed(&mut self, chunk: &[u8], now_ms: u64) -> std::vec::Drain<'_, Frame> {
        let state = &mut self.state;
        self.reader.feed(chunk, &mut |unit| state.unit(unit, now_ms));
        state.ledger.take()
    }

    /// The input is over: reads what is left and ends what is open.
    pub fn finish(&mut self, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        let state = &mut self.state;
        self.reader.finish(&mut |unit| state.unit(unit, now_ms));
        state.decoder.end(&mut state.ledger);
        state.ledger.finish(now_ms);
        state.ledger.take()
    }

    /// How many records came so far.
    pub fn records(&self) -> u64 {
        self.state.records
    }
}

impl State {
    fn unit(&mut self, unit: Unit<'_>, now_ms: u64) {
        if let Some(size) = unit.oversized {
            let error = format!(
                "record at byte {} has {size} bytes, more than the limit; its first {} are kept",
                unit.offset,
                unit.payload.len()
            );
            self.invalid(&unit, unit.payload, error, now_ms);
            return;
        }
        let (text, broken) = match std::str::from_utf8(unit.payload) {
            Ok(text) => (Cow::Borrowed(text), None),
            Err(error) => {
                let at = unit.offset + error.valid_up_to() as u64;
                (String::from_utf8_lossy(unit.payload), Some(format!("invalid UTF-8 at byte {at}")))
            }
        };
        let body = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
        if body.trim() == "[DONE]" {
            self.done(&unit, now_ms);
            return;
        }
        self.values(&unit, body, broken, now_ms);
    }

    /// Reads the values of one unit; each is a record of its own.
    fn values(&mut self, unit: &Unit<'_>, body: &str, broken: Option<String>, now_ms: u64) {
        let mut rest = body;
        let mut first = true;
        loop {
            // The usual case, in one pass: the unit is one object and nothing else.
            let (json, fields, tail) = match front(rest) {
                Front::Blank if first => {
                    self.invalid(unit, unit.payload, "an empty record".to_owned(), now_ms);
                    return;
                }
                Front::Blank => return,
                Front::Value(json, fields, tail) => (json, fields, tail),
                Front::Invalid(error) => {
                    let what =
                        if unit.cut && error.is_eof() { "the input ended inside the record" } else { "not JSON" };
                    let at = unit.offset + (body.len() - rest.len()) as u64;
                    let bytes = if first { unit.payload } else { rest.as_bytes() };
                    self.invalid(unit, bytes, format!("{what} (record at byte {at}): {error}"), now_ms);
                    return;
                }
            };
            let whole = first && tail.trim().is_empty();
            let source =
                if whole { unit.payload } else { rest.get(..rest.len() - tail.len()).unwrap_or_default().as_bytes() };
            self.record(unit, json, fields, source, whole, broken.clone(), now_ms);
            if whole {
                return;
            }
            rest = tail;
            first = false;
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one record, used once")]
    fn record(
        &mut self,
        unit: &Unit<'_>,
        json: Json<'_>,
        fields: Object<'_>,
        source: &[u8],
        whole: bool,
        broken: Option<String>,
        now_ms: u64,
    ) {
        let mut errors: Vec<String> = broken.into_iter().collect();
        let is_object = json.kind() == Kind::Object;
        if !is_object {
            errors.push(format!("not a JSON object but {}", json.kind().as_str()));
        }
        // A document may span lines, and so may the data of an SSE event; a frame may not.
        let data = is_object.then(|| -> Box<str> { one_line(json.text()).into() });
        let exact = data.as_ref().is_some_and(|data| data.as_bytes() == source);
        self.ledger.begin(
            Box::new(ProviderEvent {
                status: ProviderStatus::Event,
                event_name: unit.event_name.map(Name::from),
                data,
                raw: (!exact).then(|| source.into()),
                block: if whole { block_of(unit) } else { None },
                sse: is_sse(unit),
                errors,
                response_errors: Vec::new(),
            }),
            now_ms,
        );
        let record = Record { json, fields, event_name: unit.event_name, index: self.records, offset: unit.offset };
        self.decoder.record(&record, &mut self.ledger);
        self.close_record();
    }

    fn invalid(&mut self, unit: &Unit<'_>, bytes: &[u8], error: String, now_ms: u64) {
        self.opaque(unit, ProviderStatus::InvalidJson, bytes, vec![error], now_ms);
    }

    fn done(&mut self, unit: &Unit<'_>, now_ms: u64) {
        self.opaque(unit, ProviderStatus::Done, unit.payload, Vec::new(), now_ms);
    }

    fn opaque(&mut self, unit: &Unit<'_>, status: ProviderStatus, bytes: &[u8], errors: Vec<String>, now_ms: u64) {
        let kept = if unit.oversized.is_some() { bytes.get(..self.preview_bytes).unwrap_or(bytes) } else { bytes };
        self.ledger.begin(
            Box::new(ProviderEvent {
                status,
                event_name: unit.event_name.map(Name::from),
                data: None,
                raw: Some(kept.into()),
                block: block_of(unit),
                sse: is_sse(unit),
                errors,
                response_errors: Vec::new(),
            }),
            now_ms,
        );
        self.decoder.opaque(status == ProviderStatus::Done, &mut self.ledger);
        self.close_record();
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
    (is_sse(unit) && sse_block(unit.event_name, unit.payload) != unit.bytes).then(|| unit.bytes.into())
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

    /// The input is over.
    pub fn finish(&mut self, now_ms: u64, sink: &mut dyn FnMut(&Frame, &mut dyn Iterator<Item = EventRef<'_>>)) {
        let frames = self.ingest.finish(now_ms);
        encode(frames, self.contract, &self.options, &mut self.encoders, &mut self.events, sink);
    }

    /// How many records came so far.
    pub fn records(&self) -> u64 {
        self.ingest.records()
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
