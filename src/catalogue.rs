//! Lists the registries for users and programs: `GET /v1/contracts`, `framegate contracts` and `framegate runners`.
//!
//! Input: the registries. Output: serialisable values. Never: an entry that the registries do not have.

use framegate_translators::contracts::{CONTRACTS, Contract, SseStyle};
use framegate_translators::runners::{RUNNERS, Surface};
use serde::Serialize;

/// A contract that clients can request.
#[derive(Debug, Serialize)]
pub struct ContractEntry {
    /// Its name with the version, as clients request it.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// The version at the end of the name, such as `v1`; null if the contract has none.
    pub version: Option<&'static str>,
    /// The document that it implements; null if the format is the runner's own.
    pub document: Option<&'static str>,
    /// How its events are framed on an SSE stream: `bare` (`data:` with an `id:`), `named` (also with `event:`) or `raw`.
    pub sse: &'static str,
    /// The key of the cursor in an event, with dots for nested objects; its value is the `id:` on an SSE stream. Null if only the
    /// `id:` has it, or if records are counted instead.
    pub cursor: Option<&'static str>,
    /// The key that holds an event's type.
    pub type_key: &'static str,
    /// Whether the contract has a log form (`framegate translate --as log`).
    pub log: bool,
    /// The `Accept` value for each form.
    pub media_types: Vec<String>,
    /// The path of the schema that covers all its events; null if its events are not framegate's own JSON.
    pub schema: Option<String>,
    /// The path of the schema of what its document allows, for events of any producer; null if its events are not framegate's
    /// own JSON.
    pub document_schema: Option<String>,
    /// Its event types.
    pub types: Vec<TypeEntry>,
}

/// An event type of a contract.
#[derive(Debug, Serialize)]
pub struct TypeEntry {
    /// Its name.
    pub name: &'static str,
    /// The path of its schema.
    pub schema: String,
}

/// A supported runner.
#[derive(Debug, Serialize)]
pub struct RunnerEntry {
    /// Its name.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// Its name in frames.
    pub provider: &'static str,
    /// The output formats.
    pub surfaces: Vec<SurfaceEntry>,
}

/// An output format of a runner.
#[derive(Debug, Serialize)]
pub struct SurfaceEntry {
    /// Its name.
    pub name: &'static str,
    /// The program or option that writes it.
    pub source: &'static str,
}

/// Every contract.
pub fn contracts() -> Vec<ContractEntry> {
    CONTRACTS.iter().map(contract).collect()
}

fn contract(contract: &Contract) -> ContractEntry {
    let Contract { name, about, document, type_key, .. } = *contract;
    let (sse, forms): (_, &[&str]) = match contract.sse {
        SseStyle::Bare | SseStyle::Open => ("bare", &["text/event-stream", "application/x-ndjson", "application/json"]),
        SseStyle::Named => ("named", &["text/event-stream", "application/x-ndjson", "application/json"]),
        // Raw bytes, or numbered objects in the other media types.
        SseStyle::Raw => {
            ("bare", &["text/event-stream", "application/x-ndjson", "application/json", "application/octet-stream"])
        }
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
        document_schema: contract.document_schema.map(|_| format!("/schemas/{name}/document.json")),
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
            provider: runner.provider.name,
            surfaces: surfaces(runner.surfaces),
        })
        .collect()
}

/// The contracts that leave out the user's messages unless they are asked for, as a list in a sentence. `mark` is put around each name.
pub fn without_user_messages(mark: &str) -> String {
    let names = CONTRACTS.iter().filter(|contract| contract.has_user_messages);
    let names: Vec<String> = names.map(|contract| format!("{mark}{}{mark}", contract.name)).collect();
    match names.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}
