//! Statistics about an input's records: their number, and the first ones that could not be read.
//!
//! Input: one call for each record. Output: counts, and bad records with their position. Never: a value from a record, more
//! than [`HELD`] bad records, or a message longer than [`MESSAGE_CHARS`].

/// How many bad records are held until they are taken; further ones are only counted.
const HELD: usize = 64;

/// Maximum length of a message, in characters.
const MESSAGE_CHARS: usize = 240;

/// The number of an input's records, in total and by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All records.
    pub records: u64,
    /// Records that are not JSON, not UTF-8, or too large.
    pub invalid: u64,
    /// JSON records that the runner's decoder does not know, entirely or in part.
    pub unknown: u64,
    /// Records without any content of the runner's: a stream's end marker, or comments.
    pub markers: u64,
    /// Runs that began.
    pub runs: u64,
}

impl Tally {
    /// The number of records that were understood.
    pub fn readable(&self) -> u64 {
        self.records - self.invalid - self.unknown - self.markers
    }

    /// The number of bad records.
    pub fn bad(&self) -> u64 {
        self.invalid + self.unknown
    }
}

/// Why a record is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadKind {
    /// It is not JSON, not UTF-8, or too large.
    Invalid,
    /// Its type, or a part of it, is unknown.
    Unknown,
}

/// A record that could not be read, entirely or in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// The record's number, from 1.
    pub record: u64,
    /// Where it begins, in bytes from the start of the input.
    pub offset: u64,
    /// Why it is bad.
    pub kind: BadKind,
    /// What is wrong with it.
    pub message: String,
}

/// The counts of one input.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    pub(crate) tally: Tally,
    bad: Vec<BadRecord>,
}

impl Counting {
    /// Counts a record that was read.
    pub(crate) fn good(&mut self) {
        self.tally.records += 1;
    }

    /// Counts a record without any content of the runner's.
    pub(crate) fn marker(&mut self) {
        self.tally.records += 1;
        self.tally.markers += 1;
    }

    /// Counts a record that could not be read, entirely or in part.
    pub(crate) fn bad(&mut self, kind: BadKind, offset: u64, message: &str) {
        self.tally.records += 1;
        match kind {
            BadKind::Invalid => self.tally.invalid += 1,
            BadKind::Unknown => self.tally.unknown += 1,
        }
        if self.bad.len() < HELD {
            let message = message.chars().take(MESSAGE_CHARS).collect();
            self.bad.push(BadRecord { record: self.tally.records, offset, kind, message });
        }
    }

    /// The bad records since the last call, limited to the first [`HELD`].
    pub(crate) fn take(&mut self) -> Vec<BadRecord> {
        std::mem::take(&mut self.bad)
    }
}
