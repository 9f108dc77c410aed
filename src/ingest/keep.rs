//! Keeping the frames of an ingest in the log, and waking the readers that wait for a pause.
//!
//! Input: frames, with what the runs that begin with them get. Output: the same in the log, and the steps of the ingest. Never: a step before its frames are kept.

use crate::clock::Moment;
use crate::log::{LogError, stream_id};
use crate::runs::{Ingested, Origin, Runs};
use framegate_translators::frame::Frame;
use framegate_translators::pipeline::Pause;
use std::sync::Arc;

/// Wakes the readers of streams that have paused, once all frames before the pauses are kept.
pub(super) fn pause(runs: &Runs, ingested: &Ingested, pauses: &[Pause]) {
    for pause in pauses {
        runs.pause(pause.stream, pause.until_ms);
    }
    if !pauses.is_empty() {
        ingested.wake_at_pause();
    }
}

/// Keeps frames whose bytes have arrived then. Runs that begin with them get what the origin has.
pub(super) async fn keep(
    runs: &Runs,
    ingested: &Ingested,
    frames: &[Arc<Frame>],
    (arrived, origin): (Moment, &Origin),
) -> Result<(), LogError> {
    let frames = runs.append_arrived(frames, arrived, origin).await?;
    for group in frames.chunk_by(|one, other| stream_id(one) == stream_id(other)) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        if let Some(entry) = runs.find(stream_id(last)) {
            ingested.step(&entry, first.seq..last.seq + 1);
        }
    }
    Ok(())
}
