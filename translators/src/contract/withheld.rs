//! An event that the gate withholds, for the stand-in that its contract writes.
//!
//! Input: the event, its frame, and the first violation. Output: what a stand-in needs of them. Never: the stand-in itself, which
//! the `withheld` module of each contract writes.

use crate::encode::{EventId, EventRef, Events};
use crate::frame::{Body, EndReason, Frame};
use crate::json::{Json, Kind};
use crate::schema::Violation;

/// The code for a withheld event, in every contract with codes.
pub const CODE: &str = "event_withheld";

/// The beginning of the message about a withheld event, in every contract.
pub(crate) const NOTICE: &str = "event withheld: ";

/// Writes the stand-in for a withheld event: exactly one event, with the same cursor.
pub type StandIn = fn(&Withheld<'_>, &mut Events);

/// Maximum length of a place in a message, in characters: a JSON pointer may contain keys that a model made up.
const POINTER_CHARS: usize = 200;

/// An event that is not sent.
#[derive(Clone, Copy, Debug)]
pub struct Withheld<'a> {
    /// The event.
    pub event: EventRef<'a>,
    /// The frame that produced it.
    pub frame: &'a Frame,
    /// The first violation.
    pub violation: &'a Violation,
}

impl Withheld<'_> {
    /// The message for a person: which event, and where it is invalid.
    pub fn message(&self) -> String {
        let Violation { pointer, keyword, .. } = self.violation;
        let place: String = pointer.chars().take(POINTER_CHARS).collect();
        let place = if place.is_empty() { "its top" } else { &place };
        format!("{NOTICE}{} breaks its schema at {place} ({keyword})", self.event.kind)
    }

    /// The event's number, if its cursor is a number.
    pub fn number(&self) -> Option<u64> {
        match self.event.id {
            EventId::Number(number) => Some(*number),
            EventId::None | EventId::Text(_) | EventId::Closing(_) => None,
        }
    }

    /// A string at that path in the event, for values that only its encoder knew, such as its id.
    pub fn text(&self, path: &[&str]) -> Option<String> {
        self.value(path)?.str().map(std::borrow::Cow::into_owned)
    }

    /// The strings of the list at that path in the event; `None` if there is no list.
    pub fn texts(&self, path: &[&str]) -> Option<Vec<String>> {
        let list = self.value(path).filter(|list| list.kind() == Kind::Array)?;
        Some(list.items().into_iter().filter_map(|item| item.str().map(std::borrow::Cow::into_owned)).collect())
    }

    fn value(&self, path: &[&str]) -> Option<Json<'_>> {
        let mut json = Json::parse(std::str::from_utf8(self.event.payload).ok()?).ok()?;
        for key in path {
            json = json.object()?.get(key)?;
        }
        Some(json)
    }

    /// How the run ended, if the frame is its end.
    pub fn end(&self) -> Option<EndReason> {
        match &self.frame.body {
            Body::SessionEnded(end) => Some(end.reason),
            _ => None,
        }
    }
}
