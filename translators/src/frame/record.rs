//! A runner's record, as it came, and what is wrong with it.

use super::{Faults, Name, stored};
use crate::drift::DriftKind;
use serde::{Deserialize, Serialize};

/// One upstream record.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderEvent {
    /// What the record was.
    pub status: ProviderStatus,
    /// The SSE `event:` value; `None` where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_name: Option<Name>,
    /// The record's JSON object, as it came, on one line.
    // Written by the codec, so that text that was parsed once is not parsed again.
    #[serde(default, skip_serializing, deserialize_with = "stored::json_text")]
    pub data: Option<Box<str>>,
    /// The record's text, only where `data` alone cannot give it back.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stored::bytes")]
    pub raw: Option<Box<[u8]>>,
    /// The SSE block as it came, only where `event_name` and the text cannot give it back. Not on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stored::bytes")]
    pub block: Option<Box<[u8]>>,
    /// Whether the record was an SSE event. Not on the wire.
    pub sse: bool,
    /// What is wrong with the record.
    #[serde(default, skip_serializing_if = "Faults::is_empty")]
    pub errors: Faults,
    /// What is wrong with the response object in the record.
    #[serde(default, skip_serializing_if = "Faults::is_empty")]
    pub response_errors: Faults,
    /// How the record differs from what is known of the runner, where that is looked at. Not on the wire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<DriftKind>,
    /// Where something was redacted: JSON pointers into the frame, to fields of `data` or to `raw`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted_paths: Vec<String>,
}

/// What an upstream record was.
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
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Done => "done",
            Self::InvalidJson => "invalid_json",
        }
    }
}
