//! Long texts and pruning: text that later frames share is kept, once.

use crate::scratch::{Scratch, as_text, frames, number, read_as_text, run_of, wait};
use framegate::log::sqlite::Options;
use framegate::log::{FrameLog, Gone, SqliteLog, StreamId, stream_id};
use framegate_translators::frame::Frame;
use rusqlite::Connection;
use std::sync::Arc;

/// A message of 200 KB, which appears in two records.
const LONG: (&str, &str) = ("claude-code", "long_text_200k.ndjson");

/// The frames of a run up to a long text, and `copies` more frames with the same text.
fn with_copies(copies: usize) -> (StreamId, Vec<Arc<Frame>>) {
    let frames = frames(LONG.0, LONG.1, 1);
    let run = run_of(&frames);
    let mut mine: Vec<_> = frames.into_iter().filter(|frame| stream_id(frame) == run).collect();
    let delta = mine.iter().position(|frame| frame.body.kind() == "output_text_delta").unwrap();
    mine.truncate(delta + 1);
    let next = mine.len() as u64;
    let template = mine[delta].clone();
    let copy = |seq| Arc::new(Frame { seq, ..Frame::clone(&template) });
    mine.extend((next..).take(copies).map(copy));
    (run, mine)
}

/// The number of bytes of the stored frames. Checks that the log's counters match the rows.
fn bytes_of(log: &SqliteLog, path: &std::path::Path) -> u64 {
    let (bytes, _) = wait(FrameLog::usage(log)).unwrap();
    let database = Connection::open(path).unwrap();
    assert_eq!(number(&database, "SELECT sum(octet_length(body) + 64) FROM frames"), bytes);
    assert_eq!(number(&database, "SELECT bytes FROM streams"), bytes);
    let dangling = "SELECT count(*) FROM frames f LEFT JOIN frames s ON s.seq = f.source \
                    WHERE f.source IS NOT NULL AND (s.seq IS NULL OR s.seq >= f.seq OR s.source IS NOT NULL)";
    assert_eq!(number(&database, dangling), 0);
    bytes
}

fn prune(log: &SqliteLog, run: StreamId, frames: u64) {
    wait(log.prune(run, Gone { frames, last_ms: 5, pruned_ms: 6 }, Vec::new())).unwrap();
}

#[test]
fn a_shared_text_is_stored_once_after_each_pruning() {
    let scratch = Scratch::new("cuts-many");
    let (run, frames) = with_copies(60);
    let (before, after) = frames.split_at(frames.len() - 20);
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    for some in before.chunks(25) {
        wait(log.append(some, Vec::new())).unwrap();
    }
    let bytes = bytes_of(&log, &scratch.path());
    // First the record is pruned, then the frame that holds its text.
    for gone in [before.len() - 30, before.len() - 10] {
        prune(&log, run, gone as u64);
        assert!(bytes_of(&log, &scratch.path()) <= bytes);
        assert!(read_as_text(&log, run) == as_text(&before[gone..], run));
    }
    // Later frames refer to the current holder, in any append.
    let bytes = bytes_of(&log, &scratch.path());
    for some in after.chunks(5) {
        wait(log.append(some, Vec::new())).unwrap();
    }
    assert!(bytes_of(&log, &scratch.path()) < bytes + after.len() as u64 * 500);
    assert!(read_as_text(&log, run) == as_text(&frames[before.len() - 10..], run));
    // Prune all frames but the last, which then holds the text alone.
    prune(&log, run, frames.len() as u64 - 1);
    assert!(bytes_of(&log, &scratch.path()) <= bytes);
    assert!(read_as_text(&log, run) == as_text(&frames[frames.len() - 1..], run));
    drop(log);
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    assert!(read_as_text(&log, run) == as_text(&frames[frames.len() - 1..], run));
}

