//! Connects the exporter to the collector through the proxy's own HTTP client, with its bounds.
//!
//! Input: the exporter's requests. Output: the same requests with the configured headers. Never: a header that the exporter
//! took from the environment, where it may be another program's secret.

use crate::client::{Client, full, next};
use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use std::time::Duration;

/// Size limit for a response, in bytes; collectors send little.
const ANSWER_BYTES: usize = 64 << 10;

/// A collector reached over HTTP.
#[derive(Debug)]
pub(super) struct Collector {
    client: Client,
    timeout: Duration,
    /// The headers of every request.
    headers: HeaderMap,
}

impl Collector {
    /// A collector that accepts JSON.
    pub(super) fn new(client: Client, timeout: Duration, mut headers: HeaderMap) -> Self {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self { client, timeout, headers }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        *request.headers_mut() = self.headers.clone();
        let response = self.client.send(request.map(full), self.timeout).await?;
        let (head, mut body) = response.into_parts();
        let mut answer = BytesMut::new();
        while let Some(bytes) = next(&mut body, Some(self.timeout)).await? {
            if answer.len() + bytes.len() > ANSWER_BYTES {
                return Err(format!("the collector's answer has more than {ANSWER_BYTES} bytes").into());
            }
            answer.extend_from_slice(&bytes);
        }
        Ok(Response::from_parts(head, answer.freeze()))
    }
}
