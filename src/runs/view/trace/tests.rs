//! Traces of gated, long and pruned streams.

use super::super::tests::{frames_of, long};
use super::super::{Ask, Wire};
use super::*;
use crate::config::GateMode;
use crate::gate::Gate as LiveGate;
use crate::log::{Checkpoint, FrameLog, Gone, MemoryLog, Order, Place, StreamId, Summary};
use crate::runs::Entry;
use async_trait::async_trait;
use framegate_translators::contracts::{CONTRACTS, contract};
use framegate_translators::schema::{SchemaFile, Schemas};
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

const ASK: Ask<'static> =
    Ask { from: 0, frames: u64::MAX, wire: Wire::Ndjson, max_bytes: usize::MAX, max_events: 1_000_000, types: None };

/// A log that counts the frames that it is read for.
struct Counting(MemoryLog, AtomicU64);

#[async_trait]
impl FrameLog for Counting {
    async fn append(&self, frames: &[Arc<Frame>], summaries: Vec<Summary>) -> Result<Place, LogError> {
        self.0.append(frames, summaries).await
    }

    fn order(&self) -> Order {
        self.0.order()
    }

    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        let frames = self.0.read(stream, from, max).await?;
        self.1.fetch_add(frames.len() as u64, Ordering::Relaxed);
        Ok(frames)
    }

    async fn prune(&self, stream: StreamId, gone: Gone, checkpoints: Vec<Checkpoint>) -> Result<(), LogError> {
        self.0.prune(stream, gone, checkpoints).await
    }

    async fn first_within(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError> {
        self.0.first_within(stream, max_bytes).await
    }

    async fn drop_stream(&self, stream: StreamId) -> Result<(), LogError> {
        self.0.drop_stream(stream).await
    }

    async fn take_dropped(&self) -> Vec<StreamId> {
        self.0.take_dropped().await
    }
}

async fn kept(frames: &[Arc<Frame>], gate: LiveGate) -> (Arc<Counting>, Runs, Arc<Entry>) {
    let log = Arc::new(Counting(MemoryLog::new(1 << 30, 100), AtomicU64::new(0)));
    let runs = Runs::new(log.clone(), gate);
    runs.append(frames).await.unwrap();
    let entry = runs.find((StreamKind::Session, Uuid::from_u128(1))).unwrap();
    (log, runs, entry)
}

/// The events of a reader as lines.
async fn events(runs: &Runs, entry: &Arc<Entry>, contract: &'static Contract) -> String {
    let mut reader = runs.reader(entry, contract, &EncoderOptions::default()).unwrap();
    let (mut lines, mut from) = (Vec::new(), 0);
    loop {
        // The announcement of a gap comes alone.
        let batch = reader.read(runs, Ask { from, ..ASK }).await.unwrap();
        if batch.next <= from {
            return String::from_utf8(lines).unwrap();
        }
        lines.extend(batch.chunks.concat());
        from = batch.next;
    }
}

async fn page(runs: &Runs, entry: &Arc<Entry>, contract: &'static Contract, from: u64, frames: usize) -> Trace {
    let mut reader = runs.reader(entry, contract, &EncoderOptions::default()).unwrap();
    reader.trace(runs, TraceAsk { from, max_frames: frames, max_bytes: usize::MAX }).await.unwrap()
}

/// All pages, each of at most `frames` frames.
async fn pages(runs: &Runs, entry: &Arc<Entry>, contract: &'static Contract, frames: usize) -> Vec<Traced> {
    let (mut items, mut from) = (Vec::<Traced>::new(), 0);
    loop {
        let page = page(runs, entry, contract, from, frames).await;
        assert!(page.items.len() <= frames);
        items.extend(page.items);
        from = items.last().map_or(0, |item| item.seq + 1);
        if !page.has_more {
            return items;
        }
    }
}

fn lines(items: &[Traced]) -> String {
    items.iter().flat_map(|item| &item.events).map(|event| format!("{}\n", event.event.get())).collect()
}

#[tokio::test]
async fn a_trace_shows_what_the_gate_lets_through_and_why_it_withheld_the_rest() {
    let frames = frames_of(include_bytes!("../../../../tests/fixtures/claude-code/bash_ok.partial.ndjson"));
    let text = r#"{"required":["what no event has"]}"#;
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        for mode in [GateMode::Warn, GateMode::Enforce] {
            let files: Vec<SchemaFile> = contract.schemas.iter().map(|file| SchemaFile::new(file.kind, text)).collect();
            let schemas = Schemas::compile_with(&files, &[]).unwrap();
            let (_, runs, entry) = kept(&frames, LiveGate::with_schemas(mode, contract, schemas)).await;
            let items = pages(&runs, &entry, contract, 7).await;
            assert_eq!(lines(&items), events(&runs, &entry, contract).await, "{} {mode:?}", contract.name);
            let traced: Vec<&TracedEvent> = items.iter().flat_map(|item| &item.events).collect();
            let withheld = mode == GateMode::Enforce;
            assert!(traced.iter().all(|event| event.withheld == withheld && event.withheld_type.is_some() == withheld));
            let is_schema = |broken: &Broken| broken.rule == "schema" && broken.message.contains("what no event has");
            assert!(traced.iter().all(|event| event.violations.iter().any(is_schema)), "{}", contract.name);
            let shown = String::from_utf8(serde_json::to_vec(&items).unwrap()).unwrap();
            assert_eq!(shown.contains("event withheld"), withheld, "{}", contract.name);
        }
    }
}

