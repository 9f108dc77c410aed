//! Why a model stopped before its answer was complete: one rule for all runners.
//!
//! Input: a stop reason or error code from any runner. Output: how the run ends. Never: a code that means different things for
//! different runners.
//!
//! | the model stopped because | the run is | `error_code` |
//! |---|---|---|
//! | its answer reached the limit of its length | completed | `max_output_tokens` |
//! | the context was full while it answered | completed | `context_window_exceeded` |
//! | a filter or a safety rule stopped it | failed | `content_filter` |
//!
//! The partial answer is the run's final text in each case. The message contains the runner's own code. If the runner also
//! reports an error, that error is reported too.

use crate::frame::{CONTENT_FILTER, CONTEXT_WINDOW_EXCEEDED, EndReason, MAX_OUTPUT_TOKENS, SharedStr};
use crate::normalizer::RunEnd;

/// Why an answer is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The answer reached its maximum length.
    Length,
    /// The context window was full.
    Context,
    /// A content filter stopped the answer.
    Filter,
}

impl Stop {
    /// The meaning of a stop reason; `None` if the answer is complete or the reason says nothing about it.
    pub(super) fn of(word: &str) -> Option<Self> {
        match word {
            "max_output_tokens"
            | "max_tokens"
            | "max_completion_tokens"
            | "length"
            | "max_length"
            | "output_length"
            | "message_output_length"
            | "MAX_TOKENS"
            | "max_output_length" => Some(Self::Length),
            "model_context_window_exceeded" | "model_length" => Some(Self::Context),
            "content_filter" | "content-filter" | "content_filtered" | "refusal" | "safety" | "SAFETY" => {
                Some(Self::Filter)
            }
            _ => None,
        }
    }

    /// The `error_code` of the run's end.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Length => MAX_OUTPUT_TOKENS,
            Self::Context => CONTEXT_WINDOW_EXCEEDED,
            Self::Filter => CONTENT_FILTER,
        }
    }

    /// The run's end. `word` is the runner's own code; `reported` is the runner's message for people, if any.
    pub(super) fn end(self, word: &str, reported: Option<&str>) -> RunEnd {
        let what = match self {
            Self::Length => "the answer reached the limit of its length",
            Self::Context => "the answer filled the context window",
            Self::Filter => "a content filter stopped the answer",
        };
        let message = match reported.filter(|reported| !reported.is_empty()) {
            Some(reported) => reported.to_owned(),
            None => format!("{what} ({word})"),
        };
        let reason = if self == Self::Filter { EndReason::Failed } else { EndReason::Completed };
        RunEnd { reason, final_text: None, error_code: Some(SharedStr::from(self.code())), message: Some(message) }
    }
}
