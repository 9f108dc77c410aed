//! How fast each stage is, beside a floor measured in the same run.
//!
//! The floor is what the simplest possible program would do: parse each record to a `serde_json::Value` and write it back.
//! Rounds of all stages take turns and each stage's figure is the median of its rounds, so that a noisy machine disturbs
//! the figures but hardly the ratios.
//!
//! `cargo bench --bench throughput [-- RUNNER [STAGE]]`

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, missing_docs, reason = "a benchmark")]

use framegate_translators::contracts::{CONTRACTS, Contract};
use framegate_translators::encode::{Encoder, EncoderOptions, EventRef, Events};
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::framing::{Limits, write_ndjson};
use framegate_translators::pipeline::{Ingest, Translator};
use framegate_translators::redact::{Rules, Settings};
use framegate_translators::runners::{RUNNERS, Runner};
use framegate_translators::schema::Schemas;
use framegate_translators::sequence::Identity;
use std::collections::HashMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

const EPOCH_MS: u64 = 1_770_000_000_000;
const ROUNDS: usize = 9;
/// Bytes of input for each round; the corpora are repeated up to it.
const INPUT_BYTES: usize = 24 << 20;
const CHUNK: usize = 64 << 10;

fn main() {
    // `cargo test --benches` runs this too: one short round shows that it works.
    let args: Vec<String> = std::env::args().skip(1).collect();
    let quick = !args.iter().any(|arg| arg == "--bench");
    let mut words = args.iter().filter(|arg| !arg.starts_with('-'));
    let (only, stage) = (words.next(), words.next().map_or("", String::as_str));
    for runner in RUNNERS.iter().filter(|runner| only.is_none_or(|only| runner.name == only)) {
        let inputs = corpus(runner, if quick { 1 << 16 } else { INPUT_BYTES });
        measure(runner, &inputs, if quick { 1 } else { ROUNDS }, stage);
    }
}

/// The recordings of a runner, each an input of its own, repeated up to a size.
fn corpus(runner: &Runner, size: usize) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner.name);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let recordings: Vec<Vec<u8>> = paths
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "ndjson" || extension == "sse"))
        .map(|path| std::fs::read(path).unwrap())
        .collect();
    let mut inputs = Vec::new();
    let mut total = 0;
    for recording in recordings.iter().cycle() {
        total += recording.len().max(1);
        inputs.push(recording.clone());
        if total >= size {
            return inputs;
        }
    }
    inputs
}

struct Stage<'a> {
    name: String,
    run: Box<dyn FnMut() -> Counts + 'a>,
    times: Vec<Duration>,
    counts: Counts,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    events: u64,
    bytes_out: u64,
}

fn measure(runner: &'static Runner, inputs: &[Vec<u8>], rounds: usize, only: &str) {
    let bytes: usize = inputs.iter().map(Vec::len).sum();
    let frames: Vec<Vec<Frame>> = inputs.iter().map(|input| decode(runner, input)).collect();
    let schemas: HashMap<&str, Schemas> =
        CONTRACTS.iter().map(|contract| (contract.name, Schemas::compile(contract.schemas).unwrap())).collect();
    let mut stages = vec![
        Stage::new("floor: Value round trip", || inputs.iter().map(|input| round_trip(input)).sum()),
        Stage::new("decode to frames", || {
            inputs.iter().map(|input| Counts { events: decode(runner, input).len() as u64, bytes_out: 0 }).sum()
        }),
    ];
    // Beside "decode to frames": the difference is redaction's share.
    let rules = Arc::new(Rules::new(Settings::default()).unwrap());
    stages.push(Stage::new("redact and decode to frames", move || {
        let decode = |input: &Vec<u8>| decode_with(ingest(runner).redacting(rules.clone()), input).len() as u64;
        inputs.iter().map(|input| Counts { events: decode(input), bytes_out: 0 }).sum()
    }));
    for contract in CONTRACTS {
        let schemas = &schemas[contract.name];
        let frames = &frames;
        let checks = !contract.schemas.is_empty();
        stages.push(Stage::new(format!("encode {}", contract.name), move || {
            frames.iter().map(|frames| encode(frames, contract, None)).sum()
        }));
        if checks {
            stages.push(Stage::new(format!("encode and validate {}", contract.name), move || {
                frames.iter().map(|frames| encode(frames, contract, Some(schemas))).sum()
            }));
        }
        stages.push(Stage::new(format!("whole path {}", contract.name), move || {
            inputs.iter().map(|input| whole(runner, input, contract, checks.then_some(schemas))).sum()
        }));
    }
    stages.retain(|stage| stage.name.starts_with("floor") || stage.name.contains(only));
    for _ in 0..rounds {
        for stage in &mut stages {
            let start = Instant::now();
            stage.counts = (stage.run)();
            stage.times.push(start.elapsed());
        }
    }
    println!("{}: {} inputs, {:.1} MB, median of {rounds} rounds", runner.name, inputs.len(), bytes as f64 / 1e6);
    println!("{:38} {:>8} {:>9} {:>11} {:>9} {:>7}", "", "MB/s", "of floor", "events/s", "ns/event", "out/in");
    let floor = stages[0].median();
    for stage in &mut stages {
        let time = stage.median();
        let (events, seconds) = (stage.counts.events as f64, time.as_secs_f64());
        println!(
            "{:38} {:>8.1} {:>9.2} {:>11.0} {:>9.0} {:>7.2}",
            stage.name,
            bytes as f64 / 1e6 / seconds,
            floor.as_secs_f64() / seconds,
            events / seconds,
            seconds * 1e9 / events.max(1.0),
            stage.counts.bytes_out as f64 / bytes as f64,
        );
    }
    println!();
}

