//! The output of a running call, which the runner reports in pieces, as all of it so far, and again in the result.
//!
//! Input: these three forms, in any mixture. Output: what is new. The first form that arrives decides; the other one repeats it. Never: output
//! that is there twice; unbounded memory for a command that prints for hours.

/// How much output is kept to recognise it in the result, in bytes.
const MOST_KEPT: usize = 64 << 10;

/// The output of a call so far.
#[derive(Debug, Default)]
pub(super) struct Live {
    form: Form,
    /// The output, unless it is longer than what is kept.
    text: String,
    /// All output so far, in bytes.
    bytes: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    #[default]
    None,
    Pieces,
    Snapshots,
}

impl Live {
    /// Takes a piece. Returns whether it is new.
    pub(super) fn piece(&mut self, text: &str) -> bool {
        if self.form == Form::Snapshots {
            return false;
        }
        self.form = Form::Pieces;
        self.keep(text);
        true
    }

    /// Takes all output so far. Returns what is new in it.
    pub(super) fn so_far<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        if self.form == Form::Pieces || text.is_empty() {
            return None;
        }
        self.form = Form::Snapshots;
        let new = text.get(self.bytes..).filter(|new| !new.is_empty() && text.starts_with(&self.text))?;
        self.keep(new);
        Some(new)
    }

    /// The part of an error's message that was not reported.
    pub(super) fn after(&self, message: &str) -> String {
        let is_other = self.form != Form::None && !message.starts_with(&self.text) && !self.text.contains(message);
        if is_other { message.to_owned() } else { self.rest(message) }
    }

    fn keep(&mut self, text: &str) {
        if self.bytes == self.text.len() && self.bytes + text.len() <= MOST_KEPT {
            self.text.push_str(text);
        }
        self.bytes = self.bytes.saturating_add(text.len());
    }

    /// The part of a result that was not reported. A result that says something else than the output so far, as that of a long
    /// output does, adds nothing.
    pub(super) fn rest(&self, result: &str) -> String {
        let output = without_shell_note(result);
        if self.form == Form::None {
            return if output == "\n" { String::new() } else { output.to_owned() };
        }
        if self.bytes > self.text.len() {
            return String::new();
        }
        // The runner separates its note by a newline, if the output does not end with one.
        match output.strip_prefix(self.text.as_str()) {
            Some("\n") | None => String::new(),
            Some(rest) => rest.to_owned(),
        }
    }
}

/// A command's output, without the runner's last line: `<shellId: 0 completed with exit code 3>`.
fn without_shell_note(text: &str) -> &str {
    let note = text.rfind("<shellId: ").filter(|at| {
        let note = text.get(*at..).unwrap_or_default();
        note.ends_with('>') && note.contains(" completed with exit code ") && !note.contains('\n')
    });
    note.and_then(|at| text.get(..at)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_and_snapshots_are_the_same_output() {
        let mut live = Live::default();
        assert!(live.piece("one\n"));
        assert_eq!(live.so_far("one\n"), None);
        assert!(live.piece("two\n"));
        assert_eq!(live.rest("one\ntwo\n<shellId: 0 completed with exit code 0>"), "");
        assert_eq!(live.rest("one\ntwo\nthree\n<shellId: 0 completed with exit code 0>"), "three\n");
        assert_eq!(live.rest("Output too large"), "");
    }

    #[test]
    fn snapshots_alone_are_reported_by_what_is_new() {
        let mut live = Live::default();
        assert_eq!(live.so_far(""), None);
        assert_eq!(live.so_far("a"), Some("a"));
        assert_eq!(live.so_far("ab"), Some("b"));
        assert_eq!(live.so_far("xy"), None);
        assert!(!live.piece("ab"));
        assert_eq!(live.rest("abc"), "c");
    }

    #[test]
    fn a_result_alone_is_the_output() {
        let live = Live::default();
        assert_eq!(live.rest("\n<shellId: 0 completed with exit code 0>"), "");
        assert_eq!(live.rest("a\n<shellId: 12 completed with exit code 127>"), "a\n");
        assert_eq!(live.rest("<shellId: 0 is still running>"), "<shellId: 0 is still running>");
    }

    #[test]
    fn an_error_is_reported_although_it_does_not_continue_the_output() {
        let mut live = Live::default();
        assert_eq!(live.after("No such shell"), "No such shell");
        assert!(live.piece("tick\n"));
        assert_eq!(live.after("It took too long"), "It took too long");
        assert_eq!(live.after("tick\nIt took too long"), "It took too long");
        assert_eq!(live.after("tick\n"), "");
    }

    #[test]
    fn long_output_is_not_kept() {
        let mut live = Live::default();
        let piece = "x".repeat(MOST_KEPT);
        assert!(live.piece(&piece) && live.piece("y"));
        assert_eq!((live.text.len(), live.bytes), (MOST_KEPT, MOST_KEPT + 1));
        assert_eq!(live.rest("anything"), "");
    }
}
