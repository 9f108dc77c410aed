//! The lines that the host sends, between the records that the runner writes.
//!
//! Input: lines, and the units that were read. Output: lines for the decoder. Never: a line before the records that it follows from, which may
//! be held for the rest of a possible secret; memory for lines beyond [`MOST`].

use super::state::State;
use crate::json::Object;
use std::collections::VecDeque;

/// The maximum number of lines that wait. The oldest is read early if there are more.
const MOST: usize = 1024;

/// A line that the host sends.
#[derive(Debug)]
pub(super) struct SentLine {
    /// How many units precede it; `None` if all of them were read.
    pub(super) units_before: Option<u64>,
    /// The line without its secrets.
    pub(super) line: String,
    /// When it is sent, in Unix epoch milliseconds.
    pub(super) now_ms: u64,
}

/// The lines that wait for units, oldest first.
#[derive(Debug, Default)]
pub(super) struct SentLines {
    waiting: VecDeque<SentLine>,
    /// How many units the redactor has passed on.
    units: u64,
}

impl State {
    /// Reads a line, or keeps it until the unit that it follows was read.
    pub(super) fn sent(&mut self, line: SentLine) {
        if line.units_before.is_none() && self.sent_lines.waiting.is_empty() {
            return self.read_sent(&line);
        }
        self.sent_lines.waiting.push_back(line);
        if self.sent_lines.waiting.len() > MOST
            && let Some(oldest) = self.sent_lines.waiting.pop_front()
        {
            self.read_sent(&oldest);
        }
    }

    /// A unit was read. Reads the lines that waited for it.
    pub(super) fn unit_was_read(&mut self) {
        self.sent_lines.units += 1;
        let units = self.sent_lines.units;
        let is_due = |line: &SentLine| line.units_before.is_none_or(|before| before <= units);
        while self.sent_lines.waiting.front().is_some_and(is_due) {
            if let Some(line) = self.sent_lines.waiting.pop_front() {
                self.read_sent(&line);
            }
        }
    }

    fn read_sent(&mut self, line: &SentLine) {
        if let Some(message) = Object::parse(line.line.trim()) {
            self.normalizer.at(line.now_ms);
            self.decoder.sent(&message, &mut self.normalizer);
        }
    }
}
