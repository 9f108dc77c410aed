//! Findings for build servers: JUnit XML with one test case for each file, a failure for each error, and warnings as the case's
//! output.
//!
//! JUnit puts the counts before the cases, so the cases are held until the end. The number of findings held for a file is
//! bounded.

use super::{Found, Report, Subject, Tally, line, shortened};
use framegate_translators::verify::Severity;
use std::fmt::Write as _;
use std::io::{self, Write};

/// How many findings of a file are shown; the rest are counted.
const SHOWN: u64 = 1000;

pub(super) struct Junit {
    subject: Subject,
    /// The cases that are complete.
    cases: String,
    failures: String,
    warnings: String,
    shown: u64,
    failed: u64,
}

impl Junit {
    pub(super) fn new(subject: Subject) -> Self {
        Self { subject, cases: String::new(), failures: String::new(), warnings: String::new(), shown: 0, failed: 0 }
    }
}

impl Report for Junit {
    fn finding(&mut self, _: &mut dyn Write, file: &str, found: &Found<'_>) -> io::Result<()> {
        self.shown += 1;
        if self.shown > SHOWN {
            return Ok(());
        }
        let text = line(file, found);
        let payload = found.payload.map(|payload| format!("\n{}", shortened(payload))).unwrap_or_default();
        let body = xml(&format!("{text}{payload}"));
        let finding = &found.located.finding;
        // Writing to a string cannot fail.
        let _ = match finding.severity {
            Severity::Warning => writeln!(self.warnings, "{body}"),
            Severity::Error => {
                let (kind, message) = (xml(finding.rule), xml(&finding.message));
                writeln!(self.failures, "      <failure type=\"{kind}\" message=\"{message}\">{body}</failure>")
            }
        };
        Ok(())
    }

    fn file(&mut self, _: &mut dyn Write, file: &str, tally: &Tally, unreadable: Option<&str>) -> io::Result<()> {
        self.failed += u64::from(tally.errors > 0 && unreadable.is_none());
        let (name, class) = (xml(file), xml(self.subject.name()));
        let _ = writeln!(self.cases, "    <testcase name=\"{name}\" classname=\"{class}\">");
        self.cases.push_str(&self.failures);
        if self.shown > SHOWN {
            self.cases.push_str(&rest(self.shown - SHOWN, tally));
        }
        if let Some(why) = unreadable {
            let _ = writeln!(self.cases, "      <error type=\"unreadable\" message=\"{}\"/>", xml(why));
        }
        if !self.warnings.is_empty() {
            let _ = writeln!(self.cases, "      <system-out>{}</system-out>", self.warnings.trim_end());
        }
        self.cases.push_str("    </testcase>\n");
        self.failures.clear();
        self.warnings.clear();
        self.shown = 0;
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, total: &Tally) -> io::Result<()> {
        let counts = format!("tests=\"{}\" failures=\"{}\" errors=\"{}\"", total.files, self.failed, total.unreadable);
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(out, "<testsuites {counts}>")?;
        writeln!(out, "  <testsuite name=\"framegate check {}\" {counts}>", xml(self.subject.name()))?;
        out.write_all(self.cases.as_bytes())?;
        writeln!(out, "  </testsuite>\n</testsuites>")?;
        out.flush()
    }
}

/// Says that there are more findings. If the file has errors this is a failure, since none of them may have been shown.
fn rest(more: u64, tally: &Tally) -> String {
    let message = format!("{more} more findings are not shown ({} errors in total)", tally.errors);
    match tally.errors {
        0 => String::new(),
        _ => format!("      <failure type=\"more\" message=\"{message}\"/>\n"),
    }
}

/// Escapes text for an element or a quoted attribute. Characters that XML cannot represent become U+FFFD.
fn xml(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\'' => xml.push_str("&apos;"),
            '\t' => xml.push_str("&#9;"),
            '\n' => xml.push_str("&#10;"),
            '\r' => xml.push_str("&#13;"),
            '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => xml.push(char::REPLACEMENT_CHARACTER),
            _ => xml.push(letter),
        }
    }
    xml
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_characters_invalid_in_xml_are_replaced() {
        assert_eq!(
            xml("a<b> & \"c\" 'd'\n\u{1B}\u{FFFF}é"),
            "a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos;&#10;\u{FFFD}\u{FFFD}é"
        );
    }
}
