//! The states of a session: work, retries, errors, and the actual end of a run.
//!
//! Input: what a session reports about its state. Output: errors and ends. Never: an end while a message is still being
//! written, unless the session reports idle again.
//!
//! The verdict is the last failure that no later message recovered from. A turn that a refused permission stops has no failure,
//! and the runner reports success, so it counts as completed.

use super::failure::{Failure, retried, verdict};
use super::parts;
use super::sessions::Feed;
use crate::frame::{Body, SharedStr};
use crate::json::Object;
use crate::normalizer::{Normalizer, RunEnd, Target};
use crate::sequence::StreamKey;

impl Feed {
    /// Handles a session's status.
    pub(super) fn status(&mut self, id: &SharedStr, props: &Object<'_>, normalizer: &mut Normalizer) {
        let status = props.object("status").unwrap_or_default();
        match status.str("type").as_deref() {
            Some("idle") => self.idle(id, 0, normalizer),
            Some(kind @ ("busy" | "retry")) => {
                let session = self.session(id);
                (session.busy, session.idle) = (true, [0; 2]);
                self.work(id, normalizer);
                self.report_prompt(id, normalizer);
                if kind == "retry" {
                    self.with_context(id, normalizer, |context, message_log| {
                        for message in message_log.open() {
                            parts::cut_blocks(context, message);
                        }
                        context.normalizer.push(context.target, retried(&status));
                    });
                }
            }
            _ => normalizer.unknown("unknown session status"),
        }
    }

    /// Notes that a session is idle, as reported by a status (way 0) or by an event (way 1).
    pub(super) fn idle(&mut self, id: &SharedStr, way: usize, normalizer: &mut Normalizer) {
        self.settle(id, normalizer);
        let session = self.session(id);
        session.busy = false;
        if let Some(count) = session.idle.get_mut(way) {
            *count = count.saturating_add(1);
        }
        self.end_if_over(id, normalizer);
    }

    /// Handles an error of a session, which does not necessarily end it.
    pub(super) fn error(&mut self, id: &SharedStr, props: &Object<'_>, normalizer: &mut Normalizer) {
        let failure = Failure::read(props.some("error"));
        let session = self.session(id);
        // Idle follows next. Messages that the error breaks off get their last updates after that.
        session.message_log.forget_early();
        if session.prompt.is_some() {
            // The prompt failed before any work started.
            self.work(id, normalizer);
        }
        self.failed(id, failure, normalizer);
        let session = self.session(id);
        if !session.busy && session.message_log.is_complete() && self.run_of(id).is_some() {
            self.conclude(id, normalizer);
        }
    }

    /// Handles a failure of a session or of one of its messages. Only its first report produces a frame.
    pub(super) fn failed(&mut self, id: &SharedStr, failure: Failure, normalizer: &mut Normalizer) {
        // The runner repeats the session's error on the message that it broke off.
        let is_reported = self.session(id).failure.as_ref() == Some(&failure);
        if !is_reported && !failure.aborted {
            match self.target(id, normalizer) {
                Some(target) => normalizer.push(target, failure.reported(target.parent.is_some())),
                None => {
                    let thread = normalizer.thread();
                    normalizer.push(Target::main(thread), failure.reported(false));
                    return;
                }
            }
        }
        self.session(id).failure = Some(failure);
    }

    /// Reports that a summary replaced the history. The summary's own message has already done so, unless the feed was joined
    /// after it.
    pub(super) fn compacted(&mut self, id: &SharedStr, normalizer: &mut Normalizer) {
        if !std::mem::take(&mut self.session(id).compacted) {
            self.report_compaction(id, None, normalizer);
        }
    }

    pub(super) fn report_compaction(&mut self, id: &SharedStr, summary: Option<String>, normalizer: &mut Normalizer) {
        let trigger = self.session(id).compaction.take().map(SharedStr::from);
        if let Some(target) = self.target(id, normalizer) {
            normalizer
                .push(target, Body::HistoryCompacted { trigger, tokens_before: None, tokens_after: None, summary });
        }
    }

