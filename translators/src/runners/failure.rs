//! Errors of a runner, with stable codes.
//!
//! Input: what a runner says about an error, read by its own decoder. Output: the frame that reports the error, and the end of a run. Never:
//! an error without a message; two codes for the same HTTP status.

use super::stops::Stop;
use crate::frame::{Body, ErrorReported, ErrorScope, SharedStr};
use crate::normalizer::RunEnd;

/// The codes of errors after which the same request may succeed.
const RETRYABLE: &[&str] = &["connection", "invalid_stream", "overloaded", "rate_limit", "server_error"];

/// An error of a run, or of one model request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) code: SharedStr,
    pub(super) message: String,
    pub(super) http_status: Option<u16>,
}

/// Which attempt failed, counted from 1, and how many there are; `None` for what the runner does not say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attempt {
    pub(super) number: Option<u32>,
    pub(super) most: Option<u32>,
}

impl Failure {
    pub(super) fn new(code: &str, message: &str, http_status: Option<u16>) -> Self {
        let code = if code.is_empty() { "error" } else { code };
        let message = if message.trim().is_empty() { "an error without a message" } else { message };
        Self { code: SharedStr::from(code), message: message.to_owned(), http_status }
    }

    /// Whether the same request may succeed.
    pub(super) fn is_retryable(&self) -> bool {
        RETRYABLE.contains(&&*self.code)
    }

    /// The frame that reports the error.
    pub(super) fn reported(&self, scope: ErrorScope, attempt: Attempt) -> ErrorReported {
        ErrorReported {
            scope,
            code: self.code.clone(),
            message: self.message.clone(),
            retryable: self.is_retryable(),
            attempt: attempt.number,
            max_attempts: attempt.most,
            http_status: self.http_status,
        }
    }

    /// The same, for an error without attempts.
    pub(super) fn body(&self, scope: ErrorScope) -> Body {
        Body::ErrorReported(Box::new(self.reported(scope, Attempt::default())))
    }

    /// How a run ends with this error.
    pub(super) fn run_end(self) -> RunEnd {
        match Stop::of(&self.code) {
            Some(stop) => stop.end(&self.code, Some(&self.message)),
            None => RunEnd::failed(self.code, self.message),
        }
    }
}

/// The code for the type of a provider's error object; `None` if it is not a known one.
pub(super) fn code_of_type(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "authentication_error" | "permission_error" => "authentication_failed",
        "invalid_request_error" => "invalid_request",
        "overloaded_error" => "overloaded",
        "rate_limit_error" | "rate_limit_exceeded" => "rate_limit",
        "server_error" => "server_error",
        _ => return None,
    })
}

/// The code for an HTTP status; `None` if the status is not that of an error.
pub(super) fn code_of(status: u16) -> Option<&'static str> {
    Some(match status {
        401 | 403 => "authentication_failed",
        429 => "rate_limit",
        503 | 529 => "overloaded",
        500..=599 => "server_error",
        400..=499 => "invalid_request",
        _ => return None,
    })
}

/// The HTTP status of an error, from a number.
pub(super) fn status_of(number: Option<u64>) -> Option<u16> {
    number.and_then(|number| u16::try_from(number).ok()).filter(|status| code_of(*status).is_some())
}

/// The HTTP status of an error with which a message begins.
pub(super) fn leading_status(message: &str) -> Option<u16> {
    let digits = message.split(|letter: char| !letter.is_ascii_digit()).next().filter(|word| word.len() == 3)?;
    status_of(digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_have_codes() {
        for (status, code) in [
            (399, None),
            (400, Some("invalid_request")),
            (401, Some("authentication_failed")),
            (429, Some("rate_limit")),
            (499, Some("invalid_request")),
            (500, Some("server_error")),
            (503, Some("overloaded")),
            (529, Some("overloaded")),
            (599, Some("server_error")),
            (600, None),
        ] {
            assert_eq!(code_of(status), code, "{status}");
            assert_eq!(status_of(Some(status.into())), code.map(|_| status));
        }
        assert_eq!(status_of(Some(65_536 + 400)), None);
    }

    #[test]
    fn a_leading_status_has_three_digits() {
        for (message, status) in
            [("429 no", Some(429)), ("500: no", Some(500)), ("4000 tokens", None), ("no", None), ("", None)]
        {
            assert_eq!(leading_status(message), status, "{message}");
        }
    }

    #[test]
    fn an_error_has_a_code_and_a_message() {
        let failure = Failure::new("", " ", None);
        assert!(!failure.code.is_empty() && !failure.message.trim().is_empty());
        assert!(!failure.is_retryable() && Failure::new("overloaded", "x", None).is_retryable());
    }
}
