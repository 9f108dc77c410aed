//! Positions of findings in a file: lines, and the records of a runner's output.
//!
//! Input: the bytes of a file, in chunks. Output: the line at an offset; the position of each record, in order. Never: the
//! bytes retained.

use super::super::lines::LineCounter;
use framegate_translators::framing::{Limits, Reader, Unit};
use framegate_translators::records;
use std::collections::VecDeque;

/// A position in a file. `None` means unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Counted from 1.
    pub(super) line: Option<u64>,
    /// The record of a runner's output, counted from 1.
    pub(super) record: Option<u64>,
    /// The byte offset at which that record's unit begins.
    pub(super) offset: Option<u64>,
}

/// The line number of `part`, a slice of `text`. `first` is the line number of the start of `text`.
pub(super) fn line_within(text: &str, first: Option<u64>, part: &str) -> Option<u64> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let before = text.as_bytes().get(..start).unwrap_or_default();
    Some(first? + before.iter().filter(|byte| **byte == b'\n').count() as u64)
}

/// Finds the position of each record in a runner's output. It reads the input in parallel to the translation, so that the
/// translators need not carry positions that only this check uses.
pub(super) struct Records {
    reader: Reader,
    lines: LineCounter,
    /// Records that the translation has not reached yet.
    ahead: VecDeque<Place>,
    read: u64,
    current: Place,
}

impl Records {
    /// Creates a reader at the start of a file.
    pub(super) fn new() -> Self {
        Self {
            reader: Reader::sniffing(Limits::default()),
            lines: LineCounter::new(),
            ahead: VecDeque::new(),
            read: 0,
            current: Place::default(),
        }
    }

    /// Feeds the next bytes. Must be called before the translation gets them.
    pub(super) fn feed(&mut self, chunk: &[u8]) {
        let Self { reader, lines, ahead, read, .. } = self;
        lines.feed(chunk);
        reader.feed(chunk, &mut |unit| place(&unit, lines, ahead, read));
    }

    /// Ends the file.
    pub(super) fn finish(&mut self) {
        let Self { reader, lines, ahead, read, .. } = self;
        reader.finish(&mut |unit| place(&unit, lines, ahead, read));
    }

    /// The translation has reached the next record. Returns its position.
    pub(super) fn advance(&mut self) -> Place {
        self.current = self.ahead.pop_front().unwrap_or_default();
        self.current
    }

    /// The position of the record that the translation has reached.
    pub(super) fn current(&self) -> Place {
        self.current
    }

    /// The position of the next record; if there is none, of the current one.
    pub(super) fn upcoming(&self) -> Place {
        self.ahead.front().copied().unwrap_or(self.current)
    }
}

fn place(unit: &Unit<'_>, lines: &mut LineCounter, ahead: &mut VecDeque<Place>, read: &mut u64) {
    let line = lines.at(unit.offset);
    records::read(unit, &mut |_| {
        *read += 1;
        ahead.push_back(Place { line, record: Some(*read), offset: Some(unit.offset) });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_counted_from_one_without_blank_lines() {
        let mut records = Records::new();
        records.feed(b"\n{\"a\":1}\r\n\r\n{\"b\":1}{\"c\":1}\nnope");
        records.finish();
        let places: Vec<_> = (0..5).map(|_| records.advance()).map(|place| (place.record, place.line)).collect();
        let expected = [(Some(1), Some(2)), (Some(2), Some(4)), (Some(3), Some(4)), (Some(4), Some(5)), (None, None)];
        assert_eq!(places, expected);
    }

    #[test]
    fn a_slice_of_a_text_has_its_line() {
        let text = "[\n1,\n2]";
        assert_eq!(line_within(text, Some(5), text.get(2..3).unwrap()), Some(6));
        assert_eq!(line_within(text, Some(5), text.get(5..6).unwrap()), Some(7));
    }
}
