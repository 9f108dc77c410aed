//! Errors in the form that the SDKs of the Responses API and of Chat Completions parse: `{"error":{"message","type","param","code"}}`.
//!
//! Input: a problem of the proxy, or the error of a run. Output: the response. Never: an error of an upstream, which passes unchanged.

use super::problem::Problem;
use super::reply::{Body, json_response};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

/// The beginnings of the paths whose SDKs expect errors in this form.
const PATHS: &[&str] = &["/v1/responses", "/v1/models", "/v1/chat/completions"];

/// Whether a path belongs to the APIs whose SDKs expect errors in this form.
pub(super) fn is_of_sdks(path: &str) -> bool {
    let is_of = |of_api: &&str| path.strip_prefix(of_api).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    PATHS.iter().any(is_of)
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
pub(super) fn error(status: StatusCode, code: &str, message: &str) -> Response<Body> {
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
pub(super) fn refused(mut problem: Problem) -> Response<Body> {
    let status = problem.status();
    let code = problem.member("code").and_then(Value::as_str).unwrap_or_else(|| code_of(status));
    let parameter = problem.member("param").unwrap_or(&Value::Null);
    let mut response = error_about(status, code, problem.detail(), parameter);
    problem.extend(&mut response);
    response
}
