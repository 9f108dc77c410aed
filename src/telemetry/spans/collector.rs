//! A collector that receives spans by OTLP over HTTP, as protobuf or as JSON.
//!
//! Input: spans. Output: whether the collector took them, may take them later, or never will. Never: a span sent twice within one
//! attempt; a header's value in a message; an unbounded wait or answer.

use super::SpansError;
use super::attributes::text;
use crate::client::{Client, NoAnswer, full, next, retry_after};
use crate::clock::Clock;
use crate::config::{Otlp, OtlpCompression, OtlpProtocol, header_list};
use bytes::{Bytes, BytesMut};
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, StatusCode};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use serde::Deserialize;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Size limit for a response, in bytes; collectors send little.
const ANSWER_BYTES: usize = 64 << 10;

/// How many characters of a collector's explanation are in a message.
const REASON_CHARS: usize = 200;

/// A collector.
#[derive(Debug)]
pub(crate) struct Collector {
    client: Client,
    endpoint: String,
    timeout: Duration,
    /// The headers of every request.
    headers: HeaderMap,
    protocol: OtlpProtocol,
    compression: OtlpCompression,
    resource: Resource,
}

/// Spans in the form in which they are sent, possibly several times.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    body: Bytes,
    /// How many spans it has.
    pub(crate) spans: u64,
}

/// What a collector said about a batch that it accepted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// How many of the spans it rejected nevertheless.
    pub(crate) rejected: u64,
    /// Why it rejected them, or a warning.
    pub(crate) message: String,
}

/// Why a collector did not accept a batch.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// It may accept the batch later.
    #[error("{message}")]
    Later {
        /// The reason.
        message: String,
        /// When it asks to be tried again.
        after: Option<Duration>,
    },
    /// It will not accept the batch.
    #[error("{0}")]
    Never(String),
}

impl Collector {
    /// The collector of the settings.
    ///
    /// # Errors
    /// The HTTP client cannot be created, or a header's value is not available.
    pub(crate) fn new(settings: &Otlp) -> Result<Self, SpansError> {
        let tls = settings.endpoint.starts_with("https:");
        let ca_file = Some(settings.ca_file.as_path()).filter(|path| !path.as_os_str().is_empty());
        let client = Client::new(Duration::from_millis(settings.connect_timeout_ms), tls, ca_file)?;
        let mut headers = headers(settings)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type(settings.protocol)));
        if settings.compression == OtlpCompression::Gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        Ok(Self {
            client,
            endpoint: settings.endpoint.clone(),
            timeout: Duration::from_millis(settings.timeout_ms),
            headers,
            protocol: settings.protocol,
            compression: settings.compression,
            resource: resource(settings),
        })
    }

    /// Encodes spans.
    ///
    /// # Errors
    /// The encoder failed, which happens only without memory.
    pub(crate) fn batch(&self, spans: Vec<Span>) -> std::io::Result<Batch> {
        let count = spans.len() as u64;
        let scope = InstrumentationScope {
            name: "framegate".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..InstrumentationScope::default()
        };
        let scope_spans = vec![ScopeSpans { scope: Some(scope), spans, schema_url: String::new() }];
        let resource_spans =
            vec![ResourceSpans { resource: Some(self.resource.clone()), scope_spans, schema_url: String::new() }];
        let request = ExportTraceServiceRequest { resource_spans };
        let mut body = match self.protocol {
            OtlpProtocol::Protobuf => request.encode_to_vec(),
            OtlpProtocol::Json => serde_json::to_vec(&request)?,
        };
        if self.compression == OtlpCompression::Gzip {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&body)?;
            body = encoder.finish()?;
        }
        Ok(Batch { body: body.into(), spans: count })
    }

    /// Sends a batch once.
    ///
    /// # Errors
    /// The collector did not accept it.
    pub(crate) async fn send(&self, batch: &Batch) -> Result<Accepted, Refused> {
        let mut request = Request::post(&self.endpoint)
            .body(full(batch.body.clone()))
            .map_err(|error| Refused::Never(error.to_string()))?;
        *request.headers_mut() = self.headers.clone();
        let whole = tokio::time::timeout(self.timeout, self.exchange(request));
        let (status, headers, answer) = whole.await.map_err(|_| Refused::Later {
            message: format!("no answer within {} ms", self.timeout.as_millis()),
            after: None,
        })??;
        if status.is_success() {
            return Ok(self.accepted(&answer));
        }
        let message = format!("the collector answered {status}{}", reason(&answer));
        // The specification names the statuses after which a request is repeated.
        let is_temporary = [
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
            StatusCode::SERVICE_UNAVAILABLE,
            StatusCode::GATEWAY_TIMEOUT,
        ];
        if is_temporary.contains(&status) {
            return Err(Refused::Later { message, after: retry_after(&headers, Clock::System.now_ms()) });
        }
        Err(Refused::Never(message))
    }

    async fn exchange(&self, request: Request<crate::client::Body>) -> Result<(StatusCode, HeaderMap, Bytes), Refused> {
        let later = |message: String| Refused::Later { message, after: None };
        let response = self.client.send(request, self.timeout).await.map_err(|error| match error {
            NoAnswer::TooLarge => Refused::Never(error.to_string()),
            _ => later(error.to_string()),
        })?;
        let (head, mut body) = response.into_parts();
        let mut answer = BytesMut::new();
        while let Some(bytes) = next(&mut body, Some(self.timeout)).await.map_err(|error| later(error.to_string()))? {
            if answer.len() + bytes.len() > ANSWER_BYTES {
                // The status alone decides.
                break;
            }
            answer.extend_from_slice(&bytes);
        }
        Ok((head.status, head.headers, answer.freeze()))
    }

    /// Reads what a collector rejected. An answer in another form rejects nothing.
    fn accepted(&self, answer: &Bytes) -> Accepted {
        let partial = match self.protocol {
            OtlpProtocol::Protobuf => {
                let response: Option<ExportTraceServiceResponse> = Message::decode(answer.clone()).ok();
                response
                    .and_then(|response| response.partial_success)
                    .map(|partial| (u64::try_from(partial.rejected_spans).unwrap_or_default(), partial.error_message))
            }
            OtlpProtocol::Json => {
                let response: Option<JsonResponse> = serde_json::from_slice(answer).ok();
                response
                    .and_then(|response| response.partial_success)
                    .map(|partial| (partial.rejected_spans.map_or(0, JsonCount::value), partial.error_message))
            }
        };
        let (rejected, message) = partial.unwrap_or_default();
        Accepted { rejected, message: shown(&message) }
    }
}

