//! The kinds of log that need no server.

use crate::every_kind::{Opened, Place, of_every_kind, runtime};
use crate::scratch::Scratch;
use framegate::artifacts::{ArtifactStore, MemoryStore};
use framegate::log::sqlite::Options;
use framegate::log::{FrameLog, MemoryLog, SqliteLog};
use std::sync::Arc;
use tokio::runtime::Runtime;

/// A log in memory, which stays open: nothing of it outlives it.
struct Memory {
    log: Arc<dyn FrameLog>,
    store: Arc<dyn ArtifactStore>,
    runtime: Runtime,
}

impl Memory {
    fn new() -> Self {
        let log = Arc::new(MemoryLog::new(1 << 30, 1000));
        Self { log, store: Arc::new(MemoryStore::new(1 << 20)), runtime: runtime() }
    }
}

impl Place for Memory {
    fn open(&self, _has_runs: bool) -> Opened {
        Opened { log: self.log.clone(), store: self.store.clone() }
    }

    fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

/// A log in a file.
struct File {
    scratch: Scratch,
    /// How many bytes of frames it keeps in memory besides.
    recent_bytes: u64,
    runtime: Runtime,
}

impl File {
    fn new(recent_bytes: u64) -> Self {
        let name = format!("kind-{recent_bytes}-{:?}", std::thread::current().id());
        Self { scratch: Scratch::new(&name), recent_bytes, runtime: runtime() }
    }
}

impl Place for File {
    fn open(&self, _has_runs: bool) -> Opened {
        let options = Options { recent_bytes: self.recent_bytes, ..Options::new(self.scratch.path()) };
        let log = Arc::new(SqliteLog::open(options).unwrap());
        Opened { log: log.clone(), store: log }
    }

    fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

mod memory {
    super::of_every_kind!(super::Memory::new(), doc = "In memory.");
}

mod file {
    super::of_every_kind!(super::File::new(0), doc = "In a file.");
}

mod file_and_memory {
    super::of_every_kind!(super::File::new(8_000), doc = "In a file, some of it in memory as well.");
}
