//! When a program must end, and when the supervisor must look at it next.
//!
//! Input: what the program and its clients did so far, the time. Output: the cause for which it must end; the time of the next timer. Never:
//! silence counted while the runner waits for the proxy.

use super::super::shutdown::Cause;
use super::Supervisor;
use crate::shutdown::Phase;
use crate::upstream::services::Services;
use std::time::Duration;
use tokio::time::Instant;

impl Supervisor {
    /// The deadline for the next run to begin, if a prompt waits and no run is open. Each run that begins or ends restarts
    /// the time.
    pub(super) fn run_due(&self) -> Option<Instant> {
        let waits = self.conversation.open_runs() == 0 && self.conversation.due_runs() > 0;
        waits.then(|| self.turns.1 + Duration::from_millis(self.settings.start_timeout_ms))
    }

    /// Why the program must end now; `None` if it may continue.
    pub(super) fn cause(&self, now: Instant, phase: Phase) -> Option<Cause> {
        if let Some(words) = self.conversation.refusal().filter(|_| self.run_begins.is_some()) {
            return Some(Cause::Refused(words.to_owned()));
        }
        let waits_for_us = self.has_dialogue && self.idle.is_some();
        if self.output_is_over || (waits_for_us && (phase >= Phase::Draining || self.makes_way)) {
            return Some(Cause::Leaving);
        }
        self.timers().into_iter().flatten().find(|(at, _)| *at <= now).map(|(_, cause)| cause)
    }

    /// Whether the runner waits for an answer, or for a command that the proxy runs for it. That is no silence of the runner.
    pub(super) fn waits_for_host(&self) -> bool {
        self.conversation.deadline().is_some() || self.services.as_ref().is_some_and(Services::is_busy)
    }

    /// The times at which the program must end if nothing happens before, with the cause of each.
    fn timers(&self) -> [Option<(Instant, Cause)>; 3] {
        let after = |since: Instant, ms: u64| (ms > 0).then(|| since + Duration::from_millis(ms));
        let whole = after(self.began, self.settings.run_timeout_ms).map(|at| (at, Cause::TooLong));
        let start = self
            .run_begins
            .is_some()
            .then(|| (self.began + Duration::from_millis(self.settings.start_timeout_ms), Cause::NoRun));
        let silence = match self.idle.filter(|_| self.has_dialogue) {
            Some(since) => Some((since + Duration::from_millis(self.settings.linger_ms), Cause::Leaving)),
            None if self.waits_for_host() => None,
            None => after(self.heard, self.settings.idle_timeout_ms).map(|at| (at, Cause::Idle)),
        };
        [whole, start, silence]
    }

    /// When the next timer fires; `None` if no timer is set.
    pub(super) fn due(&self) -> Option<Instant> {
        let now = Instant::now();
        let patience = self.ingest.patience().map(|patience| now + patience);
        let question = self.conversation.deadline().map(|ms| self.began + Duration::from_millis(ms));
        let grace = Duration::from_millis(self.settings.exit_grace_ms);
        let end = match (&self.shutdown, self.left) {
            (_, Some((_, at))) => Some(at + grace),
            (Some(shutdown), None) => shutdown.next(),
            (None, None) => self.timers().into_iter().flatten().map(|(at, _)| at).min(),
        };
        [patience, question, end, self.run_due()].into_iter().flatten().min()
    }
}