#[test]
fn a_pruned_text_is_stored_again_once() {
    let scratch = Scratch::new("cuts-anew");
    let (run, frames) = with_copies(20);
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    let delta = frames.iter().position(|frame| frame.body.kind() == "output_text_delta").unwrap();
    // The holder and the frames that referred to it are pruned, and no frame after the cut has the text.
    let (before, after) = frames.split_at(delta + 1);
    wait(log.append(before, Vec::new())).unwrap();
    let mut other = Frame::clone(&before[0]);
    other.seq = before.len() as u64;
    wait(log.append(&[Arc::new(other)], Vec::new())).unwrap();
    prune(&log, run, before.len() as u64);
    let after: Vec<_> =
        after.iter().map(|frame| Arc::new(Frame { seq: frame.seq + 1, ..Frame::clone(frame) })).collect();
    for some in after.chunks(4) {
        wait(log.append(some, Vec::new())).unwrap();
    }
    assert!(bytes_of(&log, &scratch.path()) < 300_000);
    assert!(read_as_text(&log, run)[1..] == as_text(&after, run));
}

#[test]
fn a_front_is_chosen_by_the_bytes_that_remain_after_it() {
    let (run, frames) = with_copies(12);
    let last = frames.len() as u64 - 1;
    let scratch = Scratch::new("cuts-measured");
    let bytes_after = |name: &str, gone: u64| {
        let path = scratch.dir().join(name);
        let log = SqliteLog::open(Options::new(&path)).unwrap();
        wait(log.append(&frames, Vec::new())).unwrap();
        if gone > 0 {
            prune(&log, run, gone);
        }
        bytes_of(&log, &path)
    };
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    wait(log.append(&frames, Vec::new())).unwrap();
    let all = bytes_of(&log, &scratch.path());
    // Limits: a whole text and a few frames, two texts (the record and its text share one), almost all, all.
    for (nth, most) in [1_000, 202_000, 203_000, 410_000, all - 1, all].into_iter().enumerate() {
        let first = wait(log.first_within(run, most)).unwrap();
        let remaining = bytes_after(&format!("at-{nth}.db"), first);
        assert!(remaining <= most || first == last, "{remaining} of {most} from {first}");
        if first > 0 {
            let more = bytes_after(&format!("before-{nth}.db"), first - 1);
            assert!(more > most, "{more} of {most} from {}", first - 1);
        }
    }
    assert_eq!(wait(log.first_within(run, all)).unwrap(), 0);
}

#[test]
fn pruning_a_front_keeps_texts_that_later_frames_refer_to() {
    let scratch = Scratch::new("cuts-front");
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    let frames = frames(LONG.0, LONG.1, 1);
    let run = run_of(&frames);
    let mine: Vec<_> = frames.iter().filter(|frame| stream_id(frame) == run).cloned().collect();
    // The record with the text is pruned while the run is open, so later frames cannot refer to it.
    let delta = mine.iter().position(|frame| frame.body.kind() == "output_text_delta").unwrap();
    let (before, after) = mine.split_at(delta + 1);
    wait(log.append(before, Vec::new())).unwrap();
    let gone = Gone { frames: delta as u64, last_ms: 5, pruned_ms: 6 };
    wait(log.prune(run, gone, Vec::new())).unwrap();
    wait(log.append(after, Vec::new())).unwrap();
    assert_eq!(read_as_text(&log, run), as_text(&mine[delta..], run));
    let (bytes, _) = wait(FrameLog::usage(&log)).unwrap();
    drop(log);
    let database = Connection::open(scratch.path()).unwrap();
    assert_eq!(number(&database, "SELECT sum(octet_length(body) + 64) FROM frames"), bytes);
    assert_eq!(number(&database, "SELECT bytes FROM streams"), bytes);
    assert_eq!(number(&database, "SELECT count(*) FROM frames WHERE source < (SELECT min(seq) FROM frames)"), 0);
    drop(database);
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    assert_eq!(read_as_text(&log, run), as_text(&mine[delta..], run));
}
