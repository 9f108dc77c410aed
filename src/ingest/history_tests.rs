//! Files of runners that are imported: what the log already has of them, and what they add to it.

use super::*;
use crate::config::GateMode;
use crate::gate::Gate;
use crate::log::MemoryLog;
use crate::prices::Prices;
use crate::runs::{Entry, RunStatus};
use framegate_translators::frame::StreamKind;
use framegate_translators::framing::Limits;
use framegate_translators::normalizer::EndHold;
use framegate_translators::runners::runner;
use framegate_translators::when::FirstTime;

const CODEX_STREAM: &[u8] = include_bytes!("../../tests/fixtures/codex/exec-text-plain.ndjson");
const CODEX_SESSION: &[u8] = include_bytes!("../../tests/fixtures/codex/rollout-exec-text-plain.jsonl");
/// The second prompt of a session, by a process that resumed it, and the file of the whole session.
const RESUMED_STREAM: &[u8] = include_bytes!("../../tests/fixtures/codex/exec-resume-t2.ndjson");
const RESUMED_SESSION: &[u8] = include_bytes!("../../tests/fixtures/codex/rollout-exec-resume.jsonl");
const COPILOT_STREAM: &[u8] = include_bytes!("../../tests/fixtures/copilot/edit.jsonl");
const COPILOT_SESSION: &[u8] = include_bytes!("../../tests/fixtures/copilot/edit.session.jsonl");
const PI_STREAM: &[u8] = include_bytes!("../../tests/fixtures/pi/rpc-steer.jsonl");
const PI_SESSION: &[u8] = include_bytes!("../../tests/fixtures/pi/rpc-steer.session.jsonl");

/// A log, and the imports into it.
struct Imports {
    runs: Arc<Runs>,
    factory: IngestFactory,
}

impl Imports {
    fn new() -> Self {
        let runs = Runs::new(Arc::new(MemoryLog::new(1 << 30, 100)), Gate::new(GateMode::Off).unwrap());
        let runs = Arc::new(runs.with_end_hold(EndHold::Input));
        Self { factory: IngestFactory::new(runs.clone(), Settings::default()), runs }
    }

    fn history(&self, of: &str) -> Ingest {
        self.factory.ingest(runner(of), None, Arc::default()).of_history()
    }

    /// Imports a file, and returns how many of its runs were known, and how many replaced others.
    async fn import(&self, of: &str, file: &[u8]) -> (usize, u64) {
        self.take(self.history(of), file).await
    }

    async fn take(&self, ingest: Ingest, file: &[u8]) -> (usize, u64) {
        let mut first = FirstTime::new(None, None, Limits::default());
        let mut ingest = match first.feed(file).or_else(|| first.finish()) {
            Some(unix_ms) => ingest.recorded_at(unix_ms),
            None => ingest,
        };
        let ingested = ingest.ingested();
        ingest.feed(file).await.unwrap();
        ingest.finish().await.unwrap();
        (ingested.repeated().len(), ingested.replaced())
    }

    fn statuses(&self) -> Vec<RunStatus> {
        self.runs.newest_first().iter().map(|entry| entry.status().clone()).collect()
    }

    fn ids(&self) -> Vec<Uuid> {
        self.statuses().iter().map(|status| status.run_id).collect()
    }

    /// The frames of all threads.
    fn thread_frames(&self) -> u64 {
        let is_thread = |entry: &Arc<Entry>| entry.stream.kind == StreamKind::Thread;
        self.runs.entries().into_iter().filter(is_thread).map(|entry| entry.status().frames).sum()
    }
}

fn first_lines(file: &[u8], count: usize) -> Vec<u8> {
    file.split_inclusive(|byte| *byte == b'\n').take(count).flatten().copied().collect()
}

/// Imports a session file again, and a longer one.
async fn are_stored_once(of: &str, file: &[u8]) {
    let imports = Imports::new();
    imports.import(of, file).await;
    let (once, runs) = (imports.thread_frames(), imports.ids());
    assert!(once > 0);
    for _ in 0..2 {
        assert_eq!(imports.import(of, file).await, (runs.len(), 0));
        assert_eq!((imports.thread_frames(), imports.ids()), (once, runs.clone()));
    }
    // A longer file adds what is new, also if it equals another record.
    let longer = [first_lines(file, 1), file.to_vec()].concat();
    for _ in 0..2 {
        imports.import(of, &longer).await;
        assert_eq!((imports.thread_frames(), imports.ids()), (once + 1, runs.clone()));
    }
}

#[tokio::test]
async fn records_before_the_first_run_are_stored_once() {
    are_stored_once("codex", CODEX_SESSION).await;
}

#[tokio::test]
async fn records_after_the_last_run_are_stored_once() {
    are_stored_once("copilot", COPILOT_SESSION).await;
}

#[tokio::test]
async fn records_outside_of_runs_of_one_session_are_stored_once() {
    are_stored_once("pi", PI_SESSION).await;
}

#[tokio::test]
async fn a_run_whose_last_records_are_in_the_thread_is_not_replaced() {
    let imports = Imports::new();
    let mut watched = imports.history("copilot");
    watched.pipeline = watched.pipeline.holding_ends(EndHold::Ms(0));
    imports.take(watched, COPILOT_SESSION).await;
    let (runs, thread) = (imports.ids(), imports.thread_frames());
    assert_eq!(imports.import("copilot", COPILOT_SESSION).await, (runs.len(), 0));
    assert_eq!((imports.ids(), imports.thread_frames()), (runs, thread));
}

