//! The envelope, and the numbering of events.
//!
//! Input: a type, its data, a time. Output: one enveloped event. Never: an event before output that preceded it; held output is
//! emitted first.

use super::ids::{self, RunBits};
use super::shell::OutputJoiner;
use crate::contracts::wire::Times;
use crate::encode::{EventId, Events, PreparedFields, Time, Ulid, Value, key};
use crate::frame::{Frame, Stream};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The fields that all envelopes of a run share.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedFields {
    version: PreparedFields,
    ids: PreparedFields,
}

impl SharedFields {
    pub(super) fn new(stream: &Stream) -> Self {
        let session = stream.session.id;
        Self {
            version: PreparedFields::new(|map| map.word(key!("schema_version"), "1")),
            ids: PreparedFields::new(|map| {
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
            map.prepared(&self.version);
            event_id.field(key!("event_id"), map);
            map.prepared(&self.ids);
            map.entry(key!("sequence"), &sequence);
            time.field(key!("occurred_at"), map);
            map.word(key!("type"), kind);
            data.field(key!("data"), map);
        });
    }
}

/// The state of a run's event sequence.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventSequence {
    #[serde(skip)]
    run: Uuid,
    #[serde(skip)]
    bits: RunBits,
    #[serde(skip)]
    shared: SharedFields,
    #[serde(skip)]
    times: Times,
    /// The number of events so far.
    next: u64,
    /// The time of the last event.
    last_ms: u64,
    /// Shell output that is held for joining.
    pub(super) held: OutputJoiner,
}

impl EventSequence {
    pub(super) fn new(stream: &Stream) -> Self {
        Self {
            run: stream.id,
            bits: RunBits::new(stream.id),
            shared: SharedFields::new(stream),
            times: Times::MILLIS,
            next: 0,
            last_ms: 0,
            held: OutputJoiner::default(),
        }
    }

    /// The same state with the ids of another encoder of the stream.
    pub(super) fn named_as(self, other: &Self) -> Self {
        let Self { next, last_ms, held, .. } = self;
        Self { next, last_ms, held, ..other.clone() }
    }

    /// The sequence number of the last event, and the state before it; `None` before the first event.
    pub(super) fn before_last(&self) -> Option<(u64, Self)> {
        let last = self.next.checked_sub(1)?;
        Some((last, Self { next: last, held: OutputJoiner::default(), ..self.clone() }))
    }

    /// Writes an event that replaces an earlier one.
    pub(super) fn write_again(&mut self, kind: &'static str, data: &impl Value, out: &mut Events) {
        self.write(self.last_ms, kind, data, out);
    }

    /// Emits held output.
    pub(super) fn flush(&mut self, out: &mut Events) {
        if let Some((unix_ms, chunk)) = self.held.release() {
            self.write(unix_ms, "tool.shell.output_chunk", &chunk.wire(), out);
        }
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

/// The output for the events of one frame.
pub(super) struct EventSink<'s> {
    outlet: &'s mut EventSequence,
    out: &'s mut Events,
    /// The frame's time.
    pub(super) now_ms: u64,
    /// The tool call of the subagent that caused the frame.
    pub(super) parent: Option<Uuid>,
}

impl<'s> EventSink<'s> {
    pub(super) fn new(outlet: &'s mut EventSequence, out: &'s mut Events, frame: &Frame) -> Self {
        Self { outlet, out, now_ms: frame.timestamp_ms, parent: frame.parent_tool_id }
    }

    /// Emits an event.
    pub(super) fn emit(&mut self, kind: &'static str, data: &impl Value) {
        self.flush();
        self.outlet.write(self.now_ms, kind, data, self.out);
    }

    /// Handles a piece of shell output, which may be held for joining.
    pub(super) fn output(&mut self, chunk: super::shell::Chunk) {
        if !self.outlet.held.joins(&chunk) {
            self.flush();
        }
        if self.outlet.held.take(chunk, self.now_ms) {
            self.flush();
        }
    }

    /// Emits held output that is due.
    pub(super) fn flush_due(&mut self) {
        if self.outlet.held.is_due(self.now_ms) {
            self.flush();
        }
    }

    /// The id of the last event; `None` before the first event.
    pub(super) fn last_event_id(&self) -> Option<String> {
        let sequence = self.outlet.next.checked_sub(1)?;
        Some(self.outlet.bits.event_id(self.outlet.last_ms, sequence))
    }

    /// The sequence and the time of the last event, after emitting held output; `None` before the first event.
    pub(super) fn last_event(&mut self) -> Option<(u64, u64)> {
        self.flush();
        Some((self.outlet.next.checked_sub(1)?, self.outlet.last_ms))
    }

    /// A generated id for a call that is not a call for the runner.
    pub(super) fn new_call_id(&self) -> String {
        ids::call_id(self.outlet.run, self.outlet.next)
    }

    /// Emits held output.
    pub(super) fn flush(&mut self) {
        self.outlet.flush(self.out);
    }
}
