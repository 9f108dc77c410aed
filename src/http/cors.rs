//! Pages of other origins (the Fetch standard's CORS protocol), as far as `server.cors_origins` lets them.
//!
//! In: `Origin`, and a browser's preflight. Out: the headers that let the page read the answer. Never: `*`, an origin that
//! was not configured letter for letter, `Access-Control-Allow-Credentials` (tokens are sent by the page itself, and there are
//! no cookies), an answer that a cache gives to another origin.

use super::body::{Body, empty};
use super::live::Live;
use super::routes::{Found, allowed, find};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

/// What pages may send besides what they always may.
const REQUEST_HEADERS: &str = "authorization, content-type, accept, last-event-id, if-none-match";

/// What pages may read besides what they always may.
const RESPONSE_HEADERS: &str = "etag, retry-after, www-authenticate, allow, content-disposition";

/// How long a browser may go on without asking again, in seconds.
const MAX_AGE: &str = "600";

/// Of Private Network Access: a public page asks whether it may reach a private address.
const REQUEST_PRIVATE: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// Whether that origin was configured.
pub(super) fn allows(origin: &str, live: &Live) -> bool {
    live.cors_origins.iter().any(|allowed| allowed == origin)
}

/// The request's origin, where it was configured.
pub(super) fn origin_of(headers: &HeaderMap, live: &Live) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    allows(origin.to_str().ok()?, live).then(|| origin.clone())
}

/// The answer to a preflight of a configured origin; `None` where the request is none.
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
    answer.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS));
    answer.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    if headers.get(REQUEST_PRIVATE).is_some_and(|asked| asked == "true") {
        answer.insert(ALLOW_PRIVATE, HeaderValue::from_static("true"));
    }
    Some(response)
}

/// Lets the page read the answer.
pub(super) fn expose(headers: &mut HeaderMap, origin: Option<HeaderValue>, live: &Live) {
    if live.cors_origins.is_empty() {
        return;
    }
    // Also where there is no origin: a cache must not give that answer to a page.
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS));
    }
}
