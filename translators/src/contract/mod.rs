//! What every contract consists of. The contracts themselves are in [`contracts`](crate::contracts).
//!
//! Input: none. Output: the types that a contract, the gate and the verifiers share. Never: vocabulary of one contract.

mod finding;
mod withheld;

pub use finding::{Basis, Finding, Rule, Severity, Verifier};
pub(crate) use withheld::NOTICE;
pub use withheld::{CODE, StandIn, Withheld};

use crate::dropped::Notice;
use crate::encode::{EventRef, NewEncoder};
use crate::schema::SchemaFile;

/// One version of an event vocabulary.
pub struct Contract {
    /// Its name with the version, as clients request it: `frames.v2`.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// The title of the document that it implements; `None` for `raw`, whose content the runners define.
    pub document: Option<&'static str>,
    /// The form of its events on an SSE stream.
    pub sse: SseStyle,
    /// The key that holds an event's type, or several places of it: see [`event_kind`](crate::event_kind).
    pub type_key: &'static str,
    /// Whether an event belongs in the contract's log, which excludes events for live display only; `None` if its document
    /// defines no log.
    pub log: Option<fn(EventRef<'_>) -> bool>,
    /// One JSON Schema for each event type; empty if the events are not our JSON.
    pub schemas: &'static [SchemaFile],
    /// One JSON Schema for all event types that the contract's document allows, from any writer; `None` if the events are not
    /// our JSON.
    pub document_schema: Option<&'static SchemaFile>,
    /// Creates an encoder for a stream.
    pub encoder: NewEncoder,
    /// Creates a verifier of the rules for whole streams, beyond the schemas of single events.
    pub verifier: fn() -> Box<dyn Verifier>,
    /// Every rule that its verifiers check, and no other one.
    pub rules: &'static [Rule],
    /// Writes the stand-in for an event that the gate withholds.
    pub withheld: StandIn,
    /// Writes the notice for a run that is no longer kept.
    pub dropped: Notice,
    /// The type of the event that `dropped` writes; empty if it writes none.
    pub notice_type: &'static str,
    /// Whether its encoder can announce that the first frames of a stream are no longer kept. If not, such a stream begins with
    /// what is left, and a client that asks for the removed part is refused.
    pub announces_pruning: bool,
    /// Whether the user's messages are among its optional events.
    pub has_user_messages: bool,
    /// Reads the first 128 bits of an artifact's SHA-256 from the id that its events give the artifact; `None` if its events
    /// use the digest itself, or have no artifacts.
    pub artifact_id: Option<fn(&str) -> Option<u128>>,
}

impl std::fmt::Debug for Contract {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Contract {
    /// The name of the event form. It differs from the contract's name only for the plain bytes of `raw`.
    pub fn view_name(&self) -> &'static str {
        if self.sse == SseStyle::Raw { "raw/bytes" } else { self.name }
    }
}

/// The form of events on an SSE stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SseStyle {
    /// Only `data:`, and `id:` if the event has a cursor. The contract's document requires it.
    Bare,
    /// The same, but the document leaves the form open: other writers may name their events.
    Open,
    /// Also `event:` with the event's type.
    Named,
    /// The runner's own bytes.
    Raw,
}
