//! Errors for clients: RFC 9457 problem documents.

use super::reply::{Body, full};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};

/// What is wrong with a request.
#[derive(Debug, Serialize)]
pub(super) struct Problem {
    /// Always `about:blank`: the status defines the kind of problem.
    r#type: &'static str,
    title: &'static str,
    status: u16,
    /// What was wrong, and what would be right.
    detail: String,
    /// Extension members.
    #[serde(flatten)]
    members: Map<String, Value>,
    /// Additional headers of the response.
    #[serde(skip)]
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    /// A problem with this status.
    pub(super) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: detail.into(),
            members: Map::new(),
            headers: Vec::new(),
        }
    }

    /// Adds a response header.
    #[must_use]
    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Asks SDKs not to send the request again by themselves.
    #[must_use]
    pub(super) fn without_retry(self) -> Self {
        self.with(HeaderName::from_static("x-should-retry"), HeaderValue::from_static("false"))
    }

    /// Adds an extension member.
    #[must_use]
    pub(super) fn and(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// Moves the additional headers to a response.
    pub(super) fn extend(&mut self, response: &mut Response<Body>) {
        response.headers_mut().extend(self.headers.drain(..));
    }

    /// 400.
    pub(super) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// 404.
    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// The HTTP status.
    pub(super) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// What was wrong, and what would be right.
    pub(super) fn detail(&self) -> &str {
        &self.detail
    }

    /// An extension member; `None` if it is absent.
    pub(super) fn member(&self, name: &str) -> Option<&Value> {
        self.members.get(name)
    }

    /// All extension members.
    pub(super) fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    /// The response.
    pub(super) fn into_response(mut self) -> Response<Body> {
        let text = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Response::new(full(text));
        *response.status_mut() = self.status();
        let json = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        self.extend(&mut response);
        response
    }
}
