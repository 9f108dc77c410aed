//! Metrics of upstreams: their runs, and the questions of those runs.
//!
//! Input: the frames of an upstream's runs, and the outcomes of its questions. Output: counts by the upstream's configured
//! name. Never: a label that a runner can invent; a run that counts as open after its upstream's task has ended.

use super::Register;
use framegate_translators::frame::{ApprovalResolved, Body, Decision, EndReason, Frame, StreamKind};
use framegate_translators::pipeline::is_last;
use prometheus::{IntCounter, IntCounterVec, IntGauge, IntGaugeVec};
use std::sync::Arc;
use uuid::Uuid;

/// The error codes of ends that the proxy decides itself. Other runs are labelled with the runner's verdict.
const OWN_ENDS: [&str; 13] = [
    "client_left",
    "feed_lost",
    "interrupted",
    "limit",
    "log_failed",
    "log_full",
    "proxy_stopping",
    "run_timeout",
    "runner_exited",
    "runner_idle",
    "stream_ended",
    "upstream_lost",
    "upstream_silent",
];

/// How a question was settled, as label values.
const ANSWERERS: [&str; 7] = ["client", "rule", "timeout", "limit", "unanswerable", "runner", "end"];

/// The metric families.
#[derive(Clone)]
pub(super) struct Families {
    started: IntCounterVec,
    ended: IntCounterVec,
    open: IntGaugeVec,
    asked: IntCounterVec,
    answered: IntCounterVec,
    connected: IntGaugeVec,
    losses: IntCounterVec,
}

impl Families {
    pub(super) fn new(to: &Register) -> Self {
        let upstream = &["upstream"][..];
        Self {
            started: to.counters("framegate_upstream_runs_started_total", "Runs of upstreams that began.", upstream),
            ended: to.counters(
                "framegate_upstream_runs_ended_total",
                "Runs of upstreams that ended, by the runner's verdict, or by the code of another cause.",
                &["upstream", "reason"],
            ),
            open: to.gauges("framegate_upstream_runs_open", "Open runs of upstreams.", upstream),
            asked: to.counters(
                "framegate_approvals_asked_total",
                "Questions of runners, including those that a rule answered at once.",
                upstream,
            ),
            answered: to.counters(
                "framegate_approvals_answered_total",
                "Settled questions, by who settled them: a client, a rule, the timeout, the limit of questions, \
                 framegate because no client can answer (unanswerable), the runner, or the end of the run or session.",
                &["upstream", "by"],
            ),
            connected: to.gauges(
                "framegate_upstream_connected",
                "Whether the feed of an upstream is connected: 1 or 0.",
                upstream,
            ),
            losses: to.counters(
                "framegate_upstream_connection_losses_total",
                "Lost connections to the feeds of upstreams.",
                upstream,
            ),
        }
    }

    /// Sets whether the feed of an upstream is connected.
    pub(super) fn set_connected(&self, upstream: &str, is_connected: bool) {
        self.connected.with_label_values(&[upstream]).set(i64::from(is_connected));
        self.losses.with_label_values(&[upstream]);
    }

    /// Counts a loss of an upstream's feed.
    pub(super) fn lost(&self, upstream: &str) {
        self.losses.with_label_values(&[upstream]).inc();
    }

    /// The meter of one upstream; its series begin at 0.
    pub(super) fn meter(&self, upstream: &str) -> UpstreamMeter {
        for reason in ["completed", "failed", "interrupted"] {
            self.ended.with_label_values(&[upstream, reason]);
        }
        for by in ANSWERERS {
            self.answered.with_label_values(&[upstream, by]);
        }
        UpstreamMeter {
            upstream: upstream.to_owned(),
            started: self.started.with_label_values(&[upstream]),
            ended: self.ended.clone(),
            open: self.open.with_label_values(&[upstream]),
            asked: self.asked.with_label_values(&[upstream]),
            answered: self.answered.clone(),
            runs: Vec::new(),
        }
    }
}

/// Counts the runs of one upstream that one task drives.
pub struct UpstreamMeter {
    upstream: String,
    started: IntCounter,
    ended: IntCounterVec,
    open: IntGauge,
    asked: IntCounter,
    answered: IntCounterVec,
    /// The open runs.
    runs: Vec<Uuid>,
}

