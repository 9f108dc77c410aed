//! Server-sent events, as the WHATWG HTML standard parses them.
//!
//! Lines end in LF, CRLF or CR; a BOM at the start is skipped; `:` begins a comment; one space after a field's colon is
//! not part of its value; several `data:` lines are joined by LF; a block without `data:` is no event.
//!
//! Two things differ from a browser, because nothing may be lost here: an event that the input's end cuts off before
//! its blank line is given all the same (marked as cut), and comments and blocks without data stay in the bytes of the
//! unit that follows them, so that the input can be printed again.

use super::{Limits, Unit, UnitSink};

/// Cuts a byte stream into events.
#[derive(Debug)]
pub struct SseReader {
    limits: Limits,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// All lines since the last event, each ended by LF, blank lines left out.
    block: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    event: String,
    /// How many bytes the block and the held line take in all, kept or not.
    length: u64,
    /// Where the block begins.
    offset: u64,
    /// Bytes taken so far.
    taken: u64,
    /// The last byte was a CR: a LF right behind it belongs to the same line end.
    after_cr: bool,
    /// No byte but those of a BOM has come.
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
            event: String::new(),
            length: 0,
            offset: 0,
            taken: 0,
            after_cr: false,
            at_start: true,
        }
    }

    /// Takes the next bytes.
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
        }
    }

    /// The input is over: an event without its blank line is given as it is.
    pub fn finish(&mut self, sink: &mut UnitSink<'_>) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line, sink);
        }
        if self.has_data || !self.event.is_empty() {
            self.dispatch(true, sink);
        }
    }

    /// Takes the event that begins here, if nothing is held and it is [`usual`]; gives how many bytes it has.
    fn take_usual(&mut self, rest: &[u8], sink: &mut UnitSink<'_>) -> Option<usize> {
        if self.length > 0 {
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
        });
        Some(taken)
    }

    fn hold(&mut self, part: &[u8]) {
        self.taken += part.len() as u64;
        self.length += part.len() as u64;
        let room = self.limits.record_bytes.saturating_add(1).saturating_sub(self.line.len());
        self.line.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
    }

    fn end_line(&mut self, line: &[u8], sink: &mut UnitSink<'_>) {
        let mut line = line;
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            if self.has_data {
                self.dispatch(false, sink);
            } else {
                self.event.clear();
            }
            return;
        }
        if self.block.len() <= self.limits.record_bytes {
            self.block.extend_from_slice(line);
            self.block.push(b'\n');
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(0) => return,
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
            _ => {}
        }
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
        });
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

/// An event as nearly all come, in a chunk that has the whole of it: nothing of it need be copied.
struct Usual<'c> {
    /// Without the line ends behind it.
    block: &'c [u8],
    event_name: Option<&'c str>,
    data: &'c [u8],
}

/// How a usual event ends.
const BLOCK_END: &[u8] = b"\n\n";

/// The event that begins here: an `event:` line or none, one `data:` line, a blank one, a space behind each colon, LF.
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

    /// Name, payload, bytes, place, size over the limit, whether it was cut.
    type Seen = Vec<(Option<String>, String, String, u64, Option<u64>, bool)>;

    fn read<'c>(chunks: impl IntoIterator<Item = &'c [u8]>, limits: Limits) -> Seen {
        let mut reader = SseReader::new(limits);
        let mut seen = Seen::new();
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
    fn the_standard_cases() {
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
        assert_eq!(seen[0].2, ": ping\nevent: x\ndata: a");
    }

    #[test]
    fn an_event_over_the_limit_is_reported_and_the_stream_goes_on() {
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
        fn the_cuts_between_chunks_do_not_matter(
            text in "(event: x\ndata: [ab:]{0,4}\n\n|data: ?[ab: ]{0,4}|event: x?|: c|\u{FEFF}|id: 1|(\n|\r|\r\n){1,2}){0,24}",
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
            // A byte at a time, no event stands in a chunk.
            let gathered = read(bytes.chunks(1), limits);
            prop_assert_eq!(&read(chunks, limits), &gathered);
            prop_assert_eq!(&read([bytes], limits), &gathered);
        }
    }
}
