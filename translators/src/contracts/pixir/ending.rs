//! The end of a run: every call gets its result, every text its message, then the terminal marker follows.

use super::data::{Metadata, RunError, Status, ToolError, ToolErrorDetails, ToolResult};
use super::encode::Pixir;
use super::work::orphan;
use crate::encode::{Events, Flat, Word};
use crate::frame::{CONTENT_FILTER, EndReason, Frame, SessionEnded};

impl Pixir {
    /// Closes everything, then emits the terminal marker.
    pub(super) fn end(&mut self, frame: &Frame, end: &SessionEnded, out: &mut Events) {
        for call in self.calls.take_all() {
            let error = ToolError {
                kind: Word("orphan_tool_call"),
                message: "the run ended before the call had a result",
                details: orphan(&call, ToolErrorDetails::default()),
            };
            let data = ToolResult {
                call_id: &call.call_id,
                ok: false,
                output: None,
                error: Some(error),
                artifacts: None,
                subagent_id: call.subagent_id.as_deref(),
            };
            self.event(frame, "tool_result", &data, out);
        }
        let error = RunError { error_kind: end.error_code.as_deref(), error_message: end.message.as_deref() };
        match end.reason {
            EndReason::Completed if error.error_kind.is_some() => self.broken(Word("done"), end, true, frame, out),
            EndReason::Completed => {
                self.flush(frame, out);
                let final_text = self.unsaid(end);
                // A run without canonical events would have no log, and a resuming client would have no cursor.
                let nothing = (!self.writer.has_history()).then_some("");
                if let Some(text) = final_text.or(nothing) {
                    self.message(text, None, frame, out);
                }
                self.terminal(Word("done"), RunError::default(), frame, out);
            }
            EndReason::Failed => self.broken(Word("error"), end, true, frame, out),
            EndReason::Interrupted => self.broken(Word("interrupted"), end, false, frame, out),
        }
    }

    /// An answer that was never emitted as text, such as structured output.
    fn unsaid<'e>(&self, end: &'e SessionEnded) -> Option<&'e str> {
        end.final_text.as_deref().filter(|text| !text.is_empty() && !self.answered.contains(text))
    }

    /// The run did not end well, or its answer is incomplete: its last message reports it, because the log has no terminal
    /// marker.
    fn broken(&mut self, status: Word, end: &SessionEnded, always: bool, frame: &Frame, out: &mut Events) {
        let error = RunError { error_kind: end.error_code.as_deref(), error_message: end.message.as_deref() };
        // A truncated answer is still an answer; the last text of a failed run was already emitted.
        let is_cut = end.reason == EndReason::Completed || end.error_code.as_deref() == Some(CONTENT_FILTER);
        let text = self.said.take().or_else(|| self.unsaid(end).filter(|_| is_cut).map(str::to_owned));
        if text.is_some() || always || !self.writer.has_history() {
            let partial = text.is_some().then_some(true);
            let metadata = Metadata { partial, terminal_status: status, error: Flat(error) };
            self.message(text.as_deref().unwrap_or_default(), Some(metadata), frame, out);
        }
        self.terminal(status, error, frame, out);
    }

    fn terminal(&mut self, status: Word, error: RunError<'_>, frame: &Frame, out: &mut Events) {
        self.writer.closing(frame, &Status { status: status.0, reason: None, error: Flat(error) }, out);
    }
}
