//! The log as a library: what is kept, what is dropped, and how errors are reported.

use crate::every_kind;
use crate::scratch::{Scratch, frames, run_of, wait};
use framegate::clock::Clock;
use framegate::log::sqlite::{Fsync, LAYOUT, Options};
use framegate::log::{Checkpoint, CheckpointAt, FrameLog, Gone, LogError, SqliteLog, StreamId, stream_id};
use framegate_translators::encode::EventId;
use framegate_translators::frame::Frame;
use std::io::{Seek, SeekFrom, Write};
use std::sync::Arc;
use std::time::Duration;

const PLAIN: (&str, &str) = ("claude-code", "text_plain.partial.ndjson");

fn read_all(log: &SqliteLog, stream: StreamId) -> Vec<Arc<Frame>> {
    wait(every_kind::frames::read_all(log, stream))
}

fn as_text(frames: &[Arc<Frame>]) -> Vec<String> {
    frames.iter().map(|frame| format!("{frame:?}")).collect()
}

#[test]
fn an_append_out_of_sequence_is_refused_without_affecting_others() {
    let scratch = Scratch::new("follow");
    let log = Arc::new(SqliteLog::open(Options::new(scratch.path())).unwrap());
    let good: Vec<Vec<Arc<Frame>>> = (1..20).map(|run| frames(PLAIN.0, PLAIN.1, run)).collect();
    let bad = frames(PLAIN.0, PLAIN.1, 99);
    wait(async {
        let wrong = log.append(&bad[1..], Vec::new());
        let right = futures_util::future::join_all(good.iter().map(|frames| log.append(frames, Vec::new())));
        let (wrong, right) = tokio::join!(wrong, right);
        assert!(matches!(wrong, Err(LogError::Sequence { expected: 0, found: 1, .. })), "{wrong:?}");
        assert!(right.iter().all(Result::is_ok));
        // Appending the same frames again is refused.
        assert!(matches!(log.append(&good[0], Vec::new()).await, Err(LogError::Sequence { .. })));
    });
    assert_eq!(read_all(&log, run_of(&bad)).len(), 0);
    for frames in &good {
        let mine: Vec<_> = frames.iter().filter(|frame| stream_id(frame) == run_of(frames)).cloned().collect();
        assert_eq!(as_text(&read_all(&log, run_of(frames))), as_text(&mine));
    }
}

#[test]
fn a_file_at_its_size_limit_evicts_ended_runs_and_is_full_when_only_open_ones_remain() {
    let scratch = Scratch::new("full");
    let limit = 480_000;
    let options = Options { max_file_bytes: Some(limit), ..Options::new(scratch.path()) };
    let log = SqliteLog::open(options.clone()).unwrap();
    for run in 1..100 {
        wait(log.append(&frames(PLAIN.0, PLAIN.1, run), Vec::new())).unwrap();
    }
    wait(log.check_writable()).unwrap();
    let dropped = wait(log.take_dropped());
    assert!(dropped.contains(&run_of(&frames(PLAIN.0, PLAIN.1, 1))), "{dropped:?}");
    assert!(!read_all(&log, run_of(&frames(PLAIN.0, PLAIN.1, 99))).is_empty());
    let mut kept = Vec::new();
    let error = (100..1000)
        .find_map(|run| {
            let mut frames = frames(PLAIN.0, PLAIN.1, run);
            frames.truncate(10);
            match wait(log.append(&frames, Vec::new())) {
                Ok(_) => {
                    kept.push(frames);
                    None
                }
                Err(error) => Some(error),
            }
        })
        .expect("the file must become full");
    assert!(error.is_full() && matches!(error, LogError::NoSpace { .. }), "{error}");
    assert!(error.to_string().contains("framegate.db"), "{error}");
    assert!(kept.len() > 5, "{}", kept.len());
    // A check reports the same error, although the file could be written to.
    assert!(matches!(wait(log.check_writable()), Err(LogError::NoSpace { .. })));
    drop(log);
    assert!(scratch.path().metadata().unwrap().len() <= limit + 8192);
    let log = SqliteLog::open(options).unwrap();
    for frames in &kept {
        let mine: Vec<_> = frames.iter().filter(|frame| stream_id(frame) == run_of(frames)).cloned().collect();
        assert_eq!(as_text(&read_all(&log, run_of(frames))), as_text(&mine));
    }
}

