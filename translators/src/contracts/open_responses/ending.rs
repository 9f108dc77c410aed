//! The end of a run: everything is closed, then the terminal event repeats it.

use super::encode::Response;
use super::response::Status;
use crate::encode::Events;
use crate::frame::{CONTENT_FILTER, CONTEXT_WINDOW_EXCEEDED, EndReason, MAX_OUTPUT_TOKENS, SessionEnded};

impl Response {
    /// The run is over at that time, in Unix epoch seconds.
    pub(super) fn end(&mut self, end: &SessionEnded, now: u64, out: &mut Events) {
        self.begin(None, out);
        self.close_texts(out);
        // An answer that was never emitted as text, such as structured output.
        let unsaid = end.final_text.as_deref().filter(|text| !text.is_empty() && !self.answered.contains(text));
        if let Some(text) = unsaid {
            self.whole_text(text, out);
        }
        self.close_calls(out);
        let code = end.error_code.as_deref().filter(|code| !code.is_empty());
        let outcome = Outcome::of(end.reason, code);
        let message = end.message.as_deref().filter(|message| !message.is_empty());
        let error = (code.unwrap_or("run_failed"), message.or(code).unwrap_or("the run failed"));
        let (kind, status) = match outcome {
            Outcome::Completed => {
                ("response.completed", Status { word: "completed", completed_at: Some(now), ..Status::IN_PROGRESS })
            }
            Outcome::Incomplete(reason) => {
                let incomplete = Some((reason, message));
                ("response.incomplete", Status { word: "incomplete", incomplete, ..Status::IN_PROGRESS })
            }
            Outcome::Failed => {
                ("response.failed", Status { word: "failed", error: Some(error), ..Status::IN_PROGRESS })
            }
        };
        self.lifecycle(kind, &Status { error_code: code, ..status }, out);
    }
}

/// How a response ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Completed,
    /// The reason: the API's word if it has one.
    Incomplete(&'static str),
    Failed,
}

impl Outcome {
    fn of(reason: EndReason, code: Option<&str>) -> Self {
        match (reason, code) {
            (_, Some(CONTENT_FILTER)) => Self::Incomplete("content_filter"),
            (EndReason::Completed, Some(MAX_OUTPUT_TOKENS | CONTEXT_WINDOW_EXCEEDED)) => {
                Self::Incomplete("max_output_tokens")
            }
            (EndReason::Completed, _) => Self::Completed,
            (EndReason::Interrupted, _) => Self::Incomplete("interrupted"),
            (EndReason::Failed, _) => Self::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_a_filter_or_an_interruption_leaves_the_response_incomplete() {
        let (completed, failed) = (EndReason::Completed, EndReason::Failed);
        for (reason, code, expected) in [
            (completed, None, Outcome::Completed),
            (completed, Some("anything"), Outcome::Completed),
            (completed, Some(MAX_OUTPUT_TOKENS), Outcome::Incomplete("max_output_tokens")),
            (completed, Some(CONTEXT_WINDOW_EXCEEDED), Outcome::Incomplete("max_output_tokens")),
            (failed, Some(CONTENT_FILTER), Outcome::Incomplete("content_filter")),
            (failed, Some("overloaded"), Outcome::Failed),
            (failed, None, Outcome::Failed),
            (EndReason::Interrupted, None, Outcome::Incomplete("interrupted")),
        ] {
            assert_eq!(Outcome::of(reason, code), expected, "{reason:?} {code:?}");
        }
    }
}
