//! Claude Code's words for what runners call differently.
//!
//! Input: stop reasons and error codes of frames. Output: the words that the SDK declares. Never: another word.

use crate::frame::{CONTENT_FILTER, CONTEXT_WINDOW_EXCEEDED, EndReason, MAX_OUTPUT_TOKENS, SessionEnded};
use serde::{Deserialize, Serialize};

/// Why a model message stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum StopReason {
    EndTurn,
    MaxTokens,
    StopSequence,
    ToolUse,
    PauseTurn,
    Refusal,
    ContextWindow,
}

impl StopReason {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::ToolUse => "tool_use",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::ContextWindow => "model_context_window_exceeded",
        }
    }

    /// The reason of a turn in the runner's words. `calls` is whether its last model message called tools.
    pub(super) fn of(word: Option<&str>, calls: bool) -> Self {
        match word {
            Some("stop_sequence") => Self::StopSequence,
            Some("pause_turn") => Self::PauseTurn,
            Some("tool_use" | "tool-calls" | "tool_calls") => Self::ToolUse,
            Some("max_tokens" | "length" | MAX_OUTPUT_TOKENS) => Self::MaxTokens,
            Some("refusal" | "content-filter" | CONTENT_FILTER) => Self::Refusal,
            Some("model_context_window_exceeded" | CONTEXT_WINDOW_EXCEEDED) => Self::ContextWindow,
            _ if calls => Self::ToolUse,
            _ => Self::EndTurn,
        }
    }

    /// The reason that the end of a run implies.
    pub(super) fn of_end(end: &SessionEnded) -> Option<Self> {
        match end.error_code.as_deref()? {
            MAX_OUTPUT_TOKENS => Some(Self::MaxTokens),
            CONTEXT_WINDOW_EXCEEDED => Some(Self::ContextWindow),
            CONTENT_FILTER => Some(Self::Refusal),
            _ => None,
        }
    }
}

/// The kind of an error that the SDK declares for a code.
pub(super) fn error(code: &str) -> &'static str {
    match code {
        "authentication_failed" | "authentication_error" | "invalid_api_key" => "authentication_failed",
        "billing_error" | "insufficient_quota" => "billing_error",
        "rate_limit" | "rate_limit_error" => "rate_limit",
        "overloaded" | "overloaded_error" => "overloaded",
        "invalid_request" | "invalid_request_error" => "invalid_request",
        "model_not_found" => "model_not_found",
        "server_error" | "api_error" => "server_error",
        MAX_OUTPUT_TOKENS => MAX_OUTPUT_TOKENS,
        _ => "unknown",
    }
}

/// How a run ended: the subtype of its result, and its `terminal_reason`.
pub(super) fn outcome(end: &SessionEnded, in_tool: bool) -> (&'static str, &'static str) {
    match (end.reason, end.error_code.as_deref()) {
        (EndReason::Completed, _) => (SUCCESS, "completed"),
        (EndReason::Interrupted, _) if in_tool => (INTERRUPTED, "aborted_tools"),
        (EndReason::Interrupted, _) => (INTERRUPTED, "aborted_streaming"),
        (EndReason::Failed, Some("error_max_turns")) => ("error_max_turns", "max_turns"),
        (EndReason::Failed, Some("error_max_budget_usd")) => ("error_max_budget_usd", "budget_exhausted"),
        (EndReason::Failed, Some("error_max_structured_output_retries")) => {
            ("error_max_structured_output_retries", "structured_output_retry_exhausted")
        }
        (EndReason::Failed, Some("error_during_execution")) => (INTERRUPTED, "model_error"),
        (EndReason::Failed, _) => (SUCCESS, "api_error"),
    }
}

/// The subtype of a result with a text.
pub(super) const SUCCESS: &str = "success";

/// The subtype of a result without one.
pub(super) const INTERRUPTED: &str = "error_during_execution";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_runners_become_the_apis() {
        for (word, calls, expected) in [
            (None, false, "end_turn"),
            (None, true, "tool_use"),
            (Some("completed"), true, "tool_use"),
            (Some("stop"), false, "end_turn"),
            (Some("length"), true, "max_tokens"),
            (Some("content_filter"), false, "refusal"),
            (Some("context_window_exceeded"), false, "model_context_window_exceeded"),
            (Some("pause_turn"), false, "pause_turn"),
        ] {
            assert_eq!(StopReason::of(word, calls).as_str(), expected, "{word:?} {calls}");
        }
    }
}
