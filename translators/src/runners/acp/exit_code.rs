//! The exit code of a command. The protocol has no field for it (version 1), so agents put it into different places.
//!
//! Input: a tool's update and its text. Output: the code. Never: a number from the middle of a text.

use crate::json::Object;

/// The code in the fields of an update.
pub(super) fn of_fields(update: &Object<'_>) -> Option<i32> {
    let read = |fields: &Object<'_>, key: &str| fields.i64(key).and_then(|code| i32::try_from(code).ok());
    let of_meta = || read(&update.object("_meta")?.object("terminal_exit")?, "exit_code");
    let of_output = || {
        let output = update.object("rawOutput")?;
        let inner = || read(&output.object("metadata")?, "exit");
        read(&output, "exit_code").or_else(|| read(&output, "exitCode")).or_else(inner)
    };
    of_meta().or_else(of_output)
}

/// The last lines of an output that are searched for the code, in bytes.
const TAIL: usize = 512;

/// The code that an agent wrote at the end of a command's output.
pub(super) fn of_text(text: &str) -> Option<i32> {
    let from = text.len().saturating_sub(TAIL);
    let tail = text.get((from..=text.len()).find(|&at| text.is_char_boundary(at))?..)?;
    let last = tail.trim_end().lines().next_back()?;
    let said = last
        .strip_suffix('>')
        .filter(|last| last.starts_with("<shellId: "))
        .and_then(|last| last.rsplit_once(" completed with exit code "))
        .map(|(_, code)| code)
        .or_else(|| last.strip_prefix("Command failed with exit code: ").and_then(|rest| rest.strip_suffix('.')));
    // The summary of a command: its lines follow each other at the end.
    let listed = || {
        let rows = tail.lines().rev().take(4).skip_while(|row| !row.starts_with("Exit Code: "));
        let row = rows.take(1).next()?.strip_prefix("Exit Code: ")?;
        tail.contains("Signal: ").then_some(row)
    };
    said.or_else(listed)?.trim().parse().ok()
}

/// The code with which the text of a failed command begins.
pub(super) fn of_failure(text: &str) -> Option<i32> {
    text.lines().next()?.strip_prefix("Exit code ")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_at_the_end_of_a_text_is_found() {
        assert_eq!(of_text("oops\nCommand failed with exit code: 3."), Some(3));
        assert_eq!(of_text("one\n<shellId: 0 completed with exit code 127>"), Some(127));
        assert_eq!(of_text("Output: x\nError: (none)\nExit Code: 4\nSignal: (none)\nProcess Group PGID: 7"), Some(4));
        for text in ["", "Exit Code: 4", "Command failed with exit code: 3.\nmore", "exit code 3>", "\u{e9}"] {
            assert_eq!(of_text(text), None, "{text}");
        }
        assert_eq!(of_text(&"\u{e9}".repeat(1000)), None);
    }

    #[test]
    fn a_code_before_the_output_of_a_failed_command_is_found() {
        assert_eq!(of_failure("Exit code 4\nfrom the terminal"), Some(4));
        assert_eq!(of_failure("Exit code 127"), Some(127));
        for text in ["", "Exit code", "Exit code 4 of 5", "one\nExit code 4"] {
            assert_eq!(of_failure(text), None, "{text}");
        }
    }
}
