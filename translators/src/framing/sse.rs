//! Server-sent events, parsed as the WHATWG HTML standard defines.
//!
//! A line ends with LF, CRLF or CR. A BOM at the start is skipped. `:` begins a comment. One space after a field's colon is not
//! part of its value. Several `data:` lines are joined by LF. A block without `data:` is not an event.
//!
//! Differences from a browser, because nothing may be lost and the input must be reproducible:
//!
//! - An event that the input's end cuts off before its blank line is still emitted, marked as cut.
//! - Comments and blocks without data are kept, with the blank line after them, in the bytes of the next event. If no event
//!   follows, or more than [`PENDING_BYTES`] precede it, they are a separate unit.
//! - A line that is not a field (JSON without `data:`, an error message) is a separate unit. So is a block without data that
//!   has unknown fields.

use super::{Form, Limits, Unit, UnitSink};

/// How many bytes of comments are held for an event.
const PENDING_BYTES: usize = 16 << 10;

/// The UTF-8 byte order mark, which is skipped at the start.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Splits a byte stream into events.
#[derive(Debug)]
pub struct SseReader {
    limits: Limits,
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    /// All lines since the last event, each ended by LF. A blank line is kept only after lines without data.
    block: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The block has unknown fields.
    has_unknown: bool,
    /// The lines of the block, after its first data, that are not fields; each ended by LF.
    strays: Vec<u8>,
    event: String,
    /// Total bytes of the block and the held line, kept or not.
    length: u64,
    /// How many of them belong to the line.
    line_length: u64,
    /// Where the block begins in the input.
    offset: u64,
    /// Bytes consumed so far.
    taken: u64,
    /// The last byte was a CR: an LF immediately after it belongs to the same line end.
    after_cr: bool,
    /// The first line, which may begin with a BOM, is not complete yet.
    at_start: bool,
}

