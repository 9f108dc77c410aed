//! The outcome of a call, read from the text of its result.
//!
//! Input: whether the runner calls the result an error, and its text. Output: a verdict. The runner has no field for an exit code: its
//! own sentences at the end of the text are the only mark. Never: an error reported as exit code 0.

use crate::frame::TIMED_OUT;

/// The verdict on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The call ran and had this exit code.
    Ended(i32),
    /// The tool failed without an exit code, or was refused in words that only an extension knows.
    Failed,
    /// The call was aborted.
    Aborted,
    /// The call never ran.
    Refused,
}

/// The tool that runs commands.
const SHELL: &str = "bash";

impl Verdict {
    /// Derives the verdict on a result.
    pub(super) fn of(is_error: bool, tool: &str, text: &str) -> Self {
        if !is_error {
            return Self::Ended(0);
        }
        let last = text.trim_end().rsplit('\n').next().unwrap_or_default();
        if last == "Command aborted" || last == "Operation aborted" {
            return Self::Aborted;
        }
        if never_ran(tool, text) {
            return Self::Refused;
        }
        if last.starts_with("Command timed out after ") {
            return Self::Ended(TIMED_OUT);
        }
        let exited = last.strip_prefix("Command exited with code ");
        if exited.is_none() && tool == SHELL {
            // A command that ran has one of the sentences above.
            return Self::Refused;
        }
        let Some(code) = exited else { return Self::Failed };
        Self::Ended(code.parse().ok().filter(|code| *code != 0).unwrap_or(1))
    }
}

/// Whether the runner refused the call before the tool saw it.
fn never_ran(tool: &str, text: &str) -> bool {
    let rest = text.strip_prefix("Tool ").and_then(|rest| rest.strip_prefix(tool));
    rest == Some(" not found") || text.starts_with("Validation failed for tool ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Verdict {
        Verdict::of(true, "bash", text)
    }

    #[test]
    fn exit_codes_are_read_from_the_last_line() {
        assert_eq!(of("out\n\n\nCommand exited with code 127"), Verdict::Ended(127));
        assert_eq!(of("Command exited with code 0"), Verdict::Ended(1), "an error is never a success");
        assert_eq!(of("start\n\n\nCommand timed out after 1 seconds"), Verdict::Ended(TIMED_OUT));
        assert_eq!(Verdict::of(true, "read", "ENOENT: no such file"), Verdict::Failed);
        assert_eq!(Verdict::of(false, "bash", "Command exited with code 3"), Verdict::Ended(0));
    }

    #[test]
    fn calls_that_were_aborted_or_never_ran_have_no_exit_code() {
        for text in ["start\n\n\nCommand aborted", "Operation aborted"] {
            assert_eq!(of(text), Verdict::Aborted, "{text}");
        }
        for text in ["No deleting here", "Tool bash not found", "Validation failed for tool \"bash\":\n  - command"] {
            assert_eq!(of(text), Verdict::Refused, "{text}");
        }
        assert_eq!(Verdict::of(true, "jump", "Tool jump not found"), Verdict::Refused);
        assert_eq!(Verdict::of(true, "jump", "Tool other not found"), Verdict::Failed);
    }
}
