//! Processes one runner's records: a decoder with its normalizer and counters.
//!
//! Input: a unit. Output: frames, in the normalizer. Never: a record without its `provider_event`.

use super::RecordObserver;
use super::sent_lines::SentLines;
use crate::decode::{Decoder, Record};
use crate::drift::{DriftKind, LiveDrift};
use crate::frame::{ProviderEvent, ProviderStatus, RecordErrors, SharedStr};
use crate::framing::{Form, Unit};
use crate::json::{Json, Kind, Object, for_frame, one_line};
use crate::normalizer::Normalizer;
use crate::recognise::{MismatchDetector, Recognised};
use crate::records::{self, UnitPart};
use crate::redact::Redacted;
use crate::runners::Runner;
use crate::tally::{BadKind, Counting};
use std::borrow::Cow;
use std::collections::VecDeque;

pub(super) struct State {
    pub(super) decoder: Box<dyn Decoder>,
    pub(super) normalizer: Normalizer,
    pub(super) counting: Counting,
    /// How many records were passed to the observer before redaction.
    pub(super) observed: u64,
    pub(super) preview_bytes: usize,
    pub(super) mismatch: MismatchDetector,
    pub(super) mistaken: Option<Recognised>,
    pub(super) drift: Option<LiveDrift>,
    pub(super) runner: &'static Runner,
    /// The lines of the host that follow from records which are held.
    pub(super) sent_lines: SentLines,
    /// The latest event names. There are few different ones, so frames share them.
    pub(super) names: VecDeque<SharedStr>,
}

/// How many event names are remembered.
const NAMES: usize = 8;

impl State {
    /// Passes the records of a unit to the observer.
    pub(super) fn observe(&mut self, unit: &Unit<'_>, observer: RecordObserver<'_>) {
        records::read(unit, &mut |part| {
            if let UnitPart::Value { json, fields, .. } = part {
                observer(&Record {
                    json,
                    fields,
                    event_name: unit.event_name,
                    index: self.observed,
                    offset: unit.offset,
                });
            }
            self.observed += 1;
        });
    }

    pub(super) fn redacted(&mut self, redacted: Redacted<'_>) {
        self.unit(&redacted.unit, redacted.paths, redacted.now_ms);
        self.unit_was_read();
    }