impl SseReader {
    /// A reader at the start of its input.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            line: Vec::new(),
            block: Vec::new(),
            data: Vec::new(),
            has_data: false,
            has_unknown: false,
            strays: Vec::new(),
            event: String::new(),
            length: 0,
            line_length: 0,
            offset: 0,
            taken: 0,
            after_cr: false,
            at_start: true,
        }
    }

    /// Feeds the next bytes.
    pub fn feed(&mut self, chunk: &[u8], sink: &mut UnitSink<'_>) {
        let mut rest = chunk;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr) && rest.first() == Some(&b'\n') {
                self.taken += 1;
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            if let Some(taken) = self.take_usual(rest, sink) {
                rest = rest.get(taken..).unwrap_or_default();
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.hold(rest);
                return;
            };
            let (part, tail) = rest.split_at(end);
            self.after_cr = tail.first() == Some(&b'\r');
            rest = tail.get(1..).unwrap_or_default();
            if self.line.is_empty() && self.length + part.len() as u64 <= self.limits.record_bytes as u64 {
                self.taken += part.len() as u64 + 1;
                self.length += part.len() as u64;
                self.line_length = part.len() as u64;
                self.end_line(part, sink);
            } else {
                self.hold(part);
                self.taken += 1;
                let line = std::mem::take(&mut self.line);
                self.end_line(&line, sink);
                self.line = line;
                self.line.clear();
                self.line.shrink_to(1 << 20);
            }
            self.line_length = 0;
        }
    }

    /// The input is over: an event without its blank line is emitted as it is.
    pub fn finish(&mut self, sink: &mut UnitSink<'_>) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            // Treat the line as complete.
            self.taken += 1;
            self.end_line(&line, sink);
        }
        let is_named = !self.event.is_empty() && !self.block.is_empty() && !self.has_unknown;
        if self.has_data || is_named {
            self.dispatch(true, sink);
        } else {
            self.release(sink);
        }
    }

    /// Emits the held lines that led to no event.
    fn release(&mut self, sink: &mut UnitSink<'_>) {
        let end = self.block.iter().rposition(|&byte| byte != b'\n').map_or(0, |last| last + 1);
        let text = self.block.get(..end).unwrap_or_default();
        if !text.trim_ascii().is_empty() {
            let oversized = (self.length > self.limits.record_bytes as u64).then_some(self.length);
            let text = if oversized.is_some() { text.get(..self.limits.preview_bytes).unwrap_or(text) } else { text };
            let form =
                if std::mem::take(&mut self.has_unknown) || oversized.is_some() { Form::Stray } else { Form::Rest };
            sink(Unit {
                bytes: text,
                payload: text,
                event_name: None,
                offset: self.offset,
                oversized,
                cut: false,
                form,
            });
        }
        self.block.clear();
        self.block.shrink_to(1 << 20);
        self.length = 0;
        self.offset = self.taken;
    }

    /// Emits the event that begins here, if nothing is held and it is [`usual`]. Returns its size in bytes.
    fn take_usual(&mut self, rest: &[u8], sink: &mut UnitSink<'_>) -> Option<usize> {
        if self.length > 0 || !self.event.is_empty() {
            return None;
        }
        let usual = usual(rest)?;
        let size = usual.block.len() - usize::from(usual.event_name.is_some());
        if size > self.limits.record_bytes {
            return None;
        }
        self.at_start = false;
        let taken = usual.block.len() + BLOCK_END.len();
        self.taken += taken as u64;
        let offset = std::mem::replace(&mut self.offset, self.taken);
        sink(Unit {
            bytes: usual.block,
            payload: usual.data,
            event_name: usual.event_name,
            offset,
            oversized: None,
            cut: false,
            form: Form::Event,
        });
        Some(taken)
    }

    fn hold(&mut self, part: &[u8]) {
        self.taken += part.len() as u64;
        self.length += part.len() as u64;
        self.line_length += part.len() as u64;
        let room = self.limits.record_bytes.saturating_add(1).saturating_sub(self.line.len());
        self.line.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
    }

    fn end_line(&mut self, line: &[u8], sink: &mut UnitSink<'_>) {
        let (whole, mut line) = (line, line);
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix(BOM).unwrap_or(line);
            if line.is_empty() && !whole.is_empty() {
                // A BOM alone is not a blank line of the input.
                self.keep(whole);
            }
        }
        if line.is_empty() {
            return self.end_block(sink);
        }
        if !self.has_data && is_stray(line) {
            return self.give_line(whole, sink);
        }
        self.keep(whole);
        let (field, value) = match memchr::memchr(b':', line) {
            Some(0) => {
                if !self.has_data && self.block.len() > PENDING_BYTES {
                    self.release(sink);
                }
                return;
            }
            Some(colon) => {
                let (field, value) = line.split_at(colon);
                let value = value.get(1..).unwrap_or_default();
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match field {
            b"data" => {
                if self.has_data && self.data.len() <= self.limits.record_bytes {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                if self.data.len() <= self.limits.record_bytes {
                    self.data.extend_from_slice(value);
                }
            }
            b"event" => {
                self.event.clear();
                self.event.push_str(&String::from_utf8_lossy(value));
            }
            b"id" | b"retry" => {}
            _ if is_stray(line) => {
                if self.strays.len() <= self.limits.record_bytes {
                    self.strays.extend_from_slice(line);
                    self.strays.push(b'\n');
                }
            }
            _ => self.has_unknown |= !line.trim_ascii().is_empty(),
        }
    }

    /// Adds a line to the block.
    fn keep(&mut self, line: &[u8]) {
        if self.block.len() <= self.limits.record_bytes {
            self.block.extend_from_slice(line);
            self.block.push(b'\n');
        }
    }

    /// A blank line ends the block.
    fn end_block(&mut self, sink: &mut UnitSink<'_>) {
        if self.has_data {
            return self.dispatch(false, sink);
        }
        self.event.clear();
        if self.has_unknown || self.block.len() > PENDING_BYTES {
            self.release(sink);
        } else if !self.block.is_empty() && !self.block.ends_with(BLOCK_END) {
            self.block.push(b'\n');
        }
    }

    /// Emits a line that is a separate unit, after the lines before it.
    fn give_line(&mut self, line: &[u8], sink: &mut UnitSink<'_>) {
        let (taken, size) = (self.taken, self.line_length);
        self.taken = taken.saturating_sub(size + 1);
        self.length = self.length.saturating_sub(size);
        self.release(sink);
        let oversized = (size > self.limits.record_bytes as u64).then_some(size);
        let line = if oversized.is_some() { line.get(..self.limits.preview_bytes).unwrap_or(line) } else { line };
        let (offset, form) = (self.offset, Form::Stray);
        sink(Unit { bytes: line, payload: line, event_name: None, offset, oversized, cut: false, form });
        self.taken = taken;
        self.offset = taken;
    }

    fn dispatch(&mut self, cut: bool, sink: &mut UnitSink<'_>) {
        let oversized = (self.length > self.limits.record_bytes as u64).then_some(self.length);
        if oversized.is_some() {
            self.block.truncate(self.limits.preview_bytes);
            self.data.truncate(self.limits.preview_bytes);
        }
        sink(Unit {
            bytes: self.block.strip_suffix(b"\n").unwrap_or(&self.block),
            payload: &self.data,
            event_name: (!self.event.is_empty()).then_some(self.event.as_str()),
            offset: self.offset,
            oversized,
            cut,
            form: Form::Event,
        });
        if oversized.is_none() {
            for line in self.strays.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                let (offset, form) = (self.offset, Form::Within);
                sink(Unit { bytes: line, payload: line, event_name: None, offset, oversized: None, cut: false, form });
            }
        }
        self.strays.clear();
        self.strays.shrink_to(1 << 20);
        self.has_unknown = false;
        self.block.clear();
        self.block.shrink_to(1 << 20);
        self.data.clear();
        self.data.shrink_to(1 << 20);
        self.event.clear();
        self.has_data = false;
        self.length = 0;
        self.offset = self.taken;
    }
}

