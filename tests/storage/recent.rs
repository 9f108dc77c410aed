//! The latest frames in memory: whoever reads gets what the file has, wherever he reads.

use crate::scratch::{Scratch, frames, wait};
use framegate::log::sqlite::{Options, open_read_only, read_frames, streams};
use framegate::log::{FrameLog, Gone, SqliteLog, StreamId, stream_id};
use framegate_translators::frame::{Frame, StreamKind};
use std::path::Path;
use std::sync::Arc;

const RECORDINGS: [(&str, &str); 4] = [
    ("claude-code", "parallel_tools.partial.ndjson"),
    ("claude-code", "multi_turn_stdin.ndjson"),
    ("codex", "exec-text-plain.ndjson"),
    ("opencode", "event-text.sse"),
];

fn shown(frames: &[Arc<Frame>]) -> Vec<String> {
    frames.iter().map(|frame| format!("{frame:?}")).collect()
}

/// Compares what the log gives with what stands in its file.
fn same(log: &SqliteLog, path: &Path) -> usize {
    let database = open_read_only(path).unwrap();
    let all = streams(&database, path).unwrap();
    for (key, kept) in &all {
        let id = (kept.stream.kind, kept.stream.id);
        let (first, end) = (kept.gone.map_or(0, |gone| gone.frames), kept.frames);
        for from in [0, first, (first + end) / 2, end.saturating_sub(3), end.saturating_sub(1), end, end + 1] {
            for max in [1, 4, 1_000] {
                let given = wait(log.read(id, from, max)).unwrap();
                let there = read_frames(&database, path, *key, &kept.stream, from, max).unwrap();
                assert_eq!(shown(&given), shown(&there), "{from} {max}");
            }
        }
    }
    all.len()
}

#[test]
fn what_is_read_from_memory_is_what_the_file_has() {
    // None, some, and all of it in memory.
    for recent_bytes in [0, 20_000, 1 << 30] {
        let scratch = Scratch::new(&format!("recent-{recent_bytes}"));
        let log = SqliteLog::open(Options { recent_bytes, ..Options::new(scratch.path()) }).unwrap();
        let parts: Vec<_> =
            RECORDINGS.iter().enumerate().map(|(nth, (runner, name))| frames(runner, name, 1 + nth as u128)).collect();
        let longest = parts.iter().map(Vec::len).max().unwrap();
        // All of them in turns, as ingests at once append.
        for at in (0..longest).step_by(9) {
            for frames in parts.iter().filter(|frames| frames.len() > at) {
                wait(log.append(&frames[at..frames.len().min(at + 9)], Vec::new())).unwrap();
            }
            if at % 36 == 0 {
                same(&log, &scratch.path());
            }
        }
        let frames = &parts[0];
        let run: Vec<&Arc<Frame>> = frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session).collect();
        let to = run.len() as u64 - 2;
        let gone = Gone { frames: to, last_ms: run[to as usize - 1].timestamp_ms, pruned_ms: 1 };
        wait(log.drop_front(stream_id(run[0]), gone, Vec::new())).unwrap();
        assert_eq!(wait(log.read(stream_id(run[0]), 0, 100)).unwrap().len(), 2);
        assert!(same(&log, &scratch.path()) >= parts.len());
    }
}

#[test]
fn a_run_that_made_room_is_not_read_from_memory_either() {
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
    // Room is made with the next append.
    assert!(wait(log.read(runs[0], 0, 10)).unwrap().is_empty());
    assert_eq!(wait(log.read(runs[2], 0, 10)).unwrap().len(), 10);
    assert!(wait(log.take_dropped()).contains(&runs[0]));
    same(&log, &scratch.path());
}
