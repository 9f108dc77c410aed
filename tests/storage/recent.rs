//! The latest frames in memory: every read returns the same frames as the file, from any position.

use crate::scratch::{Scratch, frames, wait};
use framegate::log::sqlite::{Fsync, Options, open_read_only, read_frames, streams};
use framegate::log::{FrameLog, Gone, LogError, SqliteLog, StreamId, stream_id};
use framegate_translators::frame::{Frame, StreamKind};
use std::path::Path;
use std::sync::Arc;

const RECORDINGS: [(&str, &str); 4] = [
    ("claude-code", "parallel_tools.partial.ndjson"),
    ("claude-code", "multi_turn_stdin.ndjson"),
    ("codex", "exec-text-plain.ndjson"),
    ("opencode", "event-text.sse"),
];

fn as_text(frames: &[Arc<Frame>]) -> Vec<String> {
    frames.iter().map(|frame| format!("{frame:?}")).collect()
}

/// Compares the frames that the log returns with those in its file.
fn compare_with_file(log: &SqliteLog, path: &Path) -> usize {
    let database = open_read_only(path).unwrap();
    let all = streams(&database, path).unwrap();
    for (key, kept) in &all {
        let id = (kept.stream.kind, kept.stream.id);
        let (first, end) = (kept.gone.map_or(0, |gone| gone.frames), kept.frames);
        for from in [0, first, (first + end) / 2, end.saturating_sub(3), end.saturating_sub(1), end, end + 1] {
            for max in [1, 4, 1_000] {
                let given = wait(log.read(id, from, max)).unwrap();
                let there = read_frames(&database, path, *key, &kept.stream, from, max).unwrap();
                assert_eq!(as_text(&given), as_text(&there), "{from} {max}");
            }
        }
    }
    all.len()
}

#[test]
fn frames_read_from_memory_equal_those_in_the_file() {
    // None, some, or all of the frames are in memory.
    for recent_bytes in [0, 20_000, 1 << 30] {
        let scratch = Scratch::new(&format!("recent-{recent_bytes}"));
        let log = SqliteLog::open(Options { recent_bytes, ..Options::new(scratch.path()) }).unwrap();
        let parts: Vec<_> =
            RECORDINGS.iter().enumerate().map(|(nth, (runner, name))| frames(runner, name, 1 + nth as u128)).collect();
        let longest = parts.iter().map(Vec::len).max().unwrap();
        // The recordings are appended in turns, like concurrent ingests.
        for at in (0..longest).step_by(9) {
            for frames in parts.iter().filter(|frames| frames.len() > at) {
                wait(log.append(&frames[at..frames.len().min(at + 9)], Vec::new())).unwrap();
            }
            if at % 36 == 0 {
                compare_with_file(&log, &scratch.path());
            }
        }
        let frames = &parts[0];
        let run: Vec<&Arc<Frame>> = frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session).collect();
        let to = run.len() as u64 - 2;
        let gone = Gone { frames: to, last_ms: run[to as usize - 1].timestamp_ms, pruned_ms: 1 };
        wait(log.prune(stream_id(run[0]), gone, Vec::new())).unwrap();
        assert_eq!(wait(log.read(stream_id(run[0]), 0, 100)).unwrap().len(), 2);
        assert!(compare_with_file(&log, &scratch.path()) >= parts.len());
    }
}

#[test]
fn an_evicted_run_is_not_read_from_memory() {
    let scratch = Scratch::new("recent-gone");
    let options = Options { recent_bytes: 1 << 30, max_runs: 1, ..Options::new(scratch.path()) };
    let log = SqliteLog::open(options).unwrap();
    let runs: Vec<StreamId> = (1..4)
        .map(|run| {
            let frames = frames("claude-code", "text_plain.partial.ndjson", run);
            wait(log.append(&frames, Vec::new())).unwrap();
            frames.iter().map(|frame| stream_id(frame)).find(|(kind, _)| *kind == StreamKind::Session).unwrap()
        })
        .collect();
    // The next append makes room.
    assert!(matches!(wait(log.read(runs[0], 0, 10)), Err(framegate::log::LogError::Dropped { .. })));
    assert_eq!(wait(log.read(runs[2], 0, 10)).unwrap().len(), 10);
    assert!(wait(log.take_dropped()).contains(&runs[0]));
    compare_with_file(&log, &scratch.path());
}

#[test]
fn a_reader_receives_concurrent_appends_in_order() {
    // All frames in memory; or only some of them.
    for recent_bytes in [1 << 30, 8_000] {
        let scratch = Scratch::new(&format!("recent-along-{recent_bytes}"));
        let options = Options { recent_bytes, fsync: Fsync::Never, ..Options::new(scratch.path()) };
        let log = SqliteLog::open(options).unwrap();
        let ingests: Vec<Vec<Arc<Frame>>> = (1..4)
            .map(|run| {
                let mut frames = frames(RECORDINGS[0].0, RECORDINGS[0].1, run);
                frames.retain(|frame| frame.stream.kind == StreamKind::Session);
                frames
            })
            .collect();
        wait(async {
            let append = |frames: &'static [Arc<Frame>], log: Arc<SqliteLog>| async move {
                for part in frames.chunks(3) {
                    log.append(part, Vec::new()).await.unwrap();
                }
            };
            let read = |frames: &'static [Arc<Frame>], log: Arc<SqliteLog>, at_once: usize| async move {
                let (mut next, id) = (0, stream_id(&frames[0]));
                while next < frames.len() {
                    let more = match log.read(id, next as u64, at_once).await {
                        Err(LogError::Dropped { .. }) if next == 0 => Vec::new(),
                        more => more.unwrap(),
                    };
                    assert_eq!(as_text(&more), as_text(&frames[next..next + more.len()]));
                    next += more.len();
                    tokio::task::yield_now().await;
                }
            };
            let log = Arc::new(log);
            let mut all = Vec::new();
            for frames in ingests {
                let frames: &'static [Arc<Frame>] = frames.leak();
                all.push(tokio::spawn(append(frames, log.clone())));
                all.extend([1, 2, 50].map(|at_once| tokio::spawn(read(frames, log.clone(), at_once))));
            }
            for one in all {
                one.await.unwrap();
            }
        });
    }
}
