//! What an upstream of kind `sse` is set to.

use super::http::Http;
use serde::{Deserialize, Serialize};

/// An event feed that is followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sse {
    /// Where it is, and how it is connected to: settings beside these.
    #[serde(skip)]
    pub http: Http,
    /// How long it may take until an answer begins.
    pub answer_timeout_ms: u64,
    /// How long the feed may be silent before it is connected to anew; 0: for ever.
    pub idle_timeout_ms: u64,
    /// The pause before it is connected to again, at first.
    pub reconnect_min_ms: u64,
    /// The same at most: it doubles with each attempt.
    pub reconnect_max_ms: u64,
    /// How long a run may be silent behind a loss of the feed before it ends as interrupted.
    pub lost_after_ms: u64,
    /// How long it may take until the feed tells of a run that was started.
    pub start_timeout_ms: u64,
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
        }
    }
}

impl Sse {
    /// What no single value shows.
    pub(super) fn check(&self, report: &mut dyn FnMut(&str, String)) {
        self.http.check(true, report);
        if self.reconnect_min_ms > self.reconnect_max_ms {
            let message =
                format!("{} is more than reconnect_max_ms, which is {}", self.reconnect_min_ms, self.reconnect_max_ms);
            report("reconnect_min_ms", message);
        }
    }
}
