//! A directory for one test, removed at its end; and frames to append to a log.

use framegate::log::{FrameLog, SqliteLog, StreamId, stream_id};
use framegate_translators::artifacts::{Artifact, ArtifactKind, Patched};
use framegate_translators::frame::{FileChangeKind, Frame, SharedStr, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::runner;
use framegate_translators::sequence::Identity;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use uuid::Uuid;

pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    pub fn path(&self) -> PathBuf {
        self.0.join("framegate.db")
    }

    pub fn dir(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The frames of a recording, as the run with the id `run`.
pub fn frames(runner_name: &str, name: &str, run: u128) -> Vec<Arc<Frame>> {
    frames_at(runner_name, name, run, 1_770_000_000_000)
}

/// The same, with a clock fixed at `now_ms`.
pub fn frames_at(runner_name: &str, name: &str, run: u128, now_ms: u64) -> Vec<Arc<Frame>> {
    let identity = Identity { run_id: Uuid::from_u128(run), session_id: Some(Uuid::from_u128(run << 32)) };
    let mut ingest = Ingest::new(runner(runner_name).unwrap(), None, Limits::default(), identity);
    let bytes = crate::proxy::recording(runner_name, name);
    let mut frames: Vec<Frame> = ingest.feed(&bytes, now_ms).collect();
    frames.extend(ingest.finish(now_ms));
    frames.into_iter().map(Arc::new).collect()
}

/// Runs a future to completion.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(future)
}

/// Runs `framegate log` on the log in that directory; returns whether it succeeded, and its output.
pub fn log(scratch: &Scratch, args: &[&str]) -> (bool, String) {
    log_of("framegate.db", scratch, args)
}

pub fn log_of(database: &str, scratch: &Scratch, args: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_framegate"))
        .args(["log", "--db", database])
        .args(args)
        .current_dir(scratch.dir())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (output.status.success(), text)
}

/// The id of the run among the frames.
pub fn run_of(frames: &[Arc<Frame>]) -> StreamId {
    frames.iter().map(|frame| stream_id(frame)).find(|(kind, _)| *kind == StreamKind::Session).unwrap()
}

/// The frames of a stream in a log, as text.
pub fn read_as_text(log: &SqliteLog, stream: StreamId) -> Vec<String> {
    wait(async {
        let (mut found, mut at) = (Vec::new(), 0);
        loop {
            let more = log.read(stream, at, 3).await.unwrap();
            let Some(last) = more.last() else { return found };
            at = last.seq + 1;
            found.extend(more.iter().map(|frame| format!("{frame:?}")));
        }
    })
}

/// The frames of a stream, as text.
pub fn as_text(frames: &[Arc<Frame>], stream: StreamId) -> Vec<String> {
    frames.iter().filter(|frame| stream_id(frame) == stream).map(|frame| format!("{frame:?}")).collect()
}

/// The number that a query returns.
pub fn number(database: &Connection, sql: &str) -> u64 {
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// An artifact of the stream of a frame. Its digest is not that of its content.
pub fn artifact(first: &Frame, byte: u8, size: usize) -> Arc<Artifact> {
    Arc::new(Artifact {
        stream: first.stream.clone(),
        digest: [byte; 32],
        kind: ArtifactKind::Patch,
        mime: SharedStr::from("text/x-diff"),
        content: vec![byte; size].into(),
        bytes_total: size as u64 + 1,
        created_at_ms: 7,
        call_id: Some(SharedStr::from("call")),
        patched: Some(Patched { path: "a.rs".to_owned(), kind: FileChangeKind::Move }),
    })
}
