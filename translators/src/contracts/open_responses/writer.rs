//! The envelope of each event: its type, its number, and the response.

use crate::encode::{EventId, Events, ObjectWriter, PreparedFields, key};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Writes the events of one response.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Writer {
    /// The constant fields of the envelope.
    #[serde(skip)]
    shared: PreparedFields,
    next: u64,
}

/// The id of a run's response.
pub(super) fn response_id(run: &Uuid) -> String {
    format!("resp_{}", run.simple())
}

impl Writer {
    /// A writer whose next event has that number.
    pub(super) fn new(run: &Uuid, next: u64) -> Self {
        Self { shared: PreparedFields::new(|map| map.text(key!("response_id"), &response_id(run))), next }
    }

    /// The same state with the envelope of another writer for the stream.
    pub(super) fn named_as(self, other: &Self) -> Self {
        Self { next: self.next, ..other.clone() }
    }

    /// Writes the next event.
    pub(super) fn event(&mut self, kind: &'static str, out: &mut Events, fields: impl Fn(&mut ObjectWriter<'_>)) {
        let number = self.next;
        out.object(kind, EventId::Number(number), |map| {
            map.word(key!("type"), kind);
            map.entry(key!("sequence_number"), &number);
            map.prepared(&self.shared);
            fields(map);
        });
        self.next += 1;
    }
}
