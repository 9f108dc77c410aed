//! The end of a run: everything is closed, then `finish` or `abort` follows.

use super::data::{Abort, ErrorText, Finish, Metadata};
use super::encode::UiMessage;
use super::metadata::{EMPTY, MessageMetadata};
use crate::encode::{Events, Word};
use crate::frame::{CONTENT_FILTER, CONTEXT_WINDOW_EXCEEDED, EndReason, MAX_OUTPUT_TOKENS, SessionEnded};

impl UiMessage {
    pub(super) fn end(&mut self, end: &SessionEnded, out: &mut Events) {
        // An answer that was never emitted as text, such as structured output.
        let unsaid = end.final_text.as_deref().filter(|text| !text.is_empty() && !self.answered.contains(text));
        if let Some(text) = unsaid {
            self.begin_content(out);
            self.blocks.whole(text, &mut self.writer, out);
        }
        self.blocks.close(&mut self.writer, out);
        let awaits_client = self.close_calls(out);
        self.finish_step(out);
        let error_code = end.error_code.as_deref().filter(|code| !code.is_empty());
        let usage = self.reported.usage();
        let metadata =
            (usage.is_some() || error_code.is_some()).then_some(MessageMetadata { usage, error_code, ..EMPTY });
        if end.reason == EndReason::Interrupted {
            if let Some(metadata) = metadata {
                self.writer.chunk("message-metadata", &Metadata { metadata }, out);
            }
            let reason = end.message.as_deref().or(error_code);
            return self.writer.chunk("abort", &Abort { reason }, out);
        }
        if end.reason == EndReason::Failed {
            let message = end.message.as_deref().filter(|message| !message.is_empty());
            let error_text = message.or(error_code).unwrap_or("the run failed");
            self.writer.chunk("error", &ErrorText { error_text }, out);
        }
        let finish_reason = Word(finish_reason(end, self.stop_reason.as_deref(), awaits_client));
        self.writer.chunk("finish", &Finish { finish_reason, metadata }, out);
    }
}

/// The SDK's word for why a run is over. `stop_reason` is the reason of its last turn, in the runner's words; `awaits_client` is
/// whether the model called tools that the runner leaves to its client.
fn finish_reason(end: &SessionEnded, stop_reason: Option<&str>, awaits_client: bool) -> &'static str {
    match end.error_code.as_deref() {
        Some(MAX_OUTPUT_TOKENS | CONTEXT_WINDOW_EXCEEDED) => return "length",
        Some(CONTENT_FILTER) => return "content-filter",
        _ if end.reason == EndReason::Failed => return "error",
        _ if awaits_client => return "tool-calls",
        _ => {}
    }
    match stop_reason {
        None | Some("stop" | "end_turn" | "stop_sequence" | "completed") => "stop",
        Some("max_tokens" | "length" | MAX_OUTPUT_TOKENS) => "length",
        Some("tool_use" | "tool-calls" | "tool_calls") => "tool-calls",
        Some("content-filter" | "refusal" | CONTENT_FILTER) => "content-filter",
        Some(_) => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::SharedStr;

    #[test]
    fn the_reason_is_that_of_the_run_then_that_of_the_last_turn() {
        let end = |reason, code: Option<&str>| SessionEnded {
            reason,
            final_text: None,
            error_code: code.map(SharedStr::from),
            message: None,
        };
        let (completed, failed) = (EndReason::Completed, EndReason::Failed);
        for (end, stop_reason, expected) in [
            (end(completed, None), None, "stop"),
            (end(completed, None), Some("end_turn"), "stop"),
            (end(completed, None), Some("tool_use"), "tool-calls"),
            (end(completed, None), Some("pause_turn"), "other"),
            (end(completed, Some(MAX_OUTPUT_TOKENS)), Some("end_turn"), "length"),
            (end(failed, Some("overloaded")), Some("end_turn"), "error"),
            (end(failed, Some(CONTENT_FILTER)), None, "content-filter"),
        ] {
            assert_eq!(finish_reason(&end, stop_reason, false), expected, "{end:?} {stop_reason:?}");
        }
        assert_eq!(finish_reason(&end(completed, None), Some("completed"), true), "tool-calls");
    }
}
