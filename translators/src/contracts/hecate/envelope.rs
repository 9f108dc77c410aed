//! The envelope, and the outlet that numbers events.
//!
//! In: a type, its data, a time. Out: one enveloped event. Never: an event in front of output that came before it: what
//! is held back goes first.

use super::ids::{self, RunBits};
use super::shell::Held;
use crate::contracts::wire::rfc3339_millis;
use crate::encode::{EventId, Events};
use crate::frame::{Frame, Stream};
use serde::Serialize;
use uuid::Uuid;

#[derive(Serialize)]
pub(super) struct Envelope<'a, D> {
    pub(super) schema_version: &'static str,
    pub(super) event_id: String,
    pub(super) run_id: &'a str,
    pub(super) task_id: &'a str,
    pub(super) session_id: &'a str,
    pub(super) sequence: u64,
    pub(super) occurred_at: String,
    pub(super) r#type: &'static str,
    pub(super) data: &'a D,
}

/// The events of one run so far, as far as the next one depends on them.
#[derive(Clone, Debug)]
pub(super) struct Outlet {
    run: Uuid,
    bits: RunBits,
    run_id: String,
    task_id: String,
    session_id: String,
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
            run_id: ids::run_id(stream.id),
            task_id: ids::task_id(stream.session.id),
            session_id: ids::session_id(stream.session.id),
            next: 0,
            last_ms: 0,
            held: Held::default(),
        }
    }

    fn write<D: Serialize>(&mut self, unix_ms: u64, kind: &'static str, data: &D, out: &mut Events) {
        let sequence = self.next;
        self.next += 1;
        self.last_ms = unix_ms;
        let envelope = Envelope {
            schema_version: "1",
            event_id: self.bits.event_id(unix_ms, sequence),
            run_id: &self.run_id,
            task_id: &self.task_id,
            session_id: &self.session_id,
            sequence,
            occurred_at: rfc3339_millis(unix_ms),
            r#type: kind,
            data,
        };
        out.json(kind, EventId::Number(sequence), &envelope);
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
    pub(super) fn say<D: Serialize>(&mut self, kind: &'static str, data: &D) {
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
