//! Readers of the frames themselves that one ingest makes.
//!
//! Input: the steps of an ingest. Output: its frames in the order in which they were made, then the end. Never: a frame twice; frames of
//! another ingest in the same stream.

use super::{Ingested, Progress};
use crate::log::LogError;
use crate::runs::Runs;
use framegate_translators::frame::Frame;
use std::sync::Arc;
use tokio::sync::watch;

/// How many frames are read at once.
const AT_ONCE: u64 = 256;

/// Follows the frames of one ingest.
pub struct FrameFollower {
    runs: Arc<Runs>,
    ingested: Ingested,
    progress: watch::Receiver<Progress>,
    /// Index of the step that is read. The last step may still grow, so the index does not pass it.
    at: usize,
    /// The number of the next frame within the step.
    next: u64,
}

impl Ingested {
    /// Follows the frames that the ingest makes.
    pub fn follow_frames(&self, runs: Arc<Runs>) -> FrameFollower {
        FrameFollower { runs, ingested: self.clone(), progress: self.wake.subscribe(), at: 0, next: 0 }
    }
}

impl FrameFollower {
    /// Waits for the next frames. `None` once everything was read and the ingest is over. The future may be dropped without loss.
    ///
    /// # Errors
    /// The log's error.
    pub async fn next(&mut self) -> Result<Option<Vec<Arc<Frame>>>, LogError> {
        loop {
            let ended = self.progress.borrow_and_update().ended;
            loop {
                let (step, is_last) = {
                    let steps = self.ingested.steps();
                    (steps.get(self.at).cloned(), self.at + 1 >= steps.len())
                };
                let Some(step) = step else { break };
                let from = self.next.max(step.first);
                if from < step.frames {
                    let most = usize::try_from((step.frames - from).min(AT_ONCE)).unwrap_or(usize::MAX);
                    let frames = self.runs.log().read(step.entry.id(), from, most).await?;
                    // Frames that are no longer kept cannot be read.
                    self.next = frames.last().map_or(step.frames, |last| last.seq + 1);
                    if !frames.is_empty() {
                        return Ok(Some(frames));
                    }
                    continue;
                }
                if is_last {
                    break;
                }
                self.at += 1;
                self.next = 0;
            }
            if ended {
                return Ok(None);
            }
            // The sender lives as long as the ingest, which `ingested` belongs to.
            let _ = self.progress.changed().await;
        }
    }
}
