//! Helpers for the tests of the translators: recordings, and shortcuts through the pipeline.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code; not every test uses all"
)]

pub mod facts;

use framegate_translators::contracts::{CONTRACTS, Contract};
use framegate_translators::encode::{EncoderOptions, write_ndjson, write_raw};
use framegate_translators::frame::{Body, Frame, ProviderStatus, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::{Ingest, Translator};
use framegate_translators::runners::{RUNNERS, Runner};
use framegate_translators::schema::Schemas;
use framegate_translators::sequence::Identity;
use framegate_translators::verify::{Checker, Located, Severity};
use serde_json::json;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::LazyLock;
use uuid::Uuid;

pub const EPOCH_MS: u64 = 1_770_000_000_000;

/// One recording.
pub struct Recording {
    pub runner: &'static Runner,
    pub name: String,
    pub bytes: Vec<u8>,
}

pub fn fixtures_dir(runner: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(runner)
}

/// The recordings of a runner, sorted by name.
pub fn recordings_of(runner: &'static Runner) -> Vec<Recording> {
    let mut names: Vec<_> = std::fs::read_dir(fixtures_dir(runner.name))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name != "MANIFEST.json")
        .collect();
    names.sort();
    assert!(!names.is_empty(), "{} has recordings", runner.name);
    names
        .into_iter()
        .map(|name| Recording { runner, bytes: std::fs::read(fixtures_dir(runner.name).join(&name)).unwrap(), name })
        .collect()
}

/// The recordings of every registered runner.
pub fn recordings() -> impl Iterator<Item = Recording> {
    RUNNERS.iter().flat_map(recordings_of)
}

/// What a runner's `MANIFEST.json` expects of its recordings; null if it expects nothing special.
pub fn expected(runner: &Runner) -> &'static serde_json::Value {
    static ALL: LazyLock<HashMap<&'static str, serde_json::Value>> = LazyLock::new(|| {
        let of = |runner: &Runner| -> serde_json::Value {
            let Ok(text) = std::fs::read(fixtures_dir(runner.name).join("MANIFEST.json")) else { return json!(null) };
            serde_json::from_slice::<serde_json::Value>(&text).unwrap()["expected"].take()
        };
        RUNNERS.iter().map(|runner| (runner.name, of(runner))).collect()
    });
    &ALL[runner.name]
}

pub fn identity() -> Identity {
    Identity { run_id: Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0001), session_id: None }
}

pub fn ingest(runner: &'static Runner, limits: Limits) -> Ingest {
    Ingest::new(runner, None, limits, identity())
}

/// The frames of an input that arrives in these chunks.
pub fn frames_of_chunks<'c>(runner: &'static Runner, chunks: impl IntoIterator<Item = &'c [u8]>) -> Vec<Frame> {
    let mut ingest = ingest(runner, Limits::default());
    let mut frames = Vec::new();
    for chunk in chunks {
        frames.extend(ingest.feed(chunk, EPOCH_MS));
    }
    frames.extend(ingest.finish(EPOCH_MS));
    frames
}

/// The frames of an input.
pub fn frames(runner: &'static Runner, bytes: &[u8]) -> Vec<Frame> {
    frames_of_chunks(runner, [bytes])
}

/// The events of an input that arrives in these chunks, one on each line.
pub fn translate_chunks<'c>(
    runner: &'static Runner,
    contract: &'static Contract,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> Vec<u8> {
    translate_of(ingest(runner, Limits::default()), contract, chunks)
}

/// The events of an input that this ingest reads.
pub fn translate_of<'c>(
    ingest: Ingest,
    contract: &'static Contract,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> Vec<u8> {
    let mut translator = Translator::new(ingest, contract, EncoderOptions::default());
    let mut out = Vec::new();
    let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = framegate_translators::encode::EventRef<'_>>| {
        for event in events {
            if contract.name == framegate_translators::contracts::RECORDS.name {
                write_raw(event, &mut out)
            } else {
                write_ndjson(event, &mut out)
            }
        }
    };
    for chunk in chunks {
        translator.feed(chunk, EPOCH_MS, &mut sink);
    }
    translator.finish(EPOCH_MS, &mut sink);
    out
}

/// The events of an input, one on each line.
pub fn translate(runner: &'static Runner, contract: &'static Contract, bytes: &[u8]) -> Vec<u8> {
    translate_chunks(runner, contract, [bytes])
}

