//! A directory for one test, removed at its end; frames to put into a log.

use framegate_translators::frame::Frame;
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::runner;
use framegate_translators::sequence::Identity;
use std::path::{Path, PathBuf};
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

/// The frames of a recording, as the run with that number.
pub fn frames(runner_name: &str, name: &str, run: u128) -> Vec<Arc<Frame>> {
    let identity = Identity { run_id: Uuid::from_u128(run), session_id: Some(Uuid::from_u128(run << 32)) };
    let mut ingest = Ingest::new(runner(runner_name).unwrap(), None, Limits::default(), identity);
    let bytes = crate::proxy::recording(runner_name, name);
    let mut frames: Vec<Frame> = ingest.feed(&bytes, 1_770_000_000_000).collect();
    frames.extend(ingest.finish(1_770_000_000_000));
    frames.into_iter().map(Arc::new).collect()
}

/// Runs a future to its end.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(future)
}
