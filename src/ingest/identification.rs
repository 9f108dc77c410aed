//! Reports which runner an input comes from: recognised, different from the expected one, or unknown.
//!
//! Input: an ingest, after each chunk. Output: one log line for each finding, once. Never: content of the input.

use framegate_translators::pipeline::{BadRecord, Ingest, Tally};
use framegate_translators::recognise::Recognised;
use framegate_translators::runners::RUNNERS;

/// What was reported about one input.
#[derive(Debug, Default)]
pub struct IdentificationReporter {
    recognised: bool,
    mistaken: Option<Recognised>,
}

impl IdentificationReporter {
    /// Reports what is new.
    pub fn tell(&mut self, ingest: &mut Ingest) {
        if let Some(found) = ingest.recognised().filter(|_| !self.recognised) {
            self.recognised = true;
            tracing::info!(
                runner = found.runner.name,
                surface = found.surface.name,
                record = found.record,
                reason = found.reason,
                "recognised as {found}: {}",
                found.reason
            );
        }
        if let Some(other) = ingest.mistaken() {
            self.mistaken = Some(other);
            tracing::warn!(
                runner = other.runner.name,
                surface = other.surface.name,
                record = other.record,
                reason = other.reason,
                "the records look like {other}: {}; they are still read as requested",
                other.reason
            );
        }
    }

    /// The runner whose output it looks like, if that is not the expected one.
    pub fn mistaken(&self) -> Option<Recognised> {
        self.mistaken
    }
}

/// Summary of an input.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Counts of its records.
    pub tally: Tally,
    /// Whether the runner was not recognised.
    pub is_unknown: bool,
    /// The first records that could not be read.
    pub bad: Vec<BadRecord>,
    /// The runner whose output it looks like, if that is not the expected one.
    pub mistaken: Option<Recognised>,
}

impl Seen {
    /// Whether nothing in it was understood.
    pub fn is_nothing(&self) -> bool {
        self.is_unknown || (self.tally.runs == 0 && self.tally.readable() == 0)
    }

    /// Describes the input, for people.
    pub fn summary(&self) -> String {
        if self.tally.records == 0 {
            return "no records".to_owned();
        }
        let first = self.bad.first().map_or_else(String::new, |bad| {
            format!("; first: record {} at byte {}: {}", bad.record, bad.offset, bad.message)
        });
        format!("{}{first}", counted(&self.tally))
    }
}

/// Describes the records of an input that could not be read: `3 records: 1 not JSON, 2 of unknown types`.
pub fn counted(tally: &Tally) -> String {
    let Tally { records, invalid, unknown, .. } = *tally;
    let mut text = format!("{records} record{}", if records == 1 { "" } else { "s" });
    let parts = [(invalid, "not JSON"), (unknown, "of unknown types")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if !parts.is_empty() {
        text.push_str(": ");
        text.push_str(&parts.join(", "));
    }
    text
}

/// Why an input was not read: its runner is unknown.
pub fn unknown() -> String {
    let known: Vec<&str> = RUNNERS.iter().map(|runner| runner.name).collect();
    format!("the first records are not recognised as output of any runner ({})", known.join(", "))
}