impl<'a> Stage<'a> {
    fn new(name: impl Into<String>, run: impl FnMut() -> Counts + 'a) -> Self {
        Self { name: name.into(), run: Box::new(run), times: Vec::new(), counts: Counts::default() }
    }

    fn median(&mut self) -> Duration {
        self.times.sort_unstable();
        self.times[self.times.len() / 2]
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, more| Self {
            events: sum.events + more.events,
            bytes_out: sum.bytes_out + more.bytes_out,
        })
    }
}

fn round_trip(input: &[u8]) -> Counts {
    let mut out = Vec::with_capacity(input.len());
    let mut counts = Counts::default();
    for line in input.split(|&byte| byte == b'\n') {
        let line = line.strip_prefix(b"data: ").unwrap_or(line);
        if let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) {
            serde_json::to_writer(&mut out, &value).unwrap();
            out.push(b'\n');
            counts.events += 1;
        }
    }
    counts.bytes_out = black_box(out).len() as u64;
    counts
}

fn ingest(runner: &Runner) -> Ingest {
    Ingest::new(runner, None, Limits::default(), Identity { run_id: Uuid::from_u128(1), session_id: None })
}

fn decode(runner: &Runner, input: &[u8]) -> Vec<Frame> {
    decode_with(ingest(runner), input)
}

fn decode_with(mut ingest: Ingest, input: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    for chunk in input.chunks(CHUNK) {
        frames.extend(ingest.feed(chunk, EPOCH_MS));
    }
    frames.extend(ingest.finish(EPOCH_MS));
    black_box(frames)
}

fn encode(frames: &[Frame], contract: &'static Contract, schemas: Option<&Schemas>) -> Counts {
    let mut encoders: HashMap<(StreamKind, Uuid), Option<Box<dyn Encoder>>> = HashMap::new();
    let mut events = Events::default();
    let mut out = Vec::with_capacity(1 << 16);
    let mut counts = Counts::default();
    for frame in frames {
        let encoder = encoders
            .entry((frame.stream.kind, frame.stream.id))
            .or_insert_with(|| (contract.encoder)(&frame.stream, &EncoderOptions::default()));
        events.clear();
        if let Some(encoder) = encoder {
            encoder.frame(frame, &mut events);
        }
        for event in events.iter() {
            write(event, schemas, &mut out, &mut counts);
        }
    }
    black_box(out);
    counts
}

fn whole(runner: &Runner, input: &[u8], contract: &'static Contract, schemas: Option<&Schemas>) -> Counts {
    let mut translator = Translator::new(ingest(runner), contract, EncoderOptions::default());
    let mut out = Vec::with_capacity(1 << 16);
    let mut counts = Counts::default();
    let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| {
        for event in events {
            write(event, schemas, &mut out, &mut counts);
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
    if out.len() > 1 << 20 {
        out.clear();
    }
    let before = out.len();
    write_ndjson(event, out);
    counts.events += 1;
    counts.bytes_out += (out.len() - before) as u64;
}
