//! Which streams have changed since the last look at them.
//!
//! Input: the ids of streams that got frames, lost their first frames, or were dropped. Output: each id once. Never: a queue that grows with the
//! number of frames.

use crate::log::StreamId;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// The streams that have changed.
#[derive(Debug, Default)]
pub struct Changed {
    streams: Mutex<HashSet<StreamId>>,
    wake: Notify,
}

impl Changed {
    pub(super) fn mark(&self, id: StreamId) {
        if self.streams.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
            self.wake.notify_one();
        }
    }

    /// Whether nothing has changed since the last [`Changed::take`].
    pub fn is_empty(&self) -> bool {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The streams that have changed since the last call, in no order.
    pub fn take(&self) -> Vec<StreamId> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *streams).into_iter().collect()
    }

    /// Waits until a stream has changed. Only one caller may wait at a time.
    pub async fn wait(&self) {
        while self.is_empty() {
            self.wake.notified().await;
        }
    }
}
