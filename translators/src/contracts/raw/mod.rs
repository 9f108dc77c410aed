//! `raw`: the runner's own records, byte for byte (blank lines and line ends aside).
//!
//! In: frames. Out: the bytes of each `provider_event`. Never: anything that the runner did not say; a record that was over
//! the size limit is the only one that comes out shorter than it went in.

use super::{Contract, SseStyle};
use crate::encode::{Encoder, EncoderOptions, EventId, Events, state};
use crate::frame::{Body, Frame, ProviderEvent, Stream};
use crate::verify::{Finding, Verifier};
use serde_json::Value;
use std::sync::Arc;

/// The contract.
pub const RAW: Contract = Contract {
    name: "raw",
    about: "the runner's own records, byte for byte",
    document: None,
    sse: SseStyle::Raw,
    type_key: "type",
    log: None,
    schemas: &[],
    encoder: new,
    verifier: || Box::new(NoRules),
    // Without schemas nothing breaks one.
    withheld: |_, _| {},
    // Its events are the runner's own, and a runner says nothing of it.
    dropped: |_, _| {},
};

/// The version of the state.
const STATE: u32 = 1;

fn new(_: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    Some(Box::new(Raw { records: 0 }))
}

#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    records: u64,
}

impl Encoder for Raw {
    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        let Body::ProviderEvent(record) = &frame.body else { return };
        let id = EventId::Number(self.records);
        self.records += 1;
        if let Some(block) = &record.block {
            out.bytes("sse", id, block);
        } else if let Some(name) = &record.event_name {
            out.bytes("sse", id, &crate::pipeline::sse_block(Some(name), payload(record)));
        } else if record.sse {
            out.bytes("sse", id, &crate::pipeline::sse_block(None, payload(record)));
        } else {
            out.bytes("line", id, payload(record));
        }
    }

    fn fork(&self) -> Box<dyn Encoder> {
        Box::new(self.clone())
    }

    fn save(&self) -> Option<Vec<u8>> {
        state::save(STATE, self)
    }

    fn restore(&mut self, saved: &[u8]) -> bool {
        state::restore(STATE, saved).map(|state| *self = state).is_some()
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

    fn end(&mut self, _: &mut Vec<Finding>) {}
}
