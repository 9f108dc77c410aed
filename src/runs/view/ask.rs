//! What readers of a stream ask for, and what they get.

use bytes::Bytes;
use framegate_translators::encode::EventId;

/// The wire format of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Server-sent events.
    Sse,
    /// One event per line.
    Ndjson,
}

/// Which events a reader wants.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'t> {
    /// The number of the first event.
    pub from: u64,
    /// Only events that come from frames before this one.
    pub frames: u64,
    /// The wire format.
    pub wire: Wire,
    /// Approximate maximum of bytes. At least one event is always returned.
    pub max_bytes: usize,
    /// Maximum number of events.
    pub max_events: usize,
    /// Only events of these types; `None`: all.
    pub types: Option<&'t [String]>,
}

impl Ask<'_> {
    /// Whether the reader wants events of this type.
    pub(super) fn wants(&self, kind: &str) -> bool {
        self.types.is_none_or(|types| types.iter().any(|wanted| wanted == kind))
    }
}

/// Which events a reader of single events wants. The fields are those of [`Ask`].
#[derive(Clone, Copy, Debug)]
pub(in crate::runs) struct Read {
    pub(in crate::runs) from: u64,
    pub(in crate::runs) frames: u64,
    pub(in crate::runs) max_bytes: usize,
    pub(in crate::runs) max_events: usize,
}

/// One event, with the frame that it comes from.
#[derive(Debug)]
pub(in crate::runs) struct Single {
    pub(in crate::runs) kind: &'static str,
    pub(in crate::runs) frame: u64,
    pub(in crate::runs) nth: u32,
    /// The event's JSON, with a line end.
    pub(in crate::runs) line: Bytes,
}

/// Some events, ready for the wire.
#[derive(Debug, Default)]
pub struct Batch {
    /// The bytes, in order.
    pub chunks: Vec<Bytes>,
    /// The number after the last event.
    pub next: u64,
    /// The number after the frame that the last event comes from.
    pub frames: u64,
    /// The number of events in `chunks`.
    pub events: u64,
    /// The cursor of the last event that has one.
    pub last_id: Option<EventId>,
    /// Whether the last event has a cursor, so that a reader can resume after it.
    pub ends_on_id: bool,
    /// The requested events are gone, and the contract has no event that says so. `next` is the first kept event.
    pub lost: bool,
}
