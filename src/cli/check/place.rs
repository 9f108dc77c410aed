//! Where in a file a finding is: lines, and the records of a runner's output.
//!
//! In: the bytes of a file, in chunks. Out: the line at an offset; the place of each record, in order. Never: the bytes kept.

use framegate_translators::framing::{Limits, Reader, Unit};
use framegate_translators::records;
use std::collections::VecDeque;

/// A place in a file. What is not known is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Counts from 1.
    pub(super) line: Option<u64>,
    /// The record of a runner's output, counted from 1.
    pub(super) record: Option<u64>,
    /// Where that record's unit begins, in bytes.
    pub(super) offset: Option<u64>,
}

/// How many line ends are remembered: more of them stand only in one event, or with no event between them.
const LINE_ENDS: usize = 1 << 20;

/// Tells the line of an offset.
#[derive(Debug)]
pub(super) struct LineCounter {
    read: u64,
    /// Line ends behind the last offset that was asked for.
    ends: VecDeque<u64>,
    line: u64,
    /// Line ends up to here were forgotten: there were too many of them.
    forgotten: Option<u64>,
    /// A CR came last: an LF behind it belongs to it.
    after_cr: bool,
}

impl LineCounter {
    /// At the start of a file.
    pub(super) fn new() -> Self {
        Self { read: 0, ends: VecDeque::new(), line: 1, forgotten: None, after_cr: false }
    }

    /// Takes the next bytes.
    pub(super) fn feed(&mut self, chunk: &[u8]) {
        for (at, byte) in chunk.iter().enumerate() {
            if *byte == b'\n' && self.after_cr {
                if let Some(end) = self.ends.back_mut() {
                    *end += 1;
                }
            } else if matches!(byte, b'\n' | b'\r') {
                self.ends.push_back(self.read + at as u64);
                if self.ends.len() > LINE_ENDS {
                    self.forgotten = self.ends.pop_front();
                    self.line += 1;
                }
            }
            self.after_cr = *byte == b'\r';
        }
        self.read += chunk.len() as u64;
    }

    /// The line in which the byte at that offset stands, unless that was forgotten. Offsets go up.
    pub(super) fn at(&mut self, offset: u64) -> Option<u64> {
        if offset == 0 {
            return Some(1);
        }
        if self.forgotten.is_some_and(|forgotten| offset <= forgotten) {
            return None;
        }
        while self.ends.front().is_some_and(|end| *end < offset) {
            self.ends.pop_front();
            self.line += 1;
        }
        Some(self.line)
    }
}

/// The line of a part of a text whose first line has that number.
pub(super) fn line_within(text: &str, first: Option<u64>, part: &str) -> Option<u64> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let before = text.as_bytes().get(..start).unwrap_or_default();
    Some(first? + before.iter().filter(|byte| **byte == b'\n').count() as u64)
}

/// Where each record of a runner's output stands. It reads the input beside the translation, so that the way of a record
/// through the translators need not carry what only this gate wants.
pub(super) struct Records {
    reader: Reader,
    lines: LineCounter,
    /// Records that the translation has not come to yet.
    ahead: VecDeque<Place>,
    read: u64,
    current: Place,
}

impl Records {
    /// At the start of a file.
    pub(super) fn new() -> Self {
        Self {
            reader: Reader::sniffing(Limits::default()),
            lines: LineCounter::new(),
            ahead: VecDeque::new(),
            read: 0,
            current: Place::default(),
        }
    }

    /// Takes the next bytes, before the translation gets them.
    pub(super) fn feed(&mut self, chunk: &[u8]) {
        let Self { reader, lines, ahead, read, .. } = self;
        lines.feed(chunk);
        reader.feed(chunk, &mut |unit| place(&unit, lines, ahead, read));
    }

    /// The file is over.
    pub(super) fn finish(&mut self) {
        let Self { reader, lines, ahead, read, .. } = self;
        reader.finish(&mut |unit| place(&unit, lines, ahead, read));
    }

    /// The translation comes to the next record.
    pub(super) fn advance(&mut self) -> Place {
        self.current = self.ahead.pop_front().unwrap_or_default();
        self.current
    }

    /// The record that the translation is at.
    pub(super) fn current(&self) -> Place {
        self.current
    }

    /// The record that comes next, else the one that it is at.
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
    use proptest::prelude::*;

    #[test]
    fn records_are_counted_from_one_with_blank_lines_between() {
        let mut records = Records::new();
        records.feed(b"\n{\"a\":1}\r\n\r\n{\"b\":1}{\"c\":1}\nnope");
        records.finish();
        let places: Vec<_> = (0..5).map(|_| records.advance()).map(|place| (place.record, place.line)).collect();
        let expected = [(Some(1), Some(2)), (Some(2), Some(4)), (Some(3), Some(4)), (Some(4), Some(5)), (None, None)];
        assert_eq!(places, expected);
    }

    #[test]
    fn no_more_line_ends_are_remembered_than_allowed_and_later_lines_are_right() {
        let mut lines = LineCounter::new();
        let more = LINE_ENDS as u64 + 10;
        lines.feed(&vec![b'\n'; LINE_ENDS + 10]);
        lines.feed(b"x\ny");
        assert!(lines.ends.len() <= LINE_ENDS);
        assert_eq!(lines.at(5), None);
        assert_eq!(lines.at(more), Some(more + 1));
        assert_eq!(lines.at(more + 2), Some(more + 2));
    }

    #[test]
    fn a_part_of_a_text_has_its_line() {
        let text = "[\n1,\n2]";
        assert_eq!(line_within(text, Some(5), text.get(2..3).unwrap()), Some(6));
        assert_eq!(line_within(text, Some(5), text.get(5..6).unwrap()), Some(7));
    }

    proptest! {
        #[test]
        fn lines_are_counted_as_an_editor_does(text in "[ab\r\n]{0,40}", cut in 0usize..40) {
            let cut = cut.min(text.len());
            let mut lines = LineCounter::new();
            lines.feed(&text.as_bytes()[..cut]);
            lines.feed(&text.as_bytes()[cut..]);
            for (at, byte) in text.bytes().enumerate().filter(|(_, byte)| !matches!(byte, b'\r' | b'\n')) {
                let before = text[..at].replace("\r\n", "\n").replace('\r', "\n");
                prop_assert_eq!(lines.at(at as u64), Some(before.matches('\n').count() as u64 + 1), "{} {}", at, byte);
            }
        }
    }
}
