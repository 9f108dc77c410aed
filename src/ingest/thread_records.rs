//! Recognises records outside of runs that the log has already.
//!
//! Input: the frames of threads in an ingest, before they are stored. Output: whether the log has them. Never: a record of this ingest taken for a stored one; a
//! stored record that stands for two; more records remembered than a bound.

use super::same_record::is_unique;
use crate::log::LogError;
use crate::runs::{Entry, Runs};
use framegate_translators::frame::{Body, Frame, ProviderEvent, Stream, StreamKind};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use uuid::Uuid;

/// How many records are remembered of all threads of an ingest. Records beyond them are stored again.
const RECORDS: usize = 1 << 20;

/// How many frames of a thread are read at once.
const AT_ONCE: usize = 128;

/// The records that the log had in threads when the first one of this ingest came.
#[derive(Default)]
pub(super) struct ThreadRecords {
    threads: HashMap<Uuid, Thread>,
    remembered: usize,
    hasher: RandomState,
}

#[derive(Default)]
struct Thread {
    /// How often the log has each record that this ingest has not shown yet, by its digest; `None` before the log is read.
    records: Option<HashMap<u64, u32>>,
    /// Whether the log has the newest record, so that it has the other frames of that record too.
    is_known: bool,
}

impl ThreadRecords {
    /// Whether the log has a frame of a thread. `must_be_unique`: only if its record has something that no other record has.
    pub(super) async fn has(&mut self, frame: &Frame, must_be_unique: bool, runs: &Runs) -> bool {
        let known = match &frame.body {
            Body::ProviderEvent(record) => {
                let counts = !must_be_unique || is_unique(record, &frame.stream.session.name);
                Some(counts && self.take(&frame.stream, record, runs).await)
            }
            _ => None,
        };
        let thread = self.threads.entry(frame.stream.session.id).or_default();
        thread.is_known = known.unwrap_or(thread.is_known);
        thread.is_known
    }

    /// Whether the log has a record in the thread of a stream's session. The stored record counts only once.
    pub(super) async fn take(&mut self, stream: &Stream, record: &ProviderEvent, runs: &Runs) -> bool {
        let digest = self.digest(record);
        let session = stream.session.id;
        if self.threads.get(&session).is_none_or(|thread| thread.records.is_none()) {
            let records = self.stored(session, runs).await;
            self.remembered += records.len();
            self.threads.entry(session).or_default().records = Some(records);
        }
        let records = self.threads.get_mut(&session).and_then(|thread| thread.records.as_mut());
        let Some(times) = records.and_then(|records| records.get_mut(&digest)) else { return false };
        let is_there = *times > 0;
        *times = times.saturating_sub(1);
        is_there
    }

    /// The records of a session's thread in the log.
    async fn stored(&self, session: Uuid, runs: &Runs) -> HashMap<u64, u32> {
        let mut records = HashMap::new();
        if let Some(entry) = runs.find((StreamKind::Thread, session))
            && let Err(error) = self.read(&entry, &mut records, runs).await
        {
            tracing::warn!(thread = %session, %error, "a thread cannot be compared, so its records may be stored again");
        }
        records
    }

    async fn read(&self, entry: &Entry, records: &mut HashMap<u64, u32>, runs: &Runs) -> Result<(), LogError> {
        let frames = entry.tail().borrow().frames;
        let most = RECORDS.saturating_sub(self.remembered) as u64;
        let mut next = entry.status().pruned_frames.max(frames.saturating_sub(most));
        while next < frames {
            let read = runs.log().read(entry.id(), next, AT_ONCE).await?;
            let Some(last) = read.last() else { break };
            next = last.seq + 1;
            for frame in &read {
                if let Body::ProviderEvent(record) = &frame.body {
                    *records.entry(self.digest(record)).or_default() += 1;
                }
            }
        }
        Ok(())
    }

    fn digest(&self, record: &ProviderEvent) -> u64 {
        self.hasher.hash_one((record.event_name.as_deref(), record.data.as_deref(), record.raw.as_deref()))
    }
}
