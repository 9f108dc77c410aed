//! How far a reader lags behind what it reads.
//!
//! Input: how many frames the reader has got, from the reader itself. Output: how many frames it has not got yet; callers can
//! ask at any time. Never: a lock that holds the reader up.

use super::{Runs, Tail};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use tokio::sync::watch;

/// The lag of one reader. A clone belongs to the same reader.
#[derive(Clone)]
pub struct Lag {
    given: Arc<AtomicU64>,
    of: Of,
}

#[derive(Clone)]
enum Of {
    Stream(watch::Receiver<Tail>),
    /// The number of frames that the ingest has made.
    Ingest(Arc<AtomicU64>),
    Feed(Weak<Runs>),
}

impl Lag {
    pub(super) fn of_stream(tail: watch::Receiver<Tail>) -> Self {
        Self { given: Arc::default(), of: Of::Stream(tail) }
    }

    pub(super) fn of_ingest(made: Arc<AtomicU64>) -> Self {
        Self { given: Arc::default(), of: Of::Ingest(made) }
    }

    pub(super) fn of_feed(runs: &Arc<Runs>) -> Self {
        Self { given: Arc::default(), of: Of::Feed(Arc::downgrade(runs)) }
    }

    /// Sets how many frames the reader has got so far.
    pub(super) fn given(&self, frames: u64) {
        self.given.store(frames, Ordering::Relaxed);
    }

    /// How many frames the reader has not got yet.
    pub fn frames(&self) -> u64 {
        let given = self.given.load(Ordering::Relaxed);
        let there = match &self.of {
            Of::Stream(tail) => tail.borrow().frames,
            Of::Ingest(made) => made.load(Ordering::Relaxed),
            Of::Feed(runs) => {
                let Some(runs) = runs.upgrade() else { return 0 };
                let there = runs.feed.frames();
                // The positions of a shared log have gaps.
                return runs.log.shared().map_or(there.saturating_sub(given), |log| log.distance(given, there));
            }
        };
        there.saturating_sub(given)
    }
}
