//! The headers of every response that restrict what a browser does with it.

use super::live::Live;
use crate::clock::Clock;
use hyper::header::{self, HeaderMap, HeaderValue};
use std::time::{Duration, UNIX_EPOCH};

/// Adds the headers. A response with its own Content-Security-Policy, such as an artifact, keeps it.
pub(super) fn add(headers: &mut HeaderMap, live: &Live) {
    // RFC 9110, section 6.6.1: a server without a usable clock sends no date.
    let now_ms = Clock::System.now_ms();
    if now_ms > 0
        && !headers.contains_key(header::DATE)
        && let Ok(date) = HeaderValue::from_str(&httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(now_ms)))
    {
        headers.insert(header::DATE, date);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    // RFC 6797, section 7.2: never without TLS.
    if live.tls.is_some() && live.hsts_seconds > 0 {
        let value = HeaderValue::from_str(&format!("max-age={}", live.hsts_seconds));
        headers.extend(value.ok().map(|value| (header::STRICT_TRANSPORT_SECURITY, value)));
    }
}
