//! Meters that one ingest or one client holds while it is open.
//!
//! Input: bytes and events. Output: counts by the meter's labels. Never: an ingest or a client that counts as open after its
//! meter is dropped.

use super::Metrics;
use prometheus::{Histogram, IntCounter, IntCounterVec, IntGauge};
use std::sync::Arc;
use std::time::Duration;

/// Counts one ingest until it is dropped.
pub struct IngestMeter {
    pub(super) runner: &'static str,
    pub(super) open: IntGauge,
    pub(super) bytes: IntCounter,
    pub(super) ended: IntCounterVec,
    pub(super) reason: &'static str,
}

impl IngestMeter {
    /// Counts bytes that arrived.
    pub fn bytes(&self, more: usize) {
        self.bytes.inc_by(more as u64);
    }

    /// Ends the ingest. `reason` is a short label value.
    pub fn end(mut self, reason: &'static str) {
        self.reason = reason;
    }
}

impl Drop for IngestMeter {
    fn drop(&mut self) {
        self.open.dec();
        self.ended.with_label_values(&[self.runner, self.reason]).inc();
    }
}

/// Counts what one client receives, until it is dropped.
pub struct ClientMeter {
    pub(super) number: u64,
    pub(super) open: IntGauge,
    pub(super) bytes: IntCounter,
    pub(super) events: IntCounter,
    pub(super) latency: Histogram,
    pub(super) metrics: Arc<Metrics>,
}

impl ClientMeter {
    /// Counts events sent to the client. `waited` is the latency since their newest record arrived, if known.
    pub fn sent(&self, bytes: usize, events: u64, waited: Option<Duration>) {
        self.bytes.inc_by(bytes as u64);
        self.events.inc_by(events);
        if let Some(waited) = waited {
            self.latency.observe(waited.as_secs_f64());
        }
    }
}

impl Drop for ClientMeter {
    fn drop(&mut self) {
        self.open.dec();
        self.metrics.readers.leave(self.number);
    }
}