/// The events of an input, parsed.
pub fn events(runner: &'static Runner, contract: &'static Contract, bytes: &[u8]) -> Vec<serde_json::Value> {
    translate(runner, contract, bytes)
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// Gives an event another type.
pub fn set_kind(type_key: &str, event: &mut serde_json::Value, kind: &str) {
    let pointer = framegate_translators::event_kind::kind_pointer(type_key, event);
    *event.pointer_mut(&pointer).unwrap() = kind.into();
}

/// The compiled schemas of a contract.
pub fn schemas(contract: &'static Contract) -> &'static Schemas {
    static ALL: LazyLock<HashMap<&'static str, Schemas>> = LazyLock::new(|| {
        CONTRACTS.iter().map(|contract| (contract.name, Schemas::compile(contract.schemas).unwrap())).collect()
    });
    &ALL[contract.name]
}

/// The contracts whose events are framegate's own JSON.
pub fn json_contracts() -> impl Iterator<Item = &'static Contract> {
    CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty())
}

/// The errors that the checker finds in events, one event on each line. Warnings are left out.
pub fn errors_in(contract: &'static Contract, ndjson: &[u8]) -> Vec<Located> {
    let mut checker = Checker::new(contract, schemas(contract));
    let mut found = Vec::new();
    let mut sink = |located: Located| {
        if located.finding.severity == Severity::Error {
            found.push(located);
        }
    };
    for line in ndjson.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        checker.event(line, &mut sink);
    }
    checker.end(&mut sink);
    found
}

/// Fails unless the events have no errors.
pub fn assert_clean(contract: &'static Contract, ndjson: &[u8], what: &str) {
    let errors = errors_in(contract, ndjson);
    assert!(
        errors.is_empty(),
        "{what} in {}: {:#?}\n{}",
        contract.name,
        &errors[..errors.len().min(3)],
        errors
            .first()
            .and_then(|error| ndjson.split(|&byte| byte == b'\n').nth((error.record as usize).saturating_sub(1)))
            .map(|line| String::from_utf8_lossy(&line[..line.len().min(600)]).into_owned())
            .unwrap_or_default()
    );
}

/// The lines without blank ones, with any line ends.
pub fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes
        .split(|&byte| byte == b'\n' || byte == b'\r')
        .filter(|line| !line.iter().all(u8::is_ascii_whitespace))
        .map(<[u8]>::to_vec)
        .collect()
}

/// The properties of the frames of any input.
pub fn well_formed(frames: &[Frame], what: &str) {
    struct StreamProgress {
        next: u64,
        last_ms: u64,
        ended: bool,
    }
    let mut streams: HashMap<_, StreamProgress> = HashMap::new();
    for frame in frames {
        let key = (frame.stream.kind, frame.stream.id);
        let first = !streams.contains_key(&key);
        let seen = streams.entry(key).or_insert(StreamProgress { next: 0, last_ms: 0, ended: false });
        assert_eq!(frame.seq, seen.next, "{what}: sequence");
        assert!(frame.timestamp_ms >= seen.last_ms, "{what}: time runs backwards");
        assert!(!seen.ended, "{what}: {} after the end", frame.body.kind());
        if frame.stream.kind == StreamKind::Session {
            assert_eq!(first, matches!(frame.body, Body::SessionStarted { .. }), "{what}: start");
        } else {
            assert!(!matches!(frame.body, Body::SessionStarted { .. } | Body::SessionEnded(_)), "{what}: no run");
        }
        seen.next += 1;
        seen.last_ms = frame.timestamp_ms;
        seen.ended = matches!(frame.body, Body::SessionEnded(_));
        if let Body::ProviderEvent(record) = &frame.body {
            // Comments after the last event are neither an event nor an error.
            let is_rest = record.data.is_none() && record.errors.is_empty() && record.status == ProviderStatus::Event;
            assert_eq!(
                record.status != ProviderStatus::Event || is_rest,
                record.data.is_none()
                    && record.raw.is_some()
                    && !record.errors.iter().any(|error| error.starts_with("not a JSON object")),
                "{what}: {record:?}"
            );
        }
    }
    for ((kind, id), seen) in streams {
        assert!(seen.ended || kind != StreamKind::Session, "{what}: run {id} has no end");
    }
}
