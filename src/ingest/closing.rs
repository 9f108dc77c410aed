//! Closing the runs of an ingest whose last frames the log refuses.
//!
//! Input: the frames that close the runs. Output: the same in the log, later; or the runs ended at what the log has of them, if it
//! has no room, or may have some of the frames already. Never: a reader that waits for ever for an end; a frame that is stored twice.

use super::LOG_FULL;
use super::keep::keep;
use crate::clock::Moment;
use crate::log::{LogError, StreamId, stream_id};
use crate::runs::{Ingested, LOG_FAILED, Origin, Runs};
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::normalizer::RunEnd;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// The first and the longest pause before closing frames are stored again.
const TRY_AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Retries until the frames that close an ingest's runs are stored, so that no reader waits for ever. A run of which the log has
/// nothing was never acknowledged and is not added later.
pub(super) async fn close_later(runs: Arc<Runs>, ingested: Ingested, frames: Vec<Arc<Frame>>, error: LogError) {
    let is_known = |frame: &&Arc<Frame>| runs.find(stream_id(frame)).is_some();
    let frames: Vec<_> = frames.iter().filter(is_known).cloned().collect();
    let (mut pause, most) = TRY_AGAIN;
    let mut made = 0;
    while !frames.is_empty() {
        tokio::time::sleep(pause).await;
        if error.is_unreachable() {
            // The log may have the frames, so they are not sent again.
            if cut_short(&runs, &ingested, &frames, &error).await {
                break;
            }
            pause = (pause * 2).min(most);
            continue;
        }
        // The runs have begun before, so they have what their origin has.
        match keep(&runs, &ingested, &frames, (Moment::now(), &Origin::default())).await {
            Ok(()) => {
                made = frames.len();
                break;
            }
            Err(error) if cut_short(&runs, &ingested, &frames, &error).await => break,
            Err(error) => tracing::warn!(%error, "runs could not be closed yet"),
        }
        pause = (pause * 2).min(most);
    }
    ingested.wake(made, Moment::now(), true);
}

/// Ends the streams whose frames the log does not take, at what it has of them. Returns whether they are ended now. The rest of
/// the frames was never acknowledged.
pub(super) async fn cut_short(runs: &Runs, ingested: &Ingested, frames: &[Arc<Frame>], error: &LogError) -> bool {
    let code = match error {
        LogError::Full { .. } => LOG_FULL,
        // The log may have stored frames although it did not answer, or another proxy has ended the run.
        LogError::Unreachable { .. } | LogError::Sequence { .. } | LogError::TooLarge { .. } => LOG_FAILED,
        _ => return false,
    };
    let end = RunEnd::interrupted(code, error.to_string());
    let mut known = HashSet::new();
    let streams: Vec<StreamId> = frames.iter().map(|frame| stream_id(frame)).filter(|id| known.insert(*id)).collect();
    for entry in streams.into_iter().filter_map(|id| runs.find(id)) {
        let before = entry.tail().borrow().frames;
        if let Err(error) = runs.cut_short(&entry, &end).await {
            tracing::warn!(stream = %entry.stream.id, %error, "a stream could not be ended");
            return false;
        }
        let after = entry.tail().borrow().frames;
        // The log may have stored the first of these frames without an answer: then they are part of the run. The numbers of
        // other streams are not those of this ingest.
        let is_own = |frame: &&Arc<Frame>| frame.stream.kind == StreamKind::Session && stream_id(frame) == entry.id();
        let first = frames.iter().find(is_own).map_or(before, |frame| frame.seq.min(before));
        ingested.step(&entry, first..after);
    }
    true
}
