//! Metrics of a log that several proxies share. A log of one proxy has none of them.

use super::register::Register;
use super::signed;
use crate::log::SharedFigures;
use prometheus::IntGauge;

/// With which the names begin.
pub(super) const PREFIX: &str = "framegate_shared_log_";

/// The state of the connection, of the leases, and of what was heard.
pub(super) struct SharedLogMetrics {
    connected: IntGauge,
    disconnects: IntGauge,
    pending: IntGauge,
    proxies: IntGauge,
    restarts: IntGauge,
    slow: IntGauge,
}

impl SharedLogMetrics {
    pub(super) fn new(to: &Register) -> Self {
        let gauge = |name: &str, help: &str| to.gauge(&format!("{PREFIX}{name}"), help);
        Self {
            connected: gauge("connected", "1 if a server of the log is connected and answers."),
            disconnects: gauge("disconnects", "How many connections to servers of the log were lost."),
            pending: gauge("pending_messages", "Stored messages of all proxies that this one has not heard yet."),
            proxies: gauge("proxies", "Proxies whose lease is valid."),
            restarts: gauge("follow_restarts", "How often this proxy began anew to follow the messages."),
            slow: gauge("slow_consumers", "How often messages were not read in time."),
        }
    }

    pub(super) fn set(&self, figures: &SharedFigures) {
        self.connected.set(i64::from(figures.is_connected));
        self.disconnects.set(signed(figures.disconnects));
        self.pending.set(signed(figures.pending));
        self.proxies.set(signed(figures.proxies));
        self.restarts.set(signed(figures.followed.saturating_sub(1)));
        self.slow.set(signed(figures.slow));
    }
}
