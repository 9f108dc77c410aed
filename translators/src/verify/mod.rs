//! What every verifier is: the rules of a contract that hold between events.
//!
//! In: one stream's events, parsed, in order, whoever made them. Out: findings. Never: what one event's schema says
//! already, a payload in a finding's text. An event whose partner was withheld, as the stream itself says, is no error.

mod check;
mod excuse;
mod parts;

pub use check::{Checker, Located};
pub(crate) use parts::{Ids, Numbering, OneEnd, Pairs};

use crate::warnings::Warning;
use serde_json::Value;

/// Something that is wrong with a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's stable name, such as `sequence.gap`.
    pub rule: &'static str,
    /// The place in the event, as a JSON pointer; "" for the event itself.
    pub pointer: String,
    /// What is wrong and what would be right.
    pub message: String,
    /// How bad it is.
    pub severity: Severity,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a look; the stream conforms.
    Warning,
    /// The stream does not conform.
    Error,
}

impl Finding {
    /// A breach of a rule.
    pub fn error(rule: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule, pointer: pointer.into(), message: message.into(), severity: Severity::Error }
    }

    /// One of the five warnings.
    pub fn of(warning: Warning, pointer: impl Into<String>) -> Self {
        Self {
            rule: warning.code(),
            pointer: pointer.into(),
            message: warning.message().to_owned(),
            severity: Severity::Warning,
        }
    }
}

/// Checks a file of events, which may hold several streams side by side: each is told apart by the ids in its events.
pub trait Verifier: Send {
    /// Takes the next event, whose own schema has been checked already (it may still be broken).
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>);

    /// The file is over: what should still have come?
    fn end(&mut self, findings: &mut Vec<Finding>);

    /// The id of the stream that an event belongs to; "" where it has none.
    fn stream<'e>(&self, _event: &'e Value) -> &'e str {
        ""
    }

    /// Whether an event stands for one that was withheld, in the words of the contract's `withheld` module. What the stream
    /// lacks for it is no error.
    fn tells_of_withheld(&self, _event: &Value) -> bool {
        false
    }

    /// The key that holds an event's cursor, which is also the `id:` of its server-sent event. An event without the key
    /// has no cursor; by default none has.
    fn cursor_key(&self) -> Option<&'static str> {
        None
    }
}
