//! The settings of an upstream of kind `responses`.

use super::http::Http;
use crate::headers::Passing;
use serde::{Deserialize, Serialize};

/// A server of the Responses API to which requests are forwarded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Responses {
    /// Its URL and connection settings, in the same table of the file.
    #[serde(skip)]
    pub http: Http,
    /// Request headers that are passed on; `*` means all.
    pub request_headers: Vec<String>,
    /// Exceptions from `request_headers`.
    pub remove_request_headers: Vec<String>,
    /// Response headers that are passed on; `*` means all.
    pub response_headers: Vec<String>,
    /// Exceptions from `response_headers`.
    pub remove_response_headers: Vec<String>,
    /// The maximum number of concurrent connections to the server.
    pub max_connections: usize,
    /// The maximum number of requests that wait for a connection.
    pub max_queued: usize,
    /// How long a request waits for a connection.
    pub queue_timeout_ms: u64,
    /// The timeout for the start of an answer.
    pub answer_timeout_ms: u64,
    /// How long an answer may be silent; 0: no limit.
    pub idle_timeout_ms: u64,
    /// The maximum size of a request's body.
    pub max_request_bytes: u64,
    /// Whether a response is cancelled when its client disconnects.
    pub cancel_on_disconnect: bool,
    /// The maximum number of bytes that are buffered for a client.
    pub client_buffer_bytes: usize,
    /// The total time that a response may wait for its client.
    pub slow_client_ms: u64,
    /// The source of a response that a client requests by its id.
    pub retrieve: Retrieve,
}

/// The source of a response that a client requests by its id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Retrieve {
    /// The log, as far as it has the response.
    Kept,
    /// The upstream.
    #[default]
    Upstream,
}

impl Default for Responses {
    fn default() -> Self {
        let all = || vec!["*".to_owned()];
        Self {
            http: Http::default(),
            request_headers: all(),
            remove_request_headers: Vec::new(),
            response_headers: all(),
            remove_response_headers: Vec::new(),
            max_connections: 128,
            max_queued: 256,
            queue_timeout_ms: 10_000,
            answer_timeout_ms: 600_000,
            idle_timeout_ms: 300_000,
            max_request_bytes: 64 << 20,
            cancel_on_disconnect: false,
            client_buffer_bytes: 4 << 20,
            slow_client_ms: 60_000,
            retrieve: Retrieve::Upstream,
        }
    }
}

impl Responses {
    /// Checks constraints between settings.
    pub(super) fn check(&self, report: &mut dyn FnMut(&str, String)) {
        self.http.check(false, report);
        let none: [&str; 0] = [];
        for (key, checked) in [
            ("request_headers", Passing::new(&self.request_headers, &none)),
            ("remove_request_headers", Passing::new(&none, &self.remove_request_headers)),
            ("response_headers", Passing::new(&self.response_headers, &none)),
            ("remove_response_headers", Passing::new(&none, &self.remove_response_headers)),
        ] {
            if let Err(error) = checked {
                report(key, error.to_string());
            }
        }
    }
}
