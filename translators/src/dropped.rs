//! What a reader is told whose run was dropped before it had read it to its end.
//!
//! In: the run, which of its frames the reader lacks, how many of its events are known, when it was dropped. Out: one event
//! in the contract's own words. Never: a frame or an event of the run: they are gone, and so is the run's end.

use crate::encode::Events;
use crate::frame::Stream;
use std::ops::Range;
use std::sync::Arc;

/// The code of what is gone, in every contract that has codes.
pub const CODE: &str = "events_pruned";

/// A run that is not kept any more.
#[derive(Clone, Debug)]
pub struct Dropped<'a> {
    /// Its stream.
    pub stream: &'a Arc<Stream>,
    /// The frames that the reader lacks.
    pub frames: Range<u64>,
    /// How many of its events there were in this contract, as far as anybody counted them: what is said of it goes on from
    /// that number.
    pub events: u64,
    /// When it was dropped, in Unix epoch milliseconds.
    pub at_ms: u64,
}

/// Writes what is said of it: exactly one event.
pub type Notice = fn(&Dropped<'_>, &mut Events);

impl Dropped<'_> {
    /// What a person is told.
    pub fn message(&self) -> String {
        let Range { start, end } = self.frames;
        format!("retention: this run is no longer kept; frames {start} to {} were not read", end.saturating_sub(1))
    }
}