#[test]
fn the_oldest_ended_runs_are_evicted_and_open_ones_stay() {
    let scratch = Scratch::new("room");
    let one = frames(PLAIN.0, PLAIN.1, 1);
    let log = SqliteLog::open(Options { max_runs: 3, ..Options::new(scratch.path()) }).unwrap();
    let open = frames(PLAIN.0, PLAIN.1, 50);
    wait(log.append(&open[..3], Vec::new())).unwrap();
    let runs: Vec<_> = (1..8).map(|run| frames(PLAIN.0, PLAIN.1, run)).collect();
    for frames in &runs {
        wait(log.append(frames, Vec::new())).unwrap();
    }
    let dropped = wait(log.take_dropped());
    let gone: Vec<StreamId> = runs.iter().map(|frames| run_of(frames)).filter(|id| dropped.contains(id)).collect();
    // One run more than the limit may remain until the next append.
    assert_eq!(gone, runs[..3].iter().map(|frames| run_of(frames)).collect::<Vec<_>>());
    assert!(read_all(&log, run_of(&one)).is_empty());
    assert_eq!(read_all(&log, run_of(&open)).len(), 3);
    assert!(!read_all(&log, run_of(&runs[6])).is_empty());
    drop(log);

    let full = SqliteLog::open(Options { max_bytes: 20_000, ..Options::new(scratch.dir().join("small.db")) }).unwrap();
    let error = (100..200)
        .find_map(|run| wait(full.append(&frames(PLAIN.0, PLAIN.1, run)[..5], Vec::new())).err())
        .expect("open runs must fill the log");
    assert!(matches!(error, LogError::Full { limit: 20_000, .. }), "{error}");
    // The end of a run finds room when nothing else does, within the log's bound.
    let rest = frames(PLAIN.0, PLAIN.1, 100);
    let end = rest.iter().position(|frame| framegate_translators::pipeline::is_last(frame)).unwrap();
    let end = Arc::new(Frame { seq: 5, ..Frame::clone(&rest[end]) });
    assert_eq!(run_of(std::slice::from_ref(&end)), run_of(&rest));
    wait(full.append(std::slice::from_ref(&end), Vec::new())).unwrap();
    assert!(wait(FrameLog::usage(&full)).unwrap().0 <= 20_000);
}

#[test]
fn runs_older_than_the_limit_are_dropped() {
    let scratch = Scratch::new("old");
    let at = |ms| Options { clock: Clock::Fixed(ms), ..Options::new(scratch.path()) };
    let log = SqliteLog::open(at(1_000)).unwrap();
    let old = frames(PLAIN.0, PLAIN.1, 1);
    wait(log.append(&old, Vec::new())).unwrap();
    drop(log);
    let options = Options {
        max_age: Some(Duration::from_secs(1)),
        fsync: Fsync::Interval(Duration::from_millis(10)),
        ..at(10_000)
    };
    let log = SqliteLog::open(options).unwrap();
    let new = frames(PLAIN.0, PLAIN.1, 2);
    wait(log.append(&new, Vec::new())).unwrap();
    // Frames that are too old when the log is opened are never returned.
    assert!(read_all(&log, run_of(&old)).is_empty());
    assert!(!read_all(&log, run_of(&new)).is_empty());
    let there: Vec<_> = wait(log.streams()).unwrap().into_iter().map(|kept| kept.stream.id).collect();
    assert!(!there.contains(&run_of(&old).1), "{there:?}");
}

#[test]
fn only_one_process_can_open_a_log_for_writing() {
    let scratch = Scratch::new("one");
    let first = SqliteLog::open(Options::new(scratch.path())).unwrap();
    let error = SqliteLog::open(Options::new(scratch.path())).unwrap_err();
    assert!(matches!(error, LogError::Locked { .. }), "{error}");
    assert!(error.to_string().contains("framegate.db is in use by another framegate"), "{error}");
    drop(first);
    SqliteLog::open(Options::new(scratch.path())).unwrap();
}

