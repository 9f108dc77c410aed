//! Errors in the form that the SDKs of the Responses API parse: `{"error":{"message","type","param","code"}}`.
//!
//! Input: a problem of the proxy, or why the upstream gave no response. Output: the response; if the upstream gave none, with a header that
//! says whether an SDK may retry. Never: an error of the upstream, which passes unchanged.

use super::super::problem::Problem;
use super::super::reply::{Body, json_response};
use crate::client::NoAnswer;
use crate::upstream::responses::Refusal;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

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

pub(super) fn code_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "unauthorized",
        StatusCode::NOT_FOUND => "not_found",
        StatusCode::METHOD_NOT_ALLOWED => "method_not_allowed",
        StatusCode::UPGRADE_REQUIRED => "upgrade_required",
        StatusCode::MISDIRECTED_REQUEST => "host_not_allowed",
        StatusCode::FORBIDDEN => "not_allowed",
        StatusCode::CONFLICT => "conflict",
        StatusCode::GONE => "no_longer_stored",
        StatusCode::UNPROCESSABLE_ENTITY => "not_possible",
        StatusCode::NOT_ACCEPTABLE => "not_acceptable",
        StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => "limit",
        StatusCode::INSUFFICIENT_STORAGE => "log_full",
        status if status.is_server_error() => "internal",
        _ => "bad_request",
    }
}

/// A response with an error that concerns no single parameter.
pub(in crate::http) fn error(status: StatusCode, code: &str, message: &str) -> Response<Body> {
    error_about(status, code, message, &Value::Null)
}

fn error_about(status: StatusCode, code: &str, message: &str, parameter: &Value) -> Response<Body> {
    let mut response = json_response(&json!({
        "error": {"message": message, "type": "framegate_error", "param": parameter, "code": code}
    }));
    *response.status_mut() = status;
    response
}

/// A problem in the form that the SDKs parse. Its members `param` and `code` take their place there.
pub(in crate::http) fn refused(mut problem: Problem) -> Response<Body> {
    let status = problem.status();
    let code = problem.member("code").and_then(Value::as_str).unwrap_or_else(|| code_of(status));
    let parameter = problem.member("param").unwrap_or(&Value::Null);
    let mut response = error_about(status, code, problem.detail(), parameter);
    problem.extend(&mut response);
    response
}
