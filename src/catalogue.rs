//! What the registries hold, for people and programs that choose: `GET /v1/contracts`, `framegate contracts` and `runners`.
//!
//! In: the registries. Out: values that serialise. Never: an entry that is written down here and not there.

use framegate_translators::contracts::{CONTRACTS, Contract, SseStyle};
use framegate_translators::runners::{RUNNERS, Surface};
use serde::Serialize;

/// A contract that clients can ask for.
#[derive(Debug, Serialize)]
pub struct ContractEntry {
    /// Its name with the version, as clients ask for it.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// The version that the name ends with, such as `v1`; null where the contract has none.
    pub version: Option<&'static str>,
    /// The document that it implements; null where it is the runner's own.
    pub document: Option<&'static str>,
    /// How its events stand on an SSE stream: `bare` (`data:` with an `id:`), `named` (also with `event:`) or `raw`.
    pub sse: &'static str,
    /// The key of an event that is its cursor, and its `id:` on an SSE stream; null where records are counted.
    pub cursor: Option<&'static str>,
    /// The key that holds an event's type.
    pub type_key: &'static str,
    /// Whether it has a log form (`framegate translate --as log`).
    pub log: bool,
    /// What to put into `Accept` for each form.
    pub media_types: Vec<String>,
    /// Where one schema of all its events is; null where events are no JSON of ours.
    pub schema: Option<String>,
    /// Its event types.
    pub types: Vec<TypeEntry>,
}

/// An event type of a contract.
#[derive(Debug, Serialize)]
pub struct TypeEntry {
    /// Its name.
    pub name: &'static str,
    /// Where its schema is.
    pub schema: String,
}

/// A runner whose output is understood.
#[derive(Debug, Serialize)]
pub struct RunnerEntry {
    /// Its name.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Its name in frames.
    pub provider: &'static str,
    /// The forms of its output.
    pub surfaces: Vec<SurfaceEntry>,
}

/// A form of a runner's output.
#[derive(Debug, Serialize)]
pub struct SurfaceEntry {
    /// Its name.
    pub name: &'static str,
    /// What writes it.
    pub source: &'static str,
}

/// Every contract.
pub fn contracts() -> Vec<ContractEntry> {
    CONTRACTS.iter().map(contract).collect()
}

fn contract(contract: &Contract) -> ContractEntry {
    let Contract { name, about, document, type_key, .. } = *contract;
    let (sse, forms): (_, &[&str]) = match contract.sse {
        SseStyle::Bare => ("bare", &["text/event-stream", "application/x-ndjson", "application/json"]),
        SseStyle::Named => ("named", &["text/event-stream", "application/x-ndjson", "application/json"]),
        // Records may be in any form, so there is no list of them.
        SseStyle::Raw => ("raw", &["text/event-stream", "application/x-ndjson"]),
    };
    let types = contract.schemas.iter().map(|file| file.kind);
    ContractEntry {
        name,
        about,
        version: name.rsplit_once('.').map(|(_, version)| version),
        document,
        sse,
        cursor: (contract.verifier)().cursor_key(),
        type_key,
        log: contract.log.is_some(),
        media_types: forms.iter().map(|form| format!("{form}; contract={name}")).collect(),
        schema: (!contract.schemas.is_empty()).then(|| format!("/schemas/{name}.json")),
        types: types.map(|kind| TypeEntry { name: kind, schema: format!("/schemas/{name}/{kind}.json") }).collect(),
    }
}

/// Every runner.
pub fn runners() -> Vec<RunnerEntry> {
    let surfaces = |surfaces: &'static [Surface]| {
        surfaces.iter().map(|&Surface { name, source, .. }| SurfaceEntry { name, source }).collect()
    };
    RUNNERS
        .iter()
        .map(|runner| RunnerEntry {
            name: runner.name,
            about: runner.about,
            provider: runner.provider,
            surfaces: surfaces(runner.surfaces),
        })
        .collect()
}
