//! Some streams of a log, read-only, as a log of its own and a store of artifacts.
//!
//! Input: a log that is followed, and streams of it. Output: their frames, checkpoints and artifacts, as far as the streams had got when
//! they were chosen. Never: a write; an artifact that none of the streams refers to.

use super::JetstreamLog;
use crate::artifacts::{ArtifactStore, Key, StoreError};
use crate::log::{Checkpoint, CheckpointAt, FrameLog, Gone, KeptStream, LogError, Order, Place, StreamId, Summary};
use async_trait::async_trait;
use framegate_translators::artifacts::Artifact;
use framegate_translators::frame::Frame;
use std::sync::Arc;

/// Streams of a log.
pub struct Excerpt {
    log: Arc<JetstreamLog>,
    streams: Vec<KeptStream>,
}

impl Excerpt {
    /// These streams of the log, as [`JetstreamLog::kept`] listed them.
    pub fn of(log: Arc<JetstreamLog>, streams: Vec<KeptStream>) -> Self {
        Self { log, streams }
    }

    fn find(&self, id: StreamId) -> Result<&KeptStream, LogError> {
        self.streams.iter().find(|kept| kept.id() == id).ok_or(LogError::Dropped { stream: id.1 })
    }

    fn refused(&self) -> LogError {
        let path = self.log.engine.names.frames_stream().into();
        LogError::Failed { path, what: "cannot be written", detail: "it was opened for reading only".to_owned() }
    }
}

#[async_trait]
impl FrameLog for Excerpt {
    async fn append(&self, _: &[Arc<Frame>], _: Vec<Summary>) -> Result<Place, LogError> {
        Err(self.refused())
    }

    fn order(&self) -> Order {
        Order::default()
    }

    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        let end = self.find(stream)?.frames;
        if from >= end {
            return Ok(Vec::new());
        }
        let mut frames = self.log.read_frames(stream, from, max).await?;
        frames.retain(|frame| frame.seq < end);
        Ok(frames)
    }

    async fn check_writable(&self) -> Result<(), LogError> {
        Err(self.refused())
    }

    async fn prune(&self, _: StreamId, _: Gone, _: Vec<Checkpoint>) -> Result<(), LogError> {
        Err(self.refused())
    }

    async fn first_within(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError> {
        self.find(stream)?;
        self.log.first_within(stream, max_bytes).await
    }

    async fn checkpoint(
        &self,
        stream: StreamId,
        view: &str,
        at: &CheckpointAt,
    ) -> Result<Option<Checkpoint>, LogError> {
        self.find(stream)?;
        self.log.find_checkpoint(stream, view, at).await
    }

    async fn drop_stream(&self, _: StreamId) -> Result<(), LogError> {
        Err(self.refused())
    }

    async fn take_dropped(&self) -> Vec<StreamId> {
        Vec::new()
    }

    /// Its checkpoints can be read, but nothing is stored.
    fn is_durable(&self) -> bool {
        true
    }

    /// The streams, as if each were over: nothing is appended to close those that a proxy still writes.
    async fn streams(&self) -> Result<Vec<KeptStream>, LogError> {
        Ok(self.streams.iter().map(|kept| KeptStream { ended: true, ..kept.clone() }).collect())
    }
}

#[async_trait]
impl ArtifactStore for Excerpt {
    async fn put(&self, _: Arc<Artifact>) -> Result<(), StoreError> {
        Err(self.refused().into())
    }

    async fn get(&self, key: Key) -> Result<Option<Arc<Artifact>>, StoreError> {
        let streams = ArtifactStore::streams(self, key).await?;
        if !streams.into_iter().any(|id| self.find(id).is_ok()) {
            return Ok(None);
        }
        self.log.get(key).await
    }

    async fn streams(&self, key: Key) -> Result<Vec<StreamId>, StoreError> {
        ArtifactStore::streams(&*self.log, key).await
    }

    async fn drop_run(&self, _: StreamId) -> Result<(), StoreError> {
        Err(self.refused().into())
    }

    async fn let_go(&self, _: StreamId, _: &[[u8; 32]]) -> Result<(), StoreError> {
        Err(self.refused().into())
    }
}
