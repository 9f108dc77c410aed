//! Holds an input until its runner is known.
//!
//! Input: bytes. Output: the runner, and all the bytes again. Never: more held than the window allows, or one record if that is
//! larger.

use crate::framing::{Framing, Limits};
use crate::recognise::{Recogniser, Verdict, Window};
use crate::sequence::Identity;
use crate::tally::Counting;

pub(super) struct Holding {
    recogniser: Recogniser,
    held: Vec<u8>,
    framing: Option<Framing>,
    limits: Limits,
    identity: Identity,
}

impl Holding {
    pub(super) fn new(framing: Option<Framing>, limits: Limits, identity: Identity, window: Window) -> Self {
        let recogniser = Recogniser::new(framing, limits, window);
        Self { recogniser, held: Vec::new(), framing, limits, identity }
    }

    pub(super) fn feed(&mut self, chunk: &[u8]) -> Verdict {
        self.held.extend_from_slice(chunk);
        self.recogniser.feed(chunk)
    }

    pub(super) fn finish(&mut self) -> Verdict {
        self.recogniser.finish()
    }

    /// The counts of the records that were inspected.
    pub(super) fn into_counting(self) -> Counting {
        self.recogniser.into_counting()
    }

    pub(super) fn into_parts(self) -> (Vec<u8>, Option<Framing>, Limits, Identity) {
        (self.held, self.framing, self.limits, self.identity)
    }
}
