//! Findings for people: one on each line, then a summary.

use super::{Found, Report, Subject, Tally, line, plain};
use std::io::{self, Write};

pub(super) struct Text {
    subject: Subject,
}

impl Text {
    pub(super) fn new(subject: Subject) -> Self {
        Self { subject }
    }
}

impl Report for Text {
    fn finding(&mut self, out: &mut dyn Write, file: &str, found: &Found<'_>) -> io::Result<()> {
        writeln!(out, "{}", line(file, found))?;
        match found.payload {
            Some(payload) => writeln!(out, "    {}", plain(payload)),
            None => Ok(()),
        }
    }

    /// Unreadable files are reported on stderr in every format.
    fn file(&mut self, _: &mut dyn Write, _: &str, _: &Tally, _: Option<&str>) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, total: &Tally) -> io::Result<()> {
        let count = |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        let (errors, warnings) = (count(total.errors, "error"), count(total.warnings, "warning"));
        let (events, files) = (count(total.events, self.subject.unit()), count(total.files, "file"));
        write!(out, "{errors}, {warnings} in {events} of {files}")?;
        if total.unreadable > 0 {
            write!(out, "; {} could not be read", count(total.unreadable, "file"))?;
        }
        writeln!(out)?;
        out.flush()
    }
}
