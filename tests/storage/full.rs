//! A log that has no more room, and cannot always make some.

use crate::scratch::{Scratch, frames, number, wait};
use framegate::log::sqlite::{Options, open_read_only};
use framegate::log::{FrameLog, LogError, MemoryLog, SqliteLog};
use framegate_translators::frame::{Frame, StreamKind};
use rusqlite::Connection;
use std::sync::Arc;

fn run(run: u128) -> Vec<Arc<Frame>> {
    let mut frames = frames("claude-code", "text_plain.partial.ndjson", run);
    frames.retain(|frame| frame.stream.kind == StreamKind::Session);
    frames
}

#[test]
fn runs_that_could_not_be_dropped_are_dropped_once_they_can_be() {
    let scratch = Scratch::new("undroppable");
    let log = SqliteLog::open(Options { max_bytes: 60_000, ..Options::new(scratch.path()) }).unwrap();
    for nth in 1..30 {
        wait(log.append(&run(nth), Vec::new())).unwrap();
    }
    let other = Connection::open(scratch.path()).unwrap();
    let there = number(&other, "SELECT count(*) FROM streams");
    let fail = "CREATE TRIGGER fault BEFORE DELETE ON streams BEGIN SELECT RAISE(ABORT, 'a fault'); END";
    other.execute_batch(fail).unwrap();
    for nth in 30..33 {
        let frames = run(nth);
        let error = wait(log.append(&frames[..frames.len() - 1], Vec::new())).unwrap_err();
        assert!(matches!(error, LogError::Full { .. }), "{error}");
        assert!(error.to_string().contains("bytes are kept") && !error.to_string().contains("open"), "{error}");
    }
    // Whoever asks is told what keeps them.
    let error = wait(log.check_writable()).unwrap_err();
    assert!(error.to_string().contains("a fault"), "{error}");
    assert_eq!(number(&other, "SELECT count(*) FROM streams"), there);
    other.execute_batch("DROP TRIGGER fault").unwrap();
    // It is seen without another append, too.
    wait(log.check_writable()).unwrap();
    for nth in 30..60 {
        wait(log.append(&run(nth), Vec::new())).unwrap();
    }
    assert!(number(&other, "SELECT count(*) FROM streams") <= there);
}

#[test]
fn a_log_is_full_where_what_must_stay_fills_it() {
    let (open, over) = (run(1), run(2));
    let open = &open[..open.len() - 1];
    for more in [0, 1] {
        let scratch = Scratch::new(&format!("must-stay-{more}"));
        let measured = SqliteLog::open(Options::new(scratch.dir().join("measured.db"))).unwrap();
        wait(measured.append(open, Vec::new())).unwrap();
        let max_bytes = wait(FrameLog::usage(&measured)).unwrap().0 + more;
        let sqlite = SqliteLog::open(Options { max_bytes, ..Options::new(scratch.path()) }).unwrap();
        let measured = MemoryLog::new(1 << 30, 10);
        wait(measured.append(open, Vec::new())).unwrap();
        let memory = MemoryLog::new(wait(measured.usage()).unwrap().0 + more, 10);
        for log in [&sqlite as &dyn FrameLog, &memory] {
            wait(log.append(open, Vec::new())).unwrap();
            wait(log.append(&over, Vec::new())).unwrap();
            // Together they are too much; the one may go.
            match wait(log.check_writable()) {
                Ok(()) => assert_eq!(more, 1),
                Err(LogError::Full { bytes, limit }) => assert!(more == 0 && bytes == limit, "{bytes} of {limit}"),
                Err(other) => panic!("{other}"),
            }
            let refused = wait(log.append(&run(3)[..1], Vec::new()));
            assert!(matches!(refused, Err(LogError::Full { .. })), "{refused:?}");
        }
    }
}

#[test]
fn whoever_asks_how_much_is_kept_changes_nothing() {
    let scratch = Scratch::new("look");
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    wait(log.append(&run(1), Vec::new())).unwrap();
    let other = open_read_only(&scratch.path()).unwrap();
    let version = || number(&other, "PRAGMA data_version");
    let before = version();
    for _ in 0..3 {
        let (bytes, streams) = wait(FrameLog::usage(&log)).unwrap();
        assert!(bytes > 0 && streams == 1);
        assert_eq!(wait(framegate::artifacts::ArtifactStore::usage(&log)), Some((0, 0)));
    }
    assert_eq!(version(), before);
    // Whether anything can be written is found out by writing.
    wait(log.check_writable()).unwrap();
    assert_ne!(version(), before);
}
