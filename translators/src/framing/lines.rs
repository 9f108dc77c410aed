//! NDJSON lines and whole documents.
//!
//! A line ends with LF; one CR before it is not part of the line. Blank lines are skipped. The last line needs no LF.
//!
//! A pretty-printed document among the lines is one unit: a line with only an opening bracket, indented lines, and a line with only
//! the closing bracket. If another line follows instead, or the document exceeds the record limit, its lines are separate units.

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
    /// The whole lines of a document that is not closed yet.
    document: Option<OpenDocument>,
}

/// The beginning of a pretty-printed document.
#[derive(Debug)]
struct OpenDocument {
    /// Its lines, at most as many bytes as the record limit.
    bytes: Vec<u8>,
    /// Where it begins in the input.
    offset: u64,
    /// The bracket that closes it.
    closing: u8,
}

impl Lines {
    /// A reader at the start of its input.
    pub fn new(limits: Limits) -> Self {
        Self { limits, held: Vec::new(), length: 0, offset: 0, document: None }
    }

    /// Feeds the next bytes.
    pub fn feed(&mut self, chunk: &[u8], sink: &mut UnitSink<'_>) {
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, tail) = rest.split_at(end);
            rest = tail.get(1..).unwrap_or_default();
            if self.length == 0 && line.len() <= self.limits.record_bytes {
                // The common case: the whole line is in the chunk and is not copied.
                self.line(line, None, false, sink);
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
        if let Some(OpenDocument { bytes, offset, .. }) = self.document.take() {
            emit(&bytes, None, offset, true, sink);
        }
    }

    /// A line, which begins at `offset`.
    fn line(&mut self, line: &[u8], oversized: Option<u64>, cut: bool, sink: &mut UnitSink<'_>) {
        if self.document.is_some() {
            return self.line_of_document(line, oversized, cut, sink);
        }
        match closing_of(line).filter(|_| !cut && oversized.is_none()) {
            Some(closing) => {
                self.document = Some(OpenDocument { bytes: line.to_vec(), offset: self.offset, closing });
            }
            None => emit(line, oversized, self.offset, cut, sink),
        }
    }

    /// A line after the beginning of a document.
    fn line_of_document(&mut self, line: &[u8], oversized: Option<u64>, cut: bool, sink: &mut UnitSink<'_>) {
        let Some(mut document) = self.document.take() else { return };
        let is_end = line.trim_ascii_end() == [document.closing];
        let is_inside = is_end || matches!(line.first(), Some(b' ' | b'\t'));
        let has_room = document.bytes.len() + 1 + line.len() <= self.limits.record_bytes;
        if oversized.is_some() || !is_inside || !has_room {
            let mut offset = document.offset;
            for earlier in document.bytes.split(|&byte| byte == b'\n') {
                emit(earlier, None, offset, false, sink);
                offset += earlier.len() as u64 + 1;
            }
            return self.line(line, oversized, cut, sink);
        }
        document.bytes.push(b'\n');
        document.bytes.extend_from_slice(line);
        if is_end || cut {
            emit(&document.bytes, None, document.offset, cut, sink);
        } else {
            self.document = Some(document);
        }
    }

    fn hold(&mut self, part: &[u8]) {
        self.length += part.len() as u64;
        let room = self.limits.record_bytes.saturating_add(1).saturating_sub(self.held.len());
        self.held.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
    }

    fn release(&mut self, cut: bool, sink: &mut UnitSink<'_>) {
        let oversized = (self.length > self.limits.record_bytes as u64).then_some(self.length);
        let mut held = std::mem::take(&mut self.held);
        if oversized.is_some() {
            held.truncate(self.limits.preview_bytes);
        }
        self.line(&held, oversized, cut, sink);
        self.offset += self.length;
        self.length = 0;
        held.clear();
        // One huge line must not keep its memory for the rest of a long stream.
        held.shrink_to(1 << 20);
        self.held = held;
    }
}

/// The bracket that closes the document that a line opens; `None` if the line is another one.
fn closing_of(line: &[u8]) -> Option<u8> {
    match line {
        b"{" | b"{\r" => Some(b'}'),
        b"[" | b"[\r" => Some(b']'),
        _ => None,
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

    #[test]
    fn a_document_among_the_lines_is_one_unit() {
        let document = "{\n  \"a\": [\n    1\n  ]\n}";
        let text = format!("text\n{document}\n[\r\n  2\r\n]\r\n{{}}\n");
        let seen = read(&[text.as_bytes()], Limits::default());
        let at = document.len() as u64 + 6;
        assert_eq!(
            seen,
            [
                (b"text".to_vec(), 0, None, false),
                (document.as_bytes().to_vec(), 5, None, false),
                (b"[\r\n  2\r\n]".to_vec(), at, None, false),
                (b"{}".to_vec(), at + 11, None, false)
            ]
        );
        let cut = read(&[b"{\n  \"a\": 1,\n  \"b"], Limits::default());
        assert_eq!(cut, [(b"{\n  \"a\": 1,\n  \"b".to_vec(), 0, None, true)]);
        assert_eq!(read(&[b"x\n{\n"], Limits::default())[1], (b"{".to_vec(), 2, None, true));
    }

    #[test]
    fn a_bracket_that_begins_no_document_is_a_line() {
        let texts = |text: &str, limits| {
            let lines = read(&[text.as_bytes()], limits).into_iter();
            lines.map(|(line, ..)| String::from_utf8(line).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(texts("{\n {}\n{\"a\":1}\n{}\n", Limits::default()), ["{", " {}", "{\"a\":1}", "{}"]);
        assert_eq!(texts("{\n{\n 1\n}\n]\n", Limits::default()), ["{", "{\n 1\n}", "]"]);
        assert_eq!(texts("[\n 1\n}\n", Limits::default()), ["[", " 1", "}"]);
        let limits = Limits { record_bytes: 8, preview_bytes: 3 };
        assert_eq!(texts("{\n 123\n}\n", limits), ["{\n 123\n}"], "it has exactly the size of a record");
        assert_eq!(texts("{\n 1234\n}\n{}\n", limits), ["{", " 1234", "}", "{}"]);
        assert_eq!(texts("{\n 123456789\n}\n", limits), ["{", " 12", "}"]);
    }

    proptest! {
        #[test]
        fn no_byte_of_a_document_is_lost(
            lines in prop::collection::vec("[{}\\[\\]]|\r|  ?[a{}\\[\\],]{0,3}|[a{}]{0,3}", 0..16),
            record_bytes in 4usize..24,
        ) {
            let text = lines.join("\n");
            let limits = Limits { record_bytes, preview_bytes: record_bytes };
            let mut end = 0;
            for (unit, offset, oversized, _) in read(&[text.as_bytes()], limits) {
                let (from, size) = (offset as usize, oversized.map_or(unit.len(), |size| size as usize));
                prop_assert!(unit.len() <= record_bytes);
                prop_assert!(text.as_bytes()[from..].starts_with(&unit));
                prop_assert!(text[end..from].trim().is_empty(), "{:?} is lost", &text[end..from]);
                end = from + size;
            }
            prop_assert!(text[end..].trim().is_empty());
        }

        #[test]
        fn chunk_boundaries_do_not_matter(
            lines in prop::collection::vec("[ a{}\r]{0,12}|[{}\\[\\]]|  ?[a{}]{0,3}", 0..12),
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