#[test]
fn the_lock_is_released_with_its_holder_even_while_child_processes_start() {
    let scratch = Scratch::new("children");
    let is_done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let children: Vec<_> = (0..2)
        .map(|_| {
            let is_done = is_done.clone();
            std::thread::spawn(move || {
                let mut begun = 0;
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    // Between fork and exec, a child process has all handles of its parent.
                    begun += u32::from(std::process::Command::new("true").status().unwrap().success());
                }
                begun
            })
        })
        .collect();
    for nth in 0..100 {
        let log = SqliteLog::open(Options { fsync: Fsync::Never, ..Options::new(scratch.path()) });
        drop(log.unwrap_or_else(|error| panic!("{nth}: {error}")));
    }
    is_done.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(children.into_iter().map(|child| child.join().unwrap()).sum::<u32>() > 0);
}

#[test]
fn a_file_that_is_not_a_frame_log_is_refused_by_name() {
    let scratch = Scratch::new("foreign");
    let refused = |expected: &str| {
        let error = SqliteLog::open(Options::new(scratch.path())).unwrap_err();
        assert!(error.to_string().contains(expected), "{error} should say {expected:?}");
        let _ = std::fs::remove_file(scratch.path());
    };
    std::fs::write(scratch.path(), "no database at all, but a text that is long enough to have a header".repeat(30))
        .unwrap();
    refused("is not a frame log of framegate: file is not a database");
    rusqlite::Connection::open(scratch.path()).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
    refused("another program's SQLite database");
    drop(SqliteLog::open(Options::new(scratch.path())).unwrap());
    let newer = rusqlite::Connection::open(scratch.path()).unwrap();
    newer.pragma_update(None, "user_version", LAYOUT + 1).unwrap();
    drop(newer);
    refused(&format!("has layout {}, but this framegate supports layouts up to {LAYOUT}", LAYOUT + 1));
    for path in ["/no/such/directory/framegate.db", "/proc/framegate.db"] {
        let error = SqliteLog::open(Options::new(path)).unwrap_err().to_string();
        assert!(error.contains(path) && error.contains("check that the directory exists and is writable"), "{error}");
    }
}

