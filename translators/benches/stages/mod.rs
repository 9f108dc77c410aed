//! The measured stages, each run on one input, for every kind of benchmark.
//!
//! Input: the recordings, or any bytes. Output: the number of events and bytes produced. Never: a clock; the caller decides
//! what to measure.

mod floors;

pub(crate) use floors::{round_trip, typed};

use framegate_translators::contracts::Contract;
use framegate_translators::encode::{Encoder, EncoderOptions, EventRef, Events, write_ndjson};
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::{Ingest, Translator};
use framegate_translators::runners::Runner;
use framegate_translators::schema::Schemas;
use framegate_translators::sequence::Identity;
use std::collections::HashMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The arrival time of all input.
pub(crate) const EPOCH_MS: u64 = 1_770_000_000_000;
/// The size of a chunk of input.
const CHUNK: usize = 64 << 10;

/// The output of a stage.
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

/// The recordings of a runner that are streams (by their extension), with their names, sorted.
pub(crate) fn recordings(runner: &'static Runner) -> Vec<(String, Vec<u8>)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [here.join("tests/fixtures"), here.join("../tests/fixtures")];
    let folder = folders.iter().find(|folder| folder.is_dir()).unwrap().join(runner.name);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| {
        path.extension().is_some_and(|extension| ["jsonl", "ndjson", "sse"].iter().any(|of| extension == *of))
    });
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

/// An ingest of a runner's output, configured as in the server but without redaction.
pub(crate) fn ingest(runner: &'static Runner) -> Ingest {
    Ingest::new(runner, None, Limits::default(), Identity { run_id: Uuid::from_u128(1), session_id: None })
}

/// Decodes bytes to frames, and passes each to `sink`.
pub(crate) fn decode_into(mut ingest: Ingest, input: &[u8], sink: &mut dyn FnMut(Frame)) {
    for chunk in input.chunks(CHUNK) {
        ingest.feed(chunk, EPOCH_MS).for_each(&mut *sink);
    }
    ingest.finish(EPOCH_MS).for_each(sink);
}

/// Decodes bytes to frames, and collects them.
pub(crate) fn decode(ingest: Ingest, input: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    decode_into(ingest, input, &mut |frame| frames.push(frame));
    black_box(frames)
}

/// The encoders of all streams.
pub(crate) struct Encoders {
    contract: &'static Contract,
    open: HashMap<(StreamKind, Uuid), Option<Box<dyn Encoder>>>,
}

impl Encoders {
    pub(crate) fn new(contract: &'static Contract) -> Self {
        Self { contract, open: HashMap::new() }
    }

    /// Appends the events of the next frame.
    pub(crate) fn frame(&mut self, frame: &Frame, events: &mut Events) {
        let new = || (self.contract.encoder)(&frame.stream, &EncoderOptions::default());
        if let Some(encoder) = self.open.entry((frame.stream.kind, frame.stream.id)).or_insert_with(new) {
            encoder.frame(frame, events);
        }
    }
}

/// Encodes frames to lines of events. Each event is checked if there are schemas.
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

/// The whole path of an input: from bytes to lines of one contract's events.
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
        assert!(schemas.check(event).is_ok(), "framegate's own event violates its schema");
    }
    let before = out.len();
    write_ndjson(event, out);
    counts.events += 1;
    counts.bytes_out += written(out, before);
}

/// The bytes written since `before`. The buffer is cleared when it gets large, as a socket's buffer is reused.
pub(crate) fn written(out: &mut Vec<u8>, before: usize) -> u64 {
    let bytes = (out.len() - before) as u64;
    if out.len() > 1 << 20 {
        black_box(&out);
        out.clear();
    }
    bytes
}
