//! How the proxy stops: new work is turned away, what comes in may come to its end, readers get what is left.
//!
//! In: the order to stop. Out: when connections may be closed. Never: an ingest that is cut while it has time left, a run
//! without an end, a wait without a bound.

use super::Shared;
use std::time::Duration;
use tokio::sync::watch;

/// How far the proxy has come with stopping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// It does not stop.
    #[default]
    Serving,
    /// New work is turned away; ingests may come to their end.
    Draining,
    /// Ingests that are still open are cut, and their runs closed.
    Cutting,
}

/// The phase, and those who wait for it to change.
#[derive(Debug, Default)]
pub(super) struct Stopping(watch::Sender<Phase>);

impl Stopping {
    /// Whether new work is turned away.
    pub(super) fn is_draining(&self) -> bool {
        *self.0.borrow() >= Phase::Draining
    }

    /// Follows the phase.
    pub(super) fn phase(&self) -> watch::Receiver<Phase> {
        self.0.subscribe()
    }
}

/// How long an ingest that is cut may take to close its runs.
const CUT: Duration = Duration::from_secs(5);

/// Drains: on return every ingest is over, or could not be brought to its end, and readers come to theirs.
pub(super) async fn drain(shared: &Shared) {
    shared.stopping.0.send_replace(Phase::Draining);
    if tokio::time::timeout(shared.settings.shutdown_grace, no_ingests(shared)).await.is_err() {
        tracing::warn!("ingests that are still open are cut: the proxy stops (server.shutdown_grace_ms)");
        shared.stopping.0.send_replace(Phase::Cutting);
        if tokio::time::timeout(CUT, no_ingests(shared)).await.is_err() {
            tracing::error!("runs could not be closed before the proxy stopped");
        }
    }
    shared.runs.close();
}

/// Waits until no ingest is open.
async fn no_ingests(shared: &Shared) {
    let all = u32::try_from(shared.settings.max_ingests).unwrap_or(u32::MAX);
    let _ = shared.ingests.acquire_many(all).await;
}
