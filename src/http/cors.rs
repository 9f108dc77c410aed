//! Access for pages of other origins (the CORS protocol of the Fetch standard), as configured in `server.cors_origins`.
//!
//! Input: `Origin`, and a browser's preflight. Output: the headers that let the page read the response. Never: `*`; an origin
//! that is not configured character for character; `Access-Control-Allow-Credentials` (pages send tokens themselves, and
//! there are no cookies); a response that a cache may serve to another origin.

use super::live::Live;
use super::reply::{Body, empty};
use super::routes::{Found, allowed, find};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

/// Request headers that pages may send besides the CORS-safelisted ones.
const REQUEST_HEADERS: &[&str] = &[
    "accept",
    "authorization",
    "baggage",
    "cache-control",
    "content-encoding",
    "content-type",
    "framegate-mode",
    "framegate-session",
    "idempotency-key",
    "if-none-match",
    "last-event-id",
    "openai-beta",
    "openai-organization",
    "openai-project",
    "traceparent",
    "tracestate",
    // Some browsers let pages set it, and the SDKs do.
    "user-agent",
    "x-client-request-id",
    "x-request-id",
    "x-upstream-authorization",
];

/// Prefixes of request headers of which SDKs add more with every version. CORS has no patterns for names, so the response
/// lists the requested names.
const REQUEST_FAMILIES: &[&str] = &["x-stainless-", "openai-", "x-openai-", "x-codex-"];

/// How many names with these prefixes a response lists, and the longest such name in bytes.
const MOST_NAMES: usize = 64;
const LONGEST_NAME: usize = 128;

/// Response headers that pages may read besides the CORS-safelisted ones.
const RESPONSE_HEADERS: &[&str] = &[
    "allow",
    "content-disposition",
    "date",
    "etag",
    "framegate-ignored-parameters",
    "framegate-run",
    "framegate-session",
    "idempotency-key",
    "idempotency-replayed",
    "location",
    "retry-after",
    "www-authenticate",
    "x-request-id",
];

/// Prefixes of headers in responses of upstreams.
const RESPONSE_FAMILIES: &[&str] = &["openai-", "x-"];

/// How long browsers may cache a preflight, in seconds.
const MAX_AGE: &str = "600";

/// Private Network Access: a public page asks whether it may reach a private address.
const REQUEST_PRIVATE: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// Whether an origin is configured.
pub(super) fn allows(origin: &str, live: &Live) -> bool {
    live.cors_origins.iter().any(|allowed| allowed == origin)
}

/// The request's origin; `None` if it is absent or not configured.
pub(super) fn origin_of(headers: &HeaderMap, live: &Live) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    allows(origin.to_str().ok()?, live).then(|| origin.clone())
}

/// The response to a preflight from a configured origin; `None` if the request is something else.
pub(super) fn preflight<B>(request: &Request<B>, live: &Live) -> Option<Response<Body>> {
    let headers = request.headers();
    let asks = request.method() == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    if !asks || origin_of(headers, live).is_none() {
        return None;
    }
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let answer = response.headers_mut();
    if let Found::Path(route) = find(request.method(), request.uri().path())
        && let Ok(methods) = HeaderValue::from_str(&allowed(route.path))
    {
        answer.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    }
    if let Ok(names) = HeaderValue::from_str(&allowed_names(headers)) {
        answer.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names);
    }
    answer.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    if headers.get(REQUEST_PRIVATE).is_some_and(|asked| asked == "true") {
        answer.insert(ALLOW_PRIVATE, HeaderValue::from_static("true"));
    }
    Some(response)
}

/// The header names that a page may send, including requested names with a known prefix.
fn allowed_names(headers: &HeaderMap) -> String {
    let asked = headers.get_all(header::ACCESS_CONTROL_REQUEST_HEADERS).iter().filter_map(|list| list.to_str().ok());
    let mut names: Vec<String> = REQUEST_HEADERS.iter().map(|name| (*name).to_owned()).collect();
    let most = names.len() + MOST_NAMES;
    for name in asked.flat_map(|list| list.split(',')).map(|name| name.trim().to_ascii_lowercase()) {
        let is_of_family = REQUEST_FAMILIES.iter().any(|family| name.starts_with(family));
        let is_name = name.len() <= LONGEST_NAME && HeaderName::from_bytes(name.as_bytes()).is_ok();
        if is_of_family && is_name && names.len() < most && !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// The names of the response headers that a page may read.
fn exposed_names(headers: &HeaderMap) -> String {
    let of_family = |name: &&str| RESPONSE_FAMILIES.iter().any(|family| name.starts_with(family));
    let mut names: Vec<&str> = RESPONSE_HEADERS.to_vec();
    for name in headers.keys().map(HeaderName::as_str).filter(of_family) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// Lets the page read the response.
pub(super) fn expose(headers: &mut HeaderMap, origin: Option<HeaderValue>, live: &Live) {
    if live.cors_origins.is_empty() {
        return;
    }
    // Also set without an origin, so that a cache does not serve this response to a page.
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if let Ok(names) = HeaderValue::from_str(&exposed_names(headers)) {
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, names);
        }
    }
}
