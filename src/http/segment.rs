//! A run up to the point where it waits for a person.
//!
//! Clients of some APIs answer a question with their next request, and send it only when the response to the last one has ended.
//!
//! Input: a follower of a run. Output: its events, until the run ends or a person must answer a question. Never: an end because of a
//! question that a rule answers; an end before the events that are there were sent.

use super::digest::{Digest, digest};
use crate::log::LogError;
use crate::runs::{Batch, Entry, Follower};
use crate::upstream::Handles;
use std::sync::Arc;
use std::time::Duration;

/// How often an open question is looked at, to see whether a rule answers it.
const INTERVAL: Duration = Duration::from_millis(50);

/// Is called with the number of the next event when the run waits for a person, and with what identifies the questions.
pub(super) type OnWait = Box<dyn Fn(u64, Digest) + Send>;

/// Follows a run until it waits for a person.
pub(super) struct Segment {
    pub(super) follower: Follower,
    entry: Arc<Entry>,
    handles: Arc<Handles>,
    is_waiting: bool,
    on_wait: OnWait,
    /// The number of the event before which it ends in any case, because it did so before.
    until: Option<u64>,
}

impl Segment {
    pub(super) fn new(follower: Follower, entry: Arc<Entry>, handles: Arc<Handles>, on_wait: OnWait) -> Self {
        Self { follower, entry, handles, is_waiting: false, on_wait, until: None }
    }

    /// The same, but it ends at this event in any case. The last events may be later ones.
    pub(super) fn until(self, until: Option<u64>) -> Self {
        Self { until, ..self }
    }

    /// The number of the event that follows the last one.
    pub(super) fn position(&self) -> u64 {
        let position = self.follower.position();
        self.until.map_or(position, |until| position.min(until))
    }

    /// Waits for the next events. `None` at the end, and when a person must answer.
    ///
    /// # Errors
    /// The log's error.
    pub(super) async fn next(&mut self) -> Result<Option<Batch>, LogError> {
        if self.until.is_some_and(|until| self.follower.position() >= until) {
            self.is_waiting = true;
            return Ok(None);
        }
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
                (self.on_wait)(self.follower.position(), asked_of(&self.entry));
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

/// What identifies the open questions of a run.
pub(super) fn asked_of(entry: &Entry) -> Digest {
    digest(entry.status().pending_approvals.iter().map(|id| Some(&**id)))
}

/// Whether the run has a question that a person must answer.
pub(super) fn asks_person(entry: &Entry, handles: &Handles) -> bool {
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
