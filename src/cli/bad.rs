//! What a filter reports about records that it cannot read, and about an input that contains no run.
//!
//! Input: bad records and the bytes of their input. Output: one log line for each of the first bad records, with file, line and
//! byte; a line that counts the others; the reason why there is no run. Never: a value from a record, more lines than were
//! requested.

use super::input::{Input, name_of};
use super::lines::LineCounter;
use crate::ingest::{counted, unknown};
use framegate_translators::pipeline::{BadKind, BadRecord, Tally};
use framegate_translators::recognise::Recognised;
use framegate_translators::runners::RUNNERS;
use std::path::Path;

/// How many line ends are remembered. A record can be held back because it may contain the start of a secret; its line has been
/// read by then.
const LINE_ENDS: usize = 1 << 16;

/// Reports the bad records of one input.
pub(super) struct BadRecords {
    file: String,
    most: u64,
    reported: u64,
    lines: LineCounter,
    first: Option<String>,
}

impl BadRecords {
    /// Creates a reporter that reports at most `most` records one by one.
    pub(super) fn new(path: &Path, most: u64) -> Self {
        let lines = LineCounter::remembering(LINE_ENDS);
        Self { file: name_of(path), most, reported: 0, lines, first: None }
    }

    /// Feeds the next bytes. Must be called before `tell` for the records in them.
    pub(super) fn feed(&mut self, chunk: &[u8]) {
        self.lines.feed(chunk);
    }

    /// Reports these bad records.
    pub(super) fn tell(&mut self, records: Vec<BadRecord>) {
        self.tell_of(records, |_| None);
    }

    /// Reports these bad records of an input whose lines come from several files. `origin` is where a line comes from.
    pub(super) fn tell_of<'o>(&mut self, records: Vec<BadRecord>, origin: impl Fn(u64) -> Option<(&'o Path, u64)>) {
        for bad in records {
            let line = self.lines.at(bad.offset);
            if let Some((path, line)) = line.and_then(&origin) {
                let file = name_of(path);
                self.first.get_or_insert_with(|| format!("{file}:{line}: {}", bad.message));
                if self.reported < self.most {
                    self.reported += 1;
                    tracing::warn!("{file}:{line}: a record {}: {}", what(bad.kind), bad.message);
                }
                continue;
            }
            let place = line.map_or_else(|| format!("byte {}", bad.offset), |line| format!("line {line}"));
            if self.first.is_none() {
                self.first = Some(format!("{place}: {}", bad.message));
            }
            if self.reported == self.most {
                continue;
            }
            self.reported += 1;
            let BadRecord { record, offset, kind, message } = bad;
            let what = what(kind);
            let file = &self.file;
            let at = line.map_or_else(String::new, |line| format!(":{line}"));
            tracing::warn!("{file}{at}: record {record} at byte {offset} {what}: {message}");
        }
    }

    /// Ends the input: counts the records that were not reported one by one.
    pub(super) fn end(&self, tally: &Tally) {
        let more = tally.bad().saturating_sub(self.reported);
        if more > 0 {
            let file = &self.file;
            tracing::warn!("{file}: {more} more bad records are not listed; {}", counted(tally));
        }
    }

    /// The first bad record, with its position.
    pub(super) fn first(&self) -> Option<&str> {
        self.first.as_deref()
    }
}

fn what(kind: BadKind) -> &'static str {
    match kind {
        BadKind::Invalid => "cannot be read",
        BadKind::Unknown => "is not recognised",
    }
}

/// Says why an input has no run, or that another runner wrote it, and what to do. `named` is the runner that the user named, `recognised`
/// the one that was recognised if the user named none.
pub(super) fn no_run(
    input: &Input,
    named: Option<&str>,
    recognised: Option<&str>,
    tally: &Tally,
    mistaken: Option<Recognised>,
    first: Option<&str>,
) -> String {
    if input.is_empty() {
        return "the input is empty".to_owned();
    }
    if let Some(other) = mistaken {
        let (name, of) =
            (other.runner.name, named.or(recognised).map_or_else(String::new, |name| format!(" of {name}")));
        return format!("no run{of} was found: the input looks like {other}; use --from {name}");
    }
    let counted = match (tally.records, first) {
        (0, _) => "no records".to_owned(),
        (_, None) => counted(tally),
        (_, Some(first)) => format!("{}; first: {first}", counted(tally)),
    };
    if input.is_binary() {
        return format!("no run was found: the input is binary, but runners write JSON or event streams ({counted})");
    }
    let Some(name) = named else {
        if let Some(name) = recognised {
            return format!(
                "no run was found: the input looks like output of {name}, but it has no record with which a run begins ({counted})"
            );
        }
        return format!("no run was found: {} ({counted}); name the runner with --from", unknown());
    };
    let others: Vec<&str> = RUNNERS.iter().map(|other| other.name).filter(|other| *other != name).collect();
    format!(
        "no run was found when reading the input as output of {name} ({counted}); if another runner wrote it, use \
         --from auto or one of {}",
        others.join(", ")
    )
}
