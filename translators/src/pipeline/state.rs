//! What reads one runner's records: a decoder, its ledger, and what stands behind them.
//!
//! In: a unit. Out: frames, in the ledger. Never: a record without its `provider_event`.

use super::Ear;
use crate::decode::{Decoder, Record};
use crate::drift::{DriftKind, LiveDrift};
use crate::frame::{Faults, Name, ProviderEvent, ProviderStatus};
use crate::framing::Unit;
use crate::json::{Json, Kind, Object, one_line};
use crate::ledger::Ledger;
use crate::recognise::{Doubt, Recognised};
use crate::records::{self, Part};
use crate::redact::Redacted;
use std::borrow::Cow;
use std::collections::VecDeque;

pub(super) struct State {
    pub(super) decoder: Box<dyn Decoder>,
    pub(super) ledger: Ledger,
    pub(super) records: u64,
    /// How many of the records were heard as they came.
    pub(super) heard: u64,
    pub(super) preview_bytes: usize,
    pub(super) doubt: Doubt,
    pub(super) mistaken: Option<Recognised>,
    pub(super) drift: Option<LiveDrift>,
    pub(super) runner: &'static str,
    /// The last event names: there are few, and frames share them.
    pub(super) names: VecDeque<Name>,
}

/// So many event names are remembered.
const NAMES: usize = 8;

impl State {
    /// Lets somebody hear what a unit holds.
    pub(super) fn tell(&mut self, unit: &Unit<'_>, ear: Ear<'_>) {
        records::read(unit, &mut |part| {
            if let Part::Value { json, fields, .. } = part {
                ear(&Record { json, fields, event_name: unit.event_name, index: self.heard, offset: unit.offset });
            }
            self.heard += 1;
        });
    }

    pub(super) fn redacted(&mut self, redacted: Redacted<'_>) {
        self.unit(&redacted.unit, redacted.paths, redacted.now_ms);
    }

    pub(super) fn unit(&mut self, unit: &Unit<'_>, redacted: &[String], now_ms: u64) {
        records::read(unit, &mut |part| match part {
            Part::Value { json, fields, source, whole, on_one_line, broken } => {
                // A document may span lines, and so may the data of an SSE event; a frame may not.
                let line = if on_one_line { json.text().into() } else { one_line(json.text()) };
                self.record(unit, json, fields, line, source, whole, broken, redacted, now_ms);
            }
            Part::Done => self.opaque(unit, ProviderStatus::Done, unit.payload, Faults::NONE, redacted, now_ms),
            Part::Invalid { bytes, error } => {
                self.opaque(unit, ProviderStatus::InvalidJson, bytes, Faults::from(vec![error]), redacted, now_ms);
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
        whole: bool,
        broken: Option<&str>,
        redacted: &[String],
        now_ms: u64,
    ) {
        let mut errors: Faults = broken.map(str::to_owned).into_iter().collect();
        let is_object = json.kind() == Kind::Object;
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
        let record = Record { json, fields, event_name: unit.event_name, index: self.records, offset: unit.offset };
        let drift = self.drift.as_mut().map(|drift| drift.record(&record)).unwrap_or_default();
        self.ledger.begin(
            Box::new(ProviderEvent {
                status: ProviderStatus::Event,
                event_name,
                data,
                raw: (!exact).then(|| source.into()),
                block: if whole { block_of(unit) } else { None },
                sse: is_sse(unit),
                errors,
                response_errors: Faults::NONE,
                drift,
                redacted_paths,
            }),
            now_ms,
        );
        if let Some(other) = self.doubt.record(&record) {
            self.mistaken = Some(other);
        }
        self.decoder.record(&record, &mut self.ledger);
        self.close_record();
    }

    pub(super) fn opaque(
        &mut self,
        unit: &Unit<'_>,
        status: ProviderStatus,
        bytes: &[u8],
        errors: Faults,
        redacted: &[String],
        now_ms: u64,
    ) {
        let is_drift = status == ProviderStatus::InvalidJson && self.drift.is_some();
        let event_name = self.event_name(unit);
        let kept = if unit.oversized.is_some() { bytes.get(..self.preview_bytes).unwrap_or(bytes) } else { bytes };
        self.ledger.begin(
            Box::new(ProviderEvent {
                status,
                event_name,
                data: None,
                raw: Some(kept.into()),
                block: block_of(unit),
                sse: is_sse(unit),
                errors,
                response_errors: Faults::NONE,
                drift: if is_drift { vec![DriftKind::NotJson] } else { Vec::new() },
                redacted_paths: if redacted.is_empty() { Vec::new() } else { vec!["/raw".to_owned()] },
            }),
            now_ms,
        );
        self.decoder.opaque(status == ProviderStatus::Done, &mut self.ledger);
        self.close_record();
    }

    pub(super) fn event_name(&mut self, unit: &Unit<'_>) -> Option<Name> {
        let said = unit.event_name?;
        if let Some(known) = self.names.iter().find(|name| ***name == *said) {
            return Some(known.clone());
        }
        let name = Name::from(said);
        self.names.truncate(NAMES - 1);
        self.names.push_front(name.clone());
        Some(name)
    }

    pub(super) fn close_record(&mut self) {
        self.ledger.settle();
        self.records += 1;
    }
}

/// Outside SSE, a unit says what it is.
fn is_sse(unit: &Unit<'_>) -> bool {
    !std::ptr::eq(unit.bytes, unit.payload)
}

/// The SSE block, where the event's name and data are not enough to print it again.
fn block_of(unit: &Unit<'_>) -> Option<Box<[u8]>> {
    (is_sse(unit) && !is_usual_block(unit)).then(|| unit.bytes.into())
}

/// Whether an event's block is [`sse_block`].
fn is_usual_block(unit: &Unit<'_>) -> bool {
    let behind_name = |name: &str| {
        let (said, rest) = unit.bytes.strip_prefix(b"event: ")?.split_at_checked(name.len())?;
        rest.strip_prefix(b"\n").filter(|_| is_same(said, name.as_bytes()))
    };
    let rest = unit.event_name.map_or(Some(unit.bytes), behind_name);
    rest.and_then(|rest| rest.strip_prefix(b"data: ")).is_some_and(|data| is_same(data, unit.payload))
}

/// Whether the bytes are the same. Mostly they stand in the same place, and need not be looked at.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    std::ptr::eq(one, other) || one == other
}

/// The SSE block that an event has unless it says otherwise.
pub(crate) fn sse_block(event_name: Option<&str>, payload: &[u8]) -> Vec<u8> {
    let mut block = Vec::with_capacity(payload.len() + 32);
    if let Some(name) = event_name {
        block.extend_from_slice(b"event: ");
        block.extend_from_slice(name.as_bytes());
        block.push(b'\n');
    }
    block.extend_from_slice(b"data: ");
    block.extend_from_slice(payload);
    block
}
