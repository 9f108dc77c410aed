//! The end of a run: everything is closed, then `RUN_FINISHED` or `RUN_ERROR` follows.

use super::blocks::whole;
use super::data::{AboutEnd, Outcome, RunError, RunFinished};
use super::encode::AgUiRun;
use crate::encode::{Events, Word};
use crate::frame::{EndReason, SessionEnded, Stream};

impl AgUiRun {
    pub(super) fn end(&mut self, end: &SessionEnded, stream: &Stream, out: &mut Events) {
        self.blocks.close(&mut self.writer, out);
        // An answer that was never emitted as text, such as structured output.
        let unsaid = end.final_text.as_deref().filter(|text| !text.is_empty() && !self.answered.contains(text));
        if let Some(text) = unsaid {
            whole("assistant", text, &mut self.writer, out);
        }
        let pending = self.close_calls(end.reason == EndReason::Completed, out);
        self.close_subagents(out);
        self.end_turn(None, None, out);
        let error_code = end.error_code.as_deref().filter(|code| !code.is_empty());
        let message = end.message.as_deref().filter(|message| !message.is_empty());
        let (usage, cost_usd) = (self.spent.tokens(), self.spent.cost());
        if end.reason == EndReason::Failed {
            let message = message.or(error_code).unwrap_or("the run failed");
            let about = AboutEnd { error_code: None, reason: None, cost_usd };
            let data = RunError { message, code: error_code, usage };
            return self.writer.event_with("RUN_ERROR", &data, &about, out);
        }
        let outcome = if end.reason == EndReason::Interrupted {
            Outcome { kind: Word("cancelled"), pending: None }
        } else {
            Outcome { kind: Word("success"), pending: Some(&*pending).filter(|pending| !pending.is_empty()) }
        };
        let about = AboutEnd { error_code, reason: message, cost_usd };
        let data = RunFinished { thread_id: &stream.session.id, run_id: &stream.id, outcome, usage };
        self.writer.event_with("RUN_FINISHED", &data, &about, out);
    }
}
