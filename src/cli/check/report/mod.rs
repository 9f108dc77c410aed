//! Reports of findings for people, for programs and for build servers.
//!
//! Input: findings in the order of the files. Output: text, one JSON object, JUnit XML, or workflow commands. Never: a control
//! character of the input in the output; more than a bounded number of findings in memory.

mod github;
mod json;
mod junit;
mod text;

use super::Found;
use framegate_translators::verify::Severity;
use std::io::{self, ErrorKind, Write};

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// One finding per line
    Text,
    /// One object: findings, files, summary
    Json,
    /// JUnit XML, one test case per file
    Junit,
    /// GitHub workflow commands, one annotation per finding
    Github,
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// Events of this contract.
    Contract(&'static str),
    /// Records of this runner.
    Runner(&'static str),
}

impl Subject {
    fn name(self) -> &'static str {
        match self {
            Self::Contract(name) | Self::Runner(name) => name,
        }
    }

    /// The word for one event or record.
    fn unit(self) -> &'static str {
        match self {
            Self::Contract(_) => "event",
            Self::Runner(_) => "record",
        }
    }
}

/// The counts of one file, or of all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) files: u64,
    pub(super) events: u64,
    pub(super) errors: u64,
    pub(super) warnings: u64,
    pub(super) unreadable: u64,
    /// The detected form of a runner's output.
    pub(super) surface: Option<&'static str>,
}

impl Tally {
    /// Adds another count to this one.
    pub(super) fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.events += other.events;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.unreadable += other.unreadable;
    }
}

/// Prints findings in one format.
pub(super) trait Report {
    /// Writes the next finding of a file.
    fn finding(&mut self, out: &mut dyn Write, file: &str, found: &Found<'_>) -> io::Result<()>;

    /// Ends a file. `unreadable` says why it could not be read to its end.
    fn file(&mut self, out: &mut dyn Write, file: &str, tally: &Tally, unreadable: Option<&str>) -> io::Result<()>;

    /// Ends the report after the last file.
    fn end(&mut self, out: &mut dyn Write, total: &Tally) -> io::Result<()>;
}

/// Creates a report in this format.
pub(super) fn new(format: Format, subject: Subject) -> Box<dyn Report> {
    match format {
        Format::Text => Box::new(text::Text::new(subject)),
        Format::Json => Box::new(json::Json::new(subject)),
        Format::Junit => Box::new(junit::Junit::new(subject)),
        Format::Github => Box::new(github::Github::new(subject)),
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// The text on one line, with control characters escaped, so that a terminal does not interpret them.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        // Bidirectional control characters can make a line look like a different one.
        if letter.is_control()
            || matches!(letter, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        {
            plain.extend(letter.escape_default());
        } else {
            plain.push(letter);
        }
    }
    plain
}

/// How many characters of an event are shown in a report for a web page.
const PAYLOAD_CHARS: usize = 4096;

/// The start of an event, or all of it if it is short.
fn shortened(payload: &str) -> String {
    match payload.char_indices().nth(PAYLOAD_CHARS) {
        Some((end, _)) => format!("{}…", payload.get(..end).unwrap_or_default()),
        None => payload.to_owned(),
    }
}

/// One finding on one line: `file:record: error[rule] type /pointer: message`. For a runner's output, `record` is the runner's
/// record, and the event's number follows the message.
fn line(file: &str, found: &Found<'_>) -> String {
    use std::fmt::Write;
    let located = found.located;
    let mut line = plain(file);
    if let Some(record) = found.place.record.or((located.record > 0).then_some(located.record)) {
        let _ = write!(line, ":{record}");
    }
    let _ = write!(line, ": {}[{}]", word(located.finding.severity), located.finding.rule);
    for part in [located.kind.as_deref().unwrap_or_default(), &located.finding.pointer] {
        if !part.is_empty() {
            let _ = write!(line, " {}", plain(part));
        }
    }
    let _ = write!(line, ": {}", plain(&located.finding.message));
    if let Some(offset) = found.place.offset {
        let _ = match located.record {
            0 => write!(line, " (record at byte {offset})"),
            event => write!(line, " (event {event}, record at byte {offset})"),
        };
    }
    if let Some(drift) = found.drift {
        let times = if drift.count == 1 { "once".to_owned() } else { format!("{} times", drift.count) };
        let at = drift.first.offset;
        let _ = write!(line, " ({times}, first in the record at byte {at}): {}", plain(&drift.suggestion));
    }
    line
}

/// A writer that ignores all writes once its reader has closed the pipe.
pub(super) struct UntilClosed<W> {
    out: W,
    gone: bool,
}

impl<W: Write> UntilClosed<W> {
    /// Creates a writer that writes until the pipe is closed.
    pub(super) fn new(out: W) -> Self {
        Self { out, gone: false }
    }

    fn forgive<T>(&mut self, result: io::Result<T>, instead: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(instead)
            }
            other => other,
        }
    }
}

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.gone {
            return Ok(bytes.len());
        }
        let written = self.out.write(bytes);
        self.forgive(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.gone {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.forgive(flushed, ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::check::place::Place;
    use framegate_translators::verify::{Finding, Located};

    #[test]
    fn a_large_event_is_shortened() {
        assert_eq!(shortened("é"), "é");
        assert_eq!(shortened(&"é".repeat(PAYLOAD_CHARS)), "é".repeat(PAYLOAD_CHARS));
        assert_eq!(shortened(&"é".repeat(PAYLOAD_CHARS + 1)), "é".repeat(PAYLOAD_CHARS) + "…");
    }

    #[test]
    fn a_finding_is_one_line_without_control_characters() {
        let finding = Finding::error("schema", "/a\nb", "bad \u{1B}[31mthing");
        let located = Located { record: 3, kind: Some("x\u{202E}y".to_owned()), finding };
        let found = Found { located: &located, payload: None, drift: None, place: Place::default() };
        assert_eq!(line("a\tb", &found), "a\\tb:3: error[schema] x\\u{202e}y /a\\nb: bad \\u{1b}[31mthing");
        let of_stream = Located { record: 0, kind: None, finding: Finding::error("end.missing", "", "no end") };
        assert_eq!(
            line("f", &Found { located: &of_stream, payload: None, drift: None, place: Place::default() }),
            "f: error[end.missing]: no end"
        );
        let place = Place { line: Some(9), record: Some(7), offset: Some(90) };
        assert_eq!(
            line("f", &Found { located: &located, payload: None, drift: None, place }),
            "f:7: error[schema] x\\u{202e}y /a\\nb: bad \\u{1b}[31mthing (event 3, record at byte 90)"
        );
    }
}
