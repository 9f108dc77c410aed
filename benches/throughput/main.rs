//! Measures the throughput of each stage next to two floors from the same run.
//!
//! The floors are the least that any program must do. The first parses each record to a `serde_json::Value` and writes it back.
//! The second parses it to a struct that borrows from the text, and copies the record's contents as raw text. The stages take
//! turns in rounds, and each stage's figure is the median of its rounds, so that a noisy machine disturbs the figures but
//! hardly the ratios.
//!
//! `cargo bench --bench throughput [-- RUNNER [STAGE]]`. Allocations are counted by `cargo bench -p framegate-translators
//! --bench allocations`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, missing_docs, reason = "a benchmark")]

#[path = "../../translators/benches/stages/mod.rs"]
mod stages;
mod table;
mod violations;

use framegate_translators::contracts::{CONTRACTS, Contract, DEFAULT, SseStyle};
use framegate_translators::encode::{Events, write_ndjson, write_sse};
use framegate_translators::frame::Frame;
use framegate_translators::redact::{Rules, Settings};
use framegate_translators::runners::{RUNNERS, Runner};
use framegate_translators::schema::Schemas;
use stages::{Counts, Encoders, ingest, recordings, written};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use table::{FLOOR, Stage};
use violations::{WAYS, check, few_of_each_kind};

/// The allocator that the program uses.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const ROUNDS: usize = 5;
/// The input of each round, in bytes. The recordings are repeated up to this size.
const INPUT_BYTES: usize = 50 << 20;
/// The part of the input whose events are kept for the stages that only check or write events.
const KEPT_BYTES: usize = 8 << 20;
/// The size of the input for `cargo test --benches`.
const QUICK_BYTES: usize = 1 << 16;

fn main() {
    // `cargo test --benches` runs this too; one short round shows that it works.
    let args: Vec<String> = std::env::args().skip(1).collect();
    let quick = !args.iter().any(|arg| arg == "--bench");
    let mut words = args.iter().filter(|arg| !arg.starts_with('-'));
    let (only, stage) = (words.next(), words.next().map_or("", String::as_str));
    for runner in RUNNERS.iter().filter(|runner| only.is_none_or(|only| runner.name == only)) {
        let inputs = corpus(runner, if quick { QUICK_BYTES } else { INPUT_BYTES });
        measure(runner, &inputs, if quick { 1 } else { ROUNDS }, stage);
    }
}

/// The recordings of a runner, each as a separate input, repeated up to a total size.
fn corpus(runner: &'static Runner, size: usize) -> Vec<Vec<u8>> {
    let recordings = recordings(runner);
    let mut inputs = Vec::new();
    let mut total = 0;
    for (_, recording) in recordings.iter().cycle() {
        total += recording.len().max(1);
        inputs.push(recording.clone());
        if total >= size {
            return inputs;
        }
    }
    inputs
}

fn measure(runner: &'static Runner, inputs: &[Vec<u8>], rounds: usize, only: &str) {
    let bytes = size(inputs);
    let frames: Vec<Vec<Frame>> = inputs.iter().map(|input| stages::decode(ingest(runner), input)).collect();
    let schemas: HashMap<&str, Schemas> =
        CONTRACTS.iter().map(|contract| (contract.name, Schemas::compile(contract.schemas).unwrap())).collect();
    let rules = Arc::new(Rules::new(Settings::default()).unwrap());
    let redacting = || ingest(runner).redacting(rules.clone());
    let mut out = Vec::new();
    let mut typed_out = Vec::new();
    let count = |frames: Vec<Frame>| Counts { events: frames.len() as u64, bytes_out: 0 };
    let mut stages = vec![
        Stage::new(format!("{FLOOR}Value round trip"), bytes, move || {
            inputs.iter().map(|input| stages::round_trip(input, &mut out)).sum()
        }),
        Stage::new(format!("{FLOOR}typed, payloads raw"), bytes, move || {
            inputs.iter().map(|input| stages::typed(input, &mut typed_out)).sum()
        }),
        Stage::new("decode to frames", bytes, || {
            inputs.iter().map(|input| count(stages::decode(ingest(runner), input))).sum()
        }),
        // The difference to the previous stage is the cost of redaction.
        Stage::new("redact and decode to frames", bytes, || {
            inputs.iter().map(|input| count(stages::decode(redacting(), input))).sum()
        }),
    ];
    for contract in CONTRACTS {
        stages_of(contract, &schemas[contract.name], runner, inputs, &frames, &rules, &mut stages);
    }
    stages.retain(|stage| stage.name.starts_with(FLOOR) || stage.name.contains(only));
    table::rounds(&mut stages, rounds);
    println!("{}: {} inputs, {:.1} MB, median of {rounds} rounds", runner.name, inputs.len(), bytes as f64 / 1e6);
    table::print(&stages);
    // A single short round says nothing about shares.
    if rounds > 1 {
        shares(&stages);
    }
    println!();
}

fn size(inputs: &[Vec<u8>]) -> usize {
    inputs.iter().map(Vec::len).sum()
}

