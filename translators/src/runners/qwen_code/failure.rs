//! Errors of the API, with stable codes.
//!
//! Input: the runner's sentence for an error, `[API Error: 429 Rate limit reached.]`, or the fields of a session file. Output: a
//! code, a message for people, and the HTTP status. Never: an error without a message.

use super::super::stops::Stop;
use crate::frame::{Body, ErrorReported, ErrorScope, SharedStr};
use crate::normalizer::RunEnd;

/// An error that ended a run, or a model request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    code: SharedStr,
    message: String,
    http_status: Option<u16>,
}

impl Failure {
    /// Reads the message of a result. `code` is the runner's own code, for errors that are not the API's.
    pub(super) fn of_result(message: &str, code: &str) -> Self {
        let Some(inner) = message.trim_start().strip_prefix("[API Error: ") else {
            return Self::new(code, message, None);
        };
        let status = inner.split(|letter: char| !letter.is_ascii_digit()).next().filter(|word| word.len() == 3);
        let status = status.and_then(|word| word.parse().ok()).filter(|status| (400..600).contains(status));
        Self::new(code_of(status), message, status)
    }

    /// An error that a session file names, with its HTTP status if there is one.
    pub(super) fn of_request(message: &str, status: Option<u64>) -> Self {
        let status = status.and_then(|status| u16::try_from(status).ok());
        Self::new(code_of(status), message, status)
    }

    fn new(code: &str, message: &str, http_status: Option<u16>) -> Self {
        let code = if code.is_empty() { "error" } else { code };
        let message = if message.trim().is_empty() { "an error without a message" } else { message };
        Self { code: SharedStr::from(code), message: message.to_owned(), http_status }
    }

    /// The frame that reports the error.
    pub(super) fn reported(&self, scope: ErrorScope) -> Body {
        Body::ErrorReported(Box::new(ErrorReported {
            scope,
            code: self.code.clone(),
            message: self.message.clone(),
            retryable: matches!(&*self.code, "rate_limit" | "overloaded" | "server_error"),
            attempt: None,
            max_attempts: None,
            http_status: self.http_status,
        }))
    }

    /// How a run ends with this error.
    pub(super) fn run_end(self) -> RunEnd {
        match Stop::of(&self.code) {
            Some(stop) => stop.end(&self.code, Some(&self.message)),
            None => RunEnd::failed(self.code, self.message),
        }
    }
}

fn code_of(status: Option<u16>) -> &'static str {
    match status {
        Some(401 | 403) => "authentication_failed",
        Some(429) => "rate_limit",
        Some(503 | 529) => "overloaded",
        Some(500..) => "server_error",
        Some(400..) => "invalid_request",
        _ => "api_error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_stable_codes() {
        for (message, code, status) in [
            ("[API Error: 400 Request contains an invalid argument.]", "invalid_request", Some(400)),
            ("[API Error: 401 Incorrect API key provided.]", "authentication_failed", Some(401)),
            ("[API Error: 429 Rate limit reached.]\nPossible quota limitations", "rate_limit", Some(429)),
            ("[API Error: 503 no]", "overloaded", Some(503)),
            ("[API Error: 500 no]", "server_error", Some(500)),
            ("[API Error: terminated (cause: read ECONNRESET)]", "api_error", None),
            ("[API Error: 4000 tokens]", "api_error", None),
            ("[API Error: 123 tokens]", "api_error", None),
            ("A loop was detected.", "error_during_execution", None),
        ] {
            let failure = Failure::of_result(message, "error_during_execution");
            assert_eq!((&*failure.code, failure.http_status), (code, status), "{message}");
            assert_eq!(failure.message, message);
        }
        assert!(!Failure::of_result("", "").message.is_empty());
    }
}
