//! How calls and runs ended.
//!
//! Input: the fields of a result. Output: a verdict on a call; how a run ends. A result says `success` also if the run was stopped, or if
//! it went silent: after the result of a call, or the prompt, the model always says something, unless its context was full or a hook
//! stopped it. Never: such a run reported as completed without a code that says why; a call that ran and failed reported as one that
//! never ran.

use super::super::failure::Failure;
use super::failure;
use crate::frame::{EndReason, SharedStr, TIMED_OUT};
use crate::json::{Json, Kind, Object};
use crate::normalizer::RunEnd;

/// The code of a run that the runner calls a success, although the model did not answer.
const NO_ANSWER: &str = "no_answer";

/// The outcome of a call.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) verdict: Verdict,
    /// What the runner shows of the result; "" if it shows nothing.
    pub(super) text: String,
    /// Whether a hook stopped the whole run with it.
    stops_run: bool,
}

/// The verdict on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The call ran. The stream has no exit codes: 0 for success, 1 for a reported failure.
    Ended(i32),
    /// The call never ran, or it was cancelled.
    Refused,
}

/// The types of errors of calls that never ran.
const REFUSED: &[&str] =
    &["policy_violation", "tool_not_registered", "invalid_tool_params", "stop_execution", "path_not_in_workspace"];

impl Outcome {
    /// Reads a `tool_result`.
    pub(super) fn of_record(fields: &Object<'_>) -> Self {
        let output = fields.str("output").unwrap_or_default();
        if fields.str("status").as_deref() == Some("success") {
            return Self { verdict: Verdict::Ended(0), text: output.into_owned(), stops_run: false };
        }
        let error = fields.object("error").unwrap_or_default();
        let kind = error.str("type").unwrap_or_default();
        let message = error.str("message").unwrap_or_default();
        let verdict = if REFUSED.contains(&&*kind) { Verdict::Refused } else { Verdict::Ended(1) };
        Self { verdict, text: both(&output, &message), stops_run: &*kind == "stop_execution" }
    }

    /// Reads an item of `toolCalls` of a chat file; `None` if the call has not ended.
    pub(super) fn of_call(call: &Object<'_>, is_shell: bool) -> Option<Self> {
        let responses = call.items("result").into_iter().filter_map(Json::object);
        let responses = responses.filter_map(|part| part.object("functionResponse")?.object("response"));
        let field = |key: &str| -> String {
            let texts = responses.clone().filter_map(|response| text_of(response.get(key)?));
            texts.collect::<Vec<_>>().join("\n")
        };
        let (verdict, text) = match &*call.str("status").unwrap_or_default() {
            "success" => {
                let text = field("output");
                let code = is_shell.then(|| exit_code(&text)).flatten();
                (Verdict::Ended(code.unwrap_or(0)), text)
            }
            "error" => {
                let text = field("error");
                let is_refused = NEVER_RAN.iter().any(|start| text.starts_with(start)) || is_unregistered(&text);
                (if is_refused { Verdict::Refused } else { Verdict::Ended(1) }, text)
            }
            "cancelled" => (Verdict::Refused, both(&field("error"), &field("output"))),
            _ => return None,
        };
        // What the model did not get, a person may have seen.
        let shown = || call.str("resultDisplay").unwrap_or_default().into_owned();
        let text = if text.is_empty() { shown() } else { text };
        Some(Self { verdict, text, stops_run: false })
    }

    /// How the run ends because of this result; `None` if it does not.
    pub(super) fn stop(&self) -> Option<RunEnd> {
        let message = || if self.text.is_empty() { "a hook stopped the run" } else { &self.text };
        self.stops_run.then(|| failure::run_end(failure::of_hook(message())))
    }
}

/// How the errors of calls begin that never ran.
const NEVER_RAN: &[&str] =
    &["Tool execution blocked", "Tool execution denied", "params must ", "params/", "Agent execution stopped"];

fn is_unregistered(text: &str) -> bool {
    text.strip_prefix("Tool \"")
        .and_then(|rest| rest.split_once("\" "))
        .is_some_and(|(_, rest)| rest.starts_with("not found"))
}

/// The text of a response, which may be JSON of another type.
fn text_of(value: Json<'_>) -> Option<String> {
    match value.kind() {
        Kind::Null => None,
        Kind::String => Some(value.str().unwrap_or_default().into_owned()),
        _ => Some(value.text().to_owned()),
    }
}

