//! A log on disk that counts its reads, and that refuses appends while a flag says that its disk is full.

use crate::scratch::Scratch;
use async_trait::async_trait;
use framegate::log::sqlite::Options;
use framegate::log::{Checkpoint, FrameLog, Gone, KeptStream, LogError, Order, Place, SqliteLog, StreamId, Summary};
use framegate_translators::frame::Frame;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub struct InstrumentedLog {
    log: SqliteLog,
    pub is_full: AtomicBool,
    pub reads: AtomicUsize,
}

impl InstrumentedLog {
    pub fn open(scratch: &Scratch) -> Self {
        let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
        Self { log, is_full: AtomicBool::new(false), reads: AtomicUsize::new(0) }
    }
}

#[async_trait]
impl FrameLog for InstrumentedLog {
    async fn append(&self, frames: &[Arc<Frame>], summaries: Vec<Summary>) -> Result<Place, LogError> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(LogError::NoSpace { path: "framegate.db".into(), detail: "no room".to_owned() });
        }
        self.log.append(frames, summaries).await
    }

    fn order(&self) -> Order {
        self.log.order()
    }

    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.log.read(stream, from, max).await
    }

    async fn prune(&self, stream: StreamId, gone: Gone, checkpoints: Vec<Checkpoint>) -> Result<(), LogError> {
        self.log.prune(stream, gone, checkpoints).await
    }

    async fn first_within(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError> {
        self.log.first_within(stream, max_bytes).await
    }

    async fn drop_stream(&self, stream: StreamId) -> Result<(), LogError> {
        self.log.drop_stream(stream).await
    }

    async fn take_dropped(&self) -> Vec<StreamId> {
        self.log.take_dropped().await
    }

    fn is_durable(&self) -> bool {
        true
    }

    async fn streams(&self) -> Result<Vec<KeptStream>, LogError> {
        self.log.streams().await
    }
}
