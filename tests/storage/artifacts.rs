//! Artifacts are stored with their frames: they survive a kill, and are deleted with the last run that refers to them.

use crate::scratch::{Scratch, artifact, frames, wait};
use framegate::artifacts::{ArtifactStore, Key, StoreError};
use framegate::log::sqlite::Options;
use framegate::log::{FrameLog, SqliteLog, stream_id};
use framegate_translators::frame::{Frame, StreamKind};
use std::sync::Arc;

fn run(number: u128) -> Vec<Arc<Frame>> {
    frames("claude-code", "text_plain.partial.ndjson", number)
}

#[test]
fn artifacts_are_checkpointed_from_the_write_ahead_log_like_frames() {
    let scratch = Scratch::new("artifact-moved");
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    let first = run(1)[0].clone();
    let size = || std::fs::metadata(scratch.path()).unwrap().len();
    let before = size();
    // More than the write-ahead log holds before pages are moved, and less than the amount that makes the writer itself move
    // them.
    for byte in 0..12 {
        wait(log.put(artifact(&first, byte, 1 << 20))).unwrap();
    }
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while size() < before + (7 << 20) {
        assert!(std::time::Instant::now() < deadline, "{} of {before}", size());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn an_artifact_is_deleted_with_the_last_run_that_refers_to_it() {
    let scratch = Scratch::new("artifact-runs");
    let log = SqliteLog::open(Options { max_runs: 1, ..Options::new(scratch.path()) }).unwrap();
    let there = |byte: u8| wait(log.get(Key::Digest([byte; 32]))).unwrap().is_some();
    for number in 1..=4 {
        let frames = run(number);
        // One artifact that runs 1 and 2 share, and one for each run alone.
        if number <= 2 {
            wait(log.put(artifact(&frames[0], 0xFF, 10))).unwrap();
        }
        wait(log.put(artifact(&frames[0], number as u8, 10))).unwrap();
        wait(log.append(&frames, Vec::new())).unwrap();
        if number == 3 {
            assert_eq!([there(1), there(2), there(3), there(0xFF)], [false, true, true, true]);
        }
    }
    assert_eq!([there(2), there(3), there(4), there(0xFF)], [false, true, true, false]);
    let dropped = wait(log.take_dropped());
    assert!(dropped.iter().any(|(kind, _)| *kind == StreamKind::Session));
}

#[test]
fn the_oldest_artifacts_are_evicted_to_make_room() {
    let scratch = Scratch::new("artifact-room");
    let options = Options { max_artifact_bytes: 250, ..Options::new(scratch.path()) };
    let log = SqliteLog::open(options.clone()).unwrap();
    let first = run(1)[0].clone();
    for byte in 1..=2 {
        wait(log.put(artifact(&first, byte, 100))).unwrap();
    }
    drop(log);
    let log = SqliteLog::open(options).unwrap();
    wait(log.put(artifact(&first, 3, 100))).unwrap();
    let there: Vec<bool> = (1..=3).map(|byte| wait(log.get(Key::Digest([byte; 32]))).unwrap().is_some()).collect();
    assert_eq!(there, [false, true, true]);
    let refused = wait(log.put(artifact(&first, 4, 251)));
    assert!(matches!(refused, Err(StoreError::TooLarge { bytes: 251, limit: 250 })), "{refused:?}");
    assert_eq!(stream_id(&first).0, StreamKind::Session);
}
