//! Calls and their results.

use super::calls::Call;
use super::data::{Content, ToolResult, ToolResultMeta};
use super::encode::ClaudeCode;
use super::line::{Raw, Text};
use super::writer::Envelope;
use crate::encode::{Data, Events, Word, key};
use crate::frame::{Frame, RawJson, Tool, ToolCall, ToolKind, is_left_by_run};

/// The error of a tool that failed without one.
const FAILED: &str = "the tool failed";

impl ClaudeCode {
    /// A call was proposed or started; the first of both has its input.
    pub(super) fn call(&mut self, call: &ToolCall, frame: &Frame, out: &mut Events) {
        if self.calls.is_open(&call.tool.id) {
            return;
        }
        let parent = self.calls.parent_of(frame);
        let is_subagent = parent.is_some();
        self.calls.begin(&call.tool, &call.name, call.kind, parent);
        if is_subagent {
            let id = self.calls.name(&call.tool);
            let input = super::blocks::input_of(&call.args);
            let content = Content::ToolUse { id: &id, name: &call.name, input: Raw(&input) };
            self.of_subagent(&id, content, frame, out);
        } else {
            self.tool_use(&call.tool, &call.name, &call.args, frame, out);
        }
    }

    /// A tool ran to its end.
    pub(super) fn tool_ended(
        &mut self,
        tool: &Tool,
        exit_code: i32,
        artifacts: Option<&RawJson>,
        frame: &Frame,
        out: &mut Events,
    ) {
        let Some(mut call) = self.calls.end(&tool.id) else { return };
        let mut content = call.output(artifacts);
        if exit_code != 0 && call.kind == ToolKind::Shell {
            // The CLI tells the exit code of a command this way.
            let code = format!("Exit code {exit_code}");
            if !content.starts_with(&code) {
                content = if content.is_empty() { code } else { [&*code, "\n", &content].concat() };
            }
        } else if exit_code != 0 && content.is_empty() {
            content.push_str(FAILED);
        }
        self.result(&call, &content, exit_code != 0, None, frame, out);
    }

    /// A tool never ran, was refused, or was interrupted.
    pub(super) fn tool_failed(&mut self, tool: &Tool, error: &str, frame: &Frame, out: &mut Events) {
        let Some(mut call) = self.calls.end(&tool.id) else { return };
        let error = if error.is_empty() { FAILED } else { error };
        let kind = if call.refused {
            "user-rejected"
        } else if is_left_by_run(error) {
            "interrupted"
        } else {
            "cancelled"
        };
        // What an interrupted tool had written comes before the reason.
        let mut content = call.output(None);
        if !(content.is_empty() || content.ends_with('\n')) {
            content.push('\n');
        }
        content.push_str(error);
        self.result(&call, &content, true, Some(kind), frame, out);
    }

    fn result(
        &mut self,
        call: &Call,
        content: &str,
        is_error: bool,
        not_run: Option<&'static str>,
        frame: &Frame,
        out: &mut Events,
    ) {
        let parent = call.parent.as_deref();
        if parent.is_none() {
            self.user_count += 1;
            if let Some(message) = &mut self.message {
                message.is_answered = true;
            }
        }
        let result = || ToolResult {
            kind: Word("tool_result"),
            tool_use_id: Text(&call.id),
            content: Text(content),
            is_error: is_error.then_some(true),
        };
        self.writer.message("user", Envelope::Timed(parent, frame.timestamp_ms), out, |map| {
            map.object(key!("message"), |map| {
                map.word(key!("role"), "user");
                map.list(key!("content"), &[result()], |map, result| result.fields(map));
            });
            if let Some(kind) = not_run {
                let meta = ToolResultMeta { id: Text(&call.id), non_execution_kind: Word(kind) };
                map.list(key!("tool_result_meta"), &[meta], |map, meta| meta.fields(map));
            }
        });
    }
}
