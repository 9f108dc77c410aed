//! What one ingest may make: so many runs open at a time among all ingests, so many records in a run, so much that is not in
//! the log yet, runs that its sender may make at all.
//!
//! In: the frames of each batch, before they are kept. Out: go on, or why not. Never: a place that is held by a run that is
//! over, or by an ingest that is.

use crate::auth::Restriction;
use crate::log::{ByStream, stream_id};
use framegate_translators::frame::{Body, Frame, Stream, StreamKind};
use framegate_translators::pipeline::is_last;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many bytes may wait behind an append, where nobody says otherwise.
pub const AHEAD_BYTES: u64 = 512 << 10;

/// See the module.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The places of open runs, shared by all ingests.
    pub open_runs: Arc<Semaphore>,
    /// How many records a run may have.
    pub records_per_run: u64,
    /// How many bytes of frames and artifacts may wait behind an append that is under way; 0: none.
    pub ahead_bytes: u64,
    /// Which runs the sender may make.
    pub restriction: Arc<Restriction>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            open_runs: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            records_per_run: u64::MAX,
            ahead_bytes: AHEAD_BYTES,
            restriction: Arc::default(),
        }
    }
}

/// What an ingest may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Beyond {
    /// Every place of an open run is taken.
    #[error("as many runs are open as there may be (limits.max_open_runs); try again later")]
    OpenRuns,
    /// A run has too many records.
    #[error("a run has more than {0} records (limits.max_records_per_run)")]
    Records(u64),
    /// The sender may not make such a run.
    #[error("the token is restricted to other sessions or runners")]
    NotYours,
}

/// What an ingest made so far, as far as that is bounded.
#[derive(Debug, Default)]
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

    /// How many bytes may wait behind an append.
    pub(super) fn ahead_bytes(&self) -> u64 {
        self.bounds.ahead_bytes
    }

    /// Whether the sender may make that stream.
    pub(super) fn admits(&self, stream: &Stream) -> bool {
        self.bounds.restriction.admits(stream)
    }

    /// Whether it may make all of these.
    pub(super) fn admit(&self, frames: &[Arc<Frame>]) -> Result<(), Beyond> {
        let is_own = self.bounds.restriction.is_open() || frames.iter().all(|frame| self.admits(&frame.stream));
        if is_own { Ok(()) } else { Err(Beyond::NotYours) }
    }

    /// Counts a batch. A run that begins and ends within it was never open to others, and needs no place.
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

    /// Gives every place back: what is open is closed now.
    pub(super) fn close(&mut self) {
        self.open.clear();
    }
}
