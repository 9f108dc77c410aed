//! Calls: their input, their output, the questions about them.

use super::calls::{Question, own_id};
use super::data::{
    ApprovalRequest, ApprovalResponse, EXECUTED, InputAvailable, InputDelta, InputStart, OutputAvailable, OutputDenied,
    OutputError, ToolMetadata, ToolOutput, fields,
};
use super::encode::UiMessage;
use crate::contracts::live_output::Output;
use crate::encode::{Events, Word};
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, Frame, RawJson, SharedStr, Tool, ToolCall};
use serde_json::value::RawValue;
use uuid::Uuid;

/// The error of a tool that failed without one.
const FAILED: &str = "the tool failed";

/// The error of a call without a result.
const NO_RESULT: &str = "the run ended before the call had a result";

/// The result of a tool that ran.
pub(super) struct ToolResult<'a> {
    pub(super) exit_code: i32,
    pub(super) duration_ms: u64,
    pub(super) artifacts: Option<&'a RawJson>,
}

impl UiMessage {
    /// A piece of a call's input. The input of a subagent's call is not streamed.
    pub(super) fn input_delta(&mut self, tool: &Tool, name: &SharedStr, delta: &str, out: &mut Events) {
        let Some((id, is_new)) = self.calls.input_delta(tool) else { return };
        if is_new {
            self.begin_content(out);
            let start = InputStart { tool_call_id: &id, tool_name: name, executed: EXECUTED };
            self.writer.chunk("tool-input-start", &start, out);
        }
        if !delta.is_empty() {
            self.writer.chunk("tool-input-delta", &InputDelta { tool_call_id: &id, input_text_delta: delta }, out);
        }
    }

    /// A call was proposed or started; the first of both has its input.
    pub(super) fn call(&mut self, call: &ToolCall, frame: &Frame, out: &mut Events) {
        let parent = self.calls.parent_of(frame);
        let Some(id) = self.calls.input(&call.tool) else { return };
        if parent.is_none() {
            self.begin_content(out);
        }
        let tool_metadata =
            ToolMetadata { kind: Some(Word(call.kind.as_str())), parent_tool_call_id: parent.as_deref() };
        self.input_available(&id, &call.name, &call.args, tool_metadata, out);
    }

    fn input_available(
        &mut self,
        id: &str,
        name: &str,
        input: &RawValue,
        tool_metadata: ToolMetadata<'_>,
        out: &mut Events,
    ) {
        let tool_metadata = Some(tool_metadata);
        let data = InputAvailable { tool_call_id: id, tool_name: name, input, executed: EXECUTED, tool_metadata };
        self.writer.chunk("tool-input-available", &data, out);
    }

    /// Emits the results so far that are due.
    pub(super) fn show_due(&mut self, now_ms: u64, out: &mut Events) {
        while let Some(tool) = self.calls.due.take(now_ms) {
            let Some(call) = self.calls.get_mut(&tool) else { continue };
            call.output.show();
            let output = fields(&call.output);
            let data = OutputAvailable { tool_call_id: &call.id, output, executed: EXECUTED, preliminary: Some(true) };
            self.writer.chunk("tool-output-available", &data, out);
        }
    }

    /// A tool ran to its end.
    pub(super) fn tool_ended(&mut self, tool: &Tool, result: &ToolResult<'_>, out: &mut Events) {
        let Some(call) = self.calls.end(&tool.id) else { return };
        let output = ToolOutput {
            exit_code: Some(result.exit_code),
            duration_ms: Some(result.duration_ms),
            artifacts: result.artifacts.map(|artifacts| &**artifacts),
            ..fields(&call.output)
        };
        self.result(&call.id, output, out);
    }

    fn result(&mut self, id: &str, output: ToolOutput<'_>, out: &mut Events) {
        let data = OutputAvailable { tool_call_id: id, output, executed: EXECUTED, preliminary: None };
        self.writer.chunk("tool-output-available", &data, out);
    }

    /// A tool never ran, was refused, or was interrupted.
    pub(super) fn tool_failed(&mut self, tool: &Tool, error: &str, out: &mut Events) {
        if let Some(call) = self.calls.end(&tool.id) {
            self.no_result(&call.id, call.refused, if error.is_empty() { FAILED } else { error }, out);
        }
    }

    fn no_result(&mut self, id: &str, refused: bool, error: &str, out: &mut Events) {
        if refused {
            self.writer.chunk("tool-output-denied", &OutputDenied { tool_call_id: id }, out);
        } else {
            let data = OutputError { tool_call_id: id, error_text: error, executed: EXECUTED };
            self.writer.chunk("tool-output-error", &data, out);
        }
    }

    /// The run is over: no call stays open. Returns whether one was open, which only the client can have executed.
    pub(super) fn close_calls(&mut self, out: &mut Events) -> bool {
        let left = self.calls.take_all();
        for call in &left {
            self.no_result(&call.id, call.refused, NO_RESULT, out);
        }
        !left.is_empty()
    }

    /// A question about a call.
    pub(super) fn asked(&mut self, request: &ApprovalRequested, frame: &Frame, out: &mut Events) {
        let id = self.calls.ask(request).unwrap_or_else(|| {
            let parent = self.calls.parent_of(frame);
            if parent.is_none() {
                self.begin_content(out);
            }
            let id = own_id(&request.approval_id);
            let about = self.call_id(request.tool_id).or(parent);
            let tool_metadata = ToolMetadata { kind: None, parent_tool_call_id: about.as_deref() };
            self.input_available(&id, &request.tool_name, &request.args, tool_metadata, out);
            id
        });
        let reason = request.reason.as_deref();
        let data = ApprovalRequest { approval_id: &request.approval_id, tool_call_id: &id, reason };
        self.writer.chunk("tool-approval-request", &data, out);
    }

    /// The answer to a question. The call itself is over when the runner says so.
    pub(super) fn answered(&mut self, answer: &ApprovalResolved, out: &mut Events) {
        let Some(question) = self.calls.answer(answer) else { return };
        let approved = answer.decision == Decision::Approved;
        let word = match answer.decision {
            Decision::TimedOut | Decision::Cancelled => Some(answer.decision.as_str()),
            Decision::Approved | Decision::Rejected => None,
        };
        let reason = answer.reason.as_deref().or(word);
        let data = ApprovalResponse { approval_id: &answer.approval_id, approved, reason };
        self.writer.chunk("tool-approval-response", &data, out);
        if let Question::Own(_) = question {
            let id = own_id(&answer.approval_id);
            if approved {
                self.result(&id, fields(&Output::default()), out);
            } else {
                self.no_result(&id, true, NO_RESULT, out);
            }
        }
    }

    /// The id of a call, for chunks that refer to it.
    pub(super) fn call_id(&self, tool: Option<Uuid>) -> Option<SharedStr> {
        tool.and_then(|tool| self.calls.id(&tool).cloned())
    }
}
