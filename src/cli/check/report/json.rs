//! Findings for programs: `{"contract":…,"findings":[…],"files":[…],"summary":{…}}`, with findings in the order in which they
//! are found.
//!
//! For a runner's output, the key is `runner` instead of `contract` and `records` instead of `events`. A finding then has the
//! number of occurrences (`count`), the start of the first record (`offset`, in bytes) and what to do (`suggestion`).

use super::{Found, Report, Subject, Tally, word};
use serde::Serialize;
use std::io::{self, Write};

pub(super) struct Json {
    subject: Subject,
    begun: bool,
    files: Vec<FileEntry>,
}

/// One finding. `record` counts events from 1 and is null if the finding is about the stream as a whole. `line` is the start of
/// the event, or with `--from` of the runner's record; absent if unknown.
#[derive(Serialize)]
struct FindingEntry<'a> {
    file: &'a str,
    record: Option<u64>,
    r#type: Option<&'a str>,
    pointer: &'a str,
    rule: &'a str,
    severity: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<&'a str>,
    #[serde(flatten)]
    drift: Option<DriftEntry<'a>>,
}

/// The runner's record that caused an event: its number from 1, and its start in bytes.
#[derive(Serialize)]
struct Source {
    record: u64,
    offset: u64,
}

#[derive(Serialize)]
struct DriftEntry<'a> {
    count: u64,
    offset: u64,
    suggestion: &'a str,
}

/// What is counted: events of a contract, or records of a runner.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Count {
    Events(u64),
    Records(u64),
}

#[derive(Serialize)]
struct FileEntry {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    surface: Option<&'static str>,
    #[serde(flatten)]
    count: Count,
    errors: u64,
    warnings: u64,
    /// The reason why the file could not be read to its end; null if it was.
    unreadable: Option<String>,
}

#[derive(Serialize)]
struct Summary {
    files: u64,
    #[serde(flatten)]
    count: Count,
    errors: u64,
    warnings: u64,
    unreadable: u64,
}

impl Json {
    pub(super) fn new(subject: Subject) -> Self {
        Self { subject, begun: false, files: Vec::new() }
    }

    fn count(&self, tally: &Tally) -> Count {
        match self.subject {
            Subject::Contract(_) => Count::Events(tally.events),
            Subject::Runner(_) => Count::Records(tally.events),
        }
    }

    /// Writes the separator before the next finding, or the start of the object.
    fn lead(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return out.write_all(b",\n");
        }
        let key = match self.subject {
            Subject::Contract(_) => "contract",
            Subject::Runner(_) => "runner",
        };
        writeln!(out, "{{\"{key}\":\"{}\",\"findings\":[", self.subject.name())
    }
}

impl Report for Json {
    fn finding(&mut self, out: &mut dyn Write, file: &str, found: &Found<'_>) -> io::Result<()> {
        self.lead(out)?;
        let located = found.located;
        let entry = FindingEntry {
            file,
            record: Some(located.record).filter(|record| *record > 0),
            r#type: located.kind.as_deref(),
            pointer: &located.finding.pointer,
            rule: located.finding.rule,
            severity: word(located.finding.severity),
            message: &located.finding.message,
            line: found.place.line,
            source: found.place.record.zip(found.place.offset).map(|(record, offset)| Source { record, offset }),
            payload: found.payload,
            drift: found.drift.map(|drift| DriftEntry {
                count: drift.count,
                offset: drift.first.offset,
                suggestion: &drift.suggestion,
            }),
        };
        out.write_all(&serde_json::to_vec(&entry)?)
    }

    fn file(&mut self, _: &mut dyn Write, file: &str, tally: &Tally, unreadable: Option<&str>) -> io::Result<()> {
        self.files.push(FileEntry {
            file: file.to_owned(),
            surface: tally.surface,
            count: self.count(tally),
            errors: tally.errors,
            warnings: tally.warnings,
            unreadable: unreadable.map(str::to_owned),
        });
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, total: &Tally) -> io::Result<()> {
        if !self.begun {
            self.lead(out)?;
        }
        let &Tally { files, errors, warnings, unreadable, .. } = total;
        let summary = Summary { files, count: self.count(total), errors, warnings, unreadable };
        let (files, summary) = (serde_json::to_string(&self.files)?, serde_json::to_string(&summary)?);
        writeln!(out, "\n],\"files\":{files},\"summary\":{summary}}}")?;
        out.flush()
    }
}
