//! The contracts that clients can ask for: one folder and one line of [`CONTRACTS`] each.

use crate::dropped::Notice;
use crate::encode::{EventRef, NewEncoder};
use crate::gate::StandIn;
use crate::schema::SchemaFile;
use crate::verify::Verifier;

mod tool_output;
mod wire;

pub use wire::{rfc3339_millis, rfc3339_seconds};

pub mod agent_manager;
pub mod frames;
pub mod hecate;
pub mod pixir;
pub mod raw;
pub mod sse;

/// One event vocabulary, in one version.
pub struct Contract {
    /// Its name with the version, as clients ask for it: `frames.v2`.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// The document that it implements, by its title; `None` for what the runners define.
    pub document: Option<&'static str>,
    /// How its events stand on an SSE stream.
    pub sse: SseStyle,
    /// The key that holds an event's type.
    pub type_key: &'static str,
    /// Whether an event belongs into the contract's log, for a contract whose document has one: its events as lines, without
    /// those that are for live display only.
    pub log: Option<fn(EventRef<'_>) -> bool>,
    /// One JSON Schema for each event type; empty where events are no JSON of ours.
    pub schemas: &'static [SchemaFile],
    /// Makes an encoder for a stream.
    pub encoder: NewEncoder,
    /// Makes a verifier of one stream's rules, beyond the schemas of single events.
    pub verifier: fn() -> Box<dyn Verifier>,
    /// Writes what stands in for an event that the gate withholds.
    pub withheld: StandIn,
    /// Writes what is said of a run that is not kept any more.
    pub dropped: Notice,
}

impl std::fmt::Debug for Contract {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// How events stand on an SSE stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SseStyle {
    /// `data:` alone, with `id:` where the event has a cursor.
    Bare,
    /// Also `event:` with the event's type.
    Named,
    /// The runner's own bytes.
    Raw,
}

/// Every contract, in the order of `--help` and of the documentation.
pub const CONTRACTS: &[Contract] =
    &[frames::V1, frames::V2, sse::V1, agent_manager::V1, pixir::V1, hecate::V1, raw::RAW];

/// The contract of that name.
pub fn contract(name: &str) -> Option<&'static Contract> {
    CONTRACTS.iter().find(|contract| contract.name == name)
}
