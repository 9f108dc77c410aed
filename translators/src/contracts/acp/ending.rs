//! The end of a run: open questions are withdrawn, open calls fail, then the answer of the prompt follows.

use super::blocks;
use super::data::{AboutAnswer, AboutFailure, Answer, Failure};
use super::encode::AcpRun;
use crate::encode::{Events, Word};
use crate::frame::{CONTENT_FILTER, CONTEXT_WINDOW_EXCEEDED, EndReason, MAX_OUTPUT_TOKENS, SessionEnded};
use crate::normalizer::{PROXY_LOST, PROXY_RESTARTED, STREAM_ENDED};

/// The protocol's code of a failed prompt: an internal error.
pub(super) const INTERNAL_ERROR: i32 = -32603;

/// Codes of interrupted runs that were not stopped on request: the runner died, or its stream was lost.
const LOST: &[&str] = &[
    STREAM_ENDED,
    PROXY_RESTARTED,
    PROXY_LOST,
    "proxy_stopping",
    "connection_broken",
    "idle",
    "too_large",
    "undecodable",
    "charset",
    "log",
    "log_failed",
    "log_full",
    "limit",
    "not_allowed",
    "internal",
];

impl AcpRun {
    pub(super) fn end(&mut self, end: &SessionEnded, out: &mut Events) {
        // An answer that was never emitted as text, such as structured output.
        let unsaid = end.final_text.as_deref().filter(|text| !text.is_empty() && !self.answered.contains(text));
        if let Some(text) = unsaid {
            blocks::whole(text, &mut self.writer, out);
        }
        self.withdraw_all(out);
        self.close_calls(out);
        let code = end.error_code.as_deref().filter(|code| !code.is_empty());
        let message = end.message.as_deref().filter(|message| !message.is_empty());
        let (usage, cost_usd) = (self.spent.tokens(), self.spent.cost());
        match stop_reason(end, self.stop_reason.as_deref()) {
            Some(stop_reason) => {
                let about = AboutAnswer { cost_usd, code, message };
                self.writer.result(&Answer { stop_reason: Word(stop_reason), usage }, &about, out);
            }
            None => {
                let message = message.or(code).unwrap_or("the run failed");
                let about = AboutFailure { cost_usd };
                self.writer.error(INTERNAL_ERROR, message, &Failure { code, usage }, &about, out);
            }
        }
    }
}

/// The protocol's word for why a run is over; `None` if it is an error. `last` is the reason of its last turn, in the runner's words.
fn stop_reason(end: &SessionEnded, last: Option<&str>) -> Option<&'static str> {
    let code = end.error_code.as_deref();
    match (end.reason, code) {
        (EndReason::Interrupted, Some(code)) if LOST.contains(&code) => return None,
        (EndReason::Interrupted, _) => return Some("cancelled"),
        (_, Some(MAX_OUTPUT_TOKENS | CONTEXT_WINDOW_EXCEEDED)) => return Some("max_tokens"),
        (_, Some(CONTENT_FILTER)) => return Some("refusal"),
        (_, Some("error_max_turns" | "max_turns")) => return Some("max_turn_requests"),
        (EndReason::Failed, _) => return None,
        (EndReason::Completed, _) => {}
    }
    Some(match last {
        Some("max_tokens" | "length" | MAX_OUTPUT_TOKENS) => "max_tokens",
        Some("refusal" | "content-filter" | CONTENT_FILTER) => "refusal",
        _ => "end_turn",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::SharedStr;

    #[test]
    fn a_run_that_was_stopped_is_cancelled_and_one_that_was_lost_is_an_error() {
        use EndReason::{Completed, Failed, Interrupted};
        for (reason, code, last, expected) in [
            (Completed, None, None, Some("end_turn")),
            (Completed, None, Some("tool_use"), Some("end_turn")),
            (Completed, None, Some("length"), Some("max_tokens")),
            (Completed, None, Some("refusal"), Some("refusal")),
            (Completed, Some(MAX_OUTPUT_TOKENS), Some("end_turn"), Some("max_tokens")),
            (Completed, Some(CONTEXT_WINDOW_EXCEEDED), None, Some("max_tokens")),
            (Failed, Some(CONTENT_FILTER), None, Some("refusal")),
            (Failed, Some("error_max_turns"), None, Some("max_turn_requests")),
            (Failed, Some("overloaded"), Some("end_turn"), None),
            (Failed, None, None, None),
            (Interrupted, Some("aborted_tools"), Some("tool_use"), Some("cancelled")),
            (Interrupted, None, None, Some("cancelled")),
            (Interrupted, Some(STREAM_ENDED), None, None),
            (Interrupted, Some(PROXY_RESTARTED), None, None),
            (Interrupted, Some(PROXY_LOST), None, None),
        ] {
            let error_code = code.map(SharedStr::from);
            let end = SessionEnded { reason, final_text: None, error_code, message: None };
            assert_eq!(stop_reason(&end, last), expected, "{end:?} {last:?}");
        }
    }
}
