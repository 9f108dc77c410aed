//! The registry: every stream that the proxy knows.
//!
//! Input: streams as they begin, and as they are dropped. Output: a stream by its id, by the id of its response or by its first
//! record; the runs in the order in which they began. Never: a read of the log, a wait for anything but its own lock and those of statuses, or a
//! dropped stream that is still found.

pub(super) mod openings;
pub(super) mod responses;

use super::{Entry, RunStatus};
use crate::log::{ByStream, StreamId};
use framegate_translators::frame::StreamKind;
use openings::{Openings, session_key};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// All known streams.
#[derive(Default)]
pub(super) struct Registry(RwLock<Known>);

#[derive(Default)]
struct Known {
    by_id: ByStream<Arc<Entry>>,
    /// Runs in the order in which they began, by an ever-increasing number.
    order: BTreeMap<u64, StreamId>,
    /// Runs by the id of their response.
    by_response: HashMap<String, StreamId>,
    openings: Openings,
}

impl Registry {
    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a stream.
    pub(super) fn insert(&self, entry: Entry) -> Arc<Entry> {
        let (id, entry) = (entry.id(), Arc::new(entry));
        let response = entry.status().response_id.clone();
        let mut known = self.write();
        if let Some(response) = response {
            known.learn_response(&response, id);
        }
        known.by_id.insert(id, entry.clone());
        if id.0 == StreamKind::Session {
            let began = known.order.last_key_value().map_or(0, |(last, _)| last + 1);
            entry.began.store(began, Ordering::Relaxed);
            known.order.insert(began, id);
            let opening = entry.status().opening;
            known.openings.insert(session_key(&entry.stream), opening, id);
        }
        entry
    }

    /// Removes a stream. `entry` is what [`Registry::find`] returned for it.
    pub(super) fn remove(&self, id: StreamId, entry: Option<&Entry>) {
        let mut known = self.write();
        known.forget_response(id);
        known.by_id.remove(&id);
        if let Some(entry) = entry.filter(|_| id.0 == StreamKind::Session) {
            known.order.remove(&entry.began.load(Ordering::Relaxed));
            let opening = entry.status().opening;
            known.openings.remove(session_key(&entry.stream), opening, id);
        }
    }

    /// Finds a stream by kind and id.
    pub(super) fn find(&self, id: StreamId) -> Option<Arc<Entry>> {
        self.read().by_id.get(&id).cloned()
    }

    /// Whether any stream meets the condition.
    pub(super) fn any(&self, is_wanted: impl Fn(&Entry) -> bool) -> bool {
        self.read().by_id.values().any(|entry| is_wanted(entry))
    }

    /// Every stream.
    pub(super) fn entries(&self) -> Vec<Arc<Entry>> {
        self.read().by_id.values().cloned().collect()
    }

    /// Every run, newest first.
    pub(super) fn newest_first(&self) -> Vec<Arc<Entry>> {
        let known = self.read();
        known.order.values().rev().filter_map(|id| known.by_id.get(id)).cloned().collect()
    }

    /// The runs that pass the filter, newest first: at most `limit`, after the first `skip`.
    pub(super) fn list(&self, filter: &dyn Fn(&RunStatus) -> bool, skip: usize, limit: usize) -> Vec<RunStatus> {
        // The filter may look up streams, so no lock is held while it runs.
        let statuses = self.newest_first().into_iter().map(|entry| entry.status().clone());
        statuses.filter(|status| filter(status)).skip(skip).take(limit).collect()
    }

    /// Updates the indexes by response and by first record before the stream gets a new status. Both may become known after
    /// the first frames.
    pub(super) fn learn(&self, entry: &Entry, status: &RunStatus) {
        self.learn_response(entry, status);
        self.learn_opening(entry, status);
    }
}
