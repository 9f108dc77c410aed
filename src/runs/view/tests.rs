//! What readers of one stream get, wherever they are.

use super::*;
use crate::config::GateMode;
use crate::gate::Gate;
use crate::log::MemoryLog;
use crate::runs::Runs;
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::schema::{SchemaFile, Schemas};
use framegate_translators::sequence::Identity;
use uuid::Uuid;

const ASK: Ask = Ask { from: 0, frames: u64::MAX, wire: Wire::Ndjson, max_bytes: usize::MAX, max_events: 1_000_000 };

/// The frames of a run with a tool call and text, and the run.
fn run() -> (Vec<Arc<Frame>>, Uuid) {
    let input = include_bytes!("../../../tests/fixtures/claude-code/bash_ok.partial.ndjson");
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

async fn all(runs: &Runs, reader: &mut Reader) -> Vec<u8> {
    reader.read(runs, ASK).await.unwrap().chunks.concat()
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
                let reader = reader.get_or_insert_with(|| runs.reader(&entry, contract, &options).unwrap());
                let read = reader.read(&runs, Ask { from: next, ..ASK }).await.unwrap();
                next = read.next;
                live.extend(read.chunks.concat());
            }
            drop(reader);
            let entry = runs.find((StreamKind::Session, run)).unwrap();
            let mut again = runs.reader(&entry, contract, &options).unwrap();
            assert_eq!(all(&runs, &mut again).await, live, "{}", contract.name);
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
    let mut reader = runs.reader(&entry, contract, &EncoderOptions::default()).unwrap();
    assert!(!all(&runs, &mut reader).await.is_empty());
    assert!(entry.status().events_checked.is_empty());
}

/// The records of a run that says `deltas` pieces of text, some tool calls among them.
fn long(deltas: usize) -> Vec<u8> {
    let mut out = String::from(
        "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"5d3c1a6e-0d0e-4d47-9d0c-111111111111\",\"model\":\"m\",\"tools\":[]}\n",
    );
    let event = |event: String| {
        format!(
            "{{\"type\":\"stream_event\",\"session_id\":\"5d3c1a6e-0d0e-4d47-9d0c-111111111111\",\"event\":{event}}}\n"
        )
    };
    for message in 0..deltas.div_ceil(50) {
        out += &event(format!(
            "{{\"type\":\"message_start\",\"message\":{{\"id\":\"m{message}\",\"role\":\"assistant\"}}}}"
        ));
        out += &event(
            "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}".into(),
        );
        for delta in 0..50 {
            let text = format!("{{\"type\":\"text_delta\",\"text\":\"{message}.{delta} \"}}");
            out += &event(format!("{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{text}}}"));
        }
        out += &event("{\"type\":\"content_block_stop\",\"index\":0}".into());
        out += &event("{\"type\":\"message_stop\"}".into());
    }
    out += "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"x\",\"session_id\":\"5d3c1a6e-0d0e-4d47-9d0c-111111111111\"}\n";
    out.into_bytes()
}

fn frames_of(input: &[u8]) -> Vec<Arc<Frame>> {
    let runner = framegate_translators::runners::runner("claude-code").unwrap();
    let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
    let mut ingest = Ingest::new(runner, None, Limits::default(), identity);
    let mut frames: Vec<Arc<Frame>> = ingest.feed(input, 0).map(Arc::new).collect();
    frames.extend(ingest.finish(0).map(Arc::new));
    frames
}

/// Everything from a number on, in small bites.
async fn bites(runs: &Runs, reader: &mut Reader, from: u64) -> Vec<u8> {
    let (mut out, mut next) = (Vec::new(), from);
    loop {
        let batch = reader.read(runs, Ask { from: next, max_bytes: 3_000, max_events: 40, ..ASK }).await.unwrap();
        if batch.next == next {
            return out;
        }
        next = batch.next;
        out.extend(batch.chunks.concat());
    }
}