    pub(super) fn unit(&mut self, unit: &Unit<'_>, redacted: &[String], now_ms: u64) {
        let mut is_first = unit.form != Form::Within;
        records::read(unit, &mut |part| match part {
            UnitPart::Value { json, fields, source, whole, on_one_line, unescaped, broken } => {
                let block = block_of(unit, whole, std::mem::take(&mut is_first));
                // A document, or the data of an SSE event, may span lines; a frame may not.
                let line = if on_one_line { json.text().into() } else { one_line(json.text()) };
                let line = if unescaped { line } else { for_frame(line) };
                self.record(unit, json, fields, line, source, block, broken, redacted, now_ms);
            }
            UnitPart::Done => {
                let block = block_of(unit, true, is_first);
                self.opaque(unit, ProviderStatus::Done, unit.payload, block, RecordErrors::NONE, redacted, now_ms);
            }
            UnitPart::Rest => {
                self.opaque(unit, ProviderStatus::Event, unit.payload, None, RecordErrors::NONE, redacted, now_ms);
            }
            UnitPart::Invalid { bytes, error } => {
                let block = block_of(unit, true, is_first);
                let errors = RecordErrors::from(vec![error]);
                self.opaque(unit, ProviderStatus::InvalidJson, bytes, block, errors, redacted, now_ms);
            }
        });
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one record, used once")]
    pub(super) fn record(
        &mut self,
        unit: &Unit<'_>,
        json: Json<'_>,
        fields: Object<'_>,
        line: Cow<'_, str>,
        source: &[u8],
        block: Option<Box<[u8]>>,
        broken: Option<&str>,
        redacted: &[String],
        now_ms: u64,
    ) {
        let mut errors: RecordErrors = broken.map(str::to_owned).into_iter().collect();
        let is_object = json.kind() == Kind::Object;
        // Some runners wrap their records in a list.
        let is_list = json.kind() == Kind::Array;
        if !is_object {
            errors.push(format!("not a JSON object but {}", json.kind().as_str()));
        }
        let data = is_object.then_some(line);
        let exact = data.as_ref().is_some_and(|data| is_same(data.as_bytes(), source));
        let data = data.map(Box::<str>::from);
        let mut redacted_paths = Vec::new();
        if data.is_some() {
            redacted_paths.extend(redacted.iter().map(|pointer| format!("/data{pointer}")));
        }
        if !exact && !redacted.is_empty() {
            redacted_paths.push("/raw".to_owned());
        }
        let event_name = self.event_name(unit);
        let record = Record {
            json,
            fields,
            event_name: unit.event_name,
            index: self.counting.tally.records,
            offset: unit.offset,
        };
        let drift = self.drift.as_mut().map(|drift| drift.record(&record)).unwrap_or_default();
        self.normalizer.begin(
            Box::new(ProviderEvent {
                status: ProviderStatus::Event,
                event_name,
                data,
                raw: (!exact).then(|| source.into()),
                block,
                sse: unit.form == Form::Event,
                errors,
                response_errors: RecordErrors::NONE,
                ends_run: None,
                drift,
                redacted_paths,
            }),
            now_ms,
        );
        if let Some(other) = self.mismatch.record(&record) {
            self.mistaken = Some(other);
        }
        self.decoder.record(&record, &mut self.normalizer);
        self.normalizer.settle();
        let unknown = self.normalizer.take_unknown();
        match (broken, unknown.as_deref().or((!is_object && !is_list).then_some("not a JSON object"))) {
            (Some(message), _) => self.counting.bad(BadKind::Invalid, unit.offset, message),
            (None, Some(message)) => self.counting.bad(BadKind::Unknown, unit.offset, message),
            (None, None) => self.counting.good(),
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one record")]
    pub(super) fn opaque(
        &mut self,
        unit: &Unit<'_>,
        status: ProviderStatus,
        bytes: &[u8],
        block: Option<Box<[u8]>>,
        errors: RecordErrors,
        redacted: &[String],
        now_ms: u64,
    ) {
        let is_drift = status == ProviderStatus::InvalidJson && self.drift.is_some();
        let event_name = self.event_name(unit);
        let first_error = errors.iter().next().cloned().unwrap_or_default();
        let kept = if unit.oversized.is_some() { bytes.get(..self.preview_bytes).unwrap_or(bytes) } else { bytes };
        self.normalizer.begin(
            Box::new(ProviderEvent {
                status,
                event_name,
                data: None,
                raw: Some(kept.into()),
                block,
                sse: unit.form == Form::Event,
                errors,
                response_errors: RecordErrors::NONE,
                ends_run: None,
                drift: if is_drift { vec![DriftKind::NotJson] } else { Vec::new() },
                redacted_paths: if redacted.is_empty() { Vec::new() } else { vec!["/raw".to_owned()] },
            }),
            now_ms,
        );
        let done = status == ProviderStatus::Done;
        self.decoder.opaque(done, &mut self.normalizer);
        self.normalizer.settle();
        match status {
            // Comments at the end are an event without content.
            ProviderStatus::Done | ProviderStatus::Event => self.counting.marker(),
            _ => self.counting.bad(BadKind::Invalid, unit.offset, &first_error),
        }
        if done {
            // The stream's own end marker: no more records of finished runs follow.
            self.normalizer.release_ends();
        }
    }

    pub(super) fn event_name(&mut self, unit: &Unit<'_>) -> Option<SharedStr> {
        let event_name = unit.event_name?;
        if let Some(known) = self.names.iter().find(|name| ***name == *event_name) {
            return Some(known.clone());
        }
        let name = SharedStr::from(event_name);
        self.names.truncate(NAMES - 1);
        self.names.push_front(name.clone());
        Some(name)
    }
}

/// The bytes for printing a record again, if its name and text are not enough. `whole` means that the unit holds nothing else.
/// If the unit holds several records, the first one has the bytes.
fn block_of(unit: &Unit<'_>, whole: bool, is_first: bool) -> Option<Box<[u8]>> {
    if !is_first {
        return Some(Box::default());
    }
    let is_usual = whole && (unit.form != Form::Event || is_usual_block(unit));
    (!is_usual).then(|| unit.bytes.into())
}

/// Whether an event's block equals [`sse_block`](crate::framing::sse_block).
fn is_usual_block(unit: &Unit<'_>) -> bool {
    let behind_name = |name: &str| {
        let (event_name, rest) = unit.bytes.strip_prefix(b"event: ")?.split_at_checked(name.len())?;
        rest.strip_prefix(b"\n").filter(|_| is_same(event_name, name.as_bytes()))
    };
    let rest = unit.event_name.map_or(Some(unit.bytes), behind_name);
    rest.and_then(|rest| rest.strip_prefix(b"data: ")).is_some_and(|data| is_same(data, unit.payload))
}

/// Whether the bytes are equal. Usually they are the same slice and need no comparison.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    std::ptr::eq(one, other) || one == other
}
