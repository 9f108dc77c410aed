//! OTLP over gRPC: each batch is one unary call over HTTP/2.
//!
//! Input: an encoded request; the headers, body and trailers of an answer. Output: the request's bytes, the answer's message, and what its status means. Never: a
//! stream of messages; a compressed answer, which the request does not offer to read.

use super::{Accepted, Refused, accepted, shown};
use crate::client::retry_after;
use crate::clock::Clock;
use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::{BufMut, Bytes, BytesMut};
use hyper::StatusCode;
use hyper::header::HeaderMap;
use percent_encoding::percent_decode_str;
use prost::Message;
use std::io::{Error, ErrorKind};
use std::time::Duration;

/// The method that takes spans.
const EXPORT: &str = "opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// The length of what precedes a message: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;

/// Why a call failed, by its number.
const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// After these, the specification of OTLP has a client send its request again.
const TEMPORARY: [&str; 6] = ["CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"];

/// After this one too, but only if the server says when.
const EXHAUSTED: &str = "RESOURCE_EXHAUSTED";

/// Collectors write the padding of base64, or leave it out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The URL of the method. The path of the collector's URL is not used.
pub(super) fn url(endpoint: &str) -> String {
    let authority = endpoint.find("://").map_or(0, |at| at + 3);
    let end = endpoint.get(authority..).and_then(|rest| rest.find('/')).map_or(endpoint.len(), |at| authority + at);
    format!("{}/{EXPORT}", endpoint.get(..end).unwrap_or(endpoint))
}

/// The body with one message.
///
/// # Errors
/// The message is longer than a prefix can say.
pub(super) fn framed(message: &[u8], is_compressed: bool) -> std::io::Result<Vec<u8>> {
    let length =
        u32::try_from(message.len()).map_err(|_| Error::new(ErrorKind::InvalidInput, "the batch is too large"))?;
    let mut body = BytesMut::with_capacity(PREFIX_BYTES + message.len());
    body.put_u8(u8::from(is_compressed));
    body.put_u32(length);
    body.put_slice(message);
    Ok(body.into())
}

/// The message of a body. `None` if it has none, or one in a form that the request did not ask for.
fn message(body: &Bytes) -> Option<Bytes> {
    let (prefix, rest) = body.split_at_checked(PREFIX_BYTES)?;
    let [0, length @ ..] = *<&[u8; PREFIX_BYTES]>::try_from(prefix).ok()? else { return None };
    let length = usize::try_from(u32::from_be_bytes(length)).ok()?;
    Some(body.slice_ref(rest.get(..length)?))
}

/// What an answer says of the batch.
pub(super) fn verdict(
    http: StatusCode,
    headers: &HeaderMap,
    body: &Bytes,
    trailers: Option<&HeaderMap>,
) -> Result<Accepted, Refused> {
    // Without a body, the status is among the headers.
    let fields = trailers.filter(|trailers| trailers.contains_key("grpc-status")).unwrap_or(headers);
    let text = |name: &str| fields.get(name).and_then(|value| value.to_str().ok());
    let Some(code) = text("grpc-status").and_then(|code| code.trim().parse::<usize>().ok()) else {
        let message =
            format!("the collector answered {http} without a status of gRPC; is its port one for gRPC, usually 4317?");
        // The answer of something between the proxy and the collector.
        return Err(if super::TEMPORARY.contains(&http) {
            Refused::Later { message, after: retry_after(headers, Clock::System.now_ms()) }
        } else {
            Refused::Never(message)
        });
    };
    if code == 0 {
        return Ok(message(body).map(|message| accepted(&message)).unwrap_or_default());
    }
    let name = CODES.get(code).copied().unwrap_or("an unknown status");
    let reason = shown(&percent_decode_str(text("grpc-message").unwrap_or_default()).decode_utf8_lossy());
    let message = format!("the collector answered {name}{}{reason}", if reason.is_empty() { "" } else { ": " });
    let after = text("grpc-status-details-bin").and_then(retry_delay);
    if TEMPORARY.contains(&name) || (name == EXHAUSTED && after.is_some()) {
        return Err(Refused::Later { message, after });
    }
    Err(Refused::Never(message))
}

/// When the server asks to be tried again.
fn retry_delay(details: &str) -> Option<Duration> {
    let status = RpcStatus::decode(BASE64.decode(details).ok()?.as_slice()).ok()?;
    let info = status.details.iter().find(|detail| detail.type_url.ends_with("/google.rpc.RetryInfo"))?;
    let delay = RetryInfo::decode(info.value.as_slice()).ok()?.retry_delay?;
    let (seconds, nanos) = (u64::try_from(delay.seconds).ok()?, u32::try_from(delay.nanos).ok()?);
    Some(Duration::from_secs(seconds).saturating_add(Duration::from_nanos(nanos.into())))
}

/// `google.rpc.Status`, without what is in the trailers too.
#[derive(Clone, PartialEq, Message)]
struct RpcStatus {
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

/// `google.rpc.RetryInfo`.
#[derive(Clone, PartialEq, Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<Delay>,
}

