//! Errors of the API.
//!
//! Input: the runner's sentence for an error, `[API Error: 429 Rate limit reached.]`, or the fields of a session file. Output: the error.
//! Never: an error without a message.

use super::super::failure::{Failure, code_of, leading_status, status_of};

/// The code of an error of the API whose cause is not known.
const API_ERROR: &str = "api_error";

/// Reads the message of a result. `code` is the runner's own code, for errors that are not the API's.
pub(super) fn of_result(message: &str, code: &str) -> Failure {
    let Some(inner) = message.trim_start().strip_prefix("[API Error: ") else {
        return Failure::new(code, message, None);
    };
    let status = leading_status(inner);
    Failure::new(status.and_then(code_of).unwrap_or(API_ERROR), message, status)
}

/// An error that a session file names, with its HTTP status if there is one.
pub(super) fn of_request(message: &str, status: Option<u64>) -> Failure {
    let status = status_of(status);
    Failure::new(status.and_then(code_of).unwrap_or(API_ERROR), message, status)
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
            let failure = of_result(message, "error_during_execution");
            assert_eq!((&*failure.code, failure.http_status), (code, status), "{message}");
            assert_eq!(failure.message, message);
        }
        assert!(!of_result("", "").message.is_empty());
    }
}
