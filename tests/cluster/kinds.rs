//! The three kinds of log, as libraries: in memory, in a file, at servers.
//!
//! Input: frames and artifacts of recordings, made here. Output: what each log says of them, which must be alike. Never: a log at
//! servers whose news no test takes; it would stand still.

use crate::proxy::Folder;
use crate::servers::Servers;
use framegate::artifacts::{ArtifactStore, MemoryStore};
use framegate::log::jetstream::{JetstreamLog, JetstreamOptions, Role, StorageKind};
use framegate::log::sqlite::Options;
use framegate::log::{FrameLog, MemoryLog, SharedLog, SqliteLog, StreamId, stream_id};
use framegate_translators::frame::Frame;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

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
    servers: Servers,
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
    let mut news = log.load().await.unwrap().news;
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
        Self { all, runtime, servers, _folder: folder }
    }

    /// The servers of the log at servers, whose prefix is `kinds`.
    pub fn servers(&self) -> &Servers {
        &self.servers
    }
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