#[tokio::test]
async fn a_run_that_goes_on_in_the_longer_file_is_replaced_and_counted() {
    let imports = Imports::new();
    let lines = COPILOT_SESSION.iter().filter(|byte| **byte == b'\n').count();
    imports.import("copilot", &first_lines(COPILOT_SESSION, lines / 2)).await;
    assert_eq!(imports.import("copilot", COPILOT_SESSION).await, (0, 1));
    assert_eq!(imports.ids().len(), 1);
}

#[tokio::test]
async fn a_shorter_run_that_a_killed_import_left_is_dropped_by_the_next_one() {
    let imports = Imports::new();
    let half = first_lines(COPILOT_SESSION, COPILOT_SESSION.iter().filter(|byte| **byte == b'\n').count() / 2);
    imports.import("copilot", COPILOT_SESSION).await;
    let whole = imports.ids();
    // Stores the beginning beside the whole run, as if the import had been killed before it dropped the former.
    let mut cut = imports.factory.ingest(runner("copilot"), None, Arc::default()).recognising_repeats(false);
    cut.feed(&half).await.unwrap();
    cut.finish().await.unwrap();
    assert_eq!(imports.ids().len(), 2);
    assert_eq!(imports.import("copilot", COPILOT_SESSION).await, (1, 0));
    assert_eq!(imports.ids(), whole);
}

/// Imports a session file and then the stream of the same runs, and sends that stream once more as it happens.
async fn is_recognised(of: &str, session: &[u8], stream: &[u8]) {
    let imports = Imports::new();
    imports.import(of, session).await;
    let runs = imports.ids();
    assert_eq!(imports.import(of, stream).await, (runs.len(), 0));
    assert_eq!(imports.ids(), runs);
    // A live run with the same prompt is a new one.
    let live = imports.factory.ingest(runner(of), None, Arc::default()).recognising_repeats(false);
    assert_eq!(imports.take(live, stream).await, (0, 0));
    assert_eq!(imports.ids().len(), 2 * runs.len());
}

#[tokio::test]
async fn a_stream_that_names_its_session_is_recognised_after_the_session_file() {
    is_recognised("codex", CODEX_SESSION, CODEX_STREAM).await;
}

#[tokio::test]
async fn a_stream_that_names_its_session_at_its_end_is_recognised_after_the_session_file() {
    is_recognised("copilot", COPILOT_SESSION, COPILOT_STREAM).await;
}

#[tokio::test]
async fn a_stream_that_names_no_session_is_recognised_after_the_session_file() {
    is_recognised("pi", PI_SESSION, PI_STREAM).await;
}

#[tokio::test]
async fn a_session_file_adds_what_the_stream_did_not_say() {
    for (name, session, stream) in
        [("codex", CODEX_SESSION, CODEX_STREAM), ("copilot", COPILOT_SESSION, COPILOT_STREAM)]
    {
        let alone = Imports::new();
        alone.import(name, session).await;
        let expected = alone.statuses().remove(0);
        let imports = Imports::new();
        let live = imports.factory.ingest(runner(name), None, Arc::default()).recognising_repeats(false);
        imports.take(live, stream).await;
        let before = imports.statuses().remove(0);
        assert_eq!(imports.import(name, session).await, (1, 0), "{name}");
        let after = imports.statuses().remove(0);
        assert_eq!((after.run_id, after.frames), (before.run_id, before.frames));
        assert_eq!(after.session_name, expected.session_name, "{name}");
        assert_eq!(after.workspace, expected.workspace, "{name}");
        let input = |status: &RunStatus| status.usage.input_tokens;
        assert_eq!(input(&after), input(&before).or(input(&expected)), "{name}");
        assert_eq!(after.model, before.model.or(expected.model), "{name}");
        assert_eq!(after.title, before.title.or(expected.title), "{name}");
        assert!(after.model.is_some() && after.usage.input_tokens.is_some(), "{name}");
    }
}

#[tokio::test]
async fn a_session_file_says_how_much_of_a_sessions_total_was_of_earlier_runs() {
    let figures = |imports: &Imports| {
        let figures = |status: &RunStatus| {
            let usage = &status.usage;
            (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, status.cost(&Prices::default()))
        };
        let mut all: Vec<_> = imports.statuses().iter().map(figures).collect();
        all.sort_by_key(|one| one.0);
        all
    };
    let expected = Imports::new();
    expected.import("codex", RESUMED_SESSION).await;
    let imports = Imports::new();
    imports.import("codex", RESUMED_STREAM).await;
    assert_ne!(figures(&imports).last(), figures(&expected).last(), "the total of the session");
    assert_eq!(imports.import("codex", RESUMED_SESSION).await, (1, 0));
    assert_eq!(figures(&imports), figures(&expected));
    // The figures of a run are not exchanged for smaller ones if they are its own.
    let runs = |imports: &Imports| imports.statuses().len();
    assert_eq!(imports.import("codex", RESUMED_SESSION).await, (2, 0));
    assert_eq!((runs(&imports), figures(&imports)), (2, figures(&expected)));
}
