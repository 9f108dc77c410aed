//! The stages that are measured, each on one input, whoever measures them.
//!
//! In: the recordings, or any input. Out: how many events and bytes came of it. Never: a clock; what is measured is the
//! caller's business.

mod floors;

pub(crate) use floors::{round_trip, typed};

use framegate_translators::contracts::Contract;
use framegate_translators::encode::{Encoder, EncoderOptions, EventRef, Events};
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::framing::{Limits, write_ndjson};
use framegate_translators::pipeline::{Ingest, Translator};
use framegate_translators::runners::Runner;
use framegate_translators::schema::Schemas;
use framegate_translators::sequence::Identity;
use std::collections::HashMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The time at which all input comes.
pub(crate) const EPOCH_MS: u64 = 1_770_000_000_000;
/// How much of it comes at a time.
const CHUNK: usize = 64 << 10;

/// What came of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) events: u64,
    pub(crate) bytes_out: u64,
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, more| Self {
            events: sum.events + more.events,
            bytes_out: sum.bytes_out + more.bytes_out,
        })
    }
}

/// The recordings of a runner that are streams, by name, in order.
pub(crate) fn recordings(runner: &Runner) -> Vec<(String, Vec<u8>)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [here.join("tests/fixtures"), here.join("../tests/fixtures")];
    let folder = folders.iter().find(|folder| folder.is_dir()).unwrap().join(runner.name);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ndjson" || extension == "sse"));
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

/// An ingest of a runner's output, as the server has it but for redaction.
pub(crate) fn ingest(runner: &Runner) -> Ingest {
    Ingest::new(runner, None, Limits::default(), Identity { run_id: Uuid::from_u128(1), session_id: None })
}

/// Bytes to frames, which are handed to `sink` as they come.
pub(crate) fn decode_into(mut ingest: Ingest, input: &[u8], sink: &mut dyn FnMut(Frame)) {
    for chunk in input.chunks(CHUNK) {
        ingest.feed(chunk, EPOCH_MS).for_each(&mut *sink);
    }
    ingest.finish(EPOCH_MS).for_each(sink);
}

/// Bytes to frames, which are kept.
pub(crate) fn decode(ingest: Ingest, input: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    decode_into(ingest, input, &mut |frame| frames.push(frame));
    black_box(frames)
}

/// The encoder of each stream.
pub(crate) struct Encoders {
    contract: &'static Contract,
    open: HashMap<(StreamKind, Uuid), Option<Box<dyn Encoder>>>,
}

impl Encoders {
    pub(crate) fn new(contract: &'static Contract) -> Self {
        Self { contract, open: HashMap::new() }
    }

    /// Adds the events of the next frame.
    pub(crate) fn frame(&mut self, frame: &Frame, events: &mut Events) {
        let new = || (self.contract.encoder)(&frame.stream, &EncoderOptions::default());
        if let Some(encoder) = self.open.entry((frame.stream.kind, frame.stream.id)).or_insert_with(new) {
            encoder.frame(frame, events);
        }
    }
}

/// Frames to lines of events, each checked where there are schemas.
pub(crate) fn encode(
    frames: &[Frame],
    contract: &'static Contract,
    schemas: Option<&Schemas>,
    out: &mut Vec<u8>,
) -> Counts {
    let mut encoders = Encoders::new(contract);
    let mut events = Events::default();
    let mut counts = Counts::default();
    for frame in frames {
        events.clear();
        encoders.frame(frame, &mut events);
        for event in events.iter() {
            write(event, schemas, out, &mut counts);
        }
    }
    counts
}

/// The whole way of an input: bytes in, lines of one contract's events out.
pub(crate) fn whole(
    ingest: Ingest,
    input: &[u8],
    contract: &'static Contract,
    schemas: Option<&Schemas>,
    out: &mut Vec<u8>,
) -> Counts {
    let mut translator = Translator::new(ingest, contract, EncoderOptions::default());
    let mut counts = Counts::default();
    let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| {
        for event in events {
            write(event, schemas, out, &mut counts);
        }
    };
    for chunk in input.chunks(CHUNK) {
        translator.feed(chunk, EPOCH_MS, &mut sink);
    }
    translator.finish(EPOCH_MS, &mut sink);
    counts
}

fn write(event: EventRef<'_>, schemas: Option<&Schemas>, out: &mut Vec<u8>, counts: &mut Counts) {
    if let Some(schemas) = schemas {
        assert!(schemas.check(event).is_ok(), "an event of ours breaks its schema");
    }
    let before = out.len();
    write_ndjson(event, out);
    counts.events += 1;
    counts.bytes_out += written(out, before);
}

/// How much was written since `before` into what all stages write into, over and over, as into a socket's buffer.
pub(crate) fn written(out: &mut Vec<u8>, before: usize) -> u64 {
    let bytes = (out.len() - before) as u64;
    if out.len() > 1 << 20 {
        black_box(&out);
        out.clear();
    }
    bytes
}