impl UpstreamMeter {
    /// Counts from frames that the log has kept.
    pub fn frames(&mut self, frames: &[Arc<Frame>]) {
        for frame in frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session) {
            if matches!(frame.body, Body::SessionStarted { .. }) {
                self.began(frame.stream.id);
            }
            if let Body::SessionEnded(end) = &frame.body
                && is_last(frame)
            {
                self.over(frame.stream.id, reason_of(end.reason, end.error_code.as_deref()));
            }
        }
    }

    /// Counts a run that begins. A run that is already known changes nothing.
    pub fn began(&mut self, run: Uuid) {
        if !self.runs.contains(&run) {
            self.runs.push(run);
            self.started.inc();
            self.open.inc();
        }
    }

    /// Ends all open runs of this meter: no more frames arrive. `verdict` returns how a run ended and its error code, or `None`
    /// if the run is not known any more.
    pub fn settle(&mut self, verdict: impl Fn(Uuid) -> Option<(EndReason, Option<String>)>) {
        for run in std::mem::take(&mut self.runs) {
            self.runs.push(run);
            let reason = verdict(run).map_or("dropped", |(verdict, code)| reason_of(verdict, code.as_deref()));
            self.over(run, reason);
        }
    }

    fn over(&mut self, run: Uuid, reason: &'static str) {
        let Some(at) = self.runs.iter().position(|open| *open == run) else { return };
        self.runs.swap_remove(at);
        self.open.dec();
        self.ended.with_label_values(&[&self.upstream, reason]).inc();
    }

    /// Counts questions that begin to wait.
    pub fn asked(&self, questions: u64) {
        self.asked.inc_by(questions);
    }

    /// Counts a settled question. `is_ours`: settled by an answer that was passed on to the runner.
    pub fn answered(&self, answer: &ApprovalResolved, is_ours: bool) {
        let by = match answer.by.as_deref() {
            Some("policy:timeout") if is_ours => "timeout",
            Some("policy:limit") if is_ours => "limit",
            Some("policy:unanswerable") if is_ours => "unanswerable",
            Some(by) if is_ours && by.starts_with("rule:") => "rule",
            _ if is_ours => "client",
            _ if answer.decision == Decision::Cancelled => "end",
            _ => "runner",
        };
        self.answered.with_label_values(&[&self.upstream, by]).inc();
    }

    /// Counts questions that can no longer be answered.
    pub fn unanswered(&self, questions: usize) {
        self.answered.with_label_values(&[&*self.upstream, "end"]).inc_by(questions as u64);
    }
}

impl Drop for UpstreamMeter {
    fn drop(&mut self) {
        for run in std::mem::take(&mut self.runs) {
            self.runs.push(run);
            self.over(run, "dropped");
        }
    }
}

/// Why a run ended, as a label value.
fn reason_of(verdict: EndReason, code: Option<&str>) -> &'static str {
    let own = OWN_ENDS.into_iter().find(|own| Some(*own) == code);
    own.unwrap_or_else(|| verdict.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_reasons_from_a_runner_do_not_become_labels() {
        assert_eq!(reason_of(EndReason::Failed, Some("runner_exited")), "runner_exited");
        assert_eq!(reason_of(EndReason::Failed, Some("made_up_by_the_runner")), "failed");
        assert_eq!(reason_of(EndReason::Completed, None), "completed");
    }

    #[test]
    fn a_run_counts_as_open_until_it_ends_or_its_task_is_dropped() {
        let registry = prometheus::Registry::new();
        let families = Families::new(&Register(registry));
        let open = families.open.with_label_values(&["lab"]);
        let mut meter = families.meter("lab");
        meter.began(Uuid::from_u128(1));
        meter.began(Uuid::from_u128(1));
        meter.began(Uuid::from_u128(2));
        assert_eq!((meter.started.get(), open.get()), (2, 2));
        meter.over(Uuid::from_u128(1), "completed");
        meter.over(Uuid::from_u128(1), "completed");
        assert_eq!(open.get(), 1);
        drop(meter);
        assert_eq!(open.get(), 0);
        assert_eq!(families.ended.with_label_values(&["lab", "completed"]).get(), 1);
        assert_eq!(families.ended.with_label_values(&["lab", "dropped"]).get(), 1);
    }
}
