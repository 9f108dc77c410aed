//! Findings for programs: `{"contract":…,"findings":[…],"files":[…],"summary":{…}}`, findings as they come.

use super::{Found, Report, Tally, word};
use framegate_translators::contracts::Contract;
use serde::Serialize;
use std::io::{self, Write};

pub(super) struct Json {
    contract: &'static Contract,
    begun: bool,
    files: Vec<FileEntry>,
}

/// One finding; `record` counts from 1 and is null where the finding is about the stream as a whole.
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
    payload: Option<&'a str>,
}

#[derive(Serialize)]
struct FileEntry {
    file: String,
    events: u64,
    errors: u64,
    warnings: u64,
    /// Why the file could not be read to its end; null where it was.
    unreadable: Option<String>,
}

#[derive(Serialize)]
struct Summary {
    files: u64,
    events: u64,
    errors: u64,
    warnings: u64,
    unreadable: u64,
}

impl Json {
    pub(super) fn new(contract: &'static Contract) -> Self {
        Self { contract, begun: false, files: Vec::new() }
    }

    /// What stands before the next finding.
    fn lead(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return out.write_all(b",\n");
        }
        writeln!(out, "{{\"contract\":\"{}\",\"findings\":[", self.contract.name)
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
            payload: found.payload,
        };
        out.write_all(&serde_json::to_vec(&entry)?)
    }

    fn file(&mut self, _: &mut dyn Write, file: &str, tally: &Tally, unreadable: Option<&str>) -> io::Result<()> {
        self.files.push(FileEntry {
            file: file.to_owned(),
            events: tally.events,
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
        let &Tally { files, events, errors, warnings, unreadable } = total;
        let summary = Summary { files, events, errors, warnings, unreadable };
        let (files, summary) = (serde_json::to_string(&self.files)?, serde_json::to_string(&summary)?);
        writeln!(out, "\n],\"files\":{files},\"summary\":{summary}}}")?;
        out.flush()
    }
}
