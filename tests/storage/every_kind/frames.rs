//! Frames.

use super::{Place, started};
use crate::scratch::{frames, run_of};
use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::log::{FrameLog, LogError, StreamId, stream_id};
use framegate::runs::Runs;
use framegate_translators::frame::stored::read_frame;
use framegate_translators::frame::{Body, Frame, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::{PROVIDERS, RUNNERS, runner};
use framegate_translators::sequence::Identity;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// A recording with tools that run at the same time.
const TOOLS: (&str, &str) = ("claude-code", "parallel_tools.partial.ndjson");

/// A recording with a long final text.
const LONG: (&str, &str) = ("claude-code", "long_text_200k.ndjson");

/// All frames of a stream that are there; none if the stream is not.
pub async fn read_all(log: &dyn FrameLog, stream: StreamId) -> Vec<Arc<Frame>> {
    let mut found = Vec::new();
    loop {
        let more = match log.read(stream, found.len() as u64, 7).await {
            Err(LogError::Dropped { .. }) => return Vec::new(),
            more => more.unwrap(),
        };
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// The same as text.
async fn stored(log: &dyn FrameLog, stream: StreamId) -> Vec<String> {
    read_all(log, stream).await.iter().map(|frame| format!("{frame:?}")).collect()
}

/// The streams of frames, with the frames of each as text.
fn by_stream(frames: &[Arc<Frame>]) -> Vec<(StreamId, Vec<String>)> {
    let ids: BTreeSet<_> = frames.iter().map(|frame| (stream_id(frame).1, stream_id(frame).0.as_str())).collect();
    let of = |id: Uuid| frames.iter().filter(move |frame| frame.stream.id == id);
    ids.into_iter()
        .map(|(id, _)| {
            let first = of(id).next().unwrap();
            (stream_id(first), of(id).map(|frame| format!("{frame:?}")).collect())
        })
        .collect()
}

pub fn survive_reopening(place: &dyn Place) {
    let samples = RUNNERS.iter().map(|runner| (runner.name, runner.sample.file));
    let parts: Vec<Vec<Arc<Frame>>> = [("claude-code", "multi_turn_stdin.ndjson")]
        .into_iter()
        .chain(samples)
        .enumerate()
        .map(|(run, (runner, name))| frames(runner, name, 1 + run as u128))
        .collect();
    let log = place.open(false).log;
    place.runtime().block_on(async {
        for chunk in parts.iter().flat_map(|frames| frames.chunks(5)) {
            log.append(chunk, Vec::new()).await.unwrap();
        }
    });
    drop(log);
    let log = place.open(false).log;
    place.runtime().block_on(async {
        let mut streams = 0;
        for (id, frames) in parts.iter().flat_map(|frames| by_stream(frames)) {
            assert_eq!(stored(&*log, id).await, frames);
            streams += 1;
        }
        assert!(streams > 6, "{streams}");
        // A log in memory has nothing that a process finds when it starts.
        let found = if log.is_durable() { streams } else { 0 };
        assert_eq!(log.streams().await.unwrap().len(), found);
    });
}

pub fn with_any_timestamp_are_read_back(place: &dyn Place) {
    let golden = include_str!("../../../translators/tests/stored/v1.ndjson");
    let frame = read_frame(golden.lines().next().unwrap().as_bytes(), PROVIDERS).unwrap();
    let log = place.open(false).log;
    place.runtime().block_on(async {
        for (number, timestamp_ms) in (0..).zip([0, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX]) {
            let frame = Arc::new(Frame { timestamp_ms, seq: number, ..frame.clone() });
            log.append(std::slice::from_ref(&frame), Vec::new()).await.unwrap();
            let read = log.read(stream_id(&frame), number, 1).await.unwrap();
            assert_eq!(read[0].timestamp_ms, timestamp_ms);
        }
    });
}

pub fn of_concurrent_appends_are_read_in_order(place: &dyn Place) {
    let ingests = (1..4).map(|run| {
        let mut frames = frames(TOOLS.0, TOOLS.1, run);
        frames.retain(|frame| frame.stream.kind == StreamKind::Session);
        Arc::new(frames)
    });
    let log = place.open(false).log;
    let append = |frames: Arc<Vec<Arc<Frame>>>, log: Arc<dyn FrameLog>| async move {
        for part in frames.chunks(3) {
            log.append(part, Vec::new()).await.unwrap();
        }
    };
    let read = |frames: Arc<Vec<Arc<Frame>>>, log: Arc<dyn FrameLog>, at_once: usize| async move {
        let (mut next, id) = (0, stream_id(&frames[0]));
        while next < frames.len() {
            let more = match log.read(id, next as u64, at_once).await {
                Err(LogError::Dropped { .. }) if next == 0 => Vec::new(),
                more => more.unwrap(),
            };
            for (read, appended) in more.iter().zip(&frames[next..]) {
                assert_eq!(format!("{read:?}"), format!("{appended:?}"));
            }
            next += more.len();
            tokio::task::yield_now().await;
        }
    };
    place.runtime().block_on(async {
        let mut all = Vec::new();
        for frames in ingests {
            all.push(tokio::spawn(append(frames.clone(), log.clone())));
            all.extend([1, 2, 50].map(|at_once| tokio::spawn(read(frames.clone(), log.clone(), at_once))));
        }
        for one in all {
            one.await.unwrap();
        }
    });
}

/// Polls an append once, and drops it.
fn begin_and_drop(log: &dyn FrameLog, frames: &[Arc<Frame>]) {
    let mut append = log.append(frames, Vec::new());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let _ = append.as_mut().poll(&mut context);
}

/// What was begun is appended as a whole or not at all, and what follows it is appended after it.
pub fn have_no_gap_after_an_append_whose_caller_stopped_waiting(place: &dyn Place) {
    let mut frames = frames(TOOLS.0, TOOLS.1, 1);
    let id = run_of(&frames);
    frames.retain(|frame| stream_id(frame) == id);
    let all: Vec<String> = frames.iter().map(|frame| format!("{frame:?}")).collect();
    let size = frames.len().div_ceil(9);
    let log = place.open(false).log;
    place.runtime().block_on(async {
        let mut at = 0;
        let mut begun = 0;
        while at < frames.len() {
            let part = &frames[at..frames.len().min(at + size)];
            if begun < 4 {
                begun += 1;
                begin_and_drop(&*log, part);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            match log.append(part, Vec::new()).await {
                Ok(_) => at += part.len(),
                // The append before was carried out after all.
                Err(LogError::Sequence { expected, .. }) => {
                    assert_eq!(expected, (at + part.len()) as u64, "a part of an append is there");
                    at += part.len();
                }
                Err(error) => panic!("{error}"),
            }
            assert_eq!(stored(&*log, id).await, all[..at]);
        }
    });
}

/// A run that begins a task, which ends after the run. All these runs have the same task and the same session.
fn with_task(run: u128) -> Vec<Arc<Frame>> {
    let identity = Identity { run_id: Uuid::from_u128(run), session_id: None };
    let mut ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
    let bytes = crate::proxy::recording("claude-code", "bash_background.partial.ndjson");
    let mut frames: Vec<Frame> = ingest.feed(&bytes, 1_770_000_000_000).collect();
    frames.extend(ingest.finish(1_770_000_000_000));
    frames.into_iter().map(Arc::new).collect()
}

pub fn of_a_task_that_is_reopened_stay_complete(place: &dyn Place) {
    let log = place.open(true).log;
    let runs = started(place, Runs::new(log.clone(), Gate::new(GateMode::Warn).unwrap()));
    place.runtime().block_on(async {
        for run in 1..=8 {
            for part in with_task(run).chunks(7) {
                runs.append(part).await.unwrap();
            }
            let mut tasks = 0;
            for entry in runs.entries() {
                let frames = entry.status().frames;
                let mut at = 0;
                while at < frames {
                    let read = log.read(entry.id(), at, 50).await.unwrap();
                    let numbers: Vec<u64> = read.iter().map(|frame| frame.seq).collect();
                    assert_eq!(numbers, (at..at + read.len() as u64).collect::<Vec<_>>(), "{:?}", entry.id());
                    at += read.len() as u64;
                    assert!(!read.is_empty(), "{:?} lacks frames after {at}", entry.id());
                }
                tasks += usize::from(entry.id().0 == StreamKind::Task);
            }
            assert_eq!(tasks, 1, "after {run} runs");
        }
    });
}

pub fn keep_the_final_text_of_their_run(place: &dyn Place) {
    let open = || {
        let log = place.open(true).log;
        (log.is_durable(), started(place, Runs::new(log, Gate::new(GateMode::Off).unwrap())))
    };
    let (long, short) = (frames(LONG.0, LONG.1, 1), frames("claude-code", "text_plain.partial.ndjson", 2));
    let (is_durable, mut runs) = open();
    place.runtime().block_on(async {
        runs.append(&long).await.unwrap();
        runs.append(&short).await.unwrap();
    });
    if is_durable {
        drop(runs);
        runs = open().1;
    }
    for frames in [&long, &short] {
        let end = frames.iter().find_map(|frame| match &frame.body {
            Body::SessionEnded(end) => end.final_text.clone(),
            _ => None,
        });
        let known = runs.find(run_of(frames)).unwrap().status().final_text.clone();
        assert!(end.is_some() && known == end);
    }
}
