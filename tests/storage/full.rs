//! A full log that cannot always make room.

use crate::scratch::{Scratch, frames, number, wait};
use async_trait::async_trait;
use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::log::sqlite::{Options, open_read_only};
use framegate::log::{
    FrameLog, Gone, KeptStream, LogError, Mark, MemoryLog, Order, SqliteLog, StreamId, Summary, stream_id,
};
use framegate::runs::Runs;
use framegate_translators::frame::{Frame, StreamKind};
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
fn a_log_is_full_where_what_must_stay_fills_it() {
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
    // The check writes, to find out whether writing works.
    wait(log.check_writable()).unwrap();
    assert_ne!(version(), before);
}

/// A log on a disk that is full until the flag is cleared.
struct FullDisk(SqliteLog, AtomicBool);

#[async_trait]
impl FrameLog for FullDisk {
    async fn append(&self, frames: &[Arc<Frame>], summaries: Vec<Summary>) -> Result<u64, LogError> {
        if self.1.load(Ordering::Relaxed) {
            return Err(LogError::NoSpace { path: "framegate.db".into(), detail: "no room".to_owned() });
        }
        self.0.append(frames, summaries).await
    }

    fn order(&self) -> Order {
        self.0.order()
    }

    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        self.0.read(stream, from, max).await
    }

    async fn drop_front(&self, stream: StreamId, gone: Gone, marks: Vec<Mark>) -> Result<(), LogError> {
        self.0.drop_front(stream, gone, marks).await
    }

    async fn front_beyond(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError> {
        self.0.front_beyond(stream, max_bytes).await
    }

    async fn drop_stream(&self, stream: StreamId) -> Result<(), LogError> {
        self.0.drop_stream(stream).await
    }

    async fn take_dropped(&self) -> Vec<StreamId> {
        self.0.take_dropped().await
    }

    fn is_durable(&self) -> bool {
        true
    }

    async fn streams(&self) -> Result<Vec<KeptStream>, LogError> {
        self.0.streams().await
    }
}

#[test]
fn a_start_on_a_full_disk_serves_what_is_there_and_closes_what_is_open_once_there_is_room() {
    let scratch = Scratch::new("full-start");
    let (over, open) = (run(1), run(2));
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    wait(log.append(&over, Vec::new())).unwrap();
    wait(log.append(&open[..5], Vec::new())).unwrap();
    drop(log);
    let log = Arc::new(FullDisk(SqliteLog::open(Options::new(scratch.path())).unwrap(), AtomicBool::new(true)));
    let runs = Runs::new(log.clone(), Gate::new(GateMode::Off).unwrap());
    wait(async {
        runs.recover(1_780_000_000_000).await.unwrap();
        let status = |frames: &[Arc<Frame>]| runs.find(stream_id(&frames[0])).unwrap().status().clone();
        assert_eq!((status(&over).ended, status(&open).ended), (true, false));
        assert_eq!((status(&open).frames, status(&open).not_kept), (5, Some("log_full")));
        let closing = runs.close_left_open();
        log.1.store(false, Ordering::Relaxed);
        closing.await;
        let closed = status(&open);
        assert_eq!((closed.ended, closed.error_code.as_deref()), (true, Some("proxy_restarted")));
        assert_eq!(closed.not_kept, None);
    });
}
