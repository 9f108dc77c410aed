//! The envelope: ids, numbers, time.
//!
//! Input: an event's type and data. Output: the event. Never: a number on an ephemeral event, or a canonical event without one.

use super::is_ephemeral;
use crate::contracts::wire::Times;
use crate::derived::numbered;
use crate::encode::{EventId, Events, PreparedFields, Value, key};
use crate::frame::{Frame, Stream};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Writes the events of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Writer {
    #[serde(skip)]
    run: Uuid,
    /// The constant fields of the envelope.
    #[serde(skip)]
    shared: PreparedFields,
    #[serde(skip)]
    times: Times,
    /// The number of events so far, canonical and ephemeral.
    made: u64,
    /// The number of the next canonical event.
    next_seq: u64,
}

/// The envelope fields that all events of a run share.
pub(super) fn shared_fields(run: &Uuid) -> PreparedFields {
    PreparedFields::new(|map| map.id(key!("session_id"), run))
}

/// Writes an event; it is ephemeral if `seq` is `None`.
pub(super) fn write(
    id: &str,
    shared: &PreparedFields,
    seq: Option<u64>,
    time: &str,
    kind: &'static str,
    data: &impl Value,
    out: &mut Events,
) {
    let cursor = seq.map_or(EventId::None, EventId::Number);
    write_at(id, shared, (seq, cursor), time, kind, data, out);
}

/// The same, with a cursor that need not be the number.
pub(super) fn write_at(
    id: &str,
    shared: &PreparedFields,
    (seq, cursor): (Option<u64>, EventId),
    time: &str,
    kind: &'static str,
    data: &impl Value,
    out: &mut Events,
) {
    out.object(kind, cursor, |map| {
        map.text(key!("id"), id);
        map.prepared(shared);
        map.entry(key!("seq"), &seq);
        map.time(key!("ts"), time);
        map.word(key!("type"), kind);
        data.field(key!("data"), map);
    });
}

impl Writer {
    pub(super) fn new(stream: &Stream) -> Self {
        let shared = shared_fields(&stream.id);
        Self { run: stream.id, shared, times: Times::MICROS, made: 0, next_seq: 0 }
    }

    /// The same state with the ids of another writer for the stream.
    pub(super) fn named_as(self, other: &Self) -> Self {
        let Self { made, next_seq, .. } = self;
        Self { made, next_seq, ..other.clone() }
    }

    /// The state before the last event, for an event that replaces it; `None` before the first event.
    pub(super) fn before_last(&self) -> Option<Self> {
        Some(Self { made: self.made.checked_sub(1)?, ..self.clone() })
    }

    /// Whether the run has an event in the log.
    pub(super) fn has_history(&self) -> bool {
        self.next_seq > 0
    }

    /// Writes an event for a frame.
    pub(super) fn event(&mut self, frame: &Frame, kind: &'static str, data: &impl Value, out: &mut Events) {
        let seq = (!is_ephemeral(kind)).then_some(self.next_seq);
        let id = id(&self.run, self.made);
        self.made += 1;
        self.next_seq += u64::from(seq.is_some());
        write(&id, &self.shared, seq, self.times.text(frame.timestamp_ms), kind, data, out);
    }

    /// Writes the last `status` of the run. The log leaves it out, and yet a client may go on from it, so that it is read once.
    pub(super) fn closing(&mut self, frame: &Frame, data: &impl Value, out: &mut Events) {
        let cursor = self.next_seq.checked_sub(1).map_or(EventId::None, EventId::Closing);
        let id = id(&self.run, self.made);
        self.made += 1;
        write_at(&id, &self.shared, (None, cursor), self.times.text(frame.timestamp_ms), "status", data, out);
    }
}

/// 16 hexadecimal digits, the same on every replay.
pub(super) fn id(stream: &Uuid, nth: u64) -> String {
    // Both halves combined: each alone has bits that are the same in all UUIDs.
    let (high, low) = numbered(stream, "pixir/", nth).as_u64_pair();
    format!("{:016x}", high ^ low)
}
