//! The exporter's way to the collector: the proxy's own HTTP client, with its bounds.
//!
//! In: the exporter's requests. Out: the same with the configured headers. Never: a header that the exporter took from the
//! environment, where it may be another program's secret.

use crate::upstream::client::{Client, full, next};
use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use std::time::Duration;

/// How much of an answer is read; a collector says little.
const ANSWER_BYTES: usize = 64 << 10;

/// A collector that is reached by HTTP.
#[derive(Debug)]
pub(super) struct Collector {
    client: Client,
    timeout: Duration,
    /// Of each request.
    headers: HeaderMap,
}

impl Collector {
    /// Reaches a collector that takes JSON.
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
                return Err(format!("the collector's answer is larger than {ANSWER_BYTES} bytes").into());
            }
            answer.extend_from_slice(&bytes);
        }
        Ok(Response::from_parts(head, answer.freeze()))
    }
}