#[tokio::test]
async fn any_page_of_a_long_stream_is_what_it_is_in_the_whole_trace_and_costs_no_more_than_a_bound() {
    let frames = frames_of(&long(4_000));
    let end = frames.len() as u64;
    assert!(end > 8_000, "{end}");
    for contract in CONTRACTS {
        let name = contract.name;
        let (log, runs, entry) = kept(&frames, LiveGate::new(GateMode::Warn).unwrap()).await;
        let whole = pages(&runs, &entry, contract, 500).await;
        assert_eq!(whole.len() as u64, end);
        assert_eq!(lines(&whole), events(&runs, &entry, contract).await, "{name}");
        let text = |items: &[Traced]| serde_json::to_string(items).unwrap();
        for from in (0..end).step_by(613).chain([end - 1]) {
            let before = log.1.load(Ordering::Relaxed);
            let page = page(&runs, &entry, contract, from, 20).await;
            let read = log.1.load(Ordering::Relaxed) - before;
            let start = usize::try_from(from).unwrap();
            assert_eq!(text(&page.items), text(&whole[start..whole.len().min(start + 20)]), "{name} {from}");
            assert_eq!(page.has_more, from + 20 < end);
            assert!(read <= 2048 + 1024 + 2 * AT_ONCE as u64, "{name} {from}: {read} frames were read");
        }
        let behind = page(&runs, &entry, contract, end + 5, 20).await;
        assert!(behind.items.is_empty() && !behind.has_more);
    }
}

#[tokio::test]
async fn a_record_has_the_number_that_it_has_in_raw() {
    let frames = frames_of(&long(300));
    let (_, runs, entry) = kept(&frames, LiveGate::new(GateMode::Off).unwrap()).await;
    let numbered = NUMBERED_RECORDS;
    let mut records = 0;
    for items in [pages(&runs, &entry, numbered, 50).await, pages(&runs, &entry, numbered, 500).await] {
        records = 0;
        for (item, frame) in items.iter().zip(&frames) {
            let is_record = matches!(frame.body, Body::ProviderEvent(_));
            let expected = if is_record { Some(records) } else { u64::checked_sub(records, 1) };
            // The first frame is made from the first record.
            assert_eq!(item.record, expected.or(Some(0)), "frame {}", item.seq);
            assert_eq!(item.events.len(), usize::from(is_record));
            records += u64::from(is_record);
        }
    }
    assert!(records > 300);
}

#[tokio::test]
async fn a_pruned_front_is_announced_as_the_contract_does_it() {
    let frames = frames_of(&long(400));
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        let (_, runs, entry) = kept(&frames, LiveGate::new(GateMode::Warn).unwrap()).await;
        runs.prune(&entry, 300, 1).await.unwrap();
        let items = pages(&runs, &entry, contract, 100).await;
        let first = &items[0];
        assert_eq!((first.seq, first.record, items.len()), (299, None, frames.len() - 299), "{}", contract.name);
        assert!(first.frame.as_ref().unwrap().get().contains("gap_detected"));
        assert_eq!(first.findings, [Finding::pruned(299)]);
        assert_eq!(first.events.len(), usize::from(contract.announces_pruning), "{}", contract.name);
        if contract.announces_pruning {
            assert_eq!(lines(&items), events(&runs, &entry, contract).await, "{}", contract.name);
        }
        // A client that has the announcement goes on behind it.
        assert_eq!(page(&runs, &entry, contract, 300, 1).await.items[0].seq, 300);
        assert_eq!(page(&runs, &entry, contract, 150, 1).await.items[0].seq, 299);
    }
}

#[tokio::test]
async fn a_page_ends_at_its_size() {
    let frames = frames_of(&long(400));
    let (_, runs, entry) = kept(&frames, LiveGate::new(GateMode::Off).unwrap()).await;
    let mut reader = runs.reader(&entry, contract("sse.v1").unwrap(), &EncoderOptions::default()).unwrap();
    let ask = TraceAsk { from: 0, max_frames: 400, max_bytes: 4_000 };
    let page = reader.trace(&runs, ask).await.unwrap();
    assert!(page.has_more && (2..100).contains(&page.items.len()), "{}", page.items.len());
    let least = reader.trace(&runs, TraceAsk { max_bytes: 1, ..ask }).await.unwrap();
    assert_eq!((least.items.len(), least.has_more), (1, true));
}
