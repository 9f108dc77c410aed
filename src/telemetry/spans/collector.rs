//! A collector that receives spans by OTLP: over HTTP, as protobuf or as JSON, or over gRPC.
//!
//! Input: spans. Output: whether the collector took them, may take them later, or never will. Never: a span sent twice within one
//! attempt; a header's value in a message; an unbounded wait or answer.

mod grpc;

use super::SpansError;
use super::attributes::text;
use crate::client::{Client, HttpVersion, NoAnswer, full, retry_after};
use crate::clock::Clock;
use crate::config::{Otlp, OtlpCompression, OtlpProtocol, header_list};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, TE};
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

/// The statuses after which the specifications of OTLP and gRPC have a client send its request again.
const TEMPORARY: [StatusCode; 4] = [
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::BAD_GATEWAY,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::GATEWAY_TIMEOUT,
];

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
        let is_grpc = settings.protocol == OtlpProtocol::Grpc;
        let version = if is_grpc { HttpVersion::Two } else { HttpVersion::One };
        let client = Client::speaking(version, Duration::from_millis(settings.connect_timeout_ms), tls, ca_file)?;
        let mut headers = headers(settings)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type(settings.protocol)));
        if is_grpc {
            headers.insert(TE, HeaderValue::from_static("trailers"));
        }
        if settings.compression == OtlpCompression::Gzip {
            let name = if is_grpc { HeaderName::from_static("grpc-encoding") } else { CONTENT_ENCODING };
            headers.insert(name, HeaderValue::from_static("gzip"));
        }
        Ok(Self {
            client,
            endpoint: if is_grpc { grpc::url(&settings.endpoint) } else { settings.endpoint.clone() },
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
    /// The encoder failed, which happens only without memory, or with a batch of more than 4 GB.
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
            OtlpProtocol::Protobuf | OtlpProtocol::Grpc => request.encode_to_vec(),
            OtlpProtocol::Json => serde_json::to_vec(&request)?,
        };
        let is_compressed = self.compression == OtlpCompression::Gzip;
        if is_compressed {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&body)?;
            body = encoder.finish()?;
        }
        if self.protocol == OtlpProtocol::Grpc {
            body = grpc::framed(&body, is_compressed)?;
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
        let Answer { status, headers, body: answer, trailers } = whole.await.map_err(|_| Refused::Later {
            message: format!("no answer within {} ms", self.timeout.as_millis()),
            after: None,
        })??;
        if self.protocol == OtlpProtocol::Grpc {
            return grpc::verdict(status, &headers, &answer, trailers.as_ref());
        }
        if status.is_success() {
            return Ok(if self.protocol == OtlpProtocol::Json { accepted_json(&answer) } else { accepted(&answer) });
        }
        let message = format!("the collector answered {status}{}", reason(&answer));
        if TEMPORARY.contains(&status) {
            return Err(Refused::Later { message, after: retry_after(&headers, Clock::System.now_ms()) });
        }
        Err(Refused::Never(message))
    }

    async fn exchange(&self, request: Request<crate::client::Body>) -> Result<Answer, Refused> {
        let later = |message: String| Refused::Later { message, after: None };
        let response = self.client.send(request, self.timeout).await.map_err(|error| match error {
            NoAnswer::TooLarge => Refused::Never(error.to_string()),
            NoAnswer::Broken(_) if self.protocol == OtlpProtocol::Grpc => {
                later(format!("{error}; is the port one for gRPC, usually 4317?"))
            }
            _ => later(error.to_string()),
        })?;
        let (head, body) = response.into_parts();
        let (body, trailers) = match Limited::new(body, ANSWER_BYTES).collect().await {
            Ok(collected) => {
                let trailers = collected.trailers().cloned();
                (collected.to_bytes(), trailers)
            }
            // The status alone decides.
            Err(error) if error.is::<LengthLimitError>() => (Bytes::new(), None),
            Err(error) => return Err(later(format!("the connection broke in the answer: {error}"))),
        };
        Ok(Answer { status: head.status, headers: head.headers, body, trailers })
    }
}

/// A collector's answer. A body that is too long counts as empty.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    trailers: Option<HeaderMap>,
}

/// Reads what a collector rejected, from protobuf. An answer in another form rejects nothing.
fn accepted(answer: &Bytes) -> Accepted {
    let response: Option<ExportTraceServiceResponse> = Message::decode(answer.clone()).ok();
    let partial = response.and_then(|response| response.partial_success).unwrap_or_default();
    let rejected = u64::try_from(partial.rejected_spans).unwrap_or_default();
    Accepted { rejected, message: shown(&partial.error_message) }
}

/// The same, from JSON.
fn accepted_json(answer: &Bytes) -> Accepted {
    let response: Option<JsonResponse> = serde_json::from_slice(answer).ok();
    let Some(partial) = response.and_then(|response| response.partial_success) else { return Accepted::default() };
    let rejected = partial.rejected_spans.map_or(0, JsonCount::value);
    Accepted { rejected, message: shown(&partial.error_message) }
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
        OtlpProtocol::Grpc => "application/grpc",
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