/// A response in JSON. The crate's type does not read counts as texts, which is how the specification writes them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonResponse {
    partial_success: Option<JsonPartialSuccess>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonPartialSuccess {
    rejected_spans: Option<JsonCount>,
    #[serde(default)]
    error_message: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum JsonCount {
    Number(u64),
    Text(String),
}

impl JsonCount {
    fn value(self) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Text(text) => text.parse().unwrap_or_default(),
        }
    }
}

fn media_type(protocol: OtlpProtocol) -> &'static str {
    match protocol {
        OtlpProtocol::Protobuf => "application/x-protobuf",
        OtlpProtocol::Json => "application/json",
    }
}

/// The explanation in the body of an error, if it is a text.
fn reason(answer: &Bytes) -> String {
    let text = std::str::from_utf8(answer).map(shown).unwrap_or_default();
    if text.is_empty() { text } else { format!(": {text}") }
}

/// The beginning of a text, on one line.
fn shown(text: &str) -> String {
    let letters = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    letters.take(REASON_CHARS).collect::<String>().trim().to_owned()
}

fn resource(settings: &Otlp) -> Resource {
    let (name, version) = ("service.name", "service.version");
    let given = &settings.resource_attributes;
    let mut attributes = vec![text(name, &*settings.service_name)];
    if !given.contains_key(version) {
        attributes.push(text(version, env!("CARGO_PKG_VERSION")));
    }
    // The configuration refuses another name here.
    attributes.extend(given.iter().filter(|(key, _)| *key != name).map(|(key, value)| text(key, value)));
    Resource { attributes, ..Resource::default() }
}

fn headers(settings: &Otlp) -> Result<HeaderMap, SpansError> {
    let mut headers = HeaderMap::new();
    let mut add = |name: &str, value: Result<String, String>| -> Result<(), SpansError> {
        let checked = value.and_then(|value| {
            let value = HeaderValue::from_str(value.trim()).ok().filter(|value| !value.is_empty());
            value.ok_or_else(|| "the value cannot be sent in a header".to_owned())
        });
        let mut value = checked.map_err(|message| SpansError::Header(name.to_owned(), message))?;
        value.set_sensitive(true);
        let parsed = HeaderName::from_bytes(name.as_bytes()).ok().filter(Otlp::may_add);
        let parsed = parsed.ok_or_else(|| {
            SpansError::Header(name.to_owned(), "it is not a header name that can be added".to_owned())
        })?;
        headers.insert(parsed, value);
        Ok(())
    };
    let variable = |name: &str| {
        std::env::var(name).map_err(|_| format!("there is no environment variable {name:?} with a valid value"))
    };
    // A header that is also named by itself replaces that of the list.
    let list = &settings.header_list_env;
    if !list.is_empty() {
        let pairs = variable(list).and_then(|text| header_list(&text));
        for (name, value) in pairs.map_err(|message| SpansError::HeaderList(list.clone(), message))? {
            add(&name, Ok(value))?;
        }
    }
    for (name, path) in &settings.header_files {
        add(name, read(path))?;
    }
    for (name, named) in &settings.header_env {
        add(name, variable(named))?;
    }
    Ok(headers)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
