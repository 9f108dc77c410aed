//! Frames get their numbers, and what is open is closed.
//!
//! In: bodies, and streams that are over. Out: frames. Never: something that is left open behind an end.

use super::open::Open;
use super::{Ledger, Place};
use crate::frame::{ApprovalResolved, Body, Decision, Frame, Name, TaskEvent, TaskStatus, Tool, ToolCall, ToolKind};
use crate::sequence::{Numbered, StreamKey};

/// Room for so many frames is made at once: as many as a few records give rise to. Grown bit by bit, they are moved each time.
const FRAMES: usize = 32;

impl Ledger {
    /// The book of a stream; that of its session's thread once the stream is closed.
    pub(super) fn book(&mut self, stream: StreamKey) -> &mut Open {
        let stream = if self.is_open(stream) { stream } else { self.thread() };
        self.open.entry(stream).or_default()
    }

    pub(super) fn end_task(&mut self, stream: StreamKey, why: &str) {
        let Some(task_id) = self.stream(stream).map(|stream| stream.id) else { return };
        let body = Body::Task(Box::new(TaskEvent::Status {
            task_id,
            status: TaskStatus::Failed,
            exit_code: None,
            started_at_ms: None,
            ended_at_ms: Some(self.time_ms),
            artifacts: None,
            error: Some(why.to_owned()),
        }));
        self.emit(Place::main(stream), body);
        self.close_task(stream);
    }

    /// Where a call's output or end goes: the place it started at; `None` where the call, or its run, is already over.
    pub(super) fn for_output(&mut self, place: Place, tool: &Tool) -> Option<Place> {
        if !self.is_open(place.stream) {
            return None;
        }
        let book = self.book(place.stream);
        if let Some(parent) = book.tool_parent(tool) {
            return Some(Place { stream: place.stream, parent });
        }
        if book.tool_is_over(tool) {
            return None;
        }
        let call = ToolCall {
            tool: tool.clone(),
            name: Name::from(""),
            kind: ToolKind::Other,
            args: crate::json::empty_object(),
        };
        self.tool_started(place, call, None);
        Some(place)
    }

    pub(super) fn close_all(&mut self, stream: StreamKey, why: &str) {
        self.close_open(stream, why);
        self.turn_ended(stream, None);
    }

    pub(super) fn close_open(&mut self, stream: StreamKey, why: &str) {
        let Some(open) = self.open.get_mut(&stream) else { return };
        let (blocks, approvals, tools, subagents) = open.take_all();
        for (parent, bodies) in blocks {
            self.emit_all(Place { stream, parent }, bodies);
        }
        for (approval_id, parent) in approvals {
            let body = Body::ApprovalResolved(Box::new(ApprovalResolved {
                approval_id,
                decision: Decision::Cancelled,
                by: None,
                reason: Some(why.to_owned()),
                scope: None,
            }));
            self.emit(Place { stream, parent }, body);
        }
        for (tool, parent) in tools {
            self.emit(Place { stream, parent }, Body::ToolFailed { tool, error: why.to_owned() });
        }
        for (subagent_id, parent) in subagents {
            let body = Body::SubagentEnded { subagent_id, status: Name::from("interrupted"), summary: None };
            self.emit(Place { stream, parent }, body);
        }
    }

    pub(super) fn emit_all(&mut self, place: Place, bodies: impl IntoIterator<Item = Body>) {
        for body in bodies {
            self.emit(place, body);
        }
    }

    pub(super) fn emit(&mut self, place: Place, body: Body) {
        // The run's opening is not derived from the record: the record is the first thing in it.
        if !matches!(body, Body::SessionStarted { .. }) {
            self.record_on(place.stream);
        }
        self.number(place, body);
    }

    pub(super) fn number(&mut self, place: Place, body: Body) {
        let numbered = self.sequencer.next(place.stream, self.time_ms).or_else(|| {
            // The stream is over. What still comes belongs to its session.
            let thread = self.thread();
            self.sequencer.next(thread, self.time_ms)
        });
        let Some(Numbered { stream, seq, timestamp_ms }) = numbered else { return };
        self.quiet.note(place, &body, timestamp_ms);
        if self.frames.capacity() == 0 {
            self.frames.reserve(FRAMES);
        }
        self.frames.push(Frame { stream, seq, timestamp_ms, parent_tool_id: place.parent, body });
    }
}
