//! Stops the proxy: refuses new work, lets open ingests finish, and lets readers read the rest.
//!
//! Input: the request to stop. Output: when connections may be closed. Never: an ingest cut while it has time left; a run
//! without an end; an unbounded wait.

use super::shared::Shared;
use crate::shutdown::Phase;
use std::time::Duration;

/// How long an ingest that was cut may take to close its runs.
const CUT: Duration = Duration::from_secs(5);

/// Drains the proxy. On return, every ingest has ended or failed to end in time, and readers reach the end of their streams.
pub(super) async fn drain(shared: &Shared) {
    shared.shutdown.set(Phase::Draining);
    if tokio::time::timeout(shared.settings.shutdown_grace, no_ingests(shared)).await.is_err() {
        tracing::warn!("open ingests are cut off: the proxy is stopping (server.shutdown_grace_ms)");
        shared.shutdown.set(Phase::Cutting);
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
