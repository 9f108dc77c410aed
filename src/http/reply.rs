//! Complete responses, and the type of every response's body.
//!
//! Input: a text, or a value that is sent as JSON. Output: a body or a response. Never: a stream; those are in `body`.

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use std::convert::Infallible;

/// The body of a response.
pub(super) type Body = UnsyncBoxBody<Bytes, Torn>;

/// A response cannot be completed. The connection (HTTP/2: the stream) is reset, so that the client notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the response is incomplete")]
pub(super) struct Torn;

/// A text that is complete.
pub(super) fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// An empty body.
pub(super) fn empty() -> Body {
    full(Bytes::new())
}

/// A JSON response.
pub(super) fn json_response<T: serde::Serialize>(value: &T) -> Response<Body> {
    let mut response = Response::new(full(serde_json::to_vec(value).unwrap_or_default()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A response without a body.
pub(super) fn no_content() -> Response<Body> {
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
