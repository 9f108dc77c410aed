//! What a verifier is, and what it reports.
//!
//! Input: one stream's events, parsed, in order, from any writer. Output: findings. Never: event content in a finding's message.

use crate::warnings::Warning;
use serde_json::Value;

/// A rule that a verifier checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its stable name, such as `sequence.gap`.
    pub name: &'static str,
    /// Whether it relates an event to others, so that an event may violate it because another one was withheld.
    pub relates_events: bool,
}

impl Rule {
    /// A rule about one event, or about the place of an event in its stream.
    pub const fn of_event(name: &'static str) -> Self {
        Self { name, relates_events: false }
    }

    /// A rule that relates an event to others.
    pub const fn between_events(name: &'static str) -> Self {
        Self { name, relates_events: true }
    }
}

/// A problem in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's stable name, such as `sequence.gap`.
    pub rule: &'static str,
    /// Where in the event, as a JSON pointer; "" for the event itself.
    pub pointer: String,
    /// What is wrong, and what would be correct.
    pub message: String,
    /// The severity.
    pub severity: Severity,
    /// The origin of the rule.
    pub basis: Basis,
}

/// The origin of a rule. framegate's own output follows all rules; other writers need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The contract's document requires it.
    Document,
    /// The document does not require it, but readers will have problems without it: a warning unless framegate is the writer.
    Usual,
    /// Only framegate promises it: no finding unless framegate is the writer.
    Ours,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth attention, but the stream conforms.
    Warning,
    /// The stream does not conform.
    Error,
}

impl Finding {
    /// A violation of a rule.
    pub fn error(rule: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let severity = Severity::Error;
        Self { rule, pointer: pointer.into(), message: message.into(), severity, basis: Basis::Document }
    }

    /// Something worth attention that violates no rule.
    pub fn warning(rule: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(rule, pointer, message) }
    }

    /// The same finding with another basis.
    #[must_use]
    pub fn on(self, basis: Basis) -> Self {
        Self { basis, ..self }
    }

    /// One of the five warnings.
    pub fn of(warning: Warning, pointer: impl Into<String>) -> Self {
        Self {
            rule: warning.code(),
            pointer: pointer.into(),
            message: warning.message().to_owned(),
            severity: Severity::Warning,
            basis: Basis::Document,
        }
    }
}

/// Checks a file of events, which may interleave several streams; they are distinguished by the ids in their events.
pub trait Verifier: Send {
    /// Checks the next event. Its own schema has already been checked, but the event may be invalid.
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>);

    /// Declares that the file contains streams resumed by a client, the first one after the event with the cursor `after`.
    /// Called before the first event.
    ///
    /// # Errors
    /// Why `after` is not a cursor of the contract.
    fn resume(&mut self, after: Option<&str>) -> Result<(), String>;

    /// The file is over: reports what is missing.
    fn end(&mut self, findings: &mut Vec<Finding>);

    /// The id of an event's stream; "" if it has none.
    fn stream<'e>(&self, _event: &'e Value) -> &'e str {
        ""
    }

    /// Whether an event is the stand-in for a withheld one, as the contract's `withheld` module writes it. What the stream
    /// lacks because of that is not an error.
    fn reports_withheld(&self, _event: &Value) -> bool {
        false
    }

    /// The key of an event's cursor, which is also the `id:` of its server-sent event: a dot separates the keys of nested objects,
    /// and `|` places of which an event has one.
    /// An event without the key has no cursor. The default is `None`: no event has one.
    fn cursor_key(&self) -> Option<&'static str> {
        None
    }

    /// Whether cursors are text that only the contract can compare. The default is `false`: they are numbers.
    fn has_text_cursors(&self) -> bool {
        false
    }
}
