//! Why a request for a response has none from the upstream.
//!
//! Input: a problem of the proxy, or why the upstream gave no response. Output: the response; if the upstream gave none, with a header that
//! says whether an SDK may retry. Never: an error of the upstream, which passes unchanged.

use super::super::problem::Problem;
use super::super::reply::Body;
use super::super::sdk_errors::{error, refused};
use crate::client::NoAnswer;
use crate::upstream::responses::Refusal;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

/// The header that tells SDKs whether to retry automatically.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Why a request has no response from the upstream.
pub(super) enum Failure {
    Problem(Problem),
    Refusal(Refusal),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(refusal)
    }
}

pub(super) fn answered(outcome: Result<Response<Body>, Failure>) -> Response<Body> {
    match outcome {
        Ok(response) => response,
        Err(Failure::Refusal(refusal)) => {
            let (status, code, retry) = status_of(&refusal);
            let mut response = error(status, code, &refusal.to_string());
            let retry = HeaderValue::from_static(if retry { "true" } else { "false" });
            response.headers_mut().insert(SHOULD_RETRY, retry);
            response
        }
        Err(Failure::Problem(problem)) => refused(problem),
    }
}

/// The status and code of a refusal, and whether a client may retry automatically: not if the upstream may already have
/// processed, and charged for, the request.
fn status_of(refusal: &Refusal) -> (StatusCode, &'static str, bool) {
    match refusal {
        Refusal::NoAnswer(NoAnswer::Unreachable(_)) => (StatusCode::BAD_GATEWAY, "upstream_unreachable", true),
        Refusal::NoAnswer(NoAnswer::Slow(_)) => (StatusCode::GATEWAY_TIMEOUT, "upstream_timeout", false),
        Refusal::NoAnswer(_) => (StatusCode::BAD_GATEWAY, "upstream_lost", false),
        Refusal::Redirect(_) => (StatusCode::BAD_GATEWAY, "upstream_redirects", false),
        Refusal::Compressed => (StatusCode::BAD_GATEWAY, "upstream_compresses", false),
        Refusal::NotAResponse(_) => (StatusCode::BAD_GATEWAY, "upstream_not_a_response", false),
        Refusal::Nothing(_) => (StatusCode::BAD_GATEWAY, "upstream_lost", false),
        Refusal::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "proxy_stopping", false),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "internal", false),
    }
}
