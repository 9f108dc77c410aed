//! Runs by their first record, to recognise a run that is sent in again.
//!
//! Input: runs as they are added and dropped. Output: the runs of a session, and those that began with a given record. Never: a scan
//! of all runs, or a run of another session or runner.

use super::Registry;
use crate::log::StreamId;
use crate::runs::{Entry, RunStatus};
use framegate_translators::frame::{ProviderEvent, Stream, StreamKind};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use uuid::Uuid;

/// How many runs without a record are checked in a session.
const WITHOUT: usize = 1024;

/// A digest of a run's first record: its checksum and its length. It is stored with the run's status.
pub(in crate::runs) fn opening(record: &ProviderEvent) -> u64 {
    let bytes = record.data.as_deref().map(str::as_bytes).or(record.raw.as_deref()).unwrap_or_default();
    (u64::from(crc32fast::hash(bytes)) << 32) | (bytes.len() as u64 & u64::from(u32::MAX))
}

/// The session that runs are filed under: one key for all runs whose runner names no session, since each of them gets a new one.
pub(super) fn session_key(stream: &Stream) -> Uuid {
    if stream.session.name.is_empty() { Uuid::nil() } else { stream.session.id }
}

/// Runs by their session ([`session_key`]) and the digest of their first record; `None` for runs without a record.
#[derive(Default)]
pub(super) struct Openings(HashMap<Uuid, HashMap<Option<u64>, Vec<StreamId>>>);

impl Openings {
    pub(super) fn insert(&mut self, session: Uuid, opening: Option<u64>, run: StreamId) {
        self.0.entry(session).or_default().entry(opening).or_default().push(run);
    }

    pub(super) fn remove(&mut self, session: Uuid, opening: Option<u64>, run: StreamId) {
        let Some(of_session) = self.0.get_mut(&session) else { return };
        if let Some(runs) = of_session.get_mut(&opening) {
            runs.retain(|known| *known != run);
            if runs.is_empty() {
                of_session.remove(&opening);
            }
        }
        if of_session.is_empty() {
            self.0.remove(&session);
        }
    }
}

impl Registry {
    /// Whether a run is kept that a run of this stream could repeat.
    pub(in crate::runs) fn has_runs_like(&self, stream: &Stream) -> bool {
        self.read().openings.0.contains_key(&session_key(stream))
    }

    /// The runs of the stream's session and runner that are over, kept completely, and began with `record`; newest first.
    pub(in crate::runs) fn begun_like(&self, stream: &Stream, record: &ProviderEvent) -> Vec<Arc<Entry>> {
        self.begun(session_key(stream), Some(opening(record)), usize::MAX)
            .into_iter()
            .rev()
            .filter(|entry| entry.stream.provider == stream.provider)
            .collect()
    }

    /// The runs of a session that are over and have no record of their own, oldest first.
    pub(in crate::runs) fn without_records(&self, stream: &Stream) -> Vec<Arc<Entry>> {
        self.begun(session_key(stream), None, WITHOUT)
    }

    /// The runs of the stream's session, and those whose runner named no session, of the same runner; at most `most`, the newest
    /// ones.
    pub(in crate::runs) fn of_session(&self, stream: &Stream, most: usize) -> Vec<Arc<Entry>> {
        let known = self.read();
        let keys: HashSet<Uuid> = [session_key(stream), Uuid::nil()].into_iter().collect();
        let runs = keys.iter().filter_map(|key| known.openings.0.get(key)).flat_map(HashMap::values).flatten();
        let mut found: Vec<Arc<Entry>> = runs.filter_map(|id| known.by_id.get(id)).cloned().collect();
        drop(known);
        found.retain(|entry| entry.stream.provider == stream.provider);
        if found.len() > most {
            found.sort_by_key(|entry| Reverse(entry.status().started_at_ms));
            found.truncate(most);
        }
        found
    }

    /// The runs of the stream's runner that meet the condition, newest first; at most `most`.
    pub(in crate::runs) fn of_runner(
        &self,
        stream: &Stream,
        most: usize,
        is_wanted: &dyn Fn(&Arc<Entry>) -> bool,
    ) -> Vec<Arc<Entry>> {
        let known = self.read();
        let runs = known.order.values().rev().filter_map(|id| known.by_id.get(id));
        let found = runs.filter(|entry| entry.stream.provider == stream.provider && is_wanted(entry));
        found.take(most).cloned().collect()
    }

    /// Updates the index once a run that began without a record has its first one.
    pub(super) fn learn_opening(&self, entry: &Entry, status: &RunStatus) {
        let is_new = status.opening.is_some() && entry.status().opening.is_none();
        if entry.id().0 != StreamKind::Session || !is_new {
            return;
        }
        let session = session_key(&entry.stream);
        let mut known = self.write();
        known.openings.remove(session, None, entry.id());
        known.openings.insert(session, status.opening, entry.id());
    }

    fn begun(&self, session: Uuid, opening: Option<u64>, most: usize) -> Vec<Arc<Entry>> {
        let known = self.read();
        let runs = known.openings.0.get(&session).and_then(|of_session| of_session.get(&opening));
        let entries = runs.into_iter().flatten().take(most).filter_map(|id| known.by_id.get(id));
        entries.filter(|entry| entry.status().ended && entry.gone().is_none()).cloned().collect()
    }
}
