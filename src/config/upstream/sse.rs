//! The settings of an upstream of kind `sse`.

use super::http::Http;
use serde::{Deserialize, Serialize};

/// An event feed that the proxy follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sse {
    /// Its URL and connection settings, in the same table of the file.
    #[serde(skip)]
    pub http: Http,
    /// The timeout for the start of an answer.
    pub answer_timeout_ms: u64,
    /// The silence of the feed after which the proxy reconnects; 0: never.
    pub idle_timeout_ms: u64,
    /// The initial pause before reconnecting.
    pub reconnect_min_ms: u64,
    /// The maximum pause: it doubles with each attempt.
    pub reconnect_max_ms: u64,
    /// After the feed was lost, how long a run may be silent before it ends as interrupted.
    pub lost_after_ms: u64,
    /// The timeout for the feed to report a run that was started.
    pub start_timeout_ms: u64,
    /// Whether the proxy is not ready (`/readyz`) while the feed is disconnected.
    pub required: bool,
}

impl Default for Sse {
    fn default() -> Self {
        Self {
            http: Http::default(),
            answer_timeout_ms: 30_000,
            idle_timeout_ms: 60_000,
            reconnect_min_ms: 500,
            reconnect_max_ms: 30_000,
            lost_after_ms: 60_000,
            start_timeout_ms: 30_000,
            required: true,
        }
    }
}

impl Sse {
    /// Checks constraints between settings.
    pub(super) fn check(&self, report: &mut dyn FnMut(&str, String)) {
        self.http.check(true, report);
        if self.reconnect_min_ms > self.reconnect_max_ms {
            let message =
                format!("{} is more than reconnect_max_ms ({})", self.reconnect_min_ms, self.reconnect_max_ms);
            report("reconnect_min_ms", message);
        }
    }
}
