//! The fields that every event has: its type, its time, and in `metadata` the stream's id and the event's number.

use crate::derived::numbered;
use crate::encode::{Data, EventId, Events, ObjectWriter, PreparedFields, key};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The largest integer that the protocol allows. Its client refuses a larger one.
pub(super) const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Writes the events of one stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Writer {
    #[serde(skip)]
    stream: Uuid,
    /// The constant fields of the metadata.
    #[serde(skip)]
    shared: PreparedFields,
    /// The time of the next events, in Unix epoch milliseconds.
    #[serde(skip)]
    now_ms: u64,
    next: u64,
    /// How many fresh ids were given.
    ids: u64,
}

/// No fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nothing;

impl Data for Nothing {
    fn fields(&self, _: &mut ObjectWriter<'_>) {}
}

fn shared_fields(stream: &Uuid) -> PreparedFields {
    PreparedFields::new(|map| map.id(key!("runId"), stream))
}

/// The place of an event: its stream, its number and its time.
#[derive(Clone, Copy, Debug)]
struct Place<'p> {
    shared: &'p PreparedFields,
    seq: u64,
    time_ms: u64,
}

fn write_at(place: Place<'_>, kind: &'static str, data: &dyn Data, about: &dyn Data, out: &mut Events) {
    out.object(kind, EventId::Number(place.seq), |map| {
        map.word(key!("type"), kind);
        map.entry(key!("timestamp"), &place.time_ms.min(MAX_INTEGER));
        data.fields(map);
        map.object(key!("metadata"), |map| {
            map.prepared(place.shared);
            map.entry(key!("seq"), &place.seq);
            about.fields(map);
        });
    });
}

/// Writes one event of a stream. `about` are more fields of its metadata.
pub(super) fn write(
    (stream, seq, time_ms): (&Uuid, u64, u64),
    kind: &'static str,
    data: &dyn Data,
    about: &dyn Data,
    out: &mut Events,
) {
    write_at(Place { shared: &shared_fields(stream), seq, time_ms }, kind, data, about, out);
}

impl Writer {
    pub(super) fn new(stream: &Uuid) -> Self {
        Self { stream: *stream, shared: shared_fields(stream), now_ms: 0, next: 0, ids: 0 }
    }

    /// The same state with the constant fields of another writer for the stream.
    pub(super) fn named_as(self, other: &Self) -> Self {
        Self { next: self.next, ids: self.ids, ..other.clone() }
    }

    /// The next events have that time.
    pub(super) fn at(&mut self, now_ms: u64) {
        self.now_ms = now_ms;
    }

    /// An id that no other message, activity or subagent of any run has; a replay gives the same one.
    pub(super) fn fresh_id(&mut self) -> Uuid {
        let id = numbered(&self.stream, "ag-ui-", self.ids);
        self.ids += 1;
        id
    }

    /// Writes the next event.
    pub(super) fn event(&mut self, kind: &'static str, data: &dyn Data, out: &mut Events) {
        self.event_with(kind, data, &Nothing, out);
    }

    /// Writes the next event. `about` are more fields of its metadata.
    pub(super) fn event_with(&mut self, kind: &'static str, data: &dyn Data, about: &dyn Data, out: &mut Events) {
        let place = Place { shared: &self.shared, seq: self.next, time_ms: self.now_ms };
        write_at(place, kind, data, about, out);
        self.next += 1;
    }
}
