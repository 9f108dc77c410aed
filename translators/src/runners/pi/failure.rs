//! Errors of model requests, with stable codes.
//!
//! Input: the message of a failed reply, which begins with the provider's HTTP status if there is one, and the provider's own stop
//! reason. Output: a code, a message for people, and the HTTP status. Never: an error without a message.

use super::super::stops::Stop;
use crate::frame::{Body, ErrorReported, ErrorScope, SharedStr};
use crate::normalizer::RunEnd;

/// An error that ended a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    code: SharedStr,
    message: String,
    http_status: Option<u16>,
}

impl Failure {
    /// Reads the error of a reply.
    pub(super) fn of(message: &str, raw_reason: &str) -> Self {
        let digits: String = message.chars().take_while(char::is_ascii_digit).collect();
        let status = digits.parse().ok().filter(|status| digits.len() == 3 && (400..600).contains(status));
        let code = match Stop::of(raw_reason) {
            Some(_) => raw_reason,
            None => code_of(status),
        };
        let message = if message.trim().is_empty() { "the model request failed" } else { message };
        Self { code: SharedStr::from(code), message: message.to_owned(), http_status: status }
    }

    /// The frame that reports the error. `attempt` and `most` are which attempt failed and how many there are, if the runner retries.
    pub(super) fn reported(&self, retry: Option<(Option<u32>, Option<u32>)>) -> Body {
        let (attempt, max_attempts) = retry.unwrap_or_default();
        Body::ErrorReported(Box::new(ErrorReported {
            scope: if retry.is_some() { ErrorScope::Turn } else { ErrorScope::Run },
            code: self.code.clone(),
            message: self.message.clone(),
            retryable: retry.is_some() || matches!(&*self.code, "rate_limit" | "overloaded" | "server_error"),
            attempt,
            max_attempts,
            http_status: self.http_status,
        }))
    }

    /// How a run ends with this error.
    pub(super) fn run_end(&self) -> RunEnd {
        match Stop::of(&self.code) {
            Some(stop) => stop.end(&self.code, Some(&self.message)),
            None => RunEnd::failed(self.code.clone(), self.message.clone()),
        }
    }
}

fn code_of(status: Option<u16>) -> &'static str {
    match status {
        Some(401 | 403) => "authentication_failed",
        Some(429) => "rate_limit",
        Some(529) => "overloaded",
        Some(500..) => "server_error",
        Some(_) => "invalid_request",
        None => "error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_leads_the_message() {
        for (message, code, status) in [
            ("429 Rate limit reached.", "rate_limit", Some(429)),
            ("500: Internal error", "server_error", Some(500)),
            ("400 invalid argument", "invalid_request", Some(400)),
            ("terminated", "error", None),
            ("12345 things", "error", None),
        ] {
            let failure = Failure::of(message, "");
            assert_eq!((&*failure.code, failure.http_status), (code, status), "{message}");
            assert_eq!(failure.message, message);
        }
        assert_eq!(Failure::of("", "").message, "the model request failed");
    }

    #[test]
    fn a_content_filter_is_the_same_for_all_runners() {
        let failure = Failure::of("Provider finish_reason: content_filter", "content_filter");
        assert_eq!(failure.run_end().error_code.as_deref(), Some("content_filter"));
    }
}
