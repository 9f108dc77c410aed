//! What an upstream of kind `responses` is set to.

use super::http::Http;
use crate::upstream::client::AllowList;
use serde::{Deserialize, Serialize};

/// A server of the Responses API that requests are forwarded to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Responses {
    /// Where it is, and how it is connected to: settings beside these.
    #[serde(skip)]
    pub http: Http,
    /// Headers of requests that are passed on.
    pub request_headers: Vec<String>,
    /// Headers of answers that are passed on.
    pub response_headers: Vec<String>,
    /// How long it may take until an answer begins.
    pub answer_timeout_ms: u64,
    /// How long an answer may be silent; 0: for ever.
    pub idle_timeout_ms: u64,
    /// The largest body of a request.
    pub max_request_bytes: u64,
    /// Whether a response is given up when its client leaves.
    pub cancel_on_disconnect: bool,
    /// How much may wait for a client.
    pub client_buffer_bytes: usize,
    /// How long a response waits for its client, in all.
    pub slow_client_ms: u64,
    /// Where a response that is asked for by its id comes from.
    pub retrieve: Retrieve,
}

/// Where a response that is asked for by its id comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Retrieve {
    /// From what is kept, as far as it is.
    #[default]
    Kept,
    /// From the upstream.
    Upstream,
}

impl Default for Responses {
    fn default() -> Self {
        let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect();
        Self {
            http: Http::default(),
            request_headers: names(&[
                "content-type",
                "content-encoding",
                "idempotency-key",
                "openai-*",
                "traceparent",
                "tracestate",
                "user-agent",
                "x-client-request-id",
                "x-stainless-*",
            ]),
            response_headers: names(&[
                "cache-control",
                "openai-*",
                "retry-after",
                "retry-after-ms",
                "x-ratelimit-*",
                "x-request-id",
                "x-should-retry",
            ]),
            answer_timeout_ms: 600_000,
            idle_timeout_ms: 300_000,
            max_request_bytes: 64 << 20,
            cancel_on_disconnect: false,
            client_buffer_bytes: 4 << 20,
            slow_client_ms: 60_000,
            retrieve: Retrieve::Kept,
        }
    }
}

impl Responses {
    /// What no single value shows.
    pub(super) fn check(&self, report: &mut dyn FnMut(&str, String)) {
        self.http.check(false, report);
        for (key, list) in [("request_headers", &self.request_headers), ("response_headers", &self.response_headers)] {
            if let Err(error) = AllowList::new(list) {
                report(key, error.to_string());
            }
        }
    }
}
