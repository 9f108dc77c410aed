//! What readers of one stream get, whatever their position.

use super::*;
use crate::config::GateMode;
use crate::gate::Gate;
use crate::log::sqlite::{Fsync, Options};
use crate::log::{FrameLog, MemoryLog, SqliteLog};
use crate::runs::{PruningBounds, Runs};
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::schema::{SchemaFile, Schemas};
use framegate_translators::sequence::Identity;
use std::time::Duration;
use uuid::Uuid;

const ASK: Ask<'static> =
    Ask { from: 0, frames: u64::MAX, wire: Wire::Ndjson, max_bytes: usize::MAX, max_events: 1_000_000, types: None };

/// A run with a tool call and text: its frames and its id.
pub(super) fn run() -> (Vec<Arc<Frame>>, Uuid) {
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
    let files: Vec<SchemaFile> = contract.schemas.iter().map(|file| SchemaFile::new(file.kind, text)).collect();
    let schemas = Schemas::compile_with(&files, &[]).unwrap();
    Runs::new(Arc::new(MemoryLog::new(1 << 30, 100)), Gate::with_schemas(mode, contract, schemas))
}

async fn all(runs: &Runs, reader: &mut Reader) -> Vec<u8> {
    reader.read(runs, ASK).await.unwrap().chunks.concat()
}

