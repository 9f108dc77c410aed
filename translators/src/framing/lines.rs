//! NDJSON lines and whole documents.
//!
//! A line ends with LF; one CR before it is not part of the line. Blank lines are skipped. The last line needs no LF.

use super::{Form, Limits, Unit, UnitSink};

/// Splits a byte stream into lines.
#[derive(Debug)]
pub struct Lines {
    limits: Limits,
    /// The beginning of an incomplete line; at most the record limit.
    held: Vec<u8>,
    /// The full length of the held line so far, in bytes.
    length: u64,
    /// Where the held line begins in the input.
    offset: u64,
}

impl Lines {
    /// A reader at the start of its input.
    pub fn new(limits: Limits) -> Self {
        Self { limits, held: Vec::new(), length: 0, offset: 0 }
    }

    /// Feeds the next bytes.
    pub fn feed(&mut self, chunk: &[u8], sink: &mut UnitSink<'_>) {
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, tail) = rest.split_at(end);
            rest = tail.get(1..).unwrap_or_default();
            if self.length == 0 && line.len() <= self.limits.record_bytes {
                // The common case: the whole line is in the chunk and is not copied.
                emit(line, None, self.offset, false, sink);
                self.offset += end as u64 + 1;
            } else {
                self.hold(line);
                self.release(false, sink);
                self.offset += 1;
            }
        }
        self.hold(rest);
    }

    /// The input is over: what is held is the last line.
    pub fn finish(&mut self, sink: &mut UnitSink<'_>) {
        if self.length > 0 {
            self.release(true, sink);
        }
    }

    fn hold(&mut self, part: &[u8]) {
        self.length += part.len() as u64;
        let room = self.limits.record_bytes.saturating_add(1).saturating_sub(self.held.len());
        self.held.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
    }

    fn release(&mut self, cut: bool, sink: &mut UnitSink<'_>) {
        let oversized = (self.length > self.limits.record_bytes as u64).then_some(self.length);
        if oversized.is_some() {
            self.held.truncate(self.limits.preview_bytes);
        }
        emit(&self.held, oversized, self.offset, cut, sink);
        self.offset += self.length;
        self.length = 0;
        self.held.clear();
        // One huge line must not keep its memory for the rest of a long stream.
        self.held.shrink_to(1 << 20);
    }
}

fn emit(line: &[u8], oversized: Option<u64>, offset: u64, cut: bool, sink: &mut UnitSink<'_>) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if oversized.is_none() && line.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    sink(Unit { bytes: line, payload: line, event_name: None, offset, oversized, cut, form: Form::Line });
}

/// Collects the whole input as one unit.
#[derive(Debug)]
pub struct Document {
    lines: Lines,
}

impl Document {
    /// A reader at the start of its input.
    pub fn new(limits: Limits) -> Self {
        Self { lines: Lines::new(limits) }
    }

    /// Feeds the next bytes.
    pub fn feed(&mut self, chunk: &[u8]) {
        self.lines.hold(chunk);
    }

    /// The input is over: emits the document.
    pub fn finish(&mut self, sink: &mut UnitSink<'_>) {
        self.lines.finish(&mut |unit| sink(Unit { cut: false, ..unit }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Units = Vec<(Vec<u8>, u64, Option<u64>, bool)>;

    fn read(chunks: &[&[u8]], limits: Limits) -> Units {
        let mut reader = Lines::new(limits);
        let mut seen = Units::new();
        let mut sink = |unit: Unit<'_>| seen.push((unit.bytes.to_vec(), unit.offset, unit.oversized, unit.cut));
        for chunk in chunks {
            reader.feed(chunk, &mut sink);
        }
        reader.finish(&mut sink);
        seen
    }

    #[test]
    fn lines_have_their_offsets() {
        let seen = read(&[b"{}\r\n\n[1]\n  \nlast"], Limits::default());
        assert_eq!(
            seen,
            [(b"{}".to_vec(), 0, None, false), (b"[1]".to_vec(), 5, None, false), (b"last".to_vec(), 12, None, true)]
        );
    }

    #[test]
    fn a_line_at_the_limit_is_read_and_a_longer_one_is_reported() {
        let limits = Limits { record_bytes: 8, preview_bytes: 3 };
        let seen = read(&[b"12345678\n123456789\nok\n"], limits);
        assert_eq!(
            seen,
            [
                (b"12345678".to_vec(), 0, None, false),
                (b"123".to_vec(), 9, Some(9), false),
                (b"ok".to_vec(), 19, None, false)
            ]
        );
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            lines in prop::collection::vec("[ a{}\r]{0,12}", 0..12),
            cuts in prop::collection::vec(0usize..200, 0..20),
            ended in any::<bool>(),
        ) {
            let mut text = lines.join("\n");
            if ended { text.push('\n'); }
            let limits = Limits { record_bytes: 8, preview_bytes: 3 };
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                chunks.push(&text.as_bytes()[from..cut]);
                from = cut;
            }
            prop_assert_eq!(read(&chunks, limits), read(&[text.as_bytes()], limits));
        }
    }
}
