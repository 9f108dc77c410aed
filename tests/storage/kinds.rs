//! The kinds of log that need no server.

use crate::every_kind::{Opened, Place, of_every_kind, runtime};
use crate::scratch::Scratch;
use framegate::artifacts::{ArtifactStore, MemoryStore};
use framegate::log::sqlite::{Fsync, Options};
use framegate::log::{FrameLog, LogError, MemoryLog, SqliteLog};
use std::sync::Arc;
use std::time::{Duration, Instant};
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
    fsync: Fsync,
    runtime: Runtime,
}

impl File {
    fn new(recent_bytes: u64, fsync: Fsync) -> Self {
        let name = format!("kind-{recent_bytes}-{:?}", std::thread::current().id());
        Self { scratch: Scratch::new(&name), recent_bytes, fsync, runtime: runtime() }
    }
}

impl Place for File {
    fn open(&self, _has_runs: bool) -> Opened {
        let Self { recent_bytes, fsync, .. } = *self;
        let options = Options { recent_bytes, fsync, ..Options::new(self.scratch.path()) };
        let begin = Instant::now();
        // A task that holds the log of before may be at its last step: it ends with the task, not with the runs.
        let log = loop {
            match SqliteLog::open(options.clone()) {
                Err(LogError::Locked { .. }) if begin.elapsed() < Duration::from_secs(30) => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                opened => break Arc::new(opened.unwrap()),
            }
        };
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
    use super::{File, Fsync};

    super::of_every_kind!(File::new(0, Fsync::Always), doc = "In a file, with a sync for each append.");
}

mod file_synced_at_intervals {
    use super::{File, Fsync};
    use std::time::Duration;

    super::of_every_kind!(File::new(0, Fsync::Interval(Duration::from_millis(10))), doc = "With a sync for several.");
}

mod file_and_memory {
    use super::{File, Fsync};

    super::of_every_kind!(File::new(8_000, Fsync::Never), doc = "Some of it in memory as well.");
}
