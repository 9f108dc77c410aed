//! A run up to the point where it waits for a person.
//!
//! Clients of some APIs answer a question with their next request, and send it only when the response to the last one has ended.
//!
//! Input: a follower of a run. Output: its events, until the run ends or a person must answer a question. Never: an end because of a
//! question that a rule answers; an end before the events that are there were sent.

use crate::log::LogError;
use crate::runs::{Batch, Entry, Follower};
use std::sync::Arc;
use std::time::Duration;

/// How long a rule may take to answer a question. Rules answer at once, in the task that reads the question.
const RULES_TAKE: Duration = Duration::from_millis(250);

/// Is called with the number of the next event when the run waits for a person.
pub(super) type OnWait = Box<dyn Fn(u64) + Send>;

/// Follows a run until it waits for a person.
pub(super) struct Segment {
    pub(super) follower: Follower,
    entry: Arc<Entry>,
    is_waiting: bool,
    on_wait: OnWait,
}

impl Segment {
    pub(super) fn new(follower: Follower, entry: Arc<Entry>, on_wait: OnWait) -> Self {
        Self { follower, entry, is_waiting: false, on_wait }
    }

    /// Waits for the next events. `None` at the end, and when a person must answer.
    ///
    /// # Errors
    /// The log's error.
    pub(super) async fn next(&mut self) -> Result<Option<Batch>, LogError> {
        if !self.is_waiting {
            tokio::select! {
                biased;
                batch = self.follower.next() => return batch,
                () = waits(&self.entry) => self.is_waiting = true,
            }
        }
        let batch = self.follower.next_at_hand().await?;
        if batch.is_none() {
            (self.on_wait)(self.follower.position());
        }
        Ok(batch)
    }

    /// Whether it ended because a person must answer.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting
    }
}

/// Waits until the run has a question that no rule answers.
async fn waits(entry: &Entry) {
    let mut tail = entry.tail();
    loop {
        tail.borrow_and_update();
        let asked = entry.status().pending_approvals.clone();
        if asked.is_empty() {
            if tail.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            continue;
        }
        tokio::time::sleep(RULES_TAKE).await;
        if entry.status().pending_approvals.iter().any(|open| asked.contains(open)) {
            return;
        }
    }
}
