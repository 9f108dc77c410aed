//! The envelope: ids, numbers, time.
//!
//! In: an event's type and data. Out: the event. Never: a number on an ephemeral event, a canonical one without.

use super::is_ephemeral;
use crate::contracts::wire::rfc3339_micros;
use crate::derived::uuid_v5;
use crate::encode::{EventId, Events};
use crate::frame::Frame;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Writes the events of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Writer {
    /// How many events there were, of either sort.
    made: u64,
    /// The number of the next canonical event.
    next_seq: u64,
}

#[derive(Serialize)]
pub(super) struct Envelope<'a, D> {
    pub(super) id: String,
    pub(super) session_id: &'a Uuid,
    pub(super) seq: Option<u64>,
    pub(super) ts: String,
    pub(super) r#type: &'static str,
    pub(super) data: &'a D,
}

impl Writer {
    /// As it was before the last event, for one that stands in its place; `None` before the first.
    pub(super) fn before_last(&self) -> Option<Self> {
        Some(Self { made: self.made.checked_sub(1)?, ..self.clone() })
    }

    /// Writes an event that the frame gave rise to.
    pub(super) fn event<D: Serialize>(&mut self, frame: &Frame, kind: &'static str, data: &D, out: &mut Events) {
        let seq = (!is_ephemeral(kind)).then_some(self.next_seq);
        let envelope = Envelope {
            id: id(&frame.stream.id, self.made),
            session_id: &frame.stream.id,
            seq,
            ts: rfc3339_micros(frame.timestamp_ms),
            r#type: kind,
            data,
        };
        self.made += 1;
        self.next_seq += u64::from(seq.is_some());
        out.json(kind, seq.map_or(EventId::None, EventId::Number), &envelope);
    }
}

/// 16 hexadecimal digits, the same on every replay.
pub(super) fn id(stream: &Uuid, nth: u64) -> String {
    // Both halves together: each alone holds bits that are the same in all UUIDs.
    let (high, low) = uuid_v5(stream, format!("pixir/{nth}").as_bytes()).as_u64_pair();
    format!("{:016x}", high ^ low)
}
