//! How far the proxy has come with stopping.
//!
//! In: the next phase. Out: the same to everybody who waits for it. Never: a step back.

use tokio::sync::watch;

/// How far the proxy has come with stopping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It does not stop.
    #[default]
    Serving,
    /// New work is turned away; what comes in may come to its end.
    Draining,
    /// What still comes in is cut, and its runs closed.
    Cutting,
}

/// The phase, and those who wait for it to change.
#[derive(Debug, Default)]
pub struct Stopping(watch::Sender<Phase>);

impl Stopping {
    /// Whether new work is turned away.
    pub fn is_draining(&self) -> bool {
        *self.0.borrow() >= Phase::Draining
    }

    /// Follows the phase.
    pub fn phase(&self) -> watch::Receiver<Phase> {
        self.0.subscribe()
    }

    /// This is how far it has come.
    pub fn set(&self, phase: Phase) {
        self.0.send_if_modified(|now| {
            let goes_on = phase > *now;
            *now = (*now).max(phase);
            goes_on
        });
    }
}
