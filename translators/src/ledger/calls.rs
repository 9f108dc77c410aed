//! Tool calls, approvals and subagents.
//!
//! In: what a decoder says of them. Out: frames, at the place where the call began. Never: an end without a beginning, or two.

use super::{Ledger, Place};
use crate::derived::uuid_v5;
use crate::frame::{ApprovalRequested, ApprovalResolved, Body, Name, OutputStream, RawJson, Tool, ToolCall};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// A subagent is spoken of by its id; one that the runner left nameless has this one.
fn named(subagent_id: &str) -> &str {
    if subagent_id.is_empty() { "unnamed" } else { subagent_id }
}

impl Ledger {
    /// The names of a call: `scope` keeps equal call ids of different runs or sessions apart.
    pub fn tool(&self, scope: Uuid, call_id: &str) -> Tool {
        Tool { id: uuid_v5(&scope, call_id.as_bytes()), call_id: Name::from(call_id) }
    }

    /// The model wants a tool to run.
    pub fn tool_proposed(&mut self, place: Place, call: ToolCall) {
        self.emit(place, Body::ToolCallProposed(Box::new(call)));
    }

    /// A tool runs. A call that already runs, or is over, is not started again.
    pub fn tool_started(&mut self, place: Place, call: ToolCall, timeout_ms: Option<u64>) {
        let time_ms = self.time_ms;
        if self.book(place.stream).start_tool(&call, place.parent, time_ms) {
            self.emit(place, Body::ToolStarted { call: Box::new(call), timeout_ms });
        }
    }

    /// Whether a call was started and is not over.
    pub fn tool_runs(&self, stream: StreamKey, tool: &Tool) -> bool {
        self.open.get(&stream).is_some_and(|open| open.tool_runs(tool))
    }

    /// Whether a call was started, be it over or not.
    pub fn tool_known(&self, stream: StreamKey, tool: &Tool) -> bool {
        self.open.get(&stream).is_some_and(|open| open.tool_runs(tool) || open.tool_is_over(tool))
    }

    /// The name of a call that runs.
    pub fn tool_name(&self, stream: StreamKey, tool: &Tool) -> Option<Name> {
        self.open.get(&stream)?.tool_name(tool)
    }

    /// A piece of a tool's output.
    pub fn tool_output(&mut self, place: Place, tool: &Tool, stream: OutputStream, chunk: impl Into<String>) {
        let Some(place) = self.for_output(place, tool) else { return };
        let (tool, chunk) = (tool.clone(), chunk.into());
        let body = match stream {
            OutputStream::Stderr => Body::ToolStderr { tool, chunk },
            OutputStream::Stdout | OutputStream::Pty => Body::ToolStdout { tool, chunk },
        };
        self.emit(place, body);
    }

    /// The beginning of a tool's standard output, where only pieces of what follows it were told so far.
    pub fn tool_output_front(&mut self, place: Place, tool: &Tool, chunk: impl Into<String>) {
        let Some(place) = self.for_output(place, tool) else { return };
        self.emit(place, Body::ToolStdoutFront { tool: tool.clone(), chunk: chunk.into() });
    }

    /// A tool ran to its end. `duration_ms` is the runner's own figure; without one it is the time since the start. A
    /// call that is already over stays as it is; one that never started is started first, without a name.
    pub fn tool_ended(
        &mut self,
        place: Place,
        tool: &Tool,
        exit_code: i32,
        duration_ms: Option<u64>,
        artifacts: Option<RawJson>,
    ) {
        let Some(place) = self.for_output(place, tool) else { return };
        let time_ms = self.time_ms;
        let since_start = self.book(place.stream).end_tool(tool, time_ms);
        let duration_ms = duration_ms.unwrap_or(since_start);
        self.emit(place, Body::ToolEnded { tool: tool.clone(), exit_code, duration_ms, artifacts });
    }

    /// A tool never ran, was refused, or was cut off. A call that is already over stays as it is.
    pub fn tool_failed(&mut self, place: Place, tool: &Tool, error: impl Into<String>) {
        let Some(place) = self.for_output(place, tool) else { return };
        let time_ms = self.time_ms;
        self.book(place.stream).end_tool(tool, time_ms);
        self.emit(place, Body::ToolFailed { tool: tool.clone(), error: error.into() });
    }

    /// The runner asks. A question that is already open is not asked again.
    pub fn approval_requested(&mut self, place: Place, request: ApprovalRequested) {
        if self.book(place.stream).ask(&request.approval_id, place.parent) {
            self.emit(place, Body::ApprovalRequested(Box::new(request)));
        }
    }

    /// The answer. One to a question that is not open is left out.
    pub fn approval_resolved(&mut self, stream: StreamKey, answer: ApprovalResolved) {
        if let Some(parent) = self.book(stream).answer(&answer.approval_id) {
            self.emit(Place { stream, parent }, Body::ApprovalResolved(Box::new(answer)));
        }
    }

    /// Whether a question waits for its answer.
    pub fn approval_waits(&self, stream: StreamKey, approval_id: &str) -> bool {
        self.open.get(&stream).is_some_and(|open| open.asks(approval_id))
    }

    /// A subagent begins. One that already works is not begun again.
    pub fn subagent_started(
        &mut self,
        place: Place,
        subagent_id: &str,
        tool_id: Option<Uuid>,
        agent: Option<Name>,
        task: Option<String>,
        depth: u32,
    ) {
        let subagent_id = Name::from(named(subagent_id));
        if self.book(place.stream).begin_subagent(&subagent_id, place.parent) {
            self.emit(place, Body::SubagentStarted { subagent_id, tool_id, agent, task, depth });
        }
    }

    /// A subagent is done. One that does not work is left out.
    pub fn subagent_ended(&mut self, stream: StreamKey, subagent_id: &str, status: &str, summary: Option<String>) {
        if let Some((subagent_id, parent)) = self.book(stream).end_subagent(named(subagent_id)) {
            let body = Body::SubagentEnded { subagent_id, status: Name::from(status), summary };
            self.emit(Place { stream, parent }, body);
        }
    }
}
