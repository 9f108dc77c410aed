//! Metrics of a log that several proxies share. A log of one proxy has none of them.

use super::register::Register;
use super::signed;
use crate::log::SharedFigures;
use prometheus::{IntCounter, IntGauge};

/// With which the names begin.
pub(super) const PREFIX: &str = "framegate_shared_log_";

/// The state of the connection, of the leases, and of what was heard.
pub(super) struct SharedLogMetrics {
    connected: IntGauge,
    disconnects: IntCounter,
    pending: IntGauge,
    proxies: IntGauge,
    restarts: IntCounter,
    slow: IntCounter,
}

impl SharedLogMetrics {
    pub(super) fn new(to: &Register) -> Self {
        let gauge = |name: &str, help: &str| to.gauge(&format!("{PREFIX}{name}"), help);
        let counter = |name: &str, help: &str| to.counter(&format!("{PREFIX}{name}_total"), help);
        Self {
            connected: gauge("connected", "1 if a server of the log is connected and answers."),
            disconnects: counter("disconnects", "How many connections to servers of the log were lost."),
            pending: gauge("pending_messages", "Stored messages of all proxies that this one has not heard yet."),
            proxies: gauge("proxies", "Proxies whose lease is valid."),
            restarts: counter("follow_restarts", "How often this proxy began anew to follow the messages."),
            slow: counter("slow_consumers", "How often messages were not read in time."),
        }
    }

    pub(super) fn set(&self, figures: &SharedFigures) {
        self.connected.set(i64::from(figures.is_connected));
        raise(&self.disconnects, figures.disconnects);
        self.pending.set(signed(figures.pending));
        self.proxies.set(signed(figures.proxies));
        raise(&self.restarts, figures.followed.saturating_sub(1));
        raise(&self.slow, figures.slow);
    }
}

/// Raises a counter to a figure that the log counts itself.
fn raise(counter: &IntCounter, figure: u64) {
    counter.inc_by(figure.saturating_sub(counter.get()));
}
