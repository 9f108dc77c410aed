//! A full log that cannot always make room.

use crate::instrumented::InstrumentedLog;
use crate::scratch::{Scratch, frames, number, wait};
use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::log::sqlite::{Options, open_read_only};
use framegate::log::{FrameLog, LogError, MemoryLog, SqliteLog, stream_id};
use framegate::runs::Runs;
use framegate_translators::frame::{Frame, StreamKind};
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn run(run: u128) -> Vec<Arc<Frame>> {
    let mut frames = frames("claude-code", "text_plain.partial.ndjson", run);
    frames.retain(|frame| frame.stream.kind == StreamKind::Session);
    frames
}

#[test]
fn eviction_resumes_once_a_failing_delete_succeeds() {
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
    // A check reports what prevents eviction.
    let error = wait(log.check_writable()).unwrap_err();
    assert!(error.to_string().contains("a fault"), "{error}");
    assert_eq!(number(&other, "SELECT count(*) FROM streams"), there);
    other.execute_batch("DROP TRIGGER fault").unwrap();
    // A check detects the recovery without another append.
    wait(log.check_writable()).unwrap();
    for nth in 30..60 {
        wait(log.append(&run(nth), Vec::new())).unwrap();
    }
    assert!(number(&other, "SELECT count(*) FROM streams") <= there);
}

#[test]
fn a_log_is_full_when_open_runs_fill_it() {
    let over = run(2);
    // The rest of the log is room for one ended run.
    let open: Vec<Vec<Arc<Frame>>> = (11..21).map(|nth| run(nth)[..over.len() - 1].to_vec()).collect();
    let fill = |log: &dyn FrameLog| {
        for open in &open {
            wait(log.append(open, Vec::new())).unwrap();
        }
    };
    for more in [0, 1] {
        let scratch = Scratch::new(&format!("must-stay-{more}"));
        let measured = SqliteLog::open(Options::new(scratch.dir().join("measured.db"))).unwrap();
        fill(&measured);
        // Open runs may use seven eighths.
        let max_bytes = wait(FrameLog::usage(&measured)).unwrap().0 * 8 / 7 + 2 * more;
        let sqlite = SqliteLog::open(Options { max_bytes, ..Options::new(scratch.path()) }).unwrap();
        let measured = MemoryLog::new(1 << 30, 10);
        fill(&measured);
        let memory = MemoryLog::new(wait(measured.usage()).unwrap().0 * 8 / 7 + 2 * more, 10);
        for log in [&sqlite as &dyn FrameLog, &memory] {
            fill(log);
            wait(log.append(&over, Vec::new())).unwrap();
            // Together they exceed the limit, but the ended run may be evicted.
            match wait(log.check_writable()) {
                Ok(()) => assert_eq!(more, 1),
                Err(LogError::Full { bytes, limit }) => {
                    assert!(more == 0 && bytes + 1 >= limit - limit / 8, "{bytes} of {limit}");
                }
                Err(other) => panic!("{other}"),
            }
            let refused = wait(log.append(&run(3)[..2], Vec::new()));
            assert!(matches!(refused, Err(LogError::Full { .. })), "{refused:?}");
        }
    }
}

#[test]
fn reading_the_kept_size_changes_nothing() {
    let scratch = Scratch::new("read-usage");
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
    // The check writes, to find out whether writing works.
    wait(log.check_writable()).unwrap();
    assert_ne!(version(), before);
}

#[test]
fn a_start_on_a_full_disk_serves_stored_runs_and_closes_open_ones_once_there_is_room() {
    let scratch = Scratch::new("full-start");
    let (over, open) = (run(1), run(2));
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    wait(log.append(&over, Vec::new())).unwrap();
    wait(log.append(&open[..5], Vec::new())).unwrap();
    drop(log);
    let log = Arc::new(InstrumentedLog::open(&scratch));
    log.is_full.store(true, Ordering::Relaxed);
    let runs = Runs::new(log.clone(), Gate::new(GateMode::Off).unwrap());
    wait(async {
        runs.recover(1_780_000_000_000).await.unwrap();
        let status = |frames: &[Arc<Frame>]| runs.find(stream_id(&frames[0])).unwrap().status().clone();
        assert_eq!((status(&over).ended, status(&open).ended), (true, false));
        assert_eq!((status(&open).frames, status(&open).not_kept), (5, Some("log_full")));
        let closing = runs.close_left_open();
        log.is_full.store(false, Ordering::Relaxed);
        closing.await;
        let closed = status(&open);
        assert_eq!((closed.ended, closed.error_code.as_deref()), (true, Some("proxy_restarted")));
        assert_eq!(closed.not_kept, None);
    });
}
