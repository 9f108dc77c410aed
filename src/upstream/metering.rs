//! Counts the runs of an upstream from their status, where the meter did not get all frames.
//!
//! Input: the runs that the proxy knows. Output: how each run of the meter ended. Never: a run that stays open in the metrics
//! although its upstream's task is over.

use crate::runs::{Ingested, RunState, Runs};
use crate::telemetry::metrics::UpstreamMeter;
use framegate_translators::frame::{EndReason, StreamKind};
use uuid::Uuid;

/// Ends all open runs of a meter, with their current status: no more frames arrive.
pub(super) fn settle(meter: &mut UpstreamMeter, runs: &Runs) {
    meter.settle(|run| verdict(runs, run));
}

/// Counts the runs of an ingest that ended and whose frames were not passed to [`UpstreamMeter::frames`].
pub(super) fn count_ingested(meter: &mut UpstreamMeter, ingested: &Ingested, runs: &Runs) {
    for entry in &ingested.runs() {
        meter.began(entry.stream.id);
    }
    settle(meter, runs);
}

/// How a run ended, and its error code; `None` if it is not known any more.
fn verdict(runs: &Runs, run: Uuid) -> Option<(EndReason, Option<String>)> {
    let entry = runs.find((StreamKind::Session, run))?;
    let status = entry.status();
    let verdict = match status.state {
        RunState::Completed => EndReason::Completed,
        RunState::Failed => EndReason::Failed,
        // A run that could not be closed yet will be closed as interrupted.
        RunState::Interrupted | RunState::Running | RunState::WaitingApproval => EndReason::Interrupted,
    };
    Some((verdict, status.error_code.clone()))
}
