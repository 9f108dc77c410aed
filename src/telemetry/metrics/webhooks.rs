//! Metrics of notifications over HTTP.
//!
//! Input: attempts, and deliveries that are over. Output: counts by the endpoint's configured name. Never: a label from an answer or a run.

use super::{Metrics, Register, signed};
use prometheus::{IntCounter, IntCounterVec, IntGauge, IntGaugeVec};

/// How a delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookOutcome {
    /// The endpoint has it.
    Delivered,
    /// It was given up.
    GivenUp,
    /// Its event was too old when the proxy received it.
    TooOld,
    /// Its approval was answered before it was sent.
    Answered,
    /// The endpoint wants no notifications.
    Gone,
}

impl WebhookOutcome {
    const ALL: [Self; 5] = [Self::Delivered, Self::GivenUp, Self::TooOld, Self::Answered, Self::Gone];

    fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::GivenUp => "given_up",
            Self::TooOld => "too_old",
            Self::Answered => "answered",
            Self::Gone => "gone",
        }
    }
}

impl Metrics {
    /// The meter of one endpoint of webhooks. `name` is a configured name.
    pub fn webhook(&self, name: &str) -> WebhookMeter {
        self.webhooks.meter(name)
    }

    /// Counts an event that no endpoint is notified of, because too many were waiting.
    pub fn webhook_event_lost(&self) {
        self.webhooks.lost();
    }
}

/// The metric families.
pub(super) struct Families {
    outcomes: IntCounterVec,
    attempts: IntCounterVec,
    waiting: IntGaugeVec,
    lost: IntCounter,
}

impl Families {
    pub(super) fn new(to: &Register) -> Self {
        Self {
            outcomes: to.counters(
                "framegate_webhooks_total",
                "Notifications that are over, by endpoint and outcome.",
                &["webhook", "outcome"],
            ),
            attempts: to.counters(
                "framegate_webhook_attempts_total",
                "Attempts to deliver a notification, by endpoint and answer.",
                &["webhook", "answer"],
            ),
            waiting: to.gauges(
                "framegate_webhooks_waiting",
                "Notifications that wait for an attempt or an answer.",
                &["webhook"],
            ),
            lost: to.counter(
                "framegate_webhook_events_lost_total",
                "Events that no endpoint is notified of, because too many were waiting.",
            ),
        }
    }

    /// The meter of one endpoint; its series begin at 0.
    pub(super) fn meter(&self, webhook: &str) -> WebhookMeter {
        for outcome in WebhookOutcome::ALL {
            self.outcomes.with_label_values(&[webhook, outcome.as_str()]);
        }
        WebhookMeter {
            webhook: webhook.to_owned(),
            outcomes: self.outcomes.clone(),
            attempts: self.attempts.clone(),
            waiting: self.waiting.with_label_values(&[webhook]),
        }
    }

    pub(super) fn lost(&self) {
        self.lost.inc();
    }
}

/// Counts the notifications of one endpoint.
pub struct WebhookMeter {
    webhook: String,
    outcomes: IntCounterVec,
    attempts: IntCounterVec,
    waiting: IntGauge,
}

impl WebhookMeter {
    /// Counts a delivery that is over.
    pub fn over(&self, outcome: WebhookOutcome) {
        self.outcomes.with_label_values(&[&*self.webhook, outcome.as_str()]).inc();
    }

    /// Counts an attempt. `answer` is one of a few words.
    pub fn attempted(&self, answer: &'static str) {
        self.attempts.with_label_values(&[&*self.webhook, answer]).inc();
    }

    /// Sets how many deliveries are not over.
    pub fn waiting(&self, deliveries: usize) {
        self.waiting.set(signed(deliveries as u64));
    }
}