#[test]
fn a_damaged_page_is_found_by_a_check_on_open() {
    let scratch = Scratch::new("damaged");
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    for run in 1..20 {
        wait(log.append(&frames(PLAIN.0, PLAIN.1, run), Vec::new())).unwrap();
    }
    drop(log);
    let check = Options { check: true, ..Options::new(scratch.path()) };
    drop(SqliteLog::open(check.clone()).unwrap());
    let size = std::fs::metadata(scratch.path()).unwrap().len();
    let mut file = std::fs::File::options().write(true).open(scratch.path()).unwrap();
    for page in 30..(size / 4096).min(60) {
        file.seek(SeekFrom::Start(page * 4096)).unwrap();
        file.write_all(&[0xA5; 512]).unwrap();
    }
    drop(file);
    let error = SqliteLog::open(check).unwrap_err();
    assert!(matches!(error, LogError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("framegate log verify"), "{error}");
}

#[test]
fn a_database_of_layout_1_is_read() {
    let scratch = Scratch::new("layout-1");
    let database = rusqlite::Connection::open(scratch.path()).unwrap();
    database.execute_batch(include_str!("layout_1.sql")).unwrap();
    drop(database);
    let log = SqliteLog::open(Options { check: true, ..Options::new(scratch.path()) }).unwrap();
    let kept = wait(log.streams()).unwrap();
    assert_eq!(kept.len(), 1);
    let stream = &kept[0].stream;
    let read = read_all(&log, (stream.kind, stream.id));
    let bodies: Vec<&str> = read.iter().map(|frame| frame.body.kind()).collect();
    assert_eq!(bodies, ["session_started", "provider_event", "tool_started", "tool_ended", "session_ended"]);
    assert_eq!(read[0].timestamp_ms, 1_770_000_000_000);
    assert_eq!(read[2].parent_tool_id.unwrap().to_string(), "6f0b6a4e-1111-5111-8111-111111111111");
}

#[test]
fn a_log_reports_its_usage_and_whether_it_is_writable() {
    let scratch = Scratch::new("usage");
    let frames = frames(PLAIN.0, PLAIN.1, 1);
    let run = run_of(&frames);
    let mine: Vec<_> = frames.iter().filter(|frame| stream_id(frame) == run).cloned().collect();
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    assert_eq!(wait(FrameLog::usage(&log)), Some((0, 0)));
    wait(log.append(&mine[..mine.len() - 1], Vec::new())).unwrap();
    let (bytes, streams) = wait(FrameLog::usage(&log)).unwrap();
    assert_eq!(streams, 1);
    assert!(wait(log.check_writable()).is_ok());
    drop(log);
    // The stored sum equals the actual sum, also for a process that opens the file.
    let database = rusqlite::Connection::open(scratch.path()).unwrap();
    let sum: u64 =
        database.query_row("SELECT sum(length(CAST(body AS BLOB)) + 64) FROM frames", [], |row| row.get(0)).unwrap();
    drop(database);
    assert_eq!(sum, bytes);
    // Open runs may use seven eighths.
    let max_bytes = bytes * 8 / 7;
    let log = SqliteLog::open(Options { max_bytes, ..Options::new(scratch.path()) }).unwrap();
    assert_eq!(wait(FrameLog::usage(&log)), Some((bytes, 1)));
    // An open run fills the log: nothing is accepted until the run has ended.
    assert!(matches!(wait(log.check_writable()), Err(LogError::Full { limit, .. }) if limit == max_bytes));
    wait(log.append(&mine[mine.len() - 1..], Vec::new())).unwrap();
    assert!(wait(log.check_writable()).is_ok());
    // Pruned frames no longer count.
    let (before, _) = wait(FrameLog::usage(&log)).unwrap();
    let gone = Gone { frames: 3, last_ms: 5, pruned_ms: 6 };
    let checkpoint = |view: &str, frame: u64, last: EventId| Checkpoint {
        view: view.into(),
        frame,
        event: frame * 2,
        last: Some((last, frame)),
        state: vec![7],
    };
    let checkpoints = vec![checkpoint("a", 3, EventId::Number(9)), checkpoint("b", 3, EventId::Text("t9".to_owned()))];
    wait(log.prune(run, gone, checkpoints.clone())).unwrap();
    assert!(wait(FrameLog::usage(&log)).unwrap().0 < before);
    assert_eq!(wait(log.read(run, 0, 2)).unwrap()[0].seq, 3);
    assert_eq!(wait(log.first_within(run, 0)).unwrap(), mine.len() as u64 - 1);
    assert_eq!(wait(log.first_within(run, u64::MAX)).unwrap(), 3);
    wait(log.keep_checkpoints(
        run,
        vec![checkpoint("a", 5, EventId::Number(12)), checkpoint("b", 5, EventId::Text("u0".to_owned()))],
    ))
    .unwrap();
    let found =
        |view: &str, at: CheckpointAt| wait(log.checkpoint(run, view, &at)).unwrap().map(|checkpoint| checkpoint.frame);
    assert_eq!(wait(log.checkpoint(run, "a", &CheckpointAt::Frame(3))).unwrap().as_ref(), checkpoints.first());
    assert_eq!(found("a", CheckpointAt::Frame(2)), None);
    assert_eq!(found("a", CheckpointAt::Frame(u64::MAX)), Some(5));
    assert_eq!(found("a", CheckpointAt::Event(9)), Some(3));
    assert_eq!(found("a", CheckpointAt::Cursor(EventId::Number(11))), Some(3));
    assert_eq!(found("a", CheckpointAt::Cursor(EventId::Number(12))), Some(5));
    assert_eq!(found("b", CheckpointAt::Cursor(EventId::Text("t9".to_owned()))), Some(3));
    assert_eq!(found("b", CheckpointAt::Cursor(EventId::Text("u1".to_owned()))), Some(5));
    assert_eq!(found("c", CheckpointAt::Frame(9)), None);
    drop(log);
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    assert_eq!(wait(log.streams()).unwrap()[0].gone, Some(gone));
}