/// `google.protobuf.Duration`.
#[derive(Clone, PartialEq, Message)]
struct Delay {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
    use hyper::header::{HeaderName, HeaderValue};
    use opentelemetry_proto::tonic::collector::trace::v1::{ExportTracePartialSuccess, ExportTraceServiceResponse};

    fn fields(fields: &[(&str, &str)]) -> HeaderMap {
        let field = |(name, value): &(&str, &str)| {
            (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap())
        };
        fields.iter().map(field).collect()
    }

    fn of_trailers(trailers: &[(&str, &str)]) -> Result<Accepted, Refused> {
        verdict(StatusCode::OK, &HeaderMap::new(), &Bytes::new(), Some(&fields(trailers)))
    }

    #[test]
    fn the_method_is_called_at_the_authority_of_the_url() {
        for endpoint in ["http://c:4317", "http://c:4317/", "http://c:4317/v1/traces"] {
            assert_eq!(url(endpoint), format!("http://c:4317/{EXPORT}"), "{endpoint}");
        }
    }

    #[test]
    fn a_body_has_one_message() {
        for text in [&b""[..], b"spans"] {
            let body = Bytes::from(framed(text, false).unwrap());
            assert_eq!(message(&body).unwrap(), text);
            for cut in 0..body.len() {
                assert_eq!(message(&body.slice(..cut)), None, "{cut}");
            }
        }
        assert_eq!(framed(b"ab", true).unwrap(), b"\x01\0\0\0\x02ab");
        assert_eq!(message(&Bytes::from(framed(b"ab", true).unwrap())), None);
    }

    #[test]
    fn an_accepted_batch_may_have_rejected_spans() {
        let partial_success = Some(ExportTracePartialSuccess { rejected_spans: 2, error_message: "late".to_owned() });
        let answer = ExportTraceServiceResponse { partial_success }.encode_to_vec();
        let body = Bytes::from(framed(&answer, false).unwrap());
        let ok = fields(&[("grpc-status", "0")]);
        let expected = Accepted { rejected: 2, message: "late".to_owned() };
        assert_eq!(verdict(StatusCode::OK, &HeaderMap::new(), &body, Some(&ok)), Ok(expected));
        assert_eq!(verdict(StatusCode::OK, &ok, &Bytes::new(), None), Ok(Accepted::default()));
    }

    #[test]
    fn the_status_decides_whether_a_batch_is_sent_again() {
        let later = |message: &str, after: Option<Duration>| Err(Refused::Later { message: message.to_owned(), after });
        let never = |message: &str| Err(Refused::Never(message.to_owned()));
        let unavailable = of_trailers(&[("grpc-status", "14"), ("grpc-message", "try%20later%0a")]);
        assert_eq!(unavailable, later("the collector answered UNAVAILABLE: try later", None));
        assert_eq!(of_trailers(&[("grpc-status", "3")]), never("the collector answered INVALID_ARGUMENT"));
        assert_eq!(of_trailers(&[("grpc-status", "99")]), never("the collector answered an unknown status"));
        assert_eq!(of_trailers(&[("grpc-status", "8")]), never("the collector answered RESOURCE_EXHAUSTED"));
        let delay = RetryInfo { retry_delay: Some(Delay { seconds: 2, nanos: 500_000_000 }) };
        let detail =
            Any { type_url: "type.googleapis.com/google.rpc.RetryInfo".to_owned(), value: delay.encode_to_vec() };
        let details = RpcStatus { details: vec![detail] }.encode_to_vec();
        for encoded in [STANDARD.encode(&details), STANDARD_NO_PAD.encode(&details)] {
            let exhausted = of_trailers(&[("grpc-status", "8"), ("grpc-status-details-bin", &encoded)]);
            assert_eq!(
                exhausted,
                later("the collector answered RESOURCE_EXHAUSTED", Some(Duration::from_millis(2500)))
            );
        }
        for wrong in ["%", "AA", &STANDARD.encode(b"\xff\xff")] {
            let exhausted = of_trailers(&[("grpc-status", "8"), ("grpc-status-details-bin", wrong)]);
            assert_eq!(exhausted, never("the collector answered RESOURCE_EXHAUSTED"), "{wrong}");
        }
    }

    #[test]
    fn an_answer_without_a_status_is_not_one_of_grpc() {
        let of = |http: StatusCode| verdict(http, &HeaderMap::new(), &Bytes::new(), None);
        let Err(Refused::Never(message)) = of(StatusCode::OK) else { panic!() };
        assert!(message.contains("200 OK without a status of gRPC") && message.contains("4317"), "{message}");
        assert!(matches!(of(StatusCode::SERVICE_UNAVAILABLE), Err(Refused::Later { after: None, .. })));
        assert!(matches!(of(StatusCode::NOT_FOUND), Err(Refused::Never(_))));
        let headers = fields(&[("retry-after", "7")]);
        let busy = verdict(StatusCode::TOO_MANY_REQUESTS, &headers, &Bytes::new(), None);
        assert!(matches!(busy, Err(Refused::Later { after: Some(after), .. }) if after == Duration::from_secs(7)));
    }
}
