//! A run up to the point where it waits for a person.
//!
//! Clients of some APIs answer a question with their next request, and send it only when the response to the last one has ended.
//!
//! Input: a follower of a run. Output: its events, until the run ends or a person must answer a question. Never: an end because of a
//! question that a rule answers; an end before the events that are there were sent.

use crate::log::LogError;
use crate::runs::{Batch, Entry, Follower};
use crate::upstream::Handles;
use std::sync::Arc;
use std::time::Duration;

/// How often an open question is looked at, to see whether a rule answers it.
const INTERVAL: Duration = Duration::from_millis(50);

/// Is called with the number of the next event when the run waits for a person.
pub(super) type OnWait = Box<dyn Fn(u64) + Send>;

/// Follows a run until it waits for a person.
pub(super) struct Segment {
    pub(super) follower: Follower,
    entry: Arc<Entry>,
    handles: Arc<Handles>,
    is_waiting: bool,
    on_wait: OnWait,
}

impl Segment {
    pub(super) fn new(follower: Follower, entry: Arc<Entry>, handles: Arc<Handles>, on_wait: OnWait) -> Self {
        Self { follower, entry, handles, is_waiting: false, on_wait }
    }

    /// Waits for the next events. `None` at the end, and when a person must answer.
    ///
    /// # Errors
    /// The log's error.
    pub(super) async fn next(&mut self) -> Result<Option<Batch>, LogError> {
        loop {
            if !self.is_waiting {
                tokio::select! {
                    biased;
                    batch = self.follower.next() => return batch,
                    () = waits(&self.entry, &self.handles) => self.is_waiting = true,
                }
            }
            // The events before the question may not have been read yet. Meanwhile, another client may answer.
            if let Some(batch) = self.follower.next_at_hand().await? {
                return Ok(Some(batch));
            }
            if asks_person(&self.entry, &self.handles) {
                (self.on_wait)(self.follower.position());
                return Ok(None);
            }
            self.is_waiting = false;
        }
    }

    /// Whether it ended because a person must answer.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting
    }
}

/// Whether the run has a question that a person must answer.
fn asks_person(entry: &Entry, handles: &Handles) -> bool {
    let asked = entry.status().pending_approvals.clone();
    !asked.is_empty() && handles.asks_person(entry.stream.id, &asked)
}

/// Waits until the run has a question that a person must answer.
async fn waits(entry: &Entry, handles: &Handles) {
    let mut tail = entry.tail();
    while !asks_person(entry, handles) {
        tail.borrow_and_update();
        if !entry.status().pending_approvals.is_empty() {
            // The task that reads the runner applies the rules after it has stored the question.
            tokio::time::sleep(INTERVAL).await;
        } else if tail.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
