//! Statuses that an older version stored get the figures that this version keeps.
//!
//! Input: runs that have ended and whose status lacks figures. Output: the same statuses with the figures that the frames of the runs
//! give, stored. Never: a proxy that starts later because of it; more than half of the time spent on reading; figures of a run whose
//! first frames are no longer stored (they stay absent).

use super::{Entry, RunStatus, Runs};
use crate::clock::Moment;
use crate::log::{LogError, Summary};
use framegate_translators::frame::Frame;
use std::sync::Arc;

impl Runs {
    /// Completes the statuses of all runs that were known before this process, newest first.
    pub async fn complete_older(&self) {
        if !self.log.is_durable() {
            return;
        }
        let mut completed = 0_u64;
        for entry in self.newest_first().iter().filter(|entry| lacks_figures(entry)) {
            let begun = Moment::now();
            match self.complete(entry).await {
                Ok(is_complete) => completed += u64::from(is_complete),
                Err(LogError::Dropped { .. }) => {}
                Err(error) => {
                    tracing::warn!(run = %entry.stream.id, %error, "the figures of a run could not be computed");
                    entry.note_damage(&error);
                }
            }
            tokio::time::sleep(begun.elapsed()).await;
        }
        if completed > 0 {
            tracing::info!(runs = completed, "computed figures of runs that an older version stored");
        }
    }

    /// Returns whether the status is complete and stored now.
    async fn complete(&self, entry: &Arc<Entry>) -> Result<bool, LogError> {
        let mut read: Option<RunStatus> = None;
        let mut look = |frame: &Frame| {
            // The warnings were logged when the frames arrived.
            read.get_or_insert_with(|| self.begun(frame)).observe(frame, &mut Vec::new());
        };
        self.fold(entry, &mut look).await?;
        let Some(read) = read else { return Ok(false) };
        let summary = {
            let mut status = entry.status();
            if read.frames != status.frames {
                return Ok(false);
            }
            (status.turns, status.tools) = (read.turns, read.tools);
            (status.usage, status.models) = (read.usage, read.models);
            status.failed_tool_calls = read.failed_tool_calls;
            status.title = status.title.take().or(read.title);
            status.model = status.model.take().or(read.model);
            status.workspace.complete(read.workspace);
            Summary::of(entry.id(), &mut status)
        };
        self.log.keep_status(vec![summary]).await.map(|()| true)
    }
}

/// Whether the figures are missing and can be computed. An open run was read again when the proxy started.
fn lacks_figures(entry: &Entry) -> bool {
    let status = entry.status();
    status.ended && (status.tools.is_none() || status.models.is_none()) && status.pruned_frames == 0
}