fn stages_of<'a>(
    contract: &'static Contract,
    schemas: &'a Schemas,
    runner: &'static Runner,
    inputs: &'a [Vec<u8>],
    frames: &'a [Vec<Frame>],
    rules: &'a Arc<Rules>,
    stages: &mut Vec<Stage<'a>>,
) {
    let (name, bytes) = (contract.name, size(inputs));
    let checks = (!contract.schemas.is_empty()).then_some(schemas);
    let mut out = Vec::new();
    stages.push(Stage::new(format!("encode {name}"), bytes, move || {
        frames.iter().map(|frames| stages::encode(frames, contract, None, &mut out)).sum()
    }));
    if checks.is_some() {
        let mut out = Vec::new();
        stages.push(Stage::new(format!("encode and validate {name}"), bytes, move || {
            frames.iter().map(|frames| stages::encode(frames, contract, checks, &mut out)).sum()
        }));
    }
    // The events of a part of the input, for the stages that need no frames.
    let mut kept_bytes = 0;
    let within = |input: &&Vec<u8>| {
        kept_bytes += input.len();
        kept_bytes <= KEPT_BYTES
    };
    let kept = inputs.iter().take_while(within).count().max(1);
    let kept_bytes = size(&inputs[..kept]);
    let events: Rc<Vec<Events>> = Rc::new(frames[..kept].iter().map(|frames| all_events(frames, contract)).collect());
    if let Some(schemas) = checks {
        let events = events.clone();
        stages.push(Stage::new(format!("validate {name}"), kept_bytes, move || {
            events.iter().map(|events| validate(events, schemas)).sum()
        }));
    }
    let mut out = Vec::new();
    stages.push(Stage::new(format!("write as lines {name}"), kept_bytes, {
        let events = events.clone();
        move || events.iter().map(|events| serialise(events, &mut out, write_ndjson)).sum()
    }));
    let mut out = Vec::new();
    stages.push(Stage::new(format!("write as SSE {name}"), kept_bytes, move || {
        let named = contract.sse == SseStyle::Named;
        events.iter().map(|events| serialise(events, &mut out, |event, out| write_sse(event, named, out))).sum()
    }));
    // The whole path as in the server, with redaction; then without.
    let mut out = Vec::new();
    stages.push(Stage::new(format!("whole path {name}"), bytes, move || {
        let redacting = || ingest(runner).redacting(rules.clone());
        inputs.iter().map(|input| stages::whole(redacting(), input, contract, checks, &mut out)).sum()
    }));
    let mut out = Vec::new();
    stages.push(Stage::new(format!("unredacted path {name}"), bytes, move || {
        inputs.iter().map(|input| stages::whole(ingest(runner), input, contract, checks, &mut out)).sum()
    }));
    if let Some(schemas) = checks {
        // The same events, valid and with one error: the cost of a violation compared with a check that finds nothing.
        for way in WAYS {
            let samples = Rc::new(few_of_each_kind(frames, contract, schemas, way));
            let broken = samples.clone();
            let bytes = samples.iter().map(|sample| sample.valid.len()).sum();
            stages.push(Stage::new(format!("check for {} {name}", way.0), bytes, move || {
                samples.iter().map(|event| check(schemas, event, &event.valid, true)).sum()
            }));
            stages.push(Stage::new(format!("check broken {} {name}", way.0), bytes, move || {
                broken.iter().map(|event| check(schemas, event, &event.broken, false)).sum()
            }));
        }
    }
}

fn all_events(frames: &[Frame], contract: &'static Contract) -> Events {
    let mut encoders = Encoders::new(contract);
    let mut events = Events::default();
    for frame in frames {
        encoders.frame(frame, &mut events);
    }
    events
}

fn validate(events: &Events, schemas: &Schemas) -> Counts {
    let mut counts = Counts::default();
    for event in events.iter() {
        assert!(schemas.check(event).is_ok(), "framegate's own event violates its schema");
        counts.events += 1;
    }
    counts
}

fn serialise(
    events: &Events,
    out: &mut Vec<u8>,
    write: impl Fn(framegate_translators::encode::EventRef<'_>, &mut Vec<u8>),
) -> Counts {
    let mut counts = Counts::default();
    for event in events.iter() {
        let before = out.len();
        write(event, out);
        counts.events += 1;
        counts.bytes_out += written(out, before);
    }
    counts
}

/// Prints the share of validation, the cost of a violation, and the cost of one more contract.
fn shares(stages: &[Stage<'_>]) {
    let of = |what: &str, contract: &str| stages.iter().find(|stage| stage.name == format!("{what} {contract}"));
    let seconds = |what: &str, contract: &str| of(what, contract).map(Stage::seconds_a_megabyte);
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        let name = contract.name;
        let (encode, checked) = (seconds("encode", name), seconds("encode and validate", name));
        if let (Some(encode), Some(checked), Some(whole)) = (encode, checked, seconds("whole path", name)) {
            println!("validation is {:.0} % of the whole path of {name}", (checked - encode) / whole * 100.0);
        }
        for (way, _) in WAYS {
            let of = |what: &str| of(&format!("{what} {way}"), name).filter(|stage| stage.counts.events > 0);
            if let (Some(valid), Some(broken)) = (of("check for"), of("check broken")) {
                let ratio = broken.seconds_an_event() / valid.seconds_an_event();
                println!("a broken event ({way}) costs {ratio:.1} times a valid one in {name}");
            }
        }
        // Compare with the contract that costs least. Compare that one with the default contract.
        let with_schemas =
            CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()).map(|contract| contract.name);
        let costs = |name: &str| seconds("whole path", name).unwrap_or(f64::MAX);
        let least = with_schemas.min_by(|one, two| costs(one).total_cmp(&costs(two))).unwrap_or(DEFAULT.name);
        let first = if name == least { DEFAULT.name } else { least };
        if let (Some(checked), Some(whole)) = (checked, seconds("whole path", first)) {
            println!("{name} for the same frames beside {first} costs {:.2} of the first", checked / whole);
        }
    }
}
