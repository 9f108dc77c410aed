//! Calls: their arguments, their live output, their results.

use super::blocks::Thread;
use super::calls::Call;
use super::data::{
    AboutCall, AboutInput, AboutResult, ActivityDelta, Arguments, CallArgs, CallEnd, CallResult, CallStart,
    ToolActivity, ToolContent, WholeArgs, add_piece,
};
use super::encode::AgUiRun;
use super::writer::Writer;
use crate::encode::{Data, Events, Word};
use crate::frame::{RawJson, Tool, ToolCall};
use uuid::Uuid;

/// The type of the activity that has a tool's live output.
const ACTIVITY: Word = Word("TOOL_OUTPUT");

/// The result of a tool that failed without a message.
const FAILED: &str = "the tool failed";

/// The result of a call without one.
const NO_RESULT: &str = "the run ended before the call had a result";

/// The metadata of the result of a call that failed.
const FAILURE: AboutResult<'static> =
    AboutResult { exit_code: None, duration_ms: None, failure: None, artifacts: None, omitted_bytes: None };

/// What a runner says when a tool ends.
pub(super) struct ToolEnd<'f> {
    pub(super) exit_code: i32,
    pub(super) duration_ms: u64,
    pub(super) artifacts: Option<&'f RawJson>,
}

fn result(id: Uuid, call: &Call, content: &str, about: &AboutResult<'_>, writer: &mut Writer, out: &mut Events) {
    let message_id = writer.fresh_id();
    let data = CallResult { subagent: call.subagent, message_id, tool_call_id: id, content, role: Word("tool") };
    writer.event_with("TOOL_CALL_RESULT", &data, about, out);
}

impl AgUiRun {
    /// Begins a call, unless it is known.
    fn begin_call(&mut self, tool: &Tool, name: &str, thread: Thread, out: &mut Events) {
        if self.calls.is_known(&tool.id) {
            return;
        }
        self.has_content = true;
        self.calls.begin(tool.id, thread.subagent);
        // A subagent's calls are messages of their own.
        let parent_message_id = if thread.call.is_none() { self.last_message } else { None };
        let start =
            CallStart { subagent: thread.subagent, tool_call_id: tool.id, tool_call_name: name, parent_message_id };
        let call_id = Some(&*tool.call_id).filter(|id| !id.is_empty());
        self.writer.event_with("TOOL_CALL_START", &start, &AboutCall { call_id }, out);
    }

    /// A piece of a call's arguments.
    pub(super) fn input_delta(&mut self, tool: &Tool, name: &str, delta: &str, thread: Thread, out: &mut Events) {
        self.begin_call(tool, name, thread, out);
        let Some(call) = self.calls.get_mut(&tool.id).filter(|call| call.is_streaming) else { return };
        if !delta.is_empty() {
            call.has_pieces = true;
            let data = CallArgs { subagent: call.subagent, tool_call_id: tool.id, delta };
            self.writer.event("TOOL_CALL_ARGS", &data, out);
        }
    }

    /// A call was proposed or started; the first of both completes its arguments.
    pub(super) fn call(&mut self, call: &ToolCall, thread: Thread, out: &mut Events) {
        let id = call.tool.id;
        self.begin_call(&call.tool, &call.name, thread, out);
        let Some(open) = self.calls.get_mut(&id).filter(|open| open.is_streaming) else { return };
        open.is_streaming = false;
        let subagent = open.subagent;
        if !open.has_pieces && call.args.get() != "\"\"" {
            let data = WholeArgs { subagent, tool_call_id: id, delta: Arguments(&call.args) };
            self.writer.event("TOOL_CALL_ARGS", &data, out);
        }
        let about = AboutInput { kind: Word(call.kind.as_str()) };
        self.writer.event_with("TOOL_CALL_END", &CallEnd { subagent, tool_call_id: id }, &about, out);
    }

    /// Emits the live output that is due.
    pub(super) fn show_due(&mut self, now_ms: u64, out: &mut Events) {
        while let Some((due_ms, tool)) = self.calls.due.take(now_ms) {
            let Some(call) = self.calls.get_mut(&tool) else { continue };
            self.writer.at(due_ms);
            let subagent = call.subagent;
            if let Some(message_id) = call.output.activity {
                let patch = call.output.new_pieces().map(add_piece).collect();
                let data = ActivityDelta { subagent, message_id, activity_type: ACTIVITY, patch };
                self.writer.event("ACTIVITY_DELTA", &data, out);
            } else {
                let message_id = self.writer.fresh_id();
                let content = ToolContent { tool_call_id: tool, output: call.output.new_pieces().collect() };
                let data = ToolActivity { subagent, message_id, activity_type: ACTIVITY, content };
                self.writer.event("ACTIVITY_SNAPSHOT", &data, out);
                call.output.activity = Some(message_id);
            }
            call.output.show();
        }
    }

    /// Takes a call that has its result now.
    fn end_call(&mut self, tool: &Uuid, out: &mut Events) -> Option<Call> {
        let call = self.calls.end(tool)?;
        self.subagents.call_ended(tool);
        self.close_input(*tool, &call, out);
        if call.subagent.is_none() {
            // A later call belongs to another message of the model.
            self.last_message = None;
        }
        Some(call)
    }

    /// Ends arguments that were cut off.
    fn close_input(&mut self, id: Uuid, call: &Call, out: &mut Events) {
        if call.is_streaming {
            let data: &dyn Data = &CallEnd { subagent: call.subagent, tool_call_id: id };
            self.writer.event("TOOL_CALL_END", data, out);
        }
    }

    /// A tool ran to its end.
    pub(super) fn tool_ended(&mut self, tool: &Tool, end: &ToolEnd<'_>, out: &mut Events) {
        let Some(call) = self.end_call(&tool.id, out) else { return };
        let about = AboutResult {
            exit_code: Some(end.exit_code),
            duration_ms: Some(end.duration_ms),
            failure: None,
            artifacts: end.artifacts.map(|artifacts| &**artifacts),
            omitted_bytes: call.output.omitted_bytes(),
        };
        result(tool.id, &call, &call.output.text(), &about, &mut self.writer, out);
    }

    /// A tool never ran, was refused, or was interrupted.
    pub(super) fn tool_failed(&mut self, tool: &Tool, error: &str, out: &mut Events) {
        if let Some(call) = self.end_call(&tool.id, out) {
            let failure = Some(Word(if call.refused { "denied" } else { "failed" }));
            let content = if error.is_empty() { FAILED } else { error };
            result(tool.id, &call, content, &AboutResult { failure, ..FAILURE }, &mut self.writer, out);
        }
    }

    /// The run is over: no call's arguments stay open. If it `completed`, returns the calls that only the client can have executed;
    /// every other call gets a result.
    pub(super) fn close_calls(&mut self, completed: bool, out: &mut Events) -> Vec<String> {
        let mut pending = Vec::new();
        for (id, call) in self.calls.take_all() {
            self.close_input(id, &call, out);
            // A client would execute a call with arguments that were cut off.
            if completed && !call.refused && !call.is_streaming && call.subagent.is_none() {
                pending.push(id.to_string());
                continue;
            }
            let failure = Some(Word(if call.refused { "denied" } else { "no_result" }));
            result(id, &call, NO_RESULT, &AboutResult { failure, ..FAILURE }, &mut self.writer, out);
        }
        pending
    }
}
