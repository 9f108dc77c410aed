//! Some streams of a database, read-only, as a log and a store of artifacts.
//!
//! Input: a database that another process may be writing to, and streams of it. Output: their frames, checkpoints and artifacts, as
//! they were when the streams were chosen. Never: a write; a lock that keeps another process out; an artifact that none of
//! the streams refers to.

use super::artifacts;
use super::pruning::{checkpoint, first_within};
use super::reader::{Readers, read_frames};
use crate::artifacts::{ArtifactStore, Key, StoreError};
use crate::log::{Checkpoint, CheckpointAt, FrameLog, Gone, KeptStream, LogError, Order, Place, StreamId, Summary};
use async_trait::async_trait;
use framegate_translators::artifacts::Artifact;
use framegate_translators::frame::{Frame, Stream};
use rusqlite::Connection;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Streams of a database.
#[derive(Debug)]
pub struct Snapshot {
    readers: Arc<Readers>,
    /// The streams and their keys.
    streams: Vec<(i64, KeptStream)>,
}

impl Snapshot {
    /// These streams of the database, which [`streams`](super::streams) listed.
    pub fn of(path: PathBuf, streams: Vec<(i64, KeptStream)>) -> Self {
        Self { readers: Arc::new(Readers::new(path, NonZeroUsize::MIN)), streams }
    }

    fn find(&self, id: StreamId) -> Option<(i64, Arc<Stream>)> {
        let found = self.streams.iter().find(|(_, kept)| (kept.stream.kind, kept.stream.id) == id);
        found.map(|(key, kept)| (*key, kept.stream.clone()))
    }

    async fn of_stream<T: Send + 'static>(
        &self,
        id: StreamId,
        read: impl FnOnce(&Connection, &Path, i64, &Arc<Stream>) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let (key, stream) = self.find(id).ok_or(LogError::Dropped { stream: id.1 })?;
        self.readers.clone().with(move |database, path| read(database, path, key, &stream)).await
    }

    fn refused(&self) -> LogError {
        let path = self.readers.path().to_owned();
        LogError::Failed { path, what: "cannot be written", detail: "it was opened for reading only".to_owned() }
    }
}

#[async_trait]
impl FrameLog for Snapshot {
    async fn append(&self, _: &[Arc<Frame>], _: Vec<Summary>) -> Result<Place, LogError> {
        Err(self.refused())
    }

    fn order(&self) -> Order {
        Order::default()
    }

    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        let read = move |database: &Connection, path: &Path, key: i64, stream: &Arc<Stream>| {
            read_frames(database, path, key, stream, from, max)
        };
        self.of_stream(stream, read).await
    }

    async fn check_writable(&self) -> Result<(), LogError> {
        Err(self.refused())
    }

    async fn prune(&self, _: StreamId, _: Gone, _: Vec<Checkpoint>) -> Result<(), LogError> {
        Err(self.refused())
    }

    async fn first_within(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError> {
        self.of_stream(stream, move |database, path, key, _| first_within(database, path, key, max_bytes)).await
    }

    async fn checkpoint(
        &self,
        stream: StreamId,
        view: &str,
        at: &CheckpointAt,
    ) -> Result<Option<Checkpoint>, LogError> {
        let (view, at) = (view.to_owned(), at.clone());
        self.of_stream(stream, move |database, path, key, _| checkpoint(database, path, key, &view, &at)).await
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

    /// The streams, as if each were over: nothing is appended to close those that another process still writes.
    async fn streams(&self) -> Result<Vec<KeptStream>, LogError> {
        Ok(self.streams.iter().map(|(_, kept)| KeptStream { ended: true, ..kept.clone() }).collect())
    }
}

#[async_trait]
impl ArtifactStore for Snapshot {
    async fn put(&self, _: Arc<Artifact>) -> Result<(), StoreError> {
        Err(self.refused().into())
    }

    async fn get(&self, key: Key) -> Result<Option<Arc<Artifact>>, StoreError> {
        let streams = ArtifactStore::streams(self, key).await?;
        if !streams.into_iter().any(|id| self.find(id).is_some()) {
            return Ok(None);
        }
        let found = self.readers.clone().with(move |database, path| artifacts::get(database, path, key)).await?;
        Ok(found.map(Arc::new))
    }

    async fn streams(&self, key: Key) -> Result<Vec<StreamId>, StoreError> {
        Ok(self.readers.clone().with(move |database, path| artifacts::streams(database, path, key)).await?)
    }

    async fn drop_run(&self, _: StreamId) -> Result<(), StoreError> {
        Err(self.refused().into())
    }

    async fn let_go(&self, _: StreamId, _: &[[u8; 32]]) -> Result<(), StoreError> {
        Err(self.refused().into())
    }
}
