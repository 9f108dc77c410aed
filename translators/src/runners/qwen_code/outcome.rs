//! The outcome of a call, read from the text of its result.
//!
//! Input: whether the runner calls the result an error, and its text. Output: a verdict. The stream has no field for it; the runner's
//! own sentences are the only mark of a call that never ran. Never: a call that ran and failed reported as one that never ran.

use crate::frame::TIMED_OUT;

/// The outcome of a call.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) verdict: Verdict,
    /// The result as text.
    pub(super) text: String,
    /// How long the call took, as measured by the runner, in milliseconds; `None` if unknown.
    pub(super) duration_ms: Option<u64>,
}

/// The verdict on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The call ran and had this exit code.
    Ended(i32),
    /// The call never ran.
    Refused,
    /// The host refused the call, or the user cancelled it.
    Cancelled,
}

/// How the results of calls begin that never ran.
const REFUSALS: &[&str] = &[
    "Qwen Code requires permission to use ",
    "Skipped because the provider attempt was retried before execution.",
    // The schema of the arguments is not satisfied.
    "params must ",
    "params/",
];

/// How the results of commands begin that took longer than they may.
const TOOK_TOO_LONG: &str = "Command timed out after ";

/// How the results of cancelled calls begin.
const CANCELLED: &str = "[Operation Cancelled]";

impl Outcome {
    /// Derives the outcome of a result.
    pub(super) fn of(is_error: bool, text: String) -> Self {
        let verdict = if is_error { verdict(&text) } else { Verdict::Ended(0) };
        Self { verdict, text, duration_ms: None }
    }

    /// The reason in the result of a cancelled call.
    pub(super) fn reason(&self) -> &str {
        let rest = self.text.strip_prefix(CANCELLED).map_or(self.text.as_str(), str::trim_start);
        rest.strip_prefix("Reason:").map_or(rest, str::trim_start)
    }

    /// Whether an interruption of the whole run cancelled the call.
    pub(super) fn is_interruption(&self) -> bool {
        self.verdict == Verdict::Cancelled && self.text.contains("User intentionally cancelled")
    }
}

fn verdict(text: &str) -> Verdict {
    if text.starts_with(CANCELLED) {
        return Verdict::Cancelled;
    }
    let is_unknown_tool =
        text.strip_prefix("Tool \"").and_then(|rest| rest.split_once("\" ")).is_some_and(|(_, rest)| {
            rest.starts_with("not found in registry") || rest.starts_with("is a built-in tool that is disabled")
        });
    if is_unknown_tool || REFUSALS.iter().any(|known| text.starts_with(known)) {
        return Verdict::Refused;
    }
    if text.starts_with(TOOK_TOO_LONG) {
        return Verdict::Ended(TIMED_OUT);
    }
    Verdict::Ended(exit_code(text).filter(|code| *code != 0).unwrap_or(1))
}

/// The exit code in what the runner says about a command: lines of `Command:`, `Directory:`, `Output:`, `Error:`, `Exit Code:`, …
fn exit_code(text: &str) -> Option<i32> {
    if !text.starts_with("Command: ") {
        return None;
    }
    let (_, rest) = text.rsplit_once("\nExit Code: ")?;
    rest.lines().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Verdict {
        Outcome::of(true, text.to_owned()).verdict
    }

    #[test]
    fn the_exit_code_of_a_command_is_read() {
        let command = |code: &str| {
            format!(
                "Command: x\nDirectory: (root)\nOutput: a\nExit Code: 9\nError: (none)\nExit Code: {code}\nSignal: (none)"
            )
        };
        assert_eq!(of(&command("3")), Verdict::Ended(3));
        assert_eq!(of(&command("(none)")), Verdict::Ended(1));
        assert_eq!(of(&command("0")), Verdict::Ended(1), "an error is never a success");
        assert_eq!(of("File not found: /a\nExit Code: 7"), Verdict::Ended(1));
        let late =
            "Command timed out after 1500ms before it could complete. Below is the output before it timed out:\na";
        assert_eq!(of(late), Verdict::Ended(TIMED_OUT));
        assert_eq!(Outcome::of(false, late.to_owned()).verdict, Verdict::Ended(0));
        assert_eq!(Outcome::of(false, command("0")).verdict, Verdict::Ended(0));
    }

    #[test]
    fn a_call_that_never_ran_is_refused() {
        for text in [
            "Qwen Code requires permission to use \"write_file\", but that permission was declined.",
            "Tool \"frobnicate\" not found in registry. Tools must use the exact names that are registered.",
            "Tool \"todo_write\" is a built-in tool that is disabled by default. Enable it",
            "params must have required property 'file_path'",
            "params/limit must be number",
            "Skipped because the provider attempt was retried before execution.",
        ] {
            assert_eq!(of(text), Verdict::Refused, "{text}");
        }
        assert_eq!(of("Tool \"a\" failed: not found in registry"), Verdict::Ended(1));
        assert_eq!(Outcome::of(false, "params must hold".to_owned()).verdict, Verdict::Ended(0));
    }

    #[test]
    fn the_reason_of_a_refusal_by_the_host_is_read() {
        let refused = Outcome::of(true, "[Operation Cancelled] Reason: Not on my watch".to_owned());
        assert_eq!(
            (refused.verdict, refused.reason(), refused.is_interruption()),
            (Verdict::Cancelled, "Not on my watch", false)
        );
        let stopped =
            "[Operation Cancelled] Reason: The tool had already completed. User intentionally cancelled. Stop";
        assert!(Outcome::of(true, stopped.to_owned()).is_interruption());
    }
}
