//! The gate: what becomes of an event that breaks its schema.
//!
//! In: an event and the frame that gave rise to it. Out: the event; or, where the gate holds back what is broken, what its
//! contract says in its place. Never: a hole in a contract's numbers (what stands in has the withheld event's cursor),
//! anything of the withheld event's content but ids, a clock: the same frames give the same stand-ins, so a replay is
//! what the live client saw.
//!
//! What stands in is each contract's own error or gap event: see the `withheld` module of each. A stream's first event and its
//! end keep their place: an event of that sort stands in for them, so that every stream begins and ends as it must.

use crate::contracts::Contract;
use crate::encode::{EventId, EventRef, Events};
use crate::frame::{Body, EndReason, Frame};
use crate::json::Json;
use crate::schema::{Breach, Schemas};

/// The code that says, in every contract that has codes, that an event was withheld.
pub const CODE: &str = "event_withheld";

/// What the message about a withheld event begins with, in every contract.
pub(crate) const NOTICE: &str = "event withheld: ";

/// Writes what stands in for a withheld event: exactly one event, with its cursor.
pub type StandIn = fn(&Withheld<'_>, &mut Events);

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It keeps its schema, and is sent.
    Kept,
    /// It breaks its schema, and is sent.
    Broken(Vec<Breach>),
    /// It breaks its schema, and another event is sent in its place.
    Withheld(Vec<Breach>),
}

/// An event that is not sent.
#[derive(Clone, Copy, Debug)]
pub struct Withheld<'a> {
    /// The event.
    pub event: EventRef<'a>,
    /// The frame that gave rise to it.
    pub frame: &'a Frame,
    /// What is wrong with it, or the first of several things.
    pub breach: &'a Breach,
}

/// Passes the events of one contract.
pub struct Gate<'s> {
    contract: &'static Contract,
    schemas: &'s Schemas,
    enforce: bool,
}

/// No message names a place longer than this, in characters: a pointer may hold keys that a model made up.
const POINTER_CHARS: usize = 200;

impl<'s> Gate<'s> {
    /// A gate that sends what is broken, or (`enforce`) holds it back.
    pub fn new(contract: &'static Contract, schemas: &'s Schemas, enforce: bool) -> Self {
        Self { contract, schemas, enforce }
    }

    /// Checks an event; `sink` gets it, or what stands in for it.
    pub fn pass(&self, frame: &Frame, event: EventRef<'_>, sink: &mut dyn FnMut(EventRef<'_>)) -> Verdict {
        let Err(mut breaches) = self.schemas.check(event) else {
            sink(event);
            return Verdict::Kept;
        };
        let Some(breach) = breaches.first().filter(|_| self.enforce) else {
            sink(event);
            return Verdict::Broken(breaches);
        };
        let mut out = Events::default();
        (self.contract.withheld)(&Withheld { event, frame, breach }, &mut out);
        for stand_in in out.iter() {
            // Its content is ours, so only an envelope that is broken can break it; then no event of the stream is
            // better, and a hole in the numbers would be worse.
            breaches.extend(self.schemas.check(stand_in).err().unwrap_or_default());
            sink(stand_in);
        }
        Verdict::Withheld(breaches)
    }
}

impl Withheld<'_> {
    /// What a person is told: which event, and where it is broken.
    pub fn message(&self) -> String {
        let Breach { pointer, keyword, .. } = self.breach;
        let place: String = pointer.chars().take(POINTER_CHARS).collect();
        let place = if place.is_empty() { "its top" } else { &place };
        format!("{NOTICE}{} breaks its schema at {place} ({keyword})", self.event.kind)
    }

    /// The number of the event, where its cursor is one.
    pub fn number(&self) -> Option<u64> {
        match self.event.id {
            EventId::Number(number) => Some(*number),
            EventId::None | EventId::Text(_) => None,
        }
    }

    /// A text at that path in the event, for what only its encoder knew, such as its id.
    pub fn text(&self, path: &[&str]) -> Option<String> {
        let mut json = Json::parse(std::str::from_utf8(self.event.payload).ok()?).ok()?;
        for key in path {
            json = json.object()?.get(key)?;
        }
        json.str().map(std::borrow::Cow::into_owned)
    }

    /// How the run ended, where the frame is its end.
    pub fn end(&self) -> Option<EndReason> {
        match &self.frame.body {
            Body::SessionEnded(end) => Some(end.reason),
            _ => None,
        }
    }
}
