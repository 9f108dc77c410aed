//! Artifacts in memory: bounded, gone when the process ends.
//!
//! If the store is full, the oldest artifacts are removed. Those of a run are removed with the run.

use super::{ArtifactStore, Key, StoreError};
use crate::storage::StreamId;
use async_trait::async_trait;
use framegate_translators::artifacts::Artifact;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Approximate size of an artifact without its content, in bytes.
const OVERHEAD: u64 = 512;

/// A bounded artifact store in memory.
#[derive(Debug)]
pub struct MemoryStore {
    max_bytes: u64,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    kept: HashMap<u128, Kept>,
    of_stream: HashMap<StreamId, Vec<u128>>,
    /// The artifacts in the order of writing, by number. May still name artifacts that were removed.
    order: VecDeque<(u64, u128)>,
    written: u64,
    bytes: u64,
}

#[derive(Debug)]
struct Kept {
    artifact: Arc<Artifact>,
    streams: HashSet<StreamId>,
    number: u64,
}

impl MemoryStore {
    /// Creates an empty store that keeps about `max_bytes`.
    pub fn new(max_bytes: u64) -> Self {
        Self { max_bytes, held: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // If a panic poisoned the lock, at worst a counter is wrong.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn weight(artifact: &Artifact) -> u64 {
    artifact.content.len() as u64 + OVERHEAD
}

impl Held {
    fn remove(&mut self, key: u128) {
        let Some(kept) = self.kept.remove(&key) else { return };
        self.bytes = self.bytes.saturating_sub(weight(&kept.artifact));
        for stream in kept.streams {
            if let Some(keys) = self.of_stream.get_mut(&stream) {
                keys.retain(|other| *other != key);
                if keys.is_empty() {
                    self.of_stream.remove(&stream);
                }
            }
        }
    }

    /// Removes a stream's reference to an artifact.
    fn release(&mut self, key: u128, stream: StreamId) {
        let is_last = self.kept.get_mut(&key).is_some_and(|kept| {
            kept.streams.remove(&stream);
            kept.streams.is_empty()
        });
        if is_last {
            self.remove(key);
        }
    }

    fn make_room(&mut self, bytes: u64, max_bytes: u64) {
        while self.bytes + bytes > max_bytes {
            let Some((number, key)) = self.order.pop_front() else { return };
            if self.kept.get(&key).is_some_and(|kept| kept.number == number) {
                self.remove(key);
            }
        }
        if self.order.len() > self.kept.len() * 2 + 64 {
            let kept = &self.kept;
            self.order.retain(|(number, key)| kept.get(key).is_some_and(|kept| kept.number == *number));
        }
    }
}

#[async_trait]
impl ArtifactStore for MemoryStore {
    async fn put(&self, artifact: Arc<Artifact>) -> Result<(), StoreError> {
        let key = Key::Digest(artifact.digest).front();
        let stream = (artifact.stream.kind, artifact.stream.id);
        let mut held = self.held();
        if let Some(kept) = held.kept.get_mut(&key) {
            if kept.streams.insert(stream) {
                held.of_stream.entry(stream).or_default().push(key);
            }
            return Ok(());
        }
        let bytes = weight(&artifact);
        if bytes > self.max_bytes {
            return Err(StoreError::TooLarge { bytes: artifact.content.len() as u64, limit: self.max_bytes });
        }
        held.make_room(bytes, self.max_bytes);
        held.written += 1;
        let number = held.written;
        held.bytes += bytes;
        held.order.push_back((number, key));
        held.of_stream.entry(stream).or_default().push(key);
        held.kept.insert(key, Kept { artifact, streams: HashSet::from([stream]), number });
        Ok(())
    }

    async fn usage(&self) -> Option<(u64, u64)> {
        let held = self.held();
        Some((held.bytes, held.kept.len() as u64))
    }

    async fn get(&self, key: Key) -> Result<Option<Arc<Artifact>>, StoreError> {
        let held = self.held();
        let found = held.kept.get(&key.front()).map(|kept| kept.artifact.clone());
        Ok(found.filter(|artifact| key.fits(&artifact.digest)))
    }

    async fn streams(&self, key: Key) -> Result<Vec<StreamId>, StoreError> {
        let held = self.held();
        let found = held.kept.get(&key.front()).filter(|kept| key.fits(&kept.artifact.digest));
        Ok(found.map(|kept| kept.streams.iter().copied().collect()).unwrap_or_default())
    }

    async fn let_go(&self, stream: StreamId, digests: &[[u8; 32]]) -> Result<(), StoreError> {
        let mut held = self.held();
        for digest in digests {
            let key = Key::Digest(*digest).front();
            if let Some(keys) = held.of_stream.get_mut(&stream) {
                keys.retain(|other| *other != key);
                if keys.is_empty() {
                    held.of_stream.remove(&stream);
                }
            }
            held.release(key, stream);
        }
        Ok(())
    }

    async fn drop_run(&self, stream: StreamId) -> Result<(), StoreError> {
        let mut held = self.held();
        for key in held.of_stream.remove(&stream).unwrap_or_default() {
            held.release(key, stream);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::artifacts::ArtifactKind;
    use framegate_translators::frame::{Session, SharedStr, Stream, StreamKind};
    use uuid::Uuid;

    fn artifact(run: u128, first: u8, size: usize) -> Arc<Artifact> {
        let session = Arc::new(Session { id: Uuid::nil(), name: "s".into() });
        let id = Uuid::from_u128(run);
        let stream = Stream {
            kind: StreamKind::Session,
            id,
            session,
            origin_run: None,
            provider: framegate_translators::runners::runner("codex").unwrap().provider,
        };
        Arc::new(Artifact {
            stream: Arc::new(stream),
            digest: [first; 32],
            kind: ArtifactKind::CommandOutput,
            mime: SharedStr::from("text/plain"),
            content: vec![first; size].into(),
            bytes_total: size as u64,
            created_at_ms: 0,
            call_id: None,
            patched: None,
        })
    }

    async fn has(store: &MemoryStore, first: u8) -> bool {
        store.get(Key::Digest([first; 32])).await.unwrap().is_some()
    }

    #[tokio::test]
    async fn the_oldest_artifact_is_evicted_first_within_the_bound() {
        let store = MemoryStore::new(2 * (100 + OVERHEAD));
        for first in 1..=3 {
            store.put(artifact(1, first, 100)).await.unwrap();
            assert!(store.held().bytes <= store.max_bytes);
        }
        assert_eq!((has(&store, 1).await, has(&store, 2).await, has(&store, 3).await), (false, true, true));
        assert!(matches!(store.put(artifact(1, 4, 2000)).await, Err(StoreError::TooLarge { bytes: 2000, .. })));
        assert!(has(&store, 2).await, "an artifact that is too large must not evict another");
    }

    #[tokio::test]
    async fn an_artifact_is_deleted_with_the_last_run_that_refers_to_it() {
        let store = MemoryStore::new(1 << 20);
        for run in [1, 2] {
            store.put(artifact(run, 7, 10)).await.unwrap();
        }
        let id = |run| (StreamKind::Session, Uuid::from_u128(run));
        store.drop_run(id(1)).await.unwrap();
        assert!(has(&store, 7).await);
        store.drop_run(id(2)).await.unwrap();
        assert!(!has(&store, 7).await);
        let held = store.held();
        assert_eq!((held.bytes, held.of_stream.len()), (0, 0));
    }

    #[tokio::test]
    async fn the_order_of_deleted_artifacts_does_not_grow() {
        let store = MemoryStore::new(1 << 20);
        for run in 0..1000 {
            store.put(artifact(run, 7, 10)).await.unwrap();
            store.drop_run((StreamKind::Session, Uuid::from_u128(run))).await.unwrap();
        }
        assert!(store.held().order.len() < 100);
    }
}
