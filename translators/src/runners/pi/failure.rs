//! Errors of model requests.
//!
//! Input: the message of a failed reply, which begins with the provider's HTTP status if there is one, and the provider's own stop
//! reason. Output: the error. Never: an error without a message.

use super::super::failure::{Attempt, Failure, code_of, leading_status};
use super::super::stops::Stop;
use crate::frame::{Body, ErrorScope};

/// Reads the error of a reply.
pub(super) fn read(message: &str, raw_reason: &str) -> Failure {
    let status = leading_status(message);
    let code = match Stop::of(raw_reason) {
        Some(_) => raw_reason,
        None => status.and_then(code_of).unwrap_or_default(),
    };
    Failure::new(code, message, status)
}

/// The frame that reports the error. `retry` is there if the runner tries again.
pub(super) fn reported(failure: &Failure, retry: Option<Attempt>) -> Body {
    let scope = if retry.is_some() { ErrorScope::Turn } else { ErrorScope::Run };
    let mut error = failure.reported(scope, retry.unwrap_or_default());
    error.retryable |= retry.is_some();
    Body::ErrorReported(Box::new(error))
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
            let failure = read(message, "");
            assert_eq!((&*failure.code, failure.http_status), (code, status), "{message}");
            assert_eq!(failure.message, message);
        }
        assert!(!read("", "").message.is_empty());
    }

    #[test]
    fn a_content_filter_is_the_same_for_all_runners() {
        let failure = read("Provider finish_reason: content_filter", "content_filter");
        assert_eq!(failure.run_end().error_code.as_deref(), Some("content_filter"));
    }
}
