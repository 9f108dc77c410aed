//! The outcome of a call, read from the text of its result.
//!
//! Input: whether the runner calls the result an error, and its text. Output: a verdict. The runner has no field for an exit code: its
//! own sentences at the end of the text are the only mark. Never: an error reported as exit code 0.

/// The verdict on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The call ran and had this exit code.
    Ended(i32),
    /// The call never ran, or was aborted.
    Failed,
}

/// The exit code of a command that ran out of time, as `timeout` has it.
const TIMED_OUT: i32 = 124;

impl Verdict {
    /// Derives the verdict on a result.
    pub(super) fn of(is_error: bool, tool: &str, text: &str) -> Self {
        if !is_error {
            return Self::Ended(0);
        }
        let last = text.trim_end().rsplit('\n').next().unwrap_or_default();
        if last == "Command aborted" || last == "Operation aborted" || never_ran(tool, text) {
            return Self::Failed;
        }
        if last.starts_with("Command timed out after ") {
            return Self::Ended(TIMED_OUT);
        }
        let code = last.strip_prefix("Command exited with code ").and_then(|code| code.parse().ok());
        Self::Ended(code.filter(|code| *code != 0).unwrap_or(1))
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
        assert_eq!(of("Command exited with code 3\nmore"), Verdict::Ended(1));
        assert_eq!(of("Command exited with code 0"), Verdict::Ended(1), "an error is never a success");
        assert_eq!(of("start\n\n\nCommand timed out after 1 seconds"), Verdict::Ended(TIMED_OUT));
        assert_eq!(of("No deleting here"), Verdict::Ended(1));
        assert_eq!(Verdict::of(false, "bash", "Command exited with code 3"), Verdict::Ended(0));
    }

    #[test]
    fn calls_that_never_ran_or_were_aborted_failed() {
        for text in
            ["start\n\n\nCommand aborted", "Tool bash not found", "Validation failed for tool \"read\":\n  - path"]
        {
            assert_eq!(of(text), Verdict::Failed, "{text}");
        }
        assert_eq!(of("Tool other not found"), Verdict::Ended(1));
    }
}
