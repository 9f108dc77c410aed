//! `raw`: the runner's own records, byte for byte (except blank lines and line ends), or numbered, each as one JSON object.
//!
//! Input: frames. Output: for each `provider_event`, its bytes ([`RAW`]), or an object with its number and text ([`NUMBERED`]).
//! Never: anything that the runner did not write. Only a record over the size limit is shorter than the original.
//!
//! The bytes use the runner's framing, so they are never part of an event stream of ours, where a record could forge an event.
//! On a wire with its own framing, the records are numbered objects. Both forms use the same numbers.

use super::{Contract, SseStyle};
use crate::encode::{Encoder, EncoderOptions, EventId, Events, StreamEncoder, encoder, key};
use crate::frame::{Body, Frame, ProviderEvent, Stream};
use crate::verify::{Finding, Verifier};
use serde_json::Value;
use std::sync::Arc;

/// The contract in the form of bytes.
pub(super) const RAW: Contract = Contract {
    name: "raw",
    about: "the runner's own records, byte for byte",
    document: None,
    sse: SseStyle::Raw,
    type_key: "type",
    log: None,
    schemas: &[],
    document_schema: None,
    encoder: new,
    verifier: || Box::new(NoRules),
    rules: &[],
    // There are no schemas, so no event is withheld.
    withheld: |_, _| {},
    // All its events are the runner's own, so there is no event for this.
    dropped: |_, _| {},
    notice_type: "",
    announces_pruning: false,
    has_user_messages: false,
    artifact_id: None,
};

/// The contract in the form of numbered objects: `{"record":0,"status":"event","event_name":null,"data":{…},"raw":null}`, with
/// the values of `provider_event`. `raw` is set if `data` alone cannot reproduce the record.
pub(super) const NUMBERED: Contract = Contract { sse: SseStyle::Bare, encoder: new_numbered, ..RAW };

fn new(_: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    Some(encoder(Raw { records: 0 }))
}

fn new_numbered(_: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    Some(encoder(Numbered(Raw { records: 0 })))
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    records: u64,
}

impl StreamEncoder for Raw {
    const STATE: &[u32] = &[1];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        let Some((number, record)) = self.next(frame) else { return };
        let id = EventId::Number(number);
        if let Some(block) = &record.block {
            // Several records of one line or event are printed together with the first one.
            let kind = if block.is_empty() {
                "within"
            } else if record.sse {
                "sse"
            } else {
                "line"
            };
            out.bytes(kind, id, block);
        } else if let Some(name) = &record.event_name {
            out.bytes("sse", id, &crate::framing::sse_block(Some(name), payload(record)));
        } else if record.sse {
            out.bytes("sse", id, &crate::framing::sse_block(None, payload(record)));
        } else {
            out.bytes("line", id, payload(record));
        }
    }

    fn resumed(&self, state: Self) -> Self {
        state
    }
}

impl Raw {
    /// The frame's record and its number; `None` if the frame has no record.
    fn next<'f>(&mut self, frame: &'f Frame) -> Option<(u64, &'f ProviderEvent)> {
        let Body::ProviderEvent(record) = &frame.body else { return None };
        let number = self.records;
        self.records += 1;
        Some((number, record))
    }
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Numbered(Raw);

impl StreamEncoder for Numbered {
    // Both forms have the same state, so their checkpoints are interchangeable.
    const STATE: &[u32] = Raw::STATE;

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        let Some((number, record)) = self.0.next(frame) else { return };
        out.object("record", EventId::Number(number), |map| {
            map.entry(key!("record"), &number);
            map.word(key!("status"), record.status.as_str());
            map.text_or_null(key!("event_name"), record.event_name.as_deref());
            map.raw(key!("data"), record.data.as_deref().unwrap_or("null"));
            map.text_or_null(key!("raw"), record.raw.as_deref().map(String::from_utf8_lossy).as_deref());
        });
    }

    fn resumed(&self, state: Self) -> Self {
        state
    }
}

fn payload(record: &ProviderEvent) -> &[u8] {
    match (&record.raw, &record.data) {
        (Some(raw), _) => raw,
        (None, Some(data)) => data.as_bytes(),
        (None, None) => b"",
    }
}

struct NoRules;

impl Verifier for NoRules {
    fn event(&mut self, _: &Value, _: &mut Vec<Finding>) {}

    fn resume(&mut self, _: Option<&str>) -> Result<(), String> {
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<Finding>) {}

    fn cursor_key(&self) -> Option<&'static str> {
        Some("record")
    }
}
