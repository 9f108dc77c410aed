//! The headers that every answer has, whatever it is, so that a browser makes no more of it than it should.

use super::live::Live;
use hyper::header::{self, HeaderMap, HeaderValue};

/// Adds them. An answer with a policy of its own (an artifact, a page) keeps it.
pub(super) fn protect(headers: &mut HeaderMap, live: &Live) {
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
