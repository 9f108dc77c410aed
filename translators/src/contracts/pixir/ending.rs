//! The end of a run: every call gets its result, every text its message, then comes the terminal marker.

use super::data::{Metadata, RunError, Status, ToolError, ToolErrorDetails, ToolResult};
use super::encode::Pixir;
use super::work::orphan;
use crate::encode::{Events, Flat, Word};
use crate::frame::{EndReason, Frame, SessionEnded};

impl Pixir {
    /// Everything is closed, then the terminal marker.
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
            EndReason::Completed => {
                self.flush(frame, out);
                // A result that was never said as text, such as one that follows a schema.
                let final_text = end.final_text.as_deref().filter(|text| !text.is_empty() && !self.answered);
                if let Some(text) = final_text {
                    self.message(text, None, frame, out);
                }
                self.terminal(Word("done"), RunError::default(), frame, out);
            }
            EndReason::Failed => self.broken(Word("error"), error, true, frame, out),
            EndReason::Interrupted => self.broken(Word("interrupted"), error, false, frame, out),
        }
    }

    /// The run did not end well: its last message says so, for the log has no terminal marker.
    fn broken(&mut self, status: Word, error: RunError<'_>, always: bool, frame: &Frame, out: &mut Events) {
        let text = self.said.take();
        if text.is_some() || always {
            let partial = text.is_some().then_some(true);
            let metadata = Metadata { partial, terminal_status: status, error: Flat(error) };
            self.message(text.as_deref().unwrap_or_default(), Some(metadata), frame, out);
        }
        self.terminal(status, error, frame, out);
    }

    fn terminal(&mut self, status: Word, error: RunError<'_>, frame: &Frame, out: &mut Events) {
        self.event(frame, "status", &Status { status: status.0, reason: None, error: Flat(error) }, out);
    }
}
