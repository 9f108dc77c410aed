//! Numbers frames and closes what is open.
//!
//! Input: bodies, and streams that are over. Output: frames. Never: something still open after its stream's end.

use super::stream_state::StreamState;
use super::{Normalizer, Target};
use crate::frame::{
    ApprovalResolved, Body, Decision, Frame, SharedStr, TaskEvent, TaskStatus, Tool, ToolCall, ToolKind,
};
use crate::sequence::{Numbered, StreamKey};

/// Initial capacity of the frame list: enough for a few records. Growing step by step would move the frames each time.
const FRAMES: usize = 32;

impl Normalizer {
    /// The state of a stream; once the stream is closed, that of its session's thread.
    pub(super) fn book(&mut self, stream: StreamKey) -> &mut StreamState {
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
        self.emit(Target::main(stream), body);
        self.close_task(stream);
    }

    /// The place for a call's output or end: where the call started. `None` if the call or its run is already over.
    pub(super) fn for_output(&mut self, target: Target, tool: &Tool) -> Option<Target> {
        if !self.is_open(target.stream) {
            return None;
        }
        let book = self.book(target.stream);
        if let Some(parent) = book.tool_parent(tool) {
            return Some(Target { stream: target.stream, parent });
        }
        if book.tool_is_over(tool) || book.was_given_up(&tool.call_id) {
            return None;
        }
        let call = ToolCall {
            tool: tool.clone(),
            name: SharedStr::from(""),
            kind: ToolKind::Other,
            args: crate::json::empty_object(),
        };
        self.tool_started(target, call, None);
        Some(target)
    }

    pub(super) fn close_all(&mut self, stream: StreamKey, why: &str) {
        self.close_open(stream, why);
        self.turn_ended(stream, None);
    }

    pub(super) fn close_open(&mut self, stream: StreamKey, why: &str) {
        let Some(open) = self.open.get_mut(&stream) else { return };
        let (blocks, approvals, tools, subagents) = open.take_all();
        for (parent, bodies) in blocks {
            self.emit_all(Target { stream, parent }, bodies);
        }
        for (approval_id, parent) in approvals {
            let body = Body::ApprovalResolved(Box::new(ApprovalResolved {
                approval_id,
                decision: Decision::Cancelled,
                by: None,
                reason: Some(why.to_owned()),
                scope: None,
            }));
            self.emit(Target { stream, parent }, body);
        }
        for (tool, parent, order) in tools {
            self.calls.remove(order);
            self.emit(Target { stream, parent }, Body::ToolFailed { tool, error: why.to_owned() });
        }
        for (subagent_id, parent) in subagents {
            let body = Body::SubagentEnded { subagent_id, status: SharedStr::from("interrupted"), summary: None };
            self.emit(Target { stream, parent }, body);
        }
    }

    pub(super) fn emit_all(&mut self, target: Target, bodies: impl IntoIterator<Item = Body>) {
        for body in bodies {
            self.emit(target, body);
        }
    }

    pub(super) fn emit(&mut self, target: Target, body: Body) {
        // The run's opening is not derived from the record: the record is the first frame after it.
        if !matches!(body, Body::SessionStarted { .. }) {
            self.record_on(target.stream);
        }
        self.say_prompt_before(target, &body);
        self.number(target, body);
    }

    pub(super) fn number(&mut self, target: Target, body: Body) {
        let stream = self.held.destination(target.stream, &body);
        let target = Target { stream, ..target };
        let numbered = self.sequencer.next(target.stream, self.time_ms, self.is_own_time).or_else(|| {
            // The stream is over. Later frames belong to its session.
            let thread = self.thread();
            self.sequencer.next(thread, self.time_ms, self.is_own_time)
        });
        let Some(Numbered { stream, seq, timestamp_ms }) = numbered else { return };
        if let Body::UsageReported(usage) = &body
            && self.is_open(target.stream)
        {
            self.open.entry(target.stream).or_default().spent.note(target.parent, usage);
        }
        if self.frames.capacity() == 0 {
            self.frames.reserve(FRAMES);
        }
        let given_id = self.adopted.ids.added(&stream, seq);
        self.frames.push(Frame { stream, seq, timestamp_ms, parent_tool_id: target.parent, given_id, body });
    }
}
