//! An open span, and the message that it becomes.

use super::super::attributes::{bounded, text};
use super::tokens::Tokens;
use framegate_translators::frame::SharedStr;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, SpanFlags, Status};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Nanoseconds in a millisecond.
const NANOS: u64 = 1_000_000;
/// The bit of a span's flags that says that its trace is sampled.
const SAMPLED: u32 = 1;

/// An id of a span.
pub(super) type SpanId = [u8; 8];

/// An open span.
pub(super) struct OpenSpan {
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) id: SpanId,
    /// `None` for a run.
    pub(super) parent: Option<SpanId>,
    pub(super) started_ms: u64,
    /// The tool call that started the subagent to which this span belongs.
    pub(super) within: Option<Uuid>,
    pub(super) attributes: Vec<KeyValue>,
    /// The tokens used so far, and the model that answered.
    pub(super) tokens: Option<Tokens>,
    pub(super) model: Option<SharedStr>,
}

impl OpenSpan {
    pub(super) fn end(mut self, run: Uuid, now_ms: u64, error: Option<&str>) -> Span {
        let status = error.map(|error| {
            let message = bounded(error);
            self.attributes.push(text("error.type", &*message));
            Status { message, code: StatusCode::Error.into() }
        });
        if let Some(tokens) = self.tokens {
            tokens.add_to(&mut self.attributes);
        }
        if let Some(model) = &self.model {
            self.attributes.push(text("gen_ai.response.model", bounded(model)));
        }
        Span {
            trace_id: run.as_bytes().to_vec(),
            span_id: self.id.to_vec(),
            parent_span_id: self.parent.map(|id| id.to_vec()).unwrap_or_default(),
            flags: SAMPLED | SpanFlags::ContextHasIsRemoteMask as u32,
            name: self.name,
            kind: self.kind.into(),
            start_time_unix_nano: nanos(self.started_ms),
            end_time_unix_nano: nanos(now_ms.max(self.started_ms)),
            attributes: self.attributes,
            status,
            ..Span::default()
        }
    }
}

/// A time in nanoseconds since 1970. The last one that fits is in the year 2554.
pub(super) fn nanos(ms: u64) -> u64 {
    ms.saturating_mul(NANOS)
}

/// A deterministic id, the same in a replay. A span id must not be all zeros.
pub(super) fn span_id(run: Uuid, kind: &str, what: &str) -> SpanId {
    let digest = Sha256::new().chain_update(run.as_bytes()).chain_update(kind).chain_update([0]).chain_update(what);
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(digest.finalize()) {
        *to = from;
    }
    if bytes == [0; 8] {
        bytes = [1; 8];
    }
    bytes
}
