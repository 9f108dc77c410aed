//! Summaries: the status of a stream in the form that the log stores.
//!
//! Input: a status. Output: the same as JSON, stored with an append, or without one if it changed on its own. Never: a long
//! final text stored twice (the last frame has it), or a status stored by a log that does not outlive the process.

use super::labels::Labels;
use super::tool_figures::RunTools;
use super::{Entry, Exited, RunStatus, Runs};
use crate::log::{StreamId, Summary};
use std::sync::atomic::Ordering;

/// Longest final text that is kept with a run's status, in bytes.
const STATUS_TEXT: usize = 1 << 10;

impl Summary {
    pub(super) fn of(stream: StreamId, status: &mut RunStatus) -> Self {
        // A long text is also in the run's last frame, and is read back from there.
        let long = status.final_text.take_if(|text| text.len() > STATUS_TEXT);
        (status.is_final_text_long, status.kept_opening) = (Some(long.is_some()), status.opening);
        status.running.clone_from(&status.running_total);
        status.kept_calls = status.tools.as_ref().map(RunTools::stored_calls).unwrap_or_default();
        // Serialisation cannot fail: the status consists of numbers and strings, and every map has strings as keys.
        let text = serde_json::to_string(status).unwrap_or_default();
        (status.is_final_text_long, status.kept_opening, status.running) = (None, None, None);
        status.kept_calls = Vec::new();
        if long.is_some() {
            status.final_text = long;
        }
        Self { stream, status: text }
    }
}

impl Runs {
    /// Records how the program that was started for a run exited. If the run is still open, the exit stays in its status.
    pub async fn exited(&self, entry: &Entry, exit: Exited) {
        let summary = {
            let mut status = entry.status();
            status.exit = Some(exit);
            Summary::of(entry.id(), &mut status)
        };
        if let Err(error) = self.log.keep_status(vec![summary]).await {
            tracing::warn!(run = %entry.id().1, %error, "the exit status of a runner could not be stored");
        }
    }

    /// Sets the labels of a run.
    pub async fn label(&self, entry: &Entry, labels: Labels) {
        let summary = {
            let mut status = entry.status();
            status.labels = labels;
            Summary::of(entry.id(), &mut status)
        };
        // An append in progress may still store the status of before. The counters are saved later than it.
        entry.has_counted.store(true, Ordering::Relaxed);
        if let Err(error) = self.log.keep_status(vec![summary]).await {
            tracing::warn!(run = %entry.id().1, %error, "the labels of a run could not be stored");
        }
    }

    /// Saves what readers counted since the last call, so that it outlives the process.
    pub async fn keep_counts(&self) {
        if !self.log.is_durable() {
            return;
        }
        let changed = self.entries().into_iter().filter(|entry| entry.has_counted.swap(false, Ordering::Relaxed));
        let summaries: Vec<Summary> = changed.map(|entry| Summary::of(entry.id(), &mut entry.status())).collect();
        if summaries.is_empty() {
            return;
        }
        if let Err(error) = self.log.keep_status(summaries).await {
            tracing::warn!(%error, "the counters of runs could not be stored");
        }
    }
}
