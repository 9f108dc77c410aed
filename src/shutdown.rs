//! The progress of a shutdown.
//!
//! Input: the next phase. Output: the same phase for every waiter. Never: a step back.

use tokio::sync::watch;

/// A phase of the shutdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The proxy is not shutting down.
    #[default]
    Serving,
    /// New work is refused; ingests in progress may finish.
    Draining,
    /// Ingests that are still in progress are cut off, and their runs are closed.
    Cutting,
}

/// The current phase, and a channel that reports its changes.
#[derive(Debug, Default)]
pub struct Shutdown(watch::Sender<Phase>);

impl Shutdown {
    /// Whether new work is refused.
    pub fn is_draining(&self) -> bool {
        *self.0.borrow() >= Phase::Draining
    }

    /// Subscribes to the phase.
    pub fn phase(&self) -> watch::Receiver<Phase> {
        self.0.subscribe()
    }

    /// Moves to a later phase. An earlier phase is ignored.
    pub fn set(&self, phase: Phase) {
        self.0.send_if_modified(|now| {
            let goes_on = phase > *now;
            *now = (*now).max(phase);
            goes_on
        });
    }
}
