//! Finds the line number of a byte offset in a file that is read in chunks.
//!
//! Input: the bytes of a file, in chunks. Output: the line at an offset. Never: bytes retained, more line ends than a bound.

use std::collections::VecDeque;

/// How many line ends are remembered. A file exceeds this only if one event spans them all, or if they lie between two events.
const LINE_ENDS: usize = 1 << 20;

/// Maps offsets to line numbers.
#[derive(Debug)]
pub(super) struct LineCounter {
    read: u64,
    /// Line ends after the last requested offset.
    ends: VecDeque<u64>,
    line: u64,
    /// The last line end that was forgotten because there were too many.
    forgotten: Option<u64>,
    /// The offset at which an LF would belong to the preceding CR.
    carriage: Option<u64>,
    /// The maximum number of remembered line ends.
    most: usize,
}

impl LineCounter {
    /// Creates a counter at the start of a file.
    pub(super) fn new() -> Self {
        Self::remembering(LINE_ENDS)
    }

    /// Creates a counter that remembers at most this many line ends.
    pub(super) fn remembering(most: usize) -> Self {
        Self { read: 0, ends: VecDeque::new(), line: 1, forgotten: None, carriage: None, most }
    }

    /// Feeds the next bytes.
    pub(super) fn feed(&mut self, chunk: &[u8]) {
        for at in memchr::memchr2_iter(b'\n', b'\r', chunk) {
            let end = self.read + at as u64;
            // The LF of a CR LF.
            if chunk.get(at) == Some(&b'\n') && self.carriage == Some(end) {
                if let Some(last) = self.ends.back_mut() {
                    *last = end;
                }
                continue;
            }
            self.carriage = (chunk.get(at) == Some(&b'\r')).then_some(end + 1);
            self.ends.push_back(end);
            if self.ends.len() > self.most {
                self.forgotten = self.ends.pop_front();
                self.line += 1;
            }
        }
        self.read += chunk.len() as u64;
    }

    /// Returns the line that contains the byte at `offset`, or `None` if it was forgotten. Offsets must not decrease.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn remembered_line_ends_are_bounded_and_later_lines_are_still_right() {
        let mut lines = LineCounter::new();
        let more = LINE_ENDS as u64 + 10;
        lines.feed(&vec![b'\n'; LINE_ENDS + 10]);
        lines.feed(b"x\ny");
        assert!(lines.ends.len() <= LINE_ENDS);
        assert_eq!(lines.at(5), None);
        assert_eq!(lines.at(more), Some(more + 1));
        assert_eq!(lines.at(more + 2), Some(more + 2));
    }

    proptest! {
        #[test]
        fn lines_are_counted_like_in_an_editor(text in "[ab\r\n]{0,40}", cut in 0usize..40) {
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
