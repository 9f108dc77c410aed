//! The envelope that framegate adds to each chunk: the stream's id and the chunk's number.

use crate::encode::{Data, EventId, Events, ObjectWriter, PreparedFields, key};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Writes the chunks of one stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Writer {
    /// The constant fields of the envelope.
    #[serde(skip)]
    shared: PreparedFields,
    next: u64,
}

/// The data of a chunk that consists of its type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nothing;

impl Data for Nothing {
    fn fields(&self, _: &mut ObjectWriter<'_>) {}
}

fn shared_fields(run: &Uuid) -> PreparedFields {
    PreparedFields::new(|map| map.id(key!("runId"), run))
}

fn write_with(shared: &PreparedFields, seq: u64, kind: &'static str, data: &impl Data, out: &mut Events) {
    out.object(kind, EventId::Number(seq), |map| {
        map.word(key!("type"), kind);
        data.fields(map);
        map.prepared(shared);
        map.entry(key!("seq"), &seq);
    });
}

/// Writes one chunk of a stream.
pub(super) fn write(run: &Uuid, seq: u64, kind: &'static str, data: &impl Data, out: &mut Events) {
    write_with(&shared_fields(run), seq, kind, data, out);
}

impl Writer {
    pub(super) fn new(run: &Uuid) -> Self {
        Self { shared: shared_fields(run), next: 0 }
    }

    /// The same state with the envelope of another writer for the stream.
    pub(super) fn named_as(self, other: &Self) -> Self {
        Self { next: self.next, ..other.clone() }
    }

    /// Writes the next chunk.
    pub(super) fn chunk(&mut self, kind: &'static str, data: &impl Data, out: &mut Events) {
        write_with(&self.shared, self.next, kind, data, out);
        self.next += 1;
    }
}
