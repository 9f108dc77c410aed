//! Registers metrics.
//!
//! Input: a name, a help text, labels. Output: the metric. Never: a metric that is counted but not exported.

use prometheus::core::Collector;
use prometheus::{HistogramOpts, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry};

/// Upper bounds of the duration buckets, in seconds.
const SECONDS: &[f64] =
    &[0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Registers metrics. Each name occurs once in the source, so registration cannot fail.
pub(super) struct Register(pub(super) Registry);

impl Register {
    pub(super) fn add<C: Collector + Clone + 'static>(&self, made: prometheus::Result<C>) -> C {
        #[expect(clippy::expect_used, reason = "names and labels are constants that tests cover")]
        let metric = made.expect("a metric's name and labels are valid");
        #[expect(clippy::expect_used, reason = "as above: every name is unique")]
        self.0.register(Box::new(metric.clone())).expect("every metric has its own name");
        metric
    }

    pub(super) fn counters(&self, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
        self.add(IntCounterVec::new(Opts::new(name, help), labels))
    }

    pub(super) fn counter(&self, name: &str, help: &str) -> IntCounter {
        self.add(IntCounter::new(name, help))
    }

    pub(super) fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
        self.add(IntGaugeVec::new(Opts::new(name, help), labels))
    }

    pub(super) fn gauge(&self, name: &str, help: &str) -> IntGauge {
        self.add(IntGauge::new(name, help))
    }

    pub(super) fn seconds(name: &str, help: &str) -> HistogramOpts {
        HistogramOpts::new(name, help).buckets(SECONDS.to_vec())
    }
}
