//! The envelope: ids, numbers, time.
//!
//! In: an event's type and data. Out: the event. Never: a number on an ephemeral event, a canonical one without.

use super::is_ephemeral;
use crate::contracts::wire::Times;
use crate::derived::numbered;
use crate::encode::{EventId, Events, Kept, Value, key};
use crate::frame::{Frame, Stream};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Writes the events of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Writer {
    #[serde(skip)]
    run: Uuid,
    /// The fields of the envelope that stay the same.
    #[serde(skip)]
    shared: Kept,
    #[serde(skip)]
    times: Times,
    /// How many events there were, of either sort.
    made: u64,
    /// The number of the next canonical event.
    next_seq: u64,
}

/// The fields of the envelope that all events of a run share.
pub(super) fn shared_fields(run: &Uuid) -> Kept {
    Kept::new(|map| map.id(key!("session_id"), run))
}

/// Writes an event. Without `seq` it is an ephemeral one.
pub(super) fn write(
    id: &str,
    shared: &Kept,
    seq: Option<u64>,
    time: &str,
    kind: &'static str,
    data: &impl Value,
    out: &mut Events,
) {
    out.object(kind, seq.map_or(EventId::None, EventId::Number), |map| {
        map.text(key!("id"), id);
        map.kept(shared);
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

    /// The same, with the ids of another writer, which its stream gives.
    pub(super) fn named_as(self, other: &Self) -> Self {
        let Self { made, next_seq, .. } = self;
        Self { made, next_seq, ..other.clone() }
    }

    /// As it was before the last event, for one that stands in its place; `None` before the first.
    pub(super) fn before_last(&self) -> Option<Self> {
        Some(Self { made: self.made.checked_sub(1)?, ..self.clone() })
    }

    /// Writes an event that the frame gave rise to.
    pub(super) fn event(&mut self, frame: &Frame, kind: &'static str, data: &impl Value, out: &mut Events) {
        let seq = (!is_ephemeral(kind)).then_some(self.next_seq);
        let id = id(&self.run, self.made);
        self.made += 1;
        self.next_seq += u64::from(seq.is_some());
        write(&id, &self.shared, seq, self.times.text(frame.timestamp_ms), kind, data, out);
    }
}

/// 16 hexadecimal digits, the same on every replay.
pub(super) fn id(stream: &Uuid, nth: u64) -> String {
    // Both halves together: each alone holds bits that are the same in all UUIDs.
    let (high, low) = numbered(stream, "pixir/", nth).as_u64_pair();
    format!("{:016x}", high ^ low)
}