/// A short and a long form of the same message. The short one is left out if the long one contains it.
fn both(short: &str, long: &str) -> String {
    if short.is_empty() || long.contains(short) {
        long.to_owned()
    } else if long.is_empty() || short.contains(long) {
        short.to_owned()
    } else {
        format!("{short}\n{long}")
    }
}

/// The exit code in the model's copy of a command's result. The lines after the output say it; the last ones count, because the
/// command itself may print such a line.
fn exit_code(text: &str) -> Option<i32> {
    if took_too_long(text) {
        return Some(TIMED_OUT);
    }
    let lines = text.trim_end().trim_end_matches("</untrusted_context>").trim_end().lines().rev().take(6);
    let after = |line: &str, key: &str| line.strip_prefix(key).and_then(|rest| rest.trim().parse::<i32>().ok());
    for line in lines {
        if let Some(code) = after(line, "Exit Code: ") {
            return Some(code);
        }
        // A shell gives 128 and the number of the signal.
        if let Some(signal) = after(line, "Signal: ") {
            return Some(128_i32.saturating_add(signal));
        }
        if !["Process Group PGID:", "Background PIDs:", "Error:"].iter().any(|key| line.starts_with(key)) {
            return None;
        }
    }
    None
}

/// Whether the runner stopped a command that was silent for too long. It calls that a success.
fn took_too_long(text: &str) -> bool {
    let text = text.strip_prefix("<untrusted_context>").map_or(text, str::trim_start);
    text.starts_with("Command was automatically cancelled because it exceeded the timeout of ")
}

/// How a run ends. `error` is that of the result; `stop` is what an earlier record said, unless the model spoke after it.
pub(super) fn end_of(is_error: bool, error: Option<Failure>, stop: Option<RunEnd>, is_answered: bool) -> RunEnd {
    if is_error {
        let end = error.map(failure::run_end).or(stop);
        let end = end.unwrap_or_else(|| RunEnd::failed("error", "the runner reported an error without a message"));
        let reason = if end.reason == EndReason::Interrupted { end.reason } else { EndReason::Failed };
        return RunEnd { reason, ..end };
    }
    match stop {
        Some(stop) => stop,
        None if !is_answered => RunEnd {
            error_code: Some(SharedStr::from(NO_ANSWER)),
            message: Some("the model did not answer: its context was full, or a hook stopped the run".to_owned()),
            ..RunEnd::completed()
        },
        None => RunEnd::completed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_follows_the_output() {
        let of = |lines: &str| exit_code(&format!("<untrusted_context>\n{lines}\n</untrusted_context>"));
        assert_eq!(of("Output: before\noops\nExit Code: 3\nProcess Group PGID: 17849"), Some(3));
        assert_eq!(of("Output: a\nSignal: 9\nProcess Group PGID: 1"), Some(137));
        assert_eq!(of("Output: kiwi\nProcess Group PGID: 1"), None);
        assert_eq!(of("Output: Exit Code: 3\nfine\nProcess Group PGID: 1"), None, "the command's own output");
    }

    #[test]
    fn a_silent_command_that_the_runner_stopped_is_no_success() {
        let text =
            "Command was automatically cancelled because it exceeded the timeout of 2.0 minutes without output.\n\na";
        assert_eq!(exit_code(&format!("<untrusted_context>\n{text}\n</untrusted_context>")), Some(TIMED_OUT));
    }

    #[test]
    fn a_short_message_is_not_repeated() {
        assert_eq!(both("File not found.", "File not found: /a"), "File not found.\nFile not found: /a");
        assert_eq!(both("no", "no way"), "no way");
        assert_eq!(both("", "b"), "b");
        assert_eq!(both("a", ""), "a");
    }

    #[test]
    fn a_success_without_an_answer_has_a_code() {
        let of = |is_error, answered| {
            let end = end_of(is_error, None, None, answered);
            (end.reason, end.error_code)
        };
        assert_eq!(of(false, true), (EndReason::Completed, None));
        assert_eq!(of(false, false), (EndReason::Completed, Some(SharedStr::from(NO_ANSWER))));
        assert_eq!(of(true, true), (EndReason::Failed, Some(SharedStr::from("error"))));
    }

    #[test]
    fn a_stop_is_a_failure_only_if_the_result_says_so() {
        let of = |is_error| end_of(is_error, None, Some(failure::run_end(failure::of_hook("enough"))), false);
        assert_eq!((of(false).reason, of(true).reason), (EndReason::Completed, EndReason::Failed));
        assert_eq!(of(false).error_code, of(true).error_code);
    }
}
