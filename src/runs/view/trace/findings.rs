//! What a trace reports about a frame itself.
//!
//! Input: a frame. Output: warnings, and what is remarkable about its record: differences from the known format, redacted places,
//! records that could not be read. Never: more findings than a bound, or a value from the record.

use framegate_translators::drift::DriftKind;
use framegate_translators::frame::{Body, Frame, ProviderEvent, ProviderStatus};
use framegate_translators::warnings::Warning;
use serde::Serialize;

/// Maximum number of findings of one kind about one frame. One more says how many there are.
const MOST: usize = 100;

/// Something noticed about a frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What sort of finding it is.
    pub kind: Kind,
    /// Its stable name.
    pub code: &'static str,
    /// What was noticed.
    pub message: String,
    /// Where in the frame, as a JSON pointer; absent if it is about the whole frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// The sort of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One of the warnings, which help to detect parsing problems.
    Warning,
    /// The record differs from the known format of its runner.
    Drift,
    /// A value was redacted.
    Redaction,
    /// The record, or an object in it, has errors.
    InvalidRecord,
    /// The record was larger than the limit; its beginning is kept.
    OversizedRecord,
    /// The record, or an object in it, has an unknown type.
    UnknownRecord,
    /// Part of the stream is missing.
    Gap,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Warning,
        Self::Drift,
        Self::Redaction,
        Self::InvalidRecord,
        Self::OversizedRecord,
        Self::UnknownRecord,
        Self::Gap,
    ];
}

impl Finding {
    fn new(kind: Kind, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), path: None }
    }

    /// A warning.
    pub(super) fn of(warning: Warning) -> Self {
        Self::new(Kind::Warning, warning.code(), warning.message())
    }

    /// The front of the stream is not kept.
    pub(super) fn pruned(last: u64) -> Self {
        Self::new(Kind::Gap, "pruned", format!("the frames 0 to {last} are not kept any more"))
    }

    /// What is noticed about a frame on its own.
    pub(super) fn about(frame: &Frame) -> Vec<Self> {
        match &frame.body {
            Body::ProviderEvent(record) => of_record(record),
            Body::GapDetected { reason, .. } => {
                vec![Self::new(Kind::Gap, "gap_detected", format!("part of the stream is missing: {reason}"))]
            }
            _ => Vec::new(),
        }
    }
}

fn of_record(record: &ProviderEvent) -> Vec<Finding> {
    let mut found: Vec<Finding> = record.drift.iter().map(|kind| drift(*kind)).collect();
    let paths = record.redacted_paths.iter().take(MOST).map(|path| Finding {
        path: Some(path.clone()),
        ..Finding::new(Kind::Redaction, "redacted", "a secret was redacted here")
    });
    found.extend(paths);
    found.extend(rest(record.redacted_paths.len(), Kind::Redaction, "redacted"));
    let (kind, code) = match record.status {
        ProviderStatus::InvalidJson if record.is_oversized() => (Kind::OversizedRecord, "oversized"),
        ProviderStatus::InvalidJson => (Kind::InvalidRecord, "not_json"),
        ProviderStatus::Event | ProviderStatus::Done => (Kind::InvalidRecord, "record_error"),
    };
    found.extend(record.errors.iter().take(MOST).map(|error| Finding::new(kind, code, error)));
    found.extend(rest(record.errors.len(), kind, code));
    let of_response = record.response_errors.iter().take(MOST);
    found.extend(of_response.map(|error| Finding::new(Kind::InvalidRecord, "response_error", error)));
    found.extend(rest(record.response_errors.len(), Kind::InvalidRecord, "response_error"));
    found
}

/// Says how many findings were left out, if any were.
fn rest(all: usize, kind: Kind, code: &'static str) -> Option<Finding> {
    let more = all.checked_sub(MOST).filter(|more| *more > 0)?;
    Some(Finding::new(kind, code, format!("{more} more like this are not listed")))
}

fn drift(kind: DriftKind) -> Finding {
    let (of, message) = match kind {
        DriftKind::UnknownType => (Kind::UnknownRecord, "the record, or an object in it, has an unknown type"),
        DriftKind::UnknownField => (Kind::Drift, "the record has a field that is not known"),
        DriftKind::MissingField => (Kind::Drift, "the record lacks a field that was always present"),
        DriftKind::ChangedType => (Kind::Drift, "a value of the record has another JSON type than known"),
        DriftKind::UnknownValue => (Kind::Drift, "a word or number of the record is not among the known ones"),
        DriftKind::NotJson => (Kind::Drift, "the record is not JSON"),
    };
    Finding::new(of, kind.as_str(), message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::RecordErrors;

    fn record() -> ProviderEvent {
        ProviderEvent {
            status: ProviderStatus::Event,
            event_name: None,
            data: None,
            raw: None,
            block: None,
            sse: false,
            errors: RecordErrors::NONE,
            response_errors: RecordErrors::NONE,
            drift: Vec::new(),
            ends_run: None,
            redacted_paths: Vec::new(),
        }
    }

    #[test]
    fn many_findings_are_bounded_and_counted() {
        let paths = (0..MOST + 5).map(|nth| format!("/data/{nth}")).collect();
        let found = of_record(&ProviderEvent { redacted_paths: paths, ..record() });
        assert_eq!(found.len(), MOST + 1);
        assert_eq!(found[MOST].message, "5 more like this are not listed");
        assert_eq!(of_record(&record()), []);
    }

    #[test]
    fn unreadable_records_have_their_own_kinds() {
        let with = |error: &str| {
            let errors = std::iter::once(error.to_owned()).collect();
            of_record(&ProviderEvent { status: ProviderStatus::InvalidJson, errors, ..record() })
        };
        assert_eq!(with("line 1: expected a value")[0].kind, Kind::InvalidRecord);
        let oversized = "record at byte 0 has 9 bytes, more than the limit; its first 4 are kept";
        assert_eq!(with(oversized)[0].kind, Kind::OversizedRecord);
        let drift = of_record(&ProviderEvent { drift: vec![DriftKind::UnknownType], ..record() });
        assert_eq!((drift[0].kind, drift[0].code), (Kind::UnknownRecord, "unknown_type"));
    }
}
