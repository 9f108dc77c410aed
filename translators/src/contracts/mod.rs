//! The contracts that clients can request: for each, one folder and one entry in [`CONTRACTS`].

mod live_output;
mod tool_output;
mod wire;

pub use crate::contract::{Contract, SseStyle};
use crate::encode::EncoderOptions;
use crate::frame::Stream;
use std::sync::Arc;
pub use wire::{rfc3339_millis, rfc3339_seconds};

/// The document schema from a contract's folder in `schemas/`. A static, like the lists of `schemas!`.
macro_rules! document_schema {
    ($folder:literal) => {{
        static FILE: &[crate::schema::SchemaFile] =
            &[crate::schema::schema_file!($folder, "document", "document.json", "document.json")];
        FILE.first()
    }};
}

mod acp;
pub mod ag_ui;
mod agent_manager;
pub mod chat_completions;
pub mod claude_code;
mod frames;
pub mod hecate;
pub mod open_responses;
mod pixir;
mod raw;
pub mod sse;
pub mod ui_message_stream;

/// Every contract, in the order of `--help` and of the documentation.
pub static CONTRACTS: &[Contract] = &[
    frames::V1,
    frames::V2,
    sse::V1,
    agent_manager::V1,
    pixir::V1,
    hecate::V1,
    chat_completions::V1,
    open_responses::V1,
    ui_message_stream::V1,
    ag_ui::V1,
    acp::V1,
    claude_code::V1,
    raw::RAW,
];

/// The contract that clients get if neither they nor the settings name another one.
pub const DEFAULT: &Contract = &frames::V2;

/// The contract that shows every frame.
pub const FRAMES: &Contract = &frames::V2;

/// The runner's own records as plain bytes, and as numbered objects for wires with their own framing.
pub const RECORDS: &Contract = &raw::RAW;

/// The same records as numbered objects.
pub const NUMBERED_RECORDS: &Contract = &raw::NUMBERED;

/// The names of all contracts.
pub fn names() -> impl Iterator<Item = &'static str> {
    CONTRACTS.iter().map(|contract| contract.name)
}

/// The names of the contracts whose events have schemas: all but the runner's own records.
pub fn names_with_schemas() -> impl Iterator<Item = &'static str> {
    CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()).map(|contract| contract.name)
}

/// The names of the contracts that have events for a stream: `a, b or c`.
pub fn names_for(stream: &Arc<Stream>) -> String {
    let has_events = |contract: &&Contract| (contract.encoder)(stream, &EncoderOptions::default()).is_some();
    let names: Vec<&str> = CONTRACTS.iter().filter(has_events).map(|contract| contract.name).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// The contract of that name.
///
/// ```
/// use framegate_translators::contracts::{CONTRACTS, contract};
///
/// assert_eq!(contract("hecate.v1").unwrap().type_key, "type");
/// assert!(contract("hecate").is_none(), "the version belongs to the name");
/// assert!(CONTRACTS.iter().all(|known| contract(known.name).is_some()));
/// ```
pub fn contract(name: &str) -> Option<&'static Contract> {
    CONTRACTS.iter().find(|contract| contract.name == name)
}
