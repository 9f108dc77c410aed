//! Findings for GitHub Actions: one workflow command each, which GitHub shows next to the line it is about.
//!
//! `::error file=…,line=…,title=…::message`, and `::warning` likewise. In the message, `%`, CR and LF are escaped; in the
//! properties, `:` and `,` as well. An input can therefore neither end a command nor begin one.

use super::text::Text;
use super::{Found, Report, Subject, Tally, plain, shortened, word};
use std::io::{self, Write};

pub(super) struct Github {
    /// Writes the summary line, as in the text report.
    summary: Text,
}

impl Github {
    pub(super) fn new(subject: Subject) -> Self {
        Self { summary: Text::new(subject) }
    }
}

impl Report for Github {
    fn finding(&mut self, out: &mut dyn Write, file: &str, found: &Found<'_>) -> io::Result<()> {
        let finding = &found.located.finding;
        write!(out, "::{} file={}", word(finding.severity), property(file))?;
        if let Some(line) = found.place.line {
            write!(out, ",line={line}")?;
        }
        let text = super::line(file, found);
        let payload = found.payload.map(|payload| format!("\n{}", plain(&shortened(payload)))).unwrap_or_default();
        writeln!(out, ",title={}::{}", property(finding.rule), message(&format!("{text}{payload}")))
    }

    fn file(&mut self, out: &mut dyn Write, file: &str, _: &Tally, unreadable: Option<&str>) -> io::Result<()> {
        let Some(why) = unreadable else { return Ok(()) };
        writeln!(out, "::error file={},title=unreadable::{}", property(file), message(&format!("cannot read: {why}")))
    }

    fn end(&mut self, out: &mut dyn Write, total: &Tally) -> io::Result<()> {
        self.summary.end(out, total)
    }
}

/// Escapes the text after the second `::`.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_or_begin_a_command() {
        assert_eq!(message("50% a::b, c\r\n::error::x"), "50%25 a::b, c%0D%0A::error::x");
        assert_eq!(property("C:\\a,b%\n::error file=x"), "C%3A\\a%2Cb%25%0A%3A%3Aerror file=x");
        // An escape in the input is not read as an escape of ours.
        assert_eq!(message("%0A"), "%250A");
    }
}
