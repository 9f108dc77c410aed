//! The gate: handles events that violate their schema.
//!
//! Input: an event and its frame. Output: the event. If the gate enforces the schemas, an invalid event is replaced by a
//! stand-in, as its contract defines it. Never: a gap in a contract's numbers (the stand-in has the withheld event's cursor),
//! content of the withheld event other than ids, or a clock. The same frames give the same stand-ins, so a replay equals what
//! the live client saw.
//!
//! The stand-in is the contract's own error or gap event; see each contract's `withheld` module. For a stream's first event and
//! for its end, the stand-in is an event of the same sort, so that every stream begins and ends as required.

use crate::contract::Contract;
pub(crate) use crate::contract::NOTICE;
pub use crate::contract::{CODE, StandIn, Withheld};
use crate::encode::{EventRef, Events};
use crate::frame::Frame;
use crate::schema::{Schemas, Violation};

/// The gate's decision about an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The event is valid and was sent.
    Kept,
    /// The event is invalid and was sent.
    Broken(Vec<Violation>),
    /// The event is invalid, and a stand-in was sent.
    Withheld(Vec<Violation>),
}

/// Checks the events of one contract.
pub struct Gate<'s> {
    contract: &'static Contract,
    schemas: &'s Schemas,
    enforce: bool,
}

impl<'s> Gate<'s> {
    /// A gate. If `enforce` is true, it withholds invalid events; otherwise it sends them.
    pub fn new(contract: &'static Contract, schemas: &'s Schemas, enforce: bool) -> Self {
        Self { contract, schemas, enforce }
    }

    /// Whether all events conform to their schemas.
    pub fn accepts(&self, events: &Events) -> bool {
        events.iter().all(|event| self.schemas.check(event).is_ok())
    }

    /// Checks an event; `sink` gets the event or its stand-in.
    pub fn pass(&self, frame: &Frame, event: EventRef<'_>, sink: &mut dyn FnMut(EventRef<'_>)) -> Verdict {
        let Err(mut violations) = self.schemas.check(event) else {
            sink(event);
            return Verdict::Kept;
        };
        let Some(violation) = violations.first().filter(|_| self.enforce) else {
            sink(event);
            return Verdict::Broken(violations);
        };
        let mut out = Events::default();
        (self.contract.withheld)(&Withheld { event, frame, violation }, &mut out);
        for stand_in in out.iter() {
            // The stand-in's content is ours, so it can be invalid only if the envelope is. Then no event of the stream is
            // valid, and a gap in the numbers would be worse.
            violations.extend(self.schemas.check(stand_in).err().unwrap_or_default());
            sink(stand_in);
        }
        Verdict::Withheld(violations)
    }
}
