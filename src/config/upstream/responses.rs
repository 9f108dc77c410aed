//! The settings of an upstream of kind `responses`.

use super::http::Http;
use crate::config::table::settings;
use crate::headers::Passing;
use serde::{Deserialize, Serialize};

settings! {
    /// A server of the Responses API to which requests are forwarded.
    pub struct Responses {
        /// Request headers that pass. `*` is all of them, and at the end of a name any suffix.
        request_headers: Vec<String> = vec!["*".to_owned()];
        /// Request headers that do not pass although `request_headers` names them.
        remove_request_headers: Vec<String> = Vec::new();
        /// Response headers that pass.
        response_headers: Vec<String> = vec!["*".to_owned()];
        /// Response headers that do not pass although `response_headers` names them.
        remove_response_headers: Vec<String> = Vec::new();
        /// Maximum number of concurrent requests. `max_runs` is another name for it.
        max_connections: usize = 128, in 1..=100_000;
        /// Maximum number of requests that wait for a connection.
        max_queued: usize = 256, in 0..=100_000;
        /// Time that a request waits for a connection.
        queue_timeout_ms: u64 = 10_000, in 0..=600_000;
        /// Time until the head of an answer.
        answer_timeout_ms: u64 = 600_000, in 100..=3_600_000;
        /// Silence after which an answer breaks off. 0: no limit.
        idle_timeout_ms: u64 = 300_000, in 0..=604_800_000;
        /// Maximum size of the body of a request. A larger one gets 413.
        max_request_bytes: u64 = 64 << 20, in 1..=4 << 30;
        /// Cancel a response if its client disconnects.
        cancel_on_disconnect: bool = false;
        /// Bytes that may be pending for a client.
        client_buffer_bytes: usize = 4 << 20, in 4096..=1 << 30;
        /// Time that a response waits for its client in total.
        slow_client_ms: u64 = 60_000, in 0..=3_600_000;
        /// What answers `GET /v1/responses/{id}`: upstream, or kept (the log, as far as it has the response).
        retrieve: Retrieve = Retrieve::Upstream;
    }
    /// Its URL and connection settings, in the same table of the file.
    with http: Http;
}

/// The source of a response that a client requests by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Retrieve {
    /// The log, as far as it has the response.
    Kept,
    /// The upstream.
    Upstream,
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
