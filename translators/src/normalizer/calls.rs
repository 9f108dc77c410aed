//! Tool calls, approvals and subagents.
//!
//! Input: a decoder's calls. Output: frames, at the place where the call began. Never: an end without a beginning, or a second
//! end.

use super::{Normalizer, Target};
use crate::derived::uuid_v5;
use crate::frame::{ApprovalRequested, ApprovalResolved, Body, OutputStream, RawJson, SharedStr, Tool, ToolCall};
use crate::json::Utf16Text;
use crate::sequence::StreamKey;
use uuid::Uuid;

/// The maximum number of calls whose arguments end in half of a surrogate pair for now. Beyond it, all halves are forgotten.
pub(super) const MOST_HALVES: usize = 1024;

/// The id of a subagent; a placeholder if the runner gives none.
fn named(subagent_id: &str) -> &str {
    if subagent_id.is_empty() { "unnamed" } else { subagent_id }
}

impl Normalizer {
    /// Builds both ids of a call. `scope` separates equal call ids of different runs or sessions.
    pub fn tool(&self, scope: Uuid, call_id: &str) -> Tool {
        Tool { id: uuid_v5(&scope, call_id.as_bytes()), call_id: SharedStr::from(call_id) }
    }

    /// The model wants a tool to run.
    pub fn tool_proposed(&mut self, target: Target, call: ToolCall) {
        self.emit(target, Body::ToolCallProposed(Box::new(call)));
    }

    /// A piece of the arguments that the model is writing. Half of a surrogate pair waits for its other half.
    pub fn tool_input(&mut self, target: Target, tool: &Tool, name: &SharedStr, piece: Utf16Text) {
        let is_whole = piece.low.is_none() && piece.high.is_none();
        let delta = match is_whole && !self.halves.contains_key(&tool.id) {
            true => piece.text,
            false => {
                let mut waiting = self.halves.remove(&tool.id);
                let delta = piece.after(&mut waiting);
                if let Some(half) = waiting {
                    if self.halves.len() >= MOST_HALVES {
                        self.halves.clear();
                    }
                    self.halves.insert(tool.id, half);
                }
                delta
            }
        };
        if !delta.is_empty() {
            self.emit(target, Body::ToolInputDelta { tool: tool.clone(), name: name.clone(), delta });
        }
    }

    /// A tool runs. Does nothing if the call is already running or over.
    pub fn tool_started(&mut self, target: Target, call: ToolCall, timeout_ms: Option<u64>) {
        let (time_ms, order) = (self.time_ms, self.calls.next());
        if self.book(target.stream).start_tool(&call, target.parent, time_ms, order) {
            let crowded = self.is_crowded(target);
            let stream = if self.is_open(target.stream) { target.stream } else { self.thread() };
            self.calls.insert(order, stream, call.tool.call_id.clone());
            self.emit(target, Body::ToolStarted { call: Box::new(call), timeout_ms });
            if crowded {
                self.give_up_oldest_call();
            }
        }
    }

    /// Whether a call is running.
    pub fn tool_runs(&self, stream: StreamKey, tool: &Tool) -> bool {
        self.open.get(&stream).is_some_and(|open| open.tool_runs(tool))
    }

    /// Whether a call was started, including calls that are over.
    pub fn tool_known(&self, stream: StreamKey, tool: &Tool) -> bool {
        self.open
            .get(&stream)
            .is_some_and(|open| open.tool_runs(tool) || open.tool_is_over(tool) || open.was_given_up(&tool.call_id))
    }

    /// The tool's name of a running call.
    pub fn tool_name(&self, stream: StreamKey, tool: &Tool) -> Option<SharedStr> {
        self.open.get(&stream)?.tool_name(tool)
    }

    /// A piece of a tool's output.
    pub fn tool_output(&mut self, target: Target, tool: &Tool, stream: OutputStream, chunk: impl Into<String>) {
        let Some(target) = self.for_output(target, tool) else { return };
        let (tool, chunk) = (tool.clone(), chunk.into());
        let body = match stream {
            OutputStream::Stderr => Body::ToolStderr { tool, chunk },
            OutputStream::Stdout | OutputStream::Pty => Body::ToolStdout { tool, chunk },
        };
        self.emit(target, body);
    }

    /// A piece of a tool's standard output; the beginning may still follow.
    pub fn tool_output_tail(&mut self, target: Target, tool: &Tool, chunk: impl Into<String>) {
        let Some(target) = self.for_output(target, tool) else { return };
        self.emit(target, Body::ToolStdoutTail { tool: tool.clone(), chunk: chunk.into() });
    }

    /// The beginning of a tool's standard output, if only later pieces were reported so far.
    pub fn tool_output_front(&mut self, target: Target, tool: &Tool, chunk: impl Into<String>) {
        let Some(target) = self.for_output(target, tool) else { return };
        self.emit(target, Body::ToolStdoutFront { tool: tool.clone(), chunk: chunk.into() });
    }

