//! The notice to a reader whose run was dropped before it was read to the end.
//!
//! Input: the run, the frames that the reader lacks, how many of its events are known, and when it was dropped. Output: one
//! event in the contract's own vocabulary. Never: a frame or an event of the run; all of them are deleted, including the run's
//! end.

use crate::encode::Events;
use crate::frame::Stream;
use std::ops::Range;
use std::sync::Arc;

/// The code for dropped events, in every contract with codes.
pub const CODE: &str = "events_pruned";

/// A run that is no longer kept.
#[derive(Clone, Debug)]
pub struct Dropped<'a> {
    /// The run's stream.
    pub stream: &'a Arc<Stream>,
    /// The frames that the reader lacks.
    pub frames: Range<u64>,
    /// How many of its events are known in this contract; the notice continues from that number.
    pub events: u64,
    /// When it was dropped, in Unix epoch milliseconds.
    pub at_ms: u64,
    /// Why the reader lacks the frames, if not because the run was dropped.
    pub why: Option<&'a str>,
}

/// Writes the notice: exactly one event.
pub type Notice = fn(&Dropped<'_>, &mut Events);

impl Dropped<'_> {
    /// The message for a person.
    pub fn message(&self) -> String {
        if let Some(why) = self.why {
            return why.to_owned();
        }
        let Range { start, end } = self.frames;
        format!("retention: this run is no longer kept; frames {start} to {} were not read", end.saturating_sub(1))
    }
}