#[tokio::test]
async fn a_replay_of_a_gated_stream_equals_the_live_one_and_is_counted_once() {
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
async fn a_disabled_gate_counts_nothing() {
    let (frames, run) = run();
    let runs = Runs::new(Arc::new(MemoryLog::new(1 << 30, 100)), Gate::new(GateMode::Off).unwrap());
    runs.append(&frames).await.unwrap();
    let entry = runs.find((StreamKind::Session, run)).unwrap();
    let contract = framegate_translators::contracts::contract("frames.v2").unwrap();
    let mut reader = runs.reader(&entry, contract, &EncoderOptions::default()).unwrap();
    assert!(!all(&runs, &mut reader).await.is_empty());
    assert!(entry.status().events_checked.is_empty());
}

/// The records of a run with `deltas` pieces of text, and some tool calls among them.
pub(super) fn long(deltas: usize) -> Vec<u8> {
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

pub(super) fn frames_of(input: &[u8]) -> Vec<Arc<Frame>> {
    let runner = framegate_translators::runners::runner("claude-code").unwrap();
    let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
    let mut ingest = Ingest::new(runner, None, Limits::default(), identity);
    let mut frames: Vec<Arc<Frame>> = ingest.feed(input, 0).map(Arc::new).collect();
    frames.extend(ingest.finish(0).map(Arc::new));
    frames
}

/// All events from number `from` on, read in small batches.
async fn read_in_small_batches(runs: &Runs, reader: &mut Reader, from: u64) -> Vec<u8> {
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
async fn distant_readers_get_the_same_events_and_a_resumed_one_gets_the_rest() {
    let frames = frames_of(&long(6_000));
    for contract in CONTRACTS {
        let runs = Runs::new(Arc::new(MemoryLog::new(1 << 30, 100)), Gate::new(GateMode::Warn).unwrap());
        // Almost nothing is kept for slow readers.
        let runs = runs.with_view_bytes(1);
        runs.append(&frames).await.unwrap();
        let entry = runs.find((StreamKind::Session, Uuid::from_u128(1))).unwrap();
        let reader = || runs.reader(&entry, contract, &EncoderOptions::default()).unwrap();
        // The expected events, from an encoder that was never forked.
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
        assert_eq!(read_in_small_batches(&runs, &mut first, 0).await, rest(0), "{}", contract.name);
        // The window is at the end now: this reader encodes for itself, also while the other one reads.
        let (mut late, mut later) = (reader(), reader());
        assert_eq!(read_in_small_batches(&runs, &mut late, 0).await, rest(0), "{}", contract.name);
        for at in (0..lines.len()).step_by(lines.len() / 23).chain([lines.len() - 1]) {
            assert_eq!(
                read_in_small_batches(&runs, &mut later, at as u64).await,
                rest(at),
                "{} from {at}",
                contract.name
            );
            if !ids[at].is_logged() {
                continue;
            }
            let mut resumed = reader();
            let next = resumed.after(&runs, &ids[at]).await.unwrap().unwrap();
            let expected = if contract.log.is_some() { next as usize } else { at + 1 };
            assert_eq!(next as usize, expected, "{} after {:?}", contract.name, ids[at]);
            assert!(ids[at + 1..next as usize].iter().all(|id| !id.is_logged()));
            assert_eq!(
                read_in_small_batches(&runs, &mut resumed, next).await,
                rest(next as usize),
                "{} after {at}",
                contract.name
            );
        }
        let mut lost = reader();
        let beyond = lost.after(&runs, &EventId::Number(u64::MAX)).await.unwrap();
        let unknown = lost.after(&runs, &EventId::Text("of another run".into())).await.unwrap();
        match ids.iter().find(|id| id.is_logged()) {
            Some(EventId::Text(_)) => assert_eq!(unknown, None),
            _ => {
                let last = ids.iter().rposition(|id| id.is_logged()).unwrap();
                assert_eq!(beyond, Some(last as u64 + 1), "{}", contract.name);
            }
        }
    }
}

#[tokio::test]
async fn resuming_near_the_end_does_not_encode_the_whole_stream_again() {
    let frames = frames_of(&long(6_000));
    for contract in CONTRACTS {
        let log = Arc::new(MemoryLog::new(1 << 30, 100));
        let runs = Runs::new(log, Gate::new(GateMode::Off).unwrap()).with_view_bytes(1);
        runs.append(&frames).await.unwrap();
        let entry = runs.find((StreamKind::Session, Uuid::from_u128(1))).unwrap();
        let reader = || runs.reader(&entry, contract, &EncoderOptions::default()).unwrap();
        let end = {
            let mut reader = reader();
            read_in_small_batches(&runs, &mut reader, 0).await;
            reader.read(&runs, Ask { max_events: usize::MAX, ..ASK }).await.unwrap().next
        };
        // The readers are gone, and the events with them. The checkpoints stay.
        let view = reader().view;
        let at = CheckpointAt::Event(end - 10);
        let checkpoint = view.checkpoints.start(&runs, &view.entry, &at).await.unwrap().unwrap();
        assert!(
            frames.len() as u64 - checkpoint.frame < 2_000,
            "{}: {} of {}",
            contract.name,
            checkpoint.frame,
            frames.len()
        );
    }
}

/// The expected events, from an encoder that was never forked: the lines, their cursors, and how many of them come from the
/// first `cut` frames.
fn reference(
    contract: &Contract,
    options: &EncoderOptions,
    frames: &[Arc<Frame>],
    cut: u64,
) -> (Vec<Vec<u8>>, Vec<EventId>, usize) {
    let mut encoder = (contract.encoder)(&frames[0].stream, options).unwrap();
    let (mut lines, mut ids, mut before) = (Vec::new(), Vec::new(), 0);
    for frame in frames {
        let mut events = framegate_translators::encode::Events::default();
        encoder.frame(frame, &mut events);
        for event in events.iter() {
            lines.push([event.payload, b"\n"].concat());
            ids.push(event.id.clone());
            before += usize::from(frame.seq < cut);
        }
    }
    (lines, ids, before)
}

async fn check_readers_after_pruning(
    log: Arc<dyn FrameLog>,
    contract: &'static Contract,
    options: &EncoderOptions,
    is_there: bool,
) {
    let (frames, what) = (frames_of(&long(700)), contract.name);
    let runs = Runs::new(log, Gate::new(GateMode::Warn).unwrap()).with_view_bytes(1);
    runs.append(&frames).await.unwrap();
    let entry = runs.find((StreamKind::Session, Uuid::from_u128(1))).unwrap();
    let reader = || runs.reader(&entry, contract, options).unwrap();
    // Readers from before the cut: one that has read only the first event, and one in the middle.
    let (mut early, mut half) = (reader(), reader());
    let first = early.read(&runs, Ask { max_events: 1, ..ASK }).await.unwrap();
    let halfway = {
        let (lines, ..) = reference(contract, options, &frames, 0);
        let at = lines.len() as u64 / 2;
        // Afterwards the shared window is at the end.
        read_in_small_batches(&runs, &mut half, 0).await;
        if is_there {
            half.read(&runs, Ask { from: at, max_events: 1, ..ASK }).await.unwrap();
        }
        at
    };
    for cut in [1, 2, 5, 400, 401, 402, frames.len() as u64 - 2] {
        let (lines, ids, before) = reference(contract, options, &frames, cut);
        runs.prune(&entry, cut, 1_700_000_000_000).await.unwrap();
        assert_eq!(entry.gone().unwrap().frames, cut);
        assert_eq!(entry.status().pruned_frames, cut);
        let rest = lines[before..].concat();
        let mut new = reader();
        if before == 0 {
            assert_eq!(read_in_small_batches(&runs, &mut new, 0).await, rest, "{what} {cut}: no event was pruned");
            continue;
        }
        if !contract.announces_pruning {
            let batch = new.read(&runs, ASK).await.unwrap();
            assert!(batch.lost && batch.chunks.is_empty() && batch.next == before as u64, "{what} {cut}");
            let last = ids[..before].iter().rev().find(|id| id.is_logged()).cloned();
            assert_eq!(new.lost(&runs, 0).await.unwrap(), Some(last), "{what} {cut}");
            assert_eq!(new.lost(&runs, before as u64).await.unwrap(), None);
            assert_eq!(read_in_small_batches(&runs, &mut new, before as u64).await, rest, "{what} {cut}");
        } else {
            let all = read_in_small_batches(&runs, &mut new, 0).await;
            let at = all.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            let gap: serde_json::Value = serde_json::from_slice(&all[..at]).unwrap();
            assert!(gap.to_string().contains("retention_window"), "{what} {cut}: {gap}");
            assert!(all[at..] == rest, "{what} {cut}: the remaining events must be unchanged");
            let single =
                new.events(&runs, Read { from: 0, frames: u64::MAX, max_bytes: 1, max_events: 9 }).await.unwrap();
            assert_eq!((single.1, single.0.len(), single.0[0].frame), (before as u64, 1, cut - 1), "{what} {cut}");
            assert_eq!(
                new.events(&runs, Read { from: 0, frames: cut - 1, max_bytes: 1, max_events: 9 }).await.unwrap().1,
                0
            );
            assert_eq!(new.at_frame(&runs, cut - 1, single.0[0].nth + 1).await.unwrap(), before as u64);
            assert!(new.at_frame(&runs, 0, 0).await.unwrap() < before as u64);
        }
        // A reader in the pruned part gets a notice, even if it was reading there when the part was pruned.
        let seen = early.read(&runs, Ask { from: first.next.min(before as u64 - 1), ..ASK }).await.unwrap();
        let expected = if contract.announces_pruning { (1, false) } else { (0, true) };
        if before as u64 > first.next {
            assert_eq!((seen.events, seen.lost), expected, "{what} {cut}");
            assert_eq!(seen.next, before as u64);
        }
        if is_there && before as u64 <= halfway {
            assert!(
                read_in_small_batches(&runs, &mut half, halfway).await == lines[halfway as usize..].concat(),
                "{what} {cut}"
            );
        }
        // Cursors in the pruned part, its last one, and cursors after it.
        for at in [0, before / 2, before - 1, before, before + 3] {
            let Some(id) = ids.get(at).filter(|id| id.is_logged()) else { continue };
            let next = new.after(&runs, id).await.unwrap().unwrap() as usize;
            let is_last = ids[at + 1..before.max(at + 1)].iter().all(|id| !id.is_logged());
            match at < before && !is_last {
                true => assert!(next < before, "{what} {cut} after {at}"),
                false => {
                    assert!(next > at && (next >= before || contract.log.is_some()), "{what} {cut} after {at}: {next}")
                }
            }
        }
    }
}

#[tokio::test]
async fn readers_of_a_pruned_stream_get_a_notice_and_the_unchanged_rest() {
    for contract in CONTRACTS {
        for experimental in [false, true] {
            let options = EncoderOptions { experimental, ..EncoderOptions::default() };
            let log = Arc::new(MemoryLog::new(1 << 30, 100));
            check_readers_after_pruning(log, contract, &options, experimental).await;
        }
    }
}

#[tokio::test]
async fn the_oldest_frames_of_a_run_are_pruned_by_count_size_and_age() {
    let frames = frames_of(&long(3_000));
    let id = (StreamKind::Session, Uuid::from_u128(1));
    let bounded = async |bounds: PruningBounds| {
        let log = Arc::new(MemoryLog::new(1 << 30, 100));
        let gate = Gate::new(GateMode::Off).unwrap();
        let runs = Runs::new(log.clone(), gate).with_pruning(bounds, EncoderOptions::default());
        let mut most = (0, 0);
        for chunk in frames.chunks(11) {
            runs.append(chunk).await.unwrap();
            let entry = runs.find(id).unwrap();
            let kept = entry.tail().borrow().frames - entry.gone().map_or(0, |gone| gone.frames);
            most = (most.0.max(kept), most.1.max(log.usage().await.unwrap().0));
        }
        let kept = log.read(id, 0, usize::MAX).await.unwrap();
        let gone = runs.find(id).unwrap().gone().map_or(0, |gone| gone.frames);
        assert_eq!(kept.first().unwrap().seq, gone);
        assert_eq!(kept.len() as u64 + gone, frames.len() as u64);
        (runs, most)
    };
    let (_, (all, bytes)) = bounded(PruningBounds::default()).await;
    assert_eq!(all, frames.len() as u64);
    let (_, (kept, _)) = bounded(PruningBounds { max_frames: Some(100), ..PruningBounds::default() }).await;
    assert!((88..=100).contains(&kept), "{kept}");
    let (_, (kept, _)) = bounded(PruningBounds { max_frames: Some(1), ..PruningBounds::default() }).await;
    assert_eq!(kept, 1, "the last frame must stay");
    let max_bytes = Some(bytes / 4);
    let (_, (_, held)) = bounded(PruningBounds { max_bytes, ..PruningBounds::default() }).await;
    // Up to an eighth of the limit may arrive before the log is asked for the stream's size.
    assert!(held <= bytes / 4 + bytes / 32 + 20_000 && held > bytes / 8, "{held} of {bytes}");
    let max_age = Some(Duration::from_secs(3600));
    let log = Arc::new(MemoryLog::new(1 << 30, 100));
    let bounds = PruningBounds { max_age, ..PruningBounds::default() };
    let runs = Runs::new(log, Gate::new(GateMode::Off).unwrap()).with_pruning(bounds, EncoderOptions::default());
    let gone = || runs.find(id).unwrap().gone().map_or(0, |gone| gone.frames);
    // The clock is set back to a time before the first frame; time since the start goes on.
    let (minute, now_ms) = (|minute: u64| Duration::from_secs(minute * 60), |minute: u64| 1_000_000_000 - minute);
    for (at, part) in [(0, 0..100), (10, 100..300), (20, 300..frames.len())] {
        runs.append(&frames[part]).await.unwrap();
        runs.drop_aged(minute(at), now_ms(at)).await;
    }
    for (at, expected) in [(60, 0), (61, 100), (69, 100), (71, 300), (80, 300), (82, frames.len() as u64 - 1)] {
        runs.drop_aged(minute(at), now_ms(at)).await;
        assert_eq!(gone(), expected, "after {at} minutes");
    }
}

/// A log on disk that is deleted with the test.
struct OnDisk(std::path::PathBuf);

impl OnDisk {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("framegate-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn open(&self) -> Arc<SqliteLog> {
        let options = Options { fsync: Fsync::Never, ..Options::new(self.0.join("framegate.db")) };
        Arc::new(SqliteLog::open(options).unwrap())
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn readers_of_a_pruned_stream_on_disk_get_a_notice_too() {
    for contract in CONTRACTS {
        let disk = OnDisk::new(&format!("front-{}", contract.name));
        check_readers_after_pruning(disk.open(), contract, &EncoderOptions::default(), true).await;
    }
}

#[tokio::test]
async fn after_a_restart_the_first_reader_starts_near_its_cursor() {
    let disk = OnDisk::new("checkpoints");
    let frames = frames_of(&long(6_000));
    {
        let runs = Runs::new(disk.open(), Gate::new(GateMode::Off).unwrap());
        for chunk in frames.chunks(500) {
            runs.append(chunk).await.unwrap();
        }
        let entry = runs.find((StreamKind::Session, Uuid::from_u128(1))).unwrap();
        runs.make_checkpoints(&entry).await.unwrap();
    }
    let runs = Runs::new(disk.open(), Gate::new(GateMode::Off).unwrap());
    runs.recover(0).await.unwrap();
    check_start_near_cursor(&runs, &frames).await;
}

#[tokio::test]
async fn in_memory_the_first_reader_of_a_contract_starts_near_its_cursor() {
    let frames = frames_of(&long(6_000));
    let runs = Arc::new(Runs::new(Arc::new(MemoryLog::new(1 << 30, 100)), Gate::new(GateMode::Off).unwrap()));
    runs.start_checkpointing();
    for chunk in frames.chunks(500) {
        runs.append(chunk).await.unwrap();
    }
    let entry = runs.find((StreamKind::Session, Uuid::from_u128(1))).unwrap();
    // This happens in the background, so wait for it.
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while entry.checkpointed.load(Ordering::Relaxed) + 4096 <= frames.len() as u64 {
        assert!(std::time::Instant::now() < deadline, "no checkpoints are stored");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    check_start_near_cursor(&runs, &frames).await;
}

/// Whether readers in every contract start close to where they resume, and get the same events as before.
async fn check_start_near_cursor(runs: &Runs, frames: &[Arc<Frame>]) {
    let entry = runs.find((StreamKind::Session, Uuid::from_u128(1))).unwrap();
    for contract in CONTRACTS {
        for experimental in [false, true] {
            let options = EncoderOptions { experimental, ..EncoderOptions::default() };
            let (lines, ids, _) = reference(contract, &options, frames, 0);
            for at in [lines.len() - 3, lines.len() / 2] {
                let mut reader = runs.reader(&entry, contract, &options).unwrap();
                let window = reader.view.start(runs, CheckpointAt::Event(at as u64)).await.unwrap().unwrap();
                let frame = frames.len() as u64 * at as u64 / lines.len() as u64;
                assert!(window.next_frame() + 5_000 > frame, "{}: {} of {frame}", contract.name, window.next_frame());
                assert_eq!(
                    read_in_small_batches(runs, &mut reader, at as u64).await,
                    lines[at..].concat(),
                    "{}",
                    contract.name
                );
                if ids[at].is_logged() {
                    let mut reader = runs.reader(&entry, contract, &options).unwrap();
                    let next = reader.after(runs, &ids[at]).await.unwrap().unwrap() as usize;
                    assert!(
                        next > at
                            && lines[next..].concat() == read_in_small_batches(runs, &mut reader, next as u64).await
                    );
                }
            }
        }
    }
}