    /// A tool ran to its end. `duration_ms` is the runner's own figure; if `None`, it is the time since the start. Does nothing
    /// if the call is already over. A call that never started is started first, without a name.
    pub fn tool_ended(
        &mut self,
        target: Target,
        tool: &Tool,
        exit_code: i32,
        duration_ms: Option<u64>,
        artifacts: Option<RawJson>,
    ) {
        let Some(target) = self.for_output(target, tool) else { return };
        let time_ms = self.time_ms;
        let since_start = self.end_call(target.stream, tool, time_ms);
        let duration_ms = duration_ms.unwrap_or(since_start);
        self.emit(target, Body::ToolEnded { tool: tool.clone(), exit_code, duration_ms, artifacts });
    }

    /// A tool never ran, was refused, or was interrupted. Does nothing if the call is already over.
    pub fn tool_failed(&mut self, target: Target, tool: &Tool, error: impl Into<String>) {
        let Some(target) = self.for_output(target, tool) else { return };
        let time_ms = self.time_ms;
        self.end_call(target.stream, tool, time_ms);
        self.emit(target, Body::ToolFailed { tool: tool.clone(), error: error.into() });
    }

    /// Marks a call as over; returns its duration in milliseconds.
    fn end_call(&mut self, stream: StreamKey, tool: &Tool, time_ms: u64) -> u64 {
        let (since_start, order) = self.book(stream).end_tool(tool, time_ms);
        if let Some(order) = order {
            self.calls.remove(order);
        }
        since_start
    }

    /// The runner asks for approval. A question that is already open is not repeated. A question without an id gets a generated
    /// one; answers without an id resolve such questions in order.
    pub fn approval_requested(&mut self, target: Target, mut request: ApprovalRequested) {
        if request.approval_id.is_empty() {
            request.approval_id = self.book(target.stream).name_question();
            self.add_error("a question without an id");
        }
        if self.book(target.stream).ask(&request.approval_id, target.parent) {
            self.emit(target, Body::ApprovalRequested(Box::new(request)));
            self.bound_questions(target.stream);
        }
    }

    /// An answer. It is ignored if its question is not open.
    pub fn approval_resolved(&mut self, stream: StreamKey, mut answer: ApprovalResolved) {
        if answer.approval_id.is_empty() {
            let Some(id) = self.book(stream).unnamed_question() else { return };
            answer.approval_id = id;
        }
        if let Some(parent) = self.book(stream).answer(&answer.approval_id, answer.decision) {
            self.emit(Target { stream, parent }, Body::ApprovalResolved(Box::new(answer)));
        }
    }

    /// Whether a question is unanswered.
    pub fn approval_waits(&self, stream: StreamKey, approval_id: &str) -> bool {
        self.open.get(&stream).is_some_and(|open| open.asks(approval_id))
    }

    /// Whether a question was answered with anything but an approval, by the runner or by the host.
    pub fn approval_refused(&self, stream: StreamKey, approval_id: &str) -> bool {
        self.open.get(&stream).is_some_and(|open| open.was_refused(approval_id))
    }

    /// A subagent starts. Does nothing if it is already working.
    pub fn subagent_started(
        &mut self,
        target: Target,
        subagent_id: &str,
        tool_id: Option<Uuid>,
        agent: Option<SharedStr>,
        task: Option<String>,
        depth: u32,
    ) {
        let subagent_id = SharedStr::from(named(subagent_id));
        if self.book(target.stream).begin_subagent(&subagent_id, target.parent) {
            self.emit(target, Body::SubagentStarted { subagent_id, tool_id, agent, task, depth });
            self.bound_subagents(target.stream);
        }
    }

    /// A subagent keeps working when its run ends and is not interrupted. If it ends before the run's last frame, its end is
    /// reported in the run; otherwise the run reports it as detached.
    pub fn subagent_outlives(&mut self, stream: StreamKey, subagent_id: &str) {
        if let Some(open) = self.open.get_mut(&stream) {
            open.keep_after_run(named(subagent_id));
        }
    }

    /// A subagent is done. Ignored if the subagent is not working.
    pub fn subagent_ended(&mut self, stream: StreamKey, subagent_id: &str, status: &str, summary: Option<String>) {
        let id = named(subagent_id);
        let ended = match self.held.take_alive(stream, id) {
            Some(alive) => Some((alive, stream)),
            // A subagent that started after the end of its run did so in the session's thread.
            None => {
                self.book(stream).end_subagent(id).map(|ended| (ended, self.held.thread_of(stream).unwrap_or(stream)))
            }
        };
        if let Some(((subagent_id, parent), stream)) = ended {
            let body = Body::SubagentEnded { subagent_id, status: SharedStr::from(status), summary };
            self.emit(Target { stream, parent }, body);
        }
    }
}
