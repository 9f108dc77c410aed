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
use std::rc::Rc;
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
    let rules = Arc::new(Rules::new(Settings::default()).unwrap());
    let redacting = || ingest(runner).redacting(rules.clone());
    let mut stages = vec![
        Stage::new("floor: Value round trip", {
            let mut out = Vec::new();
            move || inputs.iter().map(|input| round_trip(input, &mut out)).sum()
        }),
        Stage::new("decode to frames", || {
            inputs.iter().map(|input| Counts { events: decode(runner, input).len() as u64, bytes_out: 0 }).sum()
        }),
    ];
    // Beside "decode to frames": the difference is redaction's share.
    stages.push(Stage::new("redact and decode to frames", || {
        let decode = |input: &Vec<u8>| decode_with(redacting(), input).len() as u64;
        inputs.iter().map(|input| Counts { events: decode(input), bytes_out: 0 }).sum()
    }));
    for contract in CONTRACTS {
        let schemas = &schemas[contract.name];
        let frames = &frames;
        let checks = !contract.schemas.is_empty();
        let mut out = Vec::new();
        stages.push(Stage::new(format!("encode {}", contract.name), move || {
            frames.iter().map(|frames| encode(frames, contract, None, &mut out)).sum()
        }));
        if checks {
            let mut out = Vec::new();
            stages.push(Stage::new(format!("encode and validate {}", contract.name), move || {
                frames.iter().map(|frames| encode(frames, contract, Some(schemas), &mut out)).sum()
            }));
        }
        // As the server has it: with redaction, and beside it without.
        let mut out = Vec::new();
        stages.push(Stage::new(format!("whole path {}", contract.name), {
            let redacting = &redacting;
            move || {
                let whole = |input: &Vec<u8>| whole(redacting(), input, contract, checks.then_some(schemas), &mut out);
                inputs.iter().map(whole).sum()
            }
        }));
        let mut out = Vec::new();
        stages.push(Stage::new(format!("unredacted path {}", contract.name), move || {
            let whole = |input: &Vec<u8>| whole(ingest(runner), input, contract, checks.then_some(schemas), &mut out);
            inputs.iter().map(whole).sum()
        }));
        if checks {
            // The same events, whole and with one thing wrong: what a breach costs beside a check that finds nothing.
            let events = Rc::new(few_of_each_kind(frames, contract));
            let broken = events.clone();
            stages.push(Stage::new(format!("check {}", contract.name), move || {
                events.iter().map(|event| check(schemas, event, &event.valid, true)).sum()
            }));
            stages.push(Stage::new(format!("check broken {}", contract.name), move || {
                broken.iter().map(|event| check(schemas, event, &event.broken, false)).sum()
            }));
        }
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
    // One short round says nothing of shares.
    for contract in CONTRACTS.iter().filter(|contract| rounds > 1 && !contract.schemas.is_empty()) {
        let of = |stages: &mut Vec<Stage<'_>>, name: &str| {
            let stage = stages.iter_mut().find(|stage| stage.name == format!("{name} {}", contract.name))?;
            Some((stage.median().as_secs_f64(), stage.counts.events.max(1) as f64))
        };
        let encode = of(&mut stages, "encode");
        let (checked, whole) = (of(&mut stages, "encode and validate"), of(&mut stages, "whole path"));
        if let (Some((encode, _)), Some((checked, _)), Some((whole, _))) = (encode, checked, whole) {
            let share = (checked - encode) / whole * 100.0;
            println!("validation is {share:.0} % of the whole path of {}", contract.name);
        }
        if let (Some(valid), Some(broken)) = (of(&mut stages, "check"), of(&mut stages, "check broken")) {
            let (valid, broken) = (valid.0 / valid.1, broken.0 / broken.1);
            println!("a broken event costs {:.1} times a valid one in {}", broken / valid, contract.name);
        }
    }
    println!();
}

/// An event as it is, and with a time that is none.
struct Sample {
    kind: &'static str,
    valid: String,
    broken: String,
}

/// How many events of each type are checked.
const OF_EACH_KIND: usize = 20;

fn few_of_each_kind(frames: &[Vec<Frame>], contract: &'static Contract) -> Vec<Sample> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut samples = Vec::new();
    for frames in frames.iter().take(200) {
        let mut encoders: HashMap<(StreamKind, Uuid), Option<Box<dyn Encoder>>> = HashMap::new();
        let mut events = Events::default();
        for frame in frames {
            let encoder = encoders
                .entry((frame.stream.kind, frame.stream.id))
                .or_insert_with(|| (contract.encoder)(&frame.stream, &EncoderOptions::default()));
            events.clear();
            if let Some(encoder) = encoder {
                encoder.frame(frame, &mut events);
            }
            for event in events.iter() {
                let count = counts.entry(event.kind).or_default();
                *count += 1;
                if *count <= OF_EACH_KIND {
                    let valid = std::str::from_utf8(event.payload).unwrap().to_owned();
                    samples.extend(break_one(event.kind, valid));
                }
            }
        }
    }
    samples
}

/// Spoils the time that every envelope has.
fn break_one(kind: &'static str, valid: String) -> Option<Sample> {
    for (key, wrong) in [
        ("\"timestamp_ms\":", "true,\"_\":"),
        ("\"ts\":\"", "no "),
        ("\"timestamp\":\"", "no "),
        ("\"occurred_at\":\"", "no "),
    ] {
        if let Some(at) = valid.find(key) {
            let mut broken = valid.clone();
            broken.insert_str(at + key.len(), wrong);
            return Some(Sample { kind, valid, broken });
        }
    }
    None
}

fn check(schemas: &Schemas, event: &Sample, text: &str, is_valid: bool) -> Counts {
    assert_eq!(black_box(schemas.check_text(event.kind, text)).is_ok(), is_valid, "{text}");
    Counts { events: 1, bytes_out: 0 }
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

/// What all stages write into, over and over, as a socket's buffer is.
fn written(out: &mut Vec<u8>, before: usize) -> u64 {
    let bytes = (out.len() - before) as u64;
    if out.len() > 1 << 20 {
        black_box(&out);
        out.clear();
    }
    bytes
}

fn round_trip(input: &[u8], out: &mut Vec<u8>) -> Counts {
    let mut counts = Counts::default();
    for line in input.split(|&byte| byte == b'\n') {
        let line = line.strip_prefix(b"data: ").unwrap_or(line);
        if let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) {
            let before = out.len();
            serde_json::to_writer(&mut *out, &value).unwrap();
            out.push(b'\n');
            counts.events += 1;
            counts.bytes_out += written(out, before);
        }
    }
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

fn encode(frames: &[Frame], contract: &'static Contract, schemas: Option<&Schemas>, out: &mut Vec<u8>) -> Counts {
    let mut encoders: HashMap<(StreamKind, Uuid), Option<Box<dyn Encoder>>> = HashMap::new();
    let mut events = Events::default();
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
            write(event, schemas, out, &mut counts);
        }
    }
    counts
}

fn whole(
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
