//! Retention: what the proxy stops keeping.
//!
//! Input: streams that the log has dropped to make room, or that are to be dropped; frames beyond the bounds of one stream.
//! Output: the same streams and frames unknown here too, their artifacts dropped, and their readers woken. Never: a dropped
//! stream that is still found, an artifact that a kept frame refers to dropped, or a decision about which stream the log drops
//! for room (`log::room` makes it).

pub(super) mod artifact_refs;
pub(super) mod pruning;

use super::{Entry, Runs};
use crate::clock::Clock;
use crate::log::{LogError, StreamId};
use framegate_translators::frame::StreamKind;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::MutexGuard;

impl Runs {
    /// Drops a stream that is over and was replaced by another one.
    ///
    /// # Errors
    /// The log's error; the stream is still there.
    pub async fn drop_stream(&self, entry: &Entry) -> Result<(), LogError> {
        // Held while the log drops it, so that no other task finds it among the streams that were dropped for room.
        let turn = self.forgetting.lock().await;
        self.log.drop_stream(entry.id()).await?;
        self.forget_all(&turn, Some(entry.id())).await;
        Ok(())
    }

    /// Prunes frames that are too old, in all streams. `since_start` is the time since the start of the process, `now_ms` is in
    /// Unix epoch milliseconds. The age of frames is only known from these calls.
    pub async fn drop_aged(&self, since_start: Duration, now_ms: u64) {
        self.log.drop_aged().await;
        let Some(max_age) = self.pruning.max_age else { return };
        for entry in self.entries().into_iter().filter(|entry| self.may_prune(entry)) {
            let to = {
                let (mut pruning, frames) = (entry.pruning(), entry.tail.borrow().frames);
                let to = pruning.older_than(since_start.saturating_sub(max_age));
                pruning.note(frames, max_age, since_start);
                to
            };
            self.try_prune(&entry, to, now_ms).await;
        }
    }

    /// Forgets the streams that the log has dropped so far.
    pub async fn forget_dropped(&self) {
        // After waiting for the lock, the caller also finds forgotten what the previous holder took from the log.
        let turn = self.forgetting.lock().await;
        self.forget_all(&turn, None).await;
    }

    /// `replaced` is a stream that the log dropped because another one replaces it.
    async fn forget_all(&self, _turn: &MutexGuard<'_, ()>, replaced: Option<StreamId>) {
        for dropped in self.log.take_dropped().await {
            let is_run_for_room = dropped.0 == StreamKind::Session && Some(dropped) != replaced;
            self.dropped_for_room.fetch_add(u64::from(is_run_for_room), Ordering::Relaxed);
            self.forget(dropped).await;
        }
    }

    /// How many runs the log has dropped to stay within its limits since it was opened, as far as that is known here.
    pub fn dropped_for_room(&self) -> u64 {
        self.dropped_for_room.load(Ordering::Relaxed)
    }

    /// Forgets a new stream that the log has already evicted: when the log reported that, the stream was not known here yet.
    pub(super) async fn forget_gone(&self, id: StreamId) {
        if matches!(self.log.read(id, 0, 1).await, Err(LogError::Dropped { .. })) {
            let _turn = self.forgetting.lock().await;
            self.forget(id).await;
        }
    }

    /// Marks a stream as dropped, and wakes its readers.
    pub(super) fn mark_dropped(&self, entry: &Entry, at_ms: u64) {
        entry.dropped.store(true, Ordering::Release);
        // Wakes the readers that wait for more frames, so that they see the flag.
        entry.tail.send_modify(|_| {});
        self.mark_changed(entry.id());
        self.feed.forget(entry, at_ms);
    }

    async fn forget(&self, dropped: StreamId) {
        let entry = self.find(dropped);
        if let Some(entry) = &entry {
            self.mark_dropped(entry, Clock::System.now_ms());
        }
        if let Some(store) = self.artifacts()
            && let Err(error) = store.drop_run(dropped).await
        {
            tracing::warn!(stream = %dropped.1, %error, "the artifacts of a run could not be dropped");
        }
        self.registry.remove(dropped, entry.as_deref());
    }
}
