//! The three kinds of log, as libraries: in memory, in a file, at servers.
//!
//! Input: frames and artifacts of recordings, made here. Output: what each log says of them, which must be alike. Never: a log at
//! servers whose news no test takes; it would stand still.

use crate::proxy::{Folder, recording};
use crate::servers::Servers;
use framegate::artifacts::{ArtifactStore, MemoryStore};
use framegate::log::jetstream::{JetstreamLog, JetstreamOptions, Role, StorageKind};
use framegate::log::sqlite::Options;
use framegate::log::{FrameLog, MemoryLog, SharedLog, SqliteLog, StreamId, stream_id};
use framegate_translators::artifacts::{Artifact, ArtifactKind, Patched};
use framegate_translators::frame::{FileChangeKind, Frame, SharedStr, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::runner;
use framegate_translators::sequence::Identity;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use uuid::Uuid;

/// A log with its artifacts.
pub struct Kind {
    pub name: &'static str,
    pub log: Arc<dyn FrameLog>,
    pub store: Arc<dyn ArtifactStore>,
}

/// One log of each kind, with these limits, and what keeps them.
pub struct Kinds {
    pub all: [Kind; 3],
    pub runtime: Runtime,
    _servers: Servers,
    _folder: Folder,
}

pub fn options(servers: &Servers, prefix: &str) -> JetstreamOptions {
    JetstreamOptions {
        role: Role::Proxy,
        servers: servers.urls(),
        credentials_file: None,
        nkey_file: None,
        tls_ca_file: None,
        tls_cert_file: None,
        tls_key_file: None,
        prefix: prefix.to_owned(),
        replicas: servers.count(),
        storage: StorageKind::File,
        timeout: Duration::from_secs(2),
        patience: Duration::from_secs(10),
        lease: Duration::from_secs(5),
        max_stream_bytes: 1 << 30,
        max_bytes: 256 << 20,
        max_runs: 10_000,
        max_age: None,
        max_artifact_bytes: 64 << 20,
        // Every read goes to the servers.
        recent_bytes: 0,
    }
}

/// Opens a log at servers, and takes its news.
pub async fn opened(options: JetstreamOptions) -> Arc<JetstreamLog> {
    let log = JetstreamLog::open(options).await.unwrap();
    let mut news = log.take_news().unwrap();
    tokio::spawn(async move { while news.recv().await.is_some() {} });
    log
}

impl Kinds {
    pub fn new() -> Self {
        let (servers, folder) = (Servers::one(), Folder::new());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let all = runtime.block_on(async {
            let sqlite = Arc::new(SqliteLog::open(Options::new(folder.path("framegate.db"))).unwrap());
            let shared = opened(options(&servers, "kinds")).await;
            let memory = Kind {
                name: "memory",
                log: Arc::new(MemoryLog::new(256 << 20, 10_000)),
                store: Arc::new(MemoryStore::new(64 << 20)),
            };
            [
                memory,
                Kind { name: "sqlite", log: sqlite.clone(), store: sqlite },
                Kind { name: "jetstream", log: shared.clone(), store: shared },
            ]
        });
        Self { all, runtime, _servers: servers, _folder: folder }
    }
}

/// The frames of a recording, as the run with the id `run`.
pub fn frames(runner_name: &str, name: &str, run: u128) -> Vec<Arc<Frame>> {
    let identity = Identity { run_id: Uuid::from_u128(run), session_id: Some(Uuid::from_u128(run << 32)) };
    let mut ingest = Ingest::new(runner(runner_name).unwrap(), None, Limits::default(), identity);
    let bytes = recording(runner_name, name);
    let mut frames: Vec<Frame> = ingest.feed(&bytes, 1_770_000_000_000).collect();
    frames.extend(ingest.finish(1_770_000_000_000));
    frames.into_iter().map(Arc::new).collect()
}

/// The streams of frames, in the order in which they begin.
pub fn streams(frames: &[Arc<Frame>]) -> Vec<StreamId> {
    let mut found = Vec::new();
    for frame in frames {
        if !found.contains(&stream_id(frame)) {
            found.push(stream_id(frame));
        }
    }
    found
}

/// The run among the streams of frames.
pub fn run_of(frames: &[Arc<Frame>]) -> StreamId {
    streams(frames).into_iter().find(|(kind, _)| *kind == StreamKind::Session).unwrap()
}

/// Frames as text.
pub fn text(frames: &[Arc<Frame>]) -> Vec<String> {
    frames.iter().map(|frame| format!("{frame:?}")).collect()
}

/// All frames of a stream from a number on, read in pieces of at most `max`.
pub async fn read(log: &dyn FrameLog, stream: StreamId, from: u64, max: usize) -> Vec<Arc<Frame>> {
    let (mut found, mut at) = (Vec::new(), from);
    loop {
        let more = log.read(stream, at, max).await.unwrap();
        let Some(last) = more.last() else { return found };
        assert!(more.len() <= max);
        at = last.seq + 1;
        found.extend(more);
    }
}

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
