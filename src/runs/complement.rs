//! What another output of the runner says of a run that is kept: the session file of a run that the proxy saw as a stream, or the stream.
//!
//! Input: a kept run, and the status that the other output would give it. Output: the kept status with what it lacked, stored. Never: a figure that the kept run
//! has, changed, unless it is the total of its whole session; an open run completed, which may yet report the same itself.

use super::model_calls::ModelCalls;
use super::workspace::thread_of;
use super::{Entry, RunState, RunStatus, Runs, UsageTotal};
use crate::log::Summary;
use framegate_translators::frame::StreamKind;
use std::sync::atomic::Ordering;

impl RunStatus {
    /// Takes from a status of the same run what is absent here. Returns whether there was any.
    pub(super) fn complement(&mut self, other: Self) -> bool {
        let is_of_session = self.is_total_of_more_than(&other);
        let mut is_changed = false;
        let mut take = |is_absent: bool, is_there: bool| {
            is_changed |= is_absent && is_there;
            is_absent && is_there
        };
        if take(self.session_name.is_empty(), !other.session_name.is_empty()) {
            self.session_name = other.session_name;
        }
        if take(self.title.is_none(), other.title.is_some()) {
            self.title = other.title;
        }
        if take(self.model.is_none(), other.model.is_some()) {
            self.model = other.model;
        }
        if take(self.usage.is_absent() || is_of_session, !other.usage.is_absent()) {
            self.usage = other.usage;
        }
        let has_calls =
            |models: &Option<ModelCalls>| models.as_ref().is_some_and(|models| !models.figures().is_empty());
        if take(!has_calls(&self.models) || is_of_session, has_calls(&other.models)) {
            self.models = other.models;
        }
        let before = self.workspace.clone();
        self.workspace.complete(other.workspace);
        is_changed || self.workspace != before
    }

    /// Whether the usage is the total of the session, because nothing was known of the runs before this one, and the other output knows
    /// how much of it was theirs.
    fn is_total_of_more_than(&self, other: &Self) -> bool {
        let (Some(own), Some(running), Some(others)) = (self.usage.tokens(), &self.running_total, other.usage.tokens())
        else {
            return false;
        };
        // The input of a running total may include what was cached.
        let is_whole = own.output == running.output_tokens
            && [own.input, own.whole_input()].contains(&running.input_tokens)
            && own.cache_read == running.cache_read_tokens.unwrap_or_default();
        let is_part = others.input <= own.input && others.output <= own.output && others.cache_read <= own.cache_read;
        // Both must know the run up to its end.
        let is_as_long = match &other.running_total {
            Some(total) => total == running,
            None => other.state == RunState::Completed && other.final_text == self.final_text,
        };
        is_whole && is_part && is_as_long && others != own
    }
}

impl UsageTotal {
    /// Whether no record reported any figure.
    fn is_absent(&self) -> bool {
        self.tokens().is_none() && self.cost_usd.is_none()
    }
}

impl Runs {
    /// Adds to a run that is over what another output of its runner says of it, if its status lacks that.
    pub async fn complement(&self, entry: &Entry, mut other: RunStatus) {
        // The header of a session file is in the thread of the session.
        let thread = self.find((StreamKind::Thread, other.session_id)).or_else(|| self.find(thread_of(&entry.stream)));
        if let Some(thread) = thread {
            other.workspace.complete(thread.status().workspace.clone());
        }
        let summary = {
            let mut status = entry.status();
            if !status.ended || !status.complement(other) {
                return;
            }
            Summary::of(entry.id(), &mut status)
        };
        // An append in progress may still store the status of before. The counters are saved later than it.
        entry.has_counted.store(true, Ordering::Relaxed);
        self.mark_changed(entry.id());
        if let Err(error) = self.log.keep_status(vec![summary]).await {
            tracing::warn!(run = %entry.id().1, %error, "what a session file adds to a run could not be stored");
        }
    }
}