    /// Handles the deletion of a session.
    pub(super) fn deleted(&mut self, id: &SharedStr, normalizer: &mut Normalizer) {
        if self.run_of(id).is_some() {
            let session = self.session(id);
            session.failure.get_or_insert_with(|| Failure::stopped("session_deleted", "the session was deleted"));
            self.conclude(id, normalizer);
        }
    }

    /// Ends a session's work if it reported idle and no message is open, or if it reported idle twice in the same way.
    pub(super) fn end_if_over(&mut self, id: &SharedStr, normalizer: &mut Normalizer) {
        let session = self.session(id);
        let [status, event] = session.idle;
        if (status > 0 || event > 0) && session.message_log.is_complete() || status > 1 || event > 1 {
            self.conclude(id, normalizer);
        }
    }

    /// Ends the run of a root session, or a child session's work.
    pub(super) fn conclude(&mut self, id: &SharedStr, normalizer: &mut Normalizer) {
        let Some(run) = self.run_of(id) else { return };
        normalizer.record_on(run);
        if self.session(id).parent.is_none() {
            // Deltas may have arrived after the end of their message.
            let failed = self.session(id).failure.is_some();
            self.with_context(id, normalizer, |context, message_log| {
                context.failing |= failed;
                for message in message_log.complete() {
                    parts::complete_blocks(context, message);
                }
            });
        }
        let session = self.session(id);
        let failure = session.failure.take();
        (session.busy, session.idle) = (false, [0; 2]);
        session.message_log.close_all();
        if session.parent.is_some() {
            if session.called {
                // The call's result contains the child session's report and comes next.
                return;
            }
            let status = match &failure {
                None => "completed",
                Some(failure) if failure.aborted => "cancelled",
                Some(_) => "failed",
            };
            session.over_in = Some((run, session.tool));
            normalizer.subagent_ended(run, id, status, None);
            return;
        }
        session.run = None;
        session.tasks.clear();
        let open = self.runs.remove(&run);
        let (children, answer) = open.map(|open| (open.children, open.answer)).unwrap_or_default();
        for child in children {
            let child = self.session(&child);
            child.message_log.close_all();
            child.message_log.plan.clear();
            child.tasks.clear();
            (child.tool, child.called, child.failure, child.busy, child.idle) = (None, false, None, false, [0; 2]);
        }
        normalizer.end_run(run, verdict(failure, answer));
    }

    /// Ends a run without a report from its session. The session's next prompt starts another run.
    pub(super) fn give_up(&mut self, run: StreamKey, end: &RunEnd, normalizer: &mut Normalizer) {
        let Some(id) = self.runs.get(&run).map(|open| open.session.clone()) else { return };
        let code = end.error_code.as_deref().unwrap_or_default();
        self.session(&id).failure = Some(Failure::stopped(code, end.message.as_deref().unwrap_or_default()));
        normalizer.set_session(&id);
        self.conclude(&id, normalizer);
    }

    /// Handles the end of the input. Work that still waits for its last records ends with the state known so far.
    pub(super) fn end(&mut self, normalizer: &mut Normalizer) {
        let mut waiting: Vec<SharedStr> =
            self.sessions.iter().filter(|(_, session)| session.prompt.is_some()).map(|(id, _)| id.clone()).collect();
        waiting.sort_unstable();
        for id in waiting {
            normalizer.set_session(&self.root(&id).0);
            self.report_prompt(&id, normalizer);
        }
        let mut early: Vec<SharedStr> = self.sessions.keys().cloned().collect();
        early.sort_unstable();
        for id in early {
            normalizer.set_session(&self.root(&id).0);
            self.settle(&id, normalizer);
        }
        for run in normalizer.runs().collect::<Vec<_>>() {
            let Some(id) = self.runs.get(&run).map(|open| open.session.clone()) else { continue };
            let session = self.session(&id);
            if session.idle != [0; 2] || session.failure.is_some() {
                normalizer.set_session(&id);
                self.conclude(&id, normalizer);
            }
        }
    }
}
