//! Reading ahead of a slow log: what is kept, in which appends, and what happens if an append fails.

use super::*;
use crate::config::GateMode;
use crate::defaults::AHEAD_BYTES;
use crate::gate::Gate;
use crate::log::{Checkpoint, FrameLog, Gone, MemoryLog, StreamId, stream_id, weight};
use async_trait::async_trait;
use framegate_translators::frame::{Body, StreamKind};
use framegate_translators::pipeline::is_last;
use framegate_translators::runners::runner;
use hyper::body::Bytes;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

const INPUT: &[u8] = include_bytes!("../../tests/fixtures/claude-code/parallel_tools.partial.ndjson");

/// A slow log in memory, which records the frames of each append.
struct Slow {
    inner: MemoryLog,
    /// Each append takes a permit.
    open: Semaphore,
    /// For each append, how many times it yields first; 0 once this is empty.
    turns: Mutex<VecDeque<u8>>,
    begun: AtomicUsize,
    appends: Mutex<Vec<Vec<Arc<Frame>>>>,
    /// The index of the append that fails.
    full_at: Option<usize>,
}

impl Slow {
    fn new(open: usize) -> Self {
        Self {
            inner: MemoryLog::new(1 << 30, 1_000),
            open: Semaphore::new(open),
            turns: Mutex::default(),
            begun: AtomicUsize::default(),
            appends: Mutex::default(),
            full_at: None,
        }
    }

    fn sizes(&self) -> Vec<usize> {
        self.appends.lock().unwrap().iter().map(Vec::len).collect()
    }

    fn kept(&self) -> Vec<Arc<Frame>> {
        self.appends.lock().unwrap().concat()
    }
}

#[async_trait]
impl FrameLog for Slow {
    async fn append(
        &self,
        frames: &[Arc<Frame>],
        summaries: Vec<crate::log::Summary>,
    ) -> Result<crate::log::Place, LogError> {
        let nth = self.begun.fetch_add(1, Ordering::Relaxed);
        self.open.acquire().await.unwrap().forget();
        let turns = self.turns.lock().unwrap().pop_front().unwrap_or_default();
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        if self.full_at == Some(nth) {
            return Err(LogError::Full { bytes: 1, limit: 1 });
        }
        let place = self.inner.append(frames, summaries).await?;
        self.appends.lock().unwrap().push(frames.to_vec());
        Ok(place)
    }

    fn order(&self) -> crate::log::Order {
        self.inner.order()
    }

    async fn drop_stream(&self, stream: StreamId) -> Result<(), LogError> {
        self.inner.drop_stream(stream).await
    }

    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        self.inner.read(stream, from, max).await
    }

    async fn prune(&self, stream: StreamId, gone: Gone, checkpoints: Vec<Checkpoint>) -> Result<(), LogError> {
        self.inner.prune(stream, gone, checkpoints).await
    }

    async fn first_within(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError> {
        self.inner.first_within(stream, max_bytes).await
    }

    async fn take_dropped(&self) -> Vec<StreamId> {
        self.inner.take_dropped().await
    }
}

/// What a source returns, and how many times it yields before each step.
struct Script {
    steps: VecDeque<(u8, Result<Bytes, Stopped>)>,
    taken: Arc<AtomicUsize>,
}

impl Script {
    fn of(steps: impl IntoIterator<Item = (u8, Result<Bytes, Stopped>)>) -> Self {
        Self { steps: steps.into_iter().collect(), taken: Arc::default() }
    }
}

impl Source for Script {
    async fn next(&mut self) -> Result<Option<Bytes>, Stopped> {
        // If the future is dropped, the next one resumes here.
        while let Some((turns @ 1.., _)) = self.steps.front_mut() {
            *turns -= 1;
            tokio::task::yield_now().await;
        }
        let Some((_, step)) = self.steps.pop_front() else { return Ok(None) };
        self.taken.fetch_add(1, Ordering::Relaxed);
        step.map(Some)
    }
}

fn ingest(log: Arc<dyn FrameLog>) -> Ingest {
    ingest_with(log, Settings::default())
}

fn ingest_with(log: Arc<dyn FrameLog>, settings: Settings) -> Ingest {
    let runs = Arc::new(Runs::new(log, Gate::new(GateMode::Off).unwrap()));
    IngestFactory::new(runs, settings).ingest(runner("claude-code"), None, Arc::default())
}

fn lines(input: &[u8]) -> Vec<Bytes> {
    input.split_inclusive(|byte| *byte == b'\n').map(Bytes::copy_from_slice).collect()
}

fn at_once(chunks: Vec<Bytes>) -> Script {
    Script::of(chunks.into_iter().map(|chunk| (0, Ok(chunk))))
}

