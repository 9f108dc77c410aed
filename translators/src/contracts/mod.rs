//! The contracts that clients can request: for each, one folder and one entry in [`CONTRACTS`].

mod tool_output;
mod wire;

pub use crate::contract::{Contract, SseStyle};
pub use wire::{rfc3339_millis, rfc3339_seconds};

/// The document schema from a contract's folder in `schemas/`.
macro_rules! document_schema {
    ($folder:literal) => {
        Some(crate::schema::SchemaFile {
            kind: "document",
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/", $folder, "/document.json")),
        })
    };
}

pub mod agent_manager;
pub mod frames;
pub mod hecate;
pub mod pixir;
pub mod raw;
pub mod sse;

/// Every contract, in the order of `--help` and of the documentation.
pub const CONTRACTS: &[Contract] =
    &[frames::V1, frames::V2, sse::V1, agent_manager::V1, pixir::V1, hecate::V1, raw::RAW];

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
