//! How the proxy stops: new work is turned away, what comes in may come to its end, readers get what is left.
//!
//! In: the order to stop. Out: when connections may be closed. Never: an ingest that is cut while it has time left, a run
//! without an end, a wait without a bound.

use super::Shared;
use crate::stopping::Phase;
use std::time::Duration;

/// How long an ingest that is cut may take to close its runs.
const CUT: Duration = Duration::from_secs(5);

/// Drains: on return every ingest is over, or could not be brought to its end, and readers come to theirs.
pub(super) async fn drain(shared: &Shared) {
    shared.stopping.set(Phase::Draining);
    if tokio::time::timeout(shared.settings.shutdown_grace, no_ingests(shared)).await.is_err() {
        tracing::warn!("ingests that are still open are cut: the proxy stops (server.shutdown_grace_ms)");
        shared.stopping.set(Phase::Cutting);
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