#[tokio::test]
async fn readers_far_apart_get_the_same_events_and_one_that_resumes_gets_the_rest() {
    let frames = frames_of(&long(6_000));
    for contract in CONTRACTS {
        let runs = Runs::new(Arc::new(MemoryLog::new(1 << 30, 100)), Gate::new(GateMode::Warn).unwrap());
        // Hardly anything is kept for readers that are behind.
        let runs = runs.with_view_bytes(1);
        runs.append(&frames).await.unwrap();
        let entry = runs.find((StreamKind::Session, Uuid::from_u128(1))).unwrap();
        let reader = || runs.reader(&entry, contract, &EncoderOptions::default()).unwrap();
        // What they must get, from an encoder that nobody forked.
        let mut encoder = (contract.encoder)(&entry.stream, &EncoderOptions::default()).unwrap();
        let (mut lines, mut ids) = (Vec::new(), Vec::new());
        for frame in &frames {
            let mut events = framegate_translators::encode::Events::default();
            encoder.frame(frame, &mut events);
            for event in events.iter() {
                lines.push([event.payload, b"\n"].concat());
                ids.push(event.id.clone());
            }
        }
        let rest = |from: usize| lines[from..].concat();
        let mut first = reader();
        assert_eq!(bites(&runs, &mut first, 0).await, rest(0), "{}", contract.name);
        // The window is at the end now: this one goes by itself, also while the other reads.
        let (mut late, mut later) = (reader(), reader());
        assert_eq!(bites(&runs, &mut late, 0).await, rest(0), "{}", contract.name);
        for at in (0..lines.len()).step_by(lines.len() / 23).chain([lines.len() - 1]) {
            assert_eq!(bites(&runs, &mut later, at as u64).await, rest(at), "{} from {at}", contract.name);
            if ids[at] == EventId::None {
                continue;
            }
            let mut resumed = reader();
            let next = resumed.after(&runs, &ids[at]).await.unwrap().unwrap();
            let expected = if contract.name == "pixir.v1" { next as usize } else { at + 1 };
            assert_eq!(next as usize, expected, "{} after {:?}", contract.name, ids[at]);
            assert!(ids[at + 1..next as usize].iter().all(|id| *id == EventId::None));
            assert_eq!(bites(&runs, &mut resumed, next).await, rest(next as usize), "{} after {at}", contract.name);
        }
        let mut lost = reader();
        let beyond = lost.after(&runs, &EventId::Number(u64::MAX)).await.unwrap();
        let unknown = lost.after(&runs, &EventId::Text("of another run".into())).await.unwrap();
        match ids.iter().find(|id| **id != EventId::None) {
            Some(EventId::Text(_)) => assert_eq!(unknown, None),
            _ => {
                let last = ids.iter().rposition(|id| *id != EventId::None).unwrap();
                assert_eq!(beyond, Some(last as u64 + 1), "{}", contract.name);
            }
        }
    }
}

#[tokio::test]
async fn a_reader_that_resumes_near_the_end_does_not_encode_the_whole_stream_again() {
    let frames = frames_of(&long(6_000));
    for contract in CONTRACTS {
        let log = Arc::new(MemoryLog::new(1 << 30, 100));
        let runs = Runs::new(log, Gate::new(GateMode::Off).unwrap()).with_view_bytes(1);
        runs.append(&frames).await.unwrap();
        let entry = runs.find((StreamKind::Session, Uuid::from_u128(1))).unwrap();
        let reader = || runs.reader(&entry, contract, &EncoderOptions::default()).unwrap();
        let end = {
            let mut reader = reader();
            bites(&runs, &mut reader, 0).await;
            reader.read(&runs, Ask { max_events: usize::MAX, ..ASK }).await.unwrap().next
        };
        // Its readers are gone, and its events with them. The marks are not.
        let view = reader().view;
        let mark = view.marks.with(|marks| marks.before_event(end - 10)).unwrap();
        assert!(frames.len() as u64 - mark.frame < 2_000, "{}: {} of {}", contract.name, mark.frame, frames.len());
    }
}
