//! A runner's record exactly as it arrived, and its errors.

use super::{DriftKind, RecordErrors, SessionEnded, SharedStr, stored};
use data_encoding::HEXLOWER_PERMISSIVE;
use serde::{Deserialize, Serialize};

/// One upstream record.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderEvent {
    /// What kind of record it is.
    pub status: ProviderStatus,
    /// The SSE `event:` value; `None` if the record had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_name: Option<SharedStr>,
    /// The record's JSON object as it arrived, on one line.
    // Serialised by `stored`, so that text that was already parsed is not parsed again.
    #[serde(default, skip_serializing, deserialize_with = "stored::json_text")]
    pub data: Option<Box<str>>,
    /// The record's text, only if `data` alone cannot reproduce it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stored::bytes")]
    pub raw: Option<Box<[u8]>>,
    /// The original bytes, only if `event_name` and the text cannot reproduce them. For an SSE event: its block. For a line
    /// with several records: the line. Empty if the previous record's bytes already contain this record. Not on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stored::bytes")]
    pub block: Option<Box<[u8]>>,
    /// Whether the record was an SSE event. Not on the wire.
    pub sse: bool,
    /// The errors of the record.
    #[serde(default, skip_serializing_if = "RecordErrors::is_empty")]
    pub errors: RecordErrors,
    /// The errors of the response object in the record.
    #[serde(default, skip_serializing_if = "RecordErrors::is_empty")]
    pub response_errors: RecordErrors,
    /// How the record differs from the runner's known schemas, if drift is checked. Not on the wire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<DriftKind>,
    /// How the run ended, if this record ended it and the run's last frame still waits for later records. Kept here so that the
    /// outcome survives if the proxy is killed in between. Not on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_run: Option<Box<SessionEnded>>,
    /// Where values were redacted: JSON pointers into the frame, to fields of `data` or to `raw`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted_paths: Vec<String>,
}

/// What the error of a record over the size limit says; see [`ProviderEvent::is_oversized`].
pub(crate) const OVERSIZED: &str = "more than the limit";

/// What the wire form of a record does not show otherwise (an extension of `frames.v2`): with it, the record can be printed again
/// byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "SourceFields")]
pub struct RecordSource {
    /// Whether the record was an SSE event.
    pub sse: bool,
    /// See [`ProviderEvent::block`].
    pub block: Option<Box<[u8]>>,
    /// See [`ProviderEvent::raw`]; only if that is not UTF-8.
    pub raw: Option<Box<[u8]>>,
}

/// The wire form of a [`RecordSource`]. Bytes that are not UTF-8 are hexadecimal digits.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceFields {
    sse: bool,
    block: Option<String>,
    block_hex: Option<String>,
    raw_hex: Option<String>,
}

impl TryFrom<SourceFields> for RecordSource {
    type Error = data_encoding::DecodeError;

    fn try_from(fields: SourceFields) -> Result<Self, Self::Error> {
        let unhex = |hex: &String| HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).map(Vec::into_boxed_slice);
        let block_of_hex = fields.block_hex.as_ref().map(unhex).transpose()?;
        Ok(Self {
            sse: fields.sse,
            block: fields.block.map(|block| block.into_bytes().into()).or(block_of_hex),
            raw: fields.raw_hex.as_ref().map(unhex).transpose()?,
        })
    }
}

impl ProviderEvent {
    /// How the record arrived; `None` if its event name, its text and its bytes say so: an SSE event if it has a name,
    /// otherwise a line.
    pub fn source(&self) -> Option<RecordSource> {
        let raw = self.raw.as_ref().filter(|raw| std::str::from_utf8(raw).is_err()).cloned();
        let is_usual = self.sse == self.event_name.is_some() && self.block.is_none() && raw.is_none();
        (!is_usual).then(|| RecordSource { sse: self.sse, block: self.block.clone(), raw })
    }

    /// Whether only the beginning of the record is here, because it was larger than the size limit.
    pub fn is_oversized(&self) -> bool {
        let is_said = self.errors.first().is_some_and(|error| error.contains(OVERSIZED));
        self.status == ProviderStatus::InvalidJson && is_said
    }
}

/// The kind of an upstream record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ProviderStatus {
    /// JSON.
    Event,
    /// The end marker `[DONE]`.
    Done,
    /// Not JSON.
    InvalidJson,
}

impl ProviderStatus {
    /// The value in the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Done => "done",
            Self::InvalidJson => "invalid_json",
        }
    }
}
