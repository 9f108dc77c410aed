//! The findings of `check` for broken streams: each field that a document names, missing or with the wrong type; and each rule
//! between events. The tables and expectations are derived from the documents, not from schemas or verifiers.

mod agent_manager;
mod fields;
mod frames;
mod hecate;
mod order;
mod pixir;
mod sse;
mod tables;
mod vocabulary;

use crate::support::{Recording, translate};
use framegate_translators::contracts::Contract;
use serde_json::Value;

/// The events of a recording. A strict parser would refuse half of a surrogate pair.
fn parsed(recording: &Recording, contract: &'static Contract) -> Vec<Value> {
    translate(recording.runner, contract, &recording.bytes)
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| framegate_translators::json::value(line).unwrap())
        .collect()
}