/// Whether a line is not a field: neither a known field nor a name with a colon.
fn is_stray(line: &[u8]) -> bool {
    let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
    let is_known = line.first() == Some(&b':') || [&b"data"[..], b"event", b"id", b"retry"].contains(&name);
    let is_name = |name: &[u8]| {
        name.first().is_some_and(u8::is_ascii_alphabetic)
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
    };
    let is_field = is_known || (name.len() < line.len() && is_name(name));
    !is_field && !line.trim_ascii().is_empty()
}

/// A typical event that is completely in one chunk, so that nothing is copied.
struct Usual<'c> {
    /// Without the line ends after it.
    block: &'c [u8],
    event_name: Option<&'c str>,
    data: &'c [u8],
}

/// The end of a typical event.
const BLOCK_END: &[u8] = b"\n\n";

/// The typical event that begins here: an optional `event:` line, one `data:` line, a blank line; a space after each colon, LF
/// line ends.
fn usual(chunk: &[u8]) -> Option<Usual<'_>> {
    let line_end = |text| memchr::memchr2(b'\n', b'\r', text);
    let (event_name, rest) = match chunk.strip_prefix(b"event: ") {
        Some(named) => {
            let (name, rest) = named.split_at(line_end(named)?);
            let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
            (Some(name), rest.strip_prefix(b"\n")?)
        }
        None => (None, chunk),
    };
    let rest = rest.strip_prefix(b"data: ")?;
    let (data, rest) = rest.split_at(line_end(rest)?);
    let block = chunk.get(..chunk.len() - rest.len())?;
    rest.starts_with(BLOCK_END).then_some(Usual { block, event_name, data })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Name, payload, bytes, offset, size if over the limit, whether it was cut.
    type Units = Vec<(Option<String>, String, String, u64, Option<u64>, bool)>;

    fn read<'c>(chunks: impl IntoIterator<Item = &'c [u8]>, limits: Limits) -> Units {
        let mut reader = SseReader::new(limits);
        let mut seen = Units::new();
        let mut sink = |unit: Unit<'_>| {
            seen.push((
                unit.event_name.map(str::to_owned),
                String::from_utf8_lossy(unit.payload).into_owned(),
                String::from_utf8_lossy(unit.bytes).into_owned(),
                unit.offset,
                unit.oversized,
                unit.cut,
            ));
        };
        for chunk in chunks {
            reader.feed(chunk, &mut sink);
        }
        reader.finish(&mut sink);
        seen
    }

    fn payloads(text: &str) -> Vec<(Option<String>, String)> {
        read([text.as_bytes()], Limits::default()).into_iter().map(|(name, data, ..)| (name, data)).collect()
    }

    #[test]
    fn cases_of_the_sse_standard() {
        let named = |name: &str, data: &str| (Some(name.to_owned()), data.to_owned());
        let plain = |data: &str| (None, data.to_owned());
        for (text, expected) in [
            ("data: a\n\n", vec![plain("a")]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", vec![plain("a"), plain("b")]),
            ("data: a\r\rdata: b\r\r", vec![plain("a"), plain("b")]),
            ("\u{FEFF}data: a\n\n", vec![plain("a")]),
            ("data:a\n\ndata:  b\n\n", vec![plain("a"), plain(" b")]),
            ("data: a\ndata: b\ndata\n\n", vec![plain("a\nb\n")]),
            ("event: x\ndata: a\n\ndata: b\n\n", vec![named("x", "a"), plain("b")]),
            ("event: x\n\ndata: b\n\n", vec![plain("b")]),
            ("event: x\nevent:\ndata: b\n\n", vec![plain("b")]),
            (": comment\n\ndata: a\nid: 7\nretry: 1\nother: x\n\n", vec![plain("a")]),
            ("data\n\n", vec![plain("")]),
            ("data: a\ndata: b", vec![plain("a\nb")]),
            ("data: a: b\n\n", vec![plain("a: b")]),
            ("", vec![]),
        ] {
            assert_eq!(payloads(text), expected, "{text:?}");
        }
    }

    #[test]
    fn comments_stay_with_the_next_event() {
        let seen = read([&b": ping\n\nevent: x\ndata: a\n\n"[..]], Limits::default());
        assert_eq!(seen[0].2, ": ping\n\nevent: x\ndata: a");
    }

    fn forms(text: &str) -> Vec<(Form, String, u64)> {
        let mut reader = SseReader::new(Limits::default());
        let mut seen = Vec::new();
        let mut sink = |unit: Unit<'_>| {
            seen.push((unit.form, String::from_utf8_lossy(unit.payload).into_owned(), unit.offset));
        };
        reader.feed(text.as_bytes(), &mut sink);
        reader.finish(&mut sink);
        seen
    }

    #[test]
    fn lines_outside_events_are_units() {
        let unit = |form, text: &str, offset| (form, text.to_owned(), offset);
        for (text, expected) in [
            // Lines that are not fields are units in any context.
            ("{\"error\":1}\n", vec![unit(Form::Stray, "{\"error\":1}", 0)]),
            ("data: a\n\nInternal error\n\n", vec![unit(Form::Event, "a", 0), unit(Form::Stray, "Internal error", 9)]),
            ("data: a\n{}\ndata: b\n\n", vec![unit(Form::Event, "a\nb", 0), unit(Form::Within, "{}", 0)]),
            (
                "event: x\n{}\ndata: b\n\n",
                vec![unit(Form::Rest, "event: x", 0), unit(Form::Stray, "{}", 9), unit(Form::Event, "b", 12)],
            ),
            // Unknown fields are a unit only if no data comes with them.
            ("error: {}\nid: 1\n\n", vec![unit(Form::Stray, "error: {}\nid: 1", 0)]),
            ("error: {}\ndata: b\n\n", vec![unit(Form::Event, "b", 0)]),
            // Comments, and blocks with only a name or an id, are emitted only at the end.
            (": a\n\n: b\n", vec![unit(Form::Rest, ": a\n\n: b", 0)]),
            ("id: 1\n\n", vec![unit(Form::Rest, "id: 1", 0)]),
            ("\u{FEFF}\n", vec![unit(Form::Rest, "\u{FEFF}", 0)]),
        ] {
            assert_eq!(forms(text), expected, "{text:?}");
        }
    }

    #[test]
    fn comments_of_a_stream_without_events_are_released() {
        let pings = ": ping\n\n".repeat(10_000);
        let seen = forms(&format!("{pings}data: a\n\n"));
        assert!(seen.len() > 4 && seen.iter().all(|(_, text, _)| text.len() < 2 * PENDING_BYTES), "{}", seen.len());
        assert_eq!(seen.last().map(|(form, text, _)| (*form, text.as_str())), Some((Form::Event, "a")));
    }

    #[test]
    fn an_event_over_the_limit_is_reported_and_the_stream_continues() {
        let mut reader = SseReader::new(Limits { record_bytes: 16, preview_bytes: 4 });
        let mut seen = Vec::new();
        let mut sink = |unit: Unit<'_>| seen.push((unit.payload.to_vec(), unit.oversized, unit.offset));
        for byte in b"data: 0123456789\n\ndata: 01234567890\n\ndata: x\n\n" {
            reader.feed(&[*byte], &mut sink);
        }
        reader.finish(&mut sink);
        assert_eq!(
            seen,
            [(b"0123456789".to_vec(), None, 0), (b"0123".to_vec(), Some(17), 18), (b"x".to_vec(), None, 37)]
        );
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            text in "(event: x\ndata: [ab:]{0,4}\n\n|data: ?[ab: ]{0,4}|event: x?|: c|\u{FEFF}|id: 1|e: x|\\{\\}|(\n|\r|\r\n){1,2}){0,24}",
            cuts in prop::collection::vec(0usize..200, 0..20),
            record_bytes in prop_oneof![Just(16usize), Just(64 << 20)],
        ) {
            let limits = Limits { record_bytes, preview_bytes: 4 };
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                chunks.push(&bytes[from..cut]);
                from = cut;
            }
            // Fed one byte at a time, no chunk contains a whole event.
            let gathered = read(bytes.chunks(1), limits);
            prop_assert_eq!(&read(chunks, limits), &gathered);
            prop_assert_eq!(&read([bytes], limits), &gathered);
        }
    }
}