/// Frames without what differs between ingests: the ids of runs, and times.
fn as_text(frames: &[Arc<Frame>]) -> Vec<String> {
    let mut streams: Vec<StreamId> = Vec::new();
    let mut as_text = Vec::new();
    for frame in frames {
        let id = stream_id(frame);
        let nth = streams.iter().position(|known| *known == id).unwrap_or_else(|| {
            streams.push(id);
            streams.len() - 1
        });
        let body = match &frame.body {
            // Other bodies are compared by kind only: tool ids depend on the session, and the end of a run contains times.
            Body::ProviderEvent(record) => format!("{:?}", record.data),
            body => body.kind().to_owned(),
        };
        as_text.push(format!("{nth} {:?} {} {body}", id.0, frame.seq));
    }
    as_text
}

/// All frames of an input that is fed as a whole into a fast log.
async fn plain(input: &[u8]) -> Vec<Arc<Frame>> {
    let log = Arc::new(Slow::new(1_000));
    let mut ingest = ingest(log.clone());
    ingest.feed(input).await.unwrap();
    ingest.finish().await.unwrap();
    log.kept()
}

/// Lets all other tasks run until they wait.
async fn settle() {
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn chunks_that_arrive_during_an_append_are_in_the_next_one() {
    let log = Arc::new(Slow::new(0));
    let chunks = lines(INPUT);
    let count = chunks.len();
    let mut source = at_once(chunks);
    let taken = source.taken.clone();
    let ingest = ingest(log.clone());
    let ingested = ingest.ingested();
    let pumped = tokio::spawn(async move { pump(ingest, &mut source).await });
    settle().await;
    // The first append holds the frames of the first record. All others wait for it, and no follower sees any of them.
    assert_eq!((taken.load(Ordering::Relaxed), log.begun.load(Ordering::Relaxed)), (count, 1));
    assert!(ingested.entries().is_empty());
    log.open.add_permits(1);
    settle().await;
    assert_eq!(log.begun.load(Ordering::Relaxed), 2);
    let first = log.sizes()[0] as u64;
    assert_eq!(ingested.entries()[0].status().frames, first);
    log.open.add_permits(10);
    assert_eq!(pumped.await.unwrap().unwrap().tally.records, count as u64);
    // The last frame of the run arrives with the end of the input.
    assert_eq!((log.sizes().len(), log.sizes().last()), (3, Some(&1)), "{:?}", log.sizes());
    assert_eq!(as_text(&log.kept()), as_text(&plain(INPUT).await));
}

#[tokio::test]
async fn the_bytes_read_ahead_during_an_append_are_bounded() {
    for ahead_bytes in [AHEAD_BYTES, 64 << 10] {
        check_read_ahead_bound(ahead_bytes).await;
    }
}

async fn check_read_ahead_bound(ahead_bytes: u64) {
    let init = br#"{"type":"system","subtype":"init","session_id":"a2d54fc6-831a-4f18-8adb-000000000001","tools":[]}"#;
    let mut chunks = vec![Bytes::from([init.as_slice(), b"\n"].concat())];
    for nth in 0..5_000 {
        chunks.push(Bytes::from(format!(
            "{{\"type\":\"nothing_known\",\"n\":{nth},\"text\":\"{}\"}}\n",
            "x".repeat(500)
        )));
    }
    let all = chunks.len();
    let longest = chunks[1].len() as u64 + 4;
    let log = Arc::new(Slow::new(0));
    let mut source = at_once(chunks);
    let taken = source.taken.clone();
    let ingest = ingest_with(log.clone(), Settings { ahead_bytes, ..Settings::default() });
    let pumped = tokio::spawn(async move { pump(ingest, &mut source).await });
    let mut before = 0;
    for nth in 0.. {
        settle().await;
        let now = taken.load(Ordering::Relaxed);
        if now == all {
            break;
        }
        // One chunk was taken but has no room; the next ones were not requested.
        assert!(now > before, "no more chunks were taken");
        before = now;
        assert_eq!(log.begun.load(Ordering::Relaxed), nth + 1, "one append at a time");
        log.open.add_permits(1);
    }
    log.open.add_permits(100);
    pumped.await.unwrap().unwrap();
    let appends = log.appends.lock().unwrap();
    let bytes = |frames: &Vec<Arc<Frame>>| frames.iter().map(|frame| weight(frame)).sum::<u64>();
    let of_one = bytes(&appends[1]) / appends[1].len() as u64 * 2;
    assert!(appends.len() > 5);
    for full in &appends[1..appends.len() - 2] {
        let bytes = bytes(full);
        assert!(bytes <= ahead_bytes - longest + of_one * 2 && bytes + longest * 2 > ahead_bytes, "{bytes}");
    }
}

#[tokio::test]
async fn with_a_bound_of_0_nothing_is_read_ahead() {
    let log = Arc::new(Slow::new(0));
    let chunks = lines(INPUT);
    let count = chunks.len();
    let mut source = at_once(chunks);
    let taken = source.taken.clone();
    let ingest = ingest_with(log.clone(), Settings { ahead_bytes: 0, ..Settings::default() });
    let pumped = tokio::spawn(async move { pump(ingest, &mut source).await });
    for nth in 0..4 {
        settle().await;
        // The second chunk was taken and waits.
        assert_eq!((taken.load(Ordering::Relaxed), log.begun.load(Ordering::Relaxed)), (nth + 2, nth + 1));
        log.open.add_permits(1);
    }
    log.open.add_permits(1_000);
    assert_eq!(pumped.await.unwrap().unwrap().tally.records, count as u64);
    assert_eq!(as_text(&log.kept()), as_text(&plain(INPUT).await));
}

#[tokio::test]
async fn a_chunk_larger_than_the_bound_is_split() {
    let input = INPUT.repeat(80);
    let (front, large) = input.split_at(INPUT.len());
    let log = Arc::new(Slow::new(0));
    let mut source = at_once([front, large].map(Bytes::copy_from_slice).to_vec());
    let ingest = ingest(log.clone());
    let pumped = tokio::spawn(async move { pump(ingest, &mut source).await });
    while !pumped.is_finished() {
        settle().await;
        log.open.add_permits(1);
    }
    pumped.await.unwrap().unwrap();
    assert_eq!(as_text(&log.kept()), as_text(&plain(&input).await));
    let appends = log.appends.lock().unwrap();
    let bytes: Vec<u64> = appends.iter().map(|frames| frames.iter().map(|frame| weight(frame)).sum()).collect();
    // After the last piece, the end of the last run arrives with the end of the input.
    let (of_front, after_front) = (bytes[0], &bytes[1..bytes.len() - 2]);
    assert!(after_front.len() > 3, "{bytes:?}");
    // One piece makes less than the longer front does.
    assert!(
        after_front.iter().all(|bytes| (AHEAD_BYTES - of_front..AHEAD_BYTES + of_front).contains(bytes)),
        "{bytes:?}"
    );
}

#[tokio::test]
async fn after_a_failed_append_the_read_ahead_is_stored_with_the_end_and_nothing_more() {
    let chunks = lines(INPUT);
    let (count, front) = (chunks.len(), chunks.len() / 2);
    for full_at in 0..3 {
        let log = Arc::new(Slow { full_at: Some(full_at), ..Slow::new(0) });
        // After the front the source is silent until the log has failed.
        let steps =
            chunks.iter().enumerate().map(|(nth, chunk)| (if nth == front { 255 } else { 0 }, Ok(chunk.clone())));
        let mut source = Script::of(steps);
        let taken = source.taken.clone();
        let ingest = ingest(log.clone());
        let ingested = ingest.ingested();
        let pumped = tokio::spawn(async move { pump(ingest, &mut source).await });
        log.open.add_permits(100);
        let stopped = pumped.await.unwrap().unwrap_err();
        assert!(matches!(stopped, Stopped::Log(LogError::Full { .. })), "{stopped:?}");
        assert!(taken.load(Ordering::Relaxed) <= count);
        let kept = log.kept();
        let run: Vec<_> = kept.iter().filter(|frame| frame.stream.kind == StreamKind::Session).collect();
        for (nth, frame) in run.iter().enumerate() {
            assert_eq!(frame.seq, nth as u64);
            assert_eq!(is_last(frame), nth + 1 == run.len());
        }
        let whole = as_text(&plain(INPUT).await);
        let records = |as_text: &[String]| as_text.iter().filter(|frame| frame.contains("Some")).count();
        assert_eq!(records(&as_text(&kept)), taken.load(Ordering::Relaxed));
        assert!(records(&whole) >= records(&as_text(&kept)));
        let status = ingested.entries()[0].status().clone();
        assert_eq!(status.error_code.as_deref(), Some("log_full"));
    }
}

#[tokio::test]
async fn a_limit_ends_the_ingest_after_what_it_allows() {
    let chunks = lines(INPUT);
    let most = chunks.len() as u64 / 2;
    let settings = Settings { max_records_per_run: most, ..Settings::default() };
    let mut kept = Vec::new();
    for permits in [1_000, 0] {
        let log = Arc::new(Slow::new(permits));
        let mut source = at_once(chunks.clone());
        let ingest = ingest_with(log.clone(), settings.clone());
        let ingested = ingest.ingested();
        let pumped = tokio::spawn(async move { pump(ingest, &mut source).await });
        settle().await;
        log.open.add_permits(1_000);
        let stopped = pumped.await.unwrap().unwrap_err();
        assert!(matches!(stopped, Stopped::Beyond(Beyond::Records(limit)) if limit == most), "{stopped:?}");
        assert_eq!(ingested.entries()[0].status().error_code.as_deref(), Some("limit"));
        kept.push(as_text(&log.kept()));
    }
    assert_eq!(kept[0], kept[1]);
}

#[tokio::test]
async fn time_blocked_on_the_log_does_not_count_as_silence() {
    let chunks = lines(INPUT);
    let half = chunks.len() / 2;
    let mut steps: Vec<(u8, Result<Bytes, Stopped>)> = chunks.iter().map(|chunk| (0, Ok(chunk.clone()))).collect();
    steps.insert(half, (0, Err(Stopped::Idle("ingest.idle_timeout_ms"))));
    let log = Arc::new(Slow::new(0));
    let (mut source, ingest) = (Script::of(steps), ingest(log.clone()));
    let taken = source.taken.clone();
    let pumped = tokio::spawn(async move { pump(ingest, &mut source).await });
    settle().await;
    // The source is not asked again before the append has finished.
    assert_eq!(taken.load(Ordering::Relaxed), half + 1);
    log.open.add_permits(100);
    assert_eq!(pumped.await.unwrap().unwrap().tally.records, chunks.len() as u64);
    assert_eq!(as_text(&log.kept()), as_text(&plain(INPUT).await));
}

#[tokio::test]
async fn a_silent_source_ends_the_ingest() {
    let mut steps: Vec<(u8, Result<Bytes, Stopped>)> = lines(INPUT).into_iter().map(|chunk| (0, Ok(chunk))).collect();
    steps.insert(5, (100, Err(Stopped::Idle("ingest.idle_timeout_ms"))));
    let log = Arc::new(Slow::new(1_000));
    let stopped = pump(ingest(log.clone()), &mut Script::of(steps)).await.unwrap_err();
    assert!(matches!(stopped, Stopped::Idle(_)), "{stopped:?}");
    assert!(log.kept().last().is_some_and(|last| is_last(last)));
}

proptest! {
    /// Whatever the cuts and the timing: the frames are those of the input as a whole.
    #[test]
    fn the_speed_of_the_log_does_not_change_the_frames(
        cuts in prop::collection::vec((1_usize..3_000, 0_u8..6), 1..60),
        turns in prop::collection::vec(0_u8..40, 0..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let log = Arc::new(Slow { turns: Mutex::new(turns.into()), ..Slow::new(10_000) });
            let (mut rest, mut steps, mut cuts) = (INPUT, Vec::new(), cuts.into_iter().cycle());
            while let Some((cut, turns)) = cuts.next().filter(|_| !rest.is_empty()) {
                let (chunk, later) = rest.split_at(cut.min(rest.len()));
                steps.push((turns, Ok(Bytes::copy_from_slice(chunk))));
                rest = later;
            }
            let records = pump(ingest(log.clone()), &mut Script::of(steps)).await.unwrap();
            assert_eq!(records.tally.records, lines(INPUT).len() as u64);
            assert_eq!(as_text(&log.kept()), as_text(&plain(INPUT).await));
        });
    }
}

#[tokio::test]
async fn a_run_of_a_session_file_is_held_back_up_to_a_bound() {
    let runs = Arc::new(Runs::new(Arc::new(MemoryLog::new(1 << 30, 100)), Gate::new(GateMode::Off).unwrap()));
    let factory = IngestFactory::new(runs.clone(), Settings::default());
    let again = async |most: Option<u64>| {
        let mut ingest = factory.ingest(runner("claude-code"), None, Arc::default()).of_history();
        if let (Some(most), Some(repeats)) = (most, &mut ingest.repeats) {
            repeats.holding(most);
        }
        let ingested = ingest.ingested();
        ingest.feed(INPUT).await.unwrap();
        ingest.finish().await.unwrap();
        (ingested.runs()[0].clone(), ingested.repeated().len())
    };
    let (first, known) = again(None).await;
    assert_eq!(known, 0, "the log was empty");
    let frames = runs.log().read(first.id(), 0, 10_000).await.unwrap();
    // The last frame decides, so it is never held back.
    let held: u64 = frames[..frames.len() - 1].iter().map(|frame| weight(frame)).sum();
    assert_eq!(again(Some(held)).await.1, 1);
    assert_eq!(again(Some(held - 1)).await.1, 0, "a run that is too large is stored again");
}
