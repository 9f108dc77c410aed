//! The envelope, and the outlet that numbers events.
//!
//! In: a type, its data, a time. Out: one enveloped event. Never: an event in front of output that came before it: what
//! is held back goes first.

use super::ids::{self, RunBits};
use super::shell::Held;
use crate::contracts::wire::Times;
use crate::encode::{EventId, Events, Kept, Time, Ulid, Value, key};
use crate::frame::{Frame, Stream};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What the envelopes of a run share.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    version: Kept,
    ids: Kept,
}

impl Shared {
    pub(super) fn new(stream: &Stream) -> Self {
        let session = stream.session.id;
        Self {
            version: Kept::new(|map| map.word(key!("schema_version"), "1")),
            ids: Kept::new(|map| {
                map.ulid(key!("run_id"), "run_", &ids::run_id(stream.id));
                map.ulid(key!("task_id"), "task_", &ids::task_id(session));
                map.ulid(key!("session_id"), "chat_", &ids::session_id(session));
            }),
        }
    }

    /// Writes an event.
    pub(super) fn write(
        &self,
        event_id: &impl Value,
        sequence: u64,
        time: &impl Value,
        kind: &'static str,
        data: &impl Value,
        out: &mut Events,
    ) {
        out.object(kind, EventId::Number(sequence), |map| {
            map.kept(&self.version);
            event_id.field(key!("event_id"), map);
            map.kept(&self.ids);
            map.entry(key!("sequence"), &sequence);
            time.field(key!("occurred_at"), map);
            map.word(key!("type"), kind);
            data.field(key!("data"), map);
        });
    }
}

/// The events of one run so far, as far as the next one depends on them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outlet {
    #[serde(skip)]
    run: Uuid,
    #[serde(skip)]
    bits: RunBits,
    #[serde(skip)]
    shared: Shared,
    #[serde(skip)]
    times: Times,
    /// How many events there were.
    next: u64,
    /// The time of the last one.
    last_ms: u64,
    /// Shell output that waits for more.
    pub(super) held: Held,
}

impl Outlet {
    pub(super) fn new(stream: &Stream) -> Self {
        Self {
            run: stream.id,
            bits: RunBits::new(stream.id),
            shared: Shared::new(stream),
            times: Times::MILLIS,
            next: 0,
            last_ms: 0,
            held: Held::default(),
        }
    }

    /// The same, with the ids of another outlet, which its stream gives.
    pub(super) fn named_as(self, other: &Self) -> Self {
        let Self { next, last_ms, held, .. } = self;
        Self { next, last_ms, held, ..other.clone() }
    }

    /// The sequence of the last event, and the outlet as it was before it; `None` before the first.
    pub(super) fn before_last(&self) -> Option<(u64, Self)> {
        let last = self.next.checked_sub(1)?;
        Some((last, Self { next: last, held: Held::default(), ..self.clone() }))
    }

    /// Writes an event in the place of one that was.
    pub(super) fn write_again(&mut self, kind: &'static str, data: &impl Value, out: &mut Events) {
        self.write(self.last_ms, kind, data, out);
    }

    fn write(&mut self, unix_ms: u64, kind: &'static str, data: &impl Value, out: &mut Events) {
        let sequence = self.next;
        self.next += 1;
        self.last_ms = unix_ms;
        let event_id = self.bits.event_id(unix_ms, sequence);
        let time = Time(self.times.text(unix_ms));
        self.shared.write(&Ulid("evt_", &event_id), sequence, &time, kind, data, out);
    }
}

/// Where the events of one frame go.
pub(super) struct Stage<'s> {
    outlet: &'s mut Outlet,
    out: &'s mut Events,
    /// The frame's time.
    pub(super) now_ms: u64,
    /// The call in whose name a subagent caused the frame.
    pub(super) parent: Option<Uuid>,
}

impl<'s> Stage<'s> {
    pub(super) fn new(outlet: &'s mut Outlet, out: &'s mut Events, frame: &Frame) -> Self {
        Self { outlet, out, now_ms: frame.timestamp_ms, parent: frame.parent_tool_id }
    }

    /// Emits an event.
    pub(super) fn say(&mut self, kind: &'static str, data: &impl Value) {
        self.flush();
        self.outlet.write(self.now_ms, kind, data, self.out);
    }

    /// Takes a piece of shell output, which may wait for more.
    pub(super) fn output(&mut self, chunk: super::shell::Chunk) {
        if !self.outlet.held.joins(&chunk) {
            self.flush();
        }
        if self.outlet.held.take(chunk, self.now_ms) {
            self.flush();
        }
    }

    /// Emits output that has waited long enough.
    pub(super) fn flush_due(&mut self) {
        if self.outlet.held.is_due(self.now_ms) {
            self.flush();
        }
    }

    /// The id of the last event; `None` before the first.
    pub(super) fn last_event_id(&self) -> Option<String> {
        let sequence = self.outlet.next.checked_sub(1)?;
        Some(self.outlet.bits.event_id(self.outlet.last_ms, sequence))
    }

    /// The sequence and the time of the last event, and of what is held before it; `None` before the first.
    pub(super) fn last_event(&mut self) -> Option<(u64, u64)> {
        self.flush();
        Some((self.outlet.next.checked_sub(1)?, self.outlet.last_ms))
    }

    /// An id for a call that the runner does not know as one.
    pub(super) fn new_call_id(&self) -> String {
        ids::call_id(self.outlet.run, self.outlet.next)
    }

    /// Emits output that waits: nothing follows it for now.
    pub(super) fn flush(&mut self) {
        if let Some((unix_ms, chunk)) = self.outlet.held.release() {
            self.outlet.write(unix_ms, "tool.shell.output_chunk", &chunk.wire(), self.out);
        }
    }
}
