//! Limits of an ingest: open runs in all ingests together, records in a run, bytes that are not in the log yet, and which runs
//! its sender may create.
//!
//! Input: the frames of each batch, before they are kept. Output: permission to go on, or the limit that was hit. Never: a
//! permit held by a run that is over, or by an ingest that is over.

use crate::auth::Restriction;
use crate::log::{ByStream, stream_id};
use framegate_translators::frame::{Body, Frame, Stream, StreamKind};
use framegate_translators::pipeline::is_last;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limits of an ingest.
#[derive(Debug)]
pub(super) struct Bounds {
    /// The permits for open runs, shared by all ingests.
    pub(super) open_runs: Arc<Semaphore>,
    /// Maximum number of records in a run.
    pub(super) records_per_run: u64,
    /// How many bytes of frames and artifacts may wait for the append in progress. With 0 nothing is read ahead.
    pub(super) ahead_bytes: u64,
    /// Which runs the sender may create.
    pub(super) restriction: Arc<Restriction>,
}

/// A limit that an ingest exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Beyond {
    /// Too many runs are open.
    #[error("as many runs are open as there may be (limits.max_open_runs); try again later")]
    OpenRuns,
    /// A run has too many records.
    #[error("a run has more than {0} records (limits.max_records_per_run)")]
    Records(u64),
    /// The sender may not create such a run.
    #[error("the token is restricted to other sessions or runners")]
    NotYours,
}

/// What an ingest has made so far, as far as limits apply to it.
#[derive(Debug)]
pub(super) struct Account {
    bounds: Bounds,
    open: ByStream<Open>,
}

#[derive(Debug, Default)]
struct Open {
    records: u64,
    place: Option<OwnedSemaphorePermit>,
}

impl Account {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, open: ByStream::default() }
    }

    /// How many bytes may wait for an append.
    pub(super) fn ahead_bytes(&self) -> u64 {
        self.bounds.ahead_bytes
    }

    /// Whether the sender may create that stream.
    pub(super) fn admits(&self, stream: &Stream) -> bool {
        self.bounds.restriction.admits(stream)
    }

    /// Checks that the sender may create the streams of all these frames.
    pub(super) fn admit(&self, frames: &[Arc<Frame>]) -> Result<(), Beyond> {
        let is_own = self.bounds.restriction.is_open()
            || frames.iter().all(|frame| self.bounds.restriction.admits_new(&frame.stream));
        if is_own { Ok(()) } else { Err(Beyond::NotYours) }
    }

    /// Counts a batch. A run that begins and ends within the batch was never open to others, and needs no permit.
    pub(super) fn count(&mut self, frames: &[Arc<Frame>]) -> Result<(), Beyond> {
        let limit = self.bounds.records_per_run;
        let mut outcome = Ok(());
        for group in frames.chunk_by(|one, other| stream_id(one) == stream_id(other)) {
            let Some(id) = group.first().map(|frame| stream_id(frame)).filter(|id| id.0 == StreamKind::Session) else {
                continue;
            };
            let run = self.open.entry(id).or_default();
            let records = group.iter().filter(|frame| matches!(frame.body, Body::ProviderEvent(_))).count();
            run.records += records as u64;
            if run.records > limit {
                outcome = Err(Beyond::Records(limit));
            }
            if group.iter().any(|frame| is_last(frame)) {
                self.open.remove(&id);
            }
        }
        for run in self.open.values_mut().filter(|run| run.place.is_none()) {
            run.place = self.bounds.open_runs.clone().try_acquire_owned().ok();
            if run.place.is_none() {
                outcome = outcome.and(Err(Beyond::OpenRuns));
            }
        }
        outcome
    }

    /// Releases all permits; called when the open runs are closed.
    pub(super) fn close(&mut self) {
        self.open.clear();
    }
}
