//! Bytes to units.
//!
//! Input: a runner's output in chunks of any size. Output: units, independent of how the bytes were cut. Never: JSON (the
//! decoder interprets records), an unbounded buffer, or a unit lost at the end of the input.

mod lines;
mod sse;
mod writer;

pub use lines::{Document, Lines};
pub use sse::SseReader;
pub(crate) use writer::sse_block;

/// How a byte stream is split into units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// One JSON value per line.
    Ndjson,
    /// Server-sent events.
    Sse,
    /// The whole input is one JSON document over any number of lines.
    Document,
}

/// A framing's name is the name of its reader on the command line.
impl Framing {
    /// The name for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Sse => "sse",
            Self::Document => "document",
        }
    }
}

/// The limits of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a record in bytes; a larger one is reported, not read.
    pub record_bytes: usize,
    /// How many bytes of a larger record are kept for the report.
    pub preview_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { record_bytes: 64 << 20, preview_bytes: 1024 }
    }
}

/// The form of a unit, which determines how its bytes are printed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// A line, or a document.
    #[default]
    Line,
    /// A server-sent event.
    Event,
    /// Lines of an event stream outside any event: not a field, or unknown fields without `data:`.
    Stray,
    /// The same, inside an event whose bytes include it.
    Within,
    /// Comments, or fields without `data:`, with no event after them.
    Rest,
}

/// One unit of the input: a line, an SSE event, a document, or text beside the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit<'a> {
    /// The unit's original bytes, without the line end (for SSE: without blank lines; lines end with LF).
    pub bytes: &'a [u8],
    /// Its content: the line itself, or the joined `data:` lines of the event.
    pub payload: &'a [u8],
    /// The SSE `event:` value; `None` outside SSE, or if it is absent or empty.
    pub event_name: Option<&'a str>,
    /// Where it begins, in bytes from the start of the input.
    pub offset: u64,
    /// Its full size in bytes if that exceeds the limit; `bytes` and `payload` are then a preview.
    pub oversized: Option<u64>,
    /// Whether the input ended inside it (for SSE: before the blank line that ends an event).
    pub cut: bool,
    /// The form of the unit.
    pub form: Form,
}

/// A callback for the units that a reader finds.
pub type UnitSink<'s> = dyn FnMut(Unit<'_>) + 's;

/// A push parser: it is fed with chunks and calls back for each complete unit.
///
/// ```
/// use framegate_translators::framing::{Framing, Limits, Reader};
///
/// let (mut reader, mut units) = (Reader::new(Framing::Ndjson, Limits::default()), Vec::new());
/// for chunk in ["{\"a\":", "1}\n{}"] {
///     reader.feed(chunk.as_bytes(), &mut |unit| units.push((unit.offset, unit.bytes.to_vec())));
/// }
/// reader.finish(&mut |unit| units.push((unit.offset, unit.bytes.to_vec())));
/// assert_eq!(units, [(0, b"{\"a\":1}".to_vec()), (8, b"{}".to_vec())]);
/// ```
#[derive(Debug)]
pub enum Reader {
    /// See [`Lines`].
    Lines(Lines),
    /// See [`SseReader`].
    Sse(SseReader),
    /// See [`Document`].
    Document(Document),
    /// Undecided; see [`Reader::sniffing`].
    Sniffing(Sniffer),
}

impl Reader {
    /// A reader for a known framing.
    pub fn new(framing: Framing, limits: Limits) -> Self {
        match framing {
            Framing::Ndjson => Self::Lines(Lines::new(limits)),
            Framing::Sse => Self::Sse(SseReader::new(limits)),
            Framing::Document => Self::Document(Document::new(limits)),
        }
    }

    /// A reader that detects the framing from the first bytes.
    pub fn sniffing(limits: Limits) -> Self {
        Self::Sniffing(Sniffer { limits, held: Vec::new() })
    }

    /// Feeds the next bytes.
    pub fn feed(&mut self, chunk: &[u8], sink: &mut UnitSink<'_>) {
        match self {
            Self::Lines(reader) => reader.feed(chunk, sink),
            Self::Sse(reader) => reader.feed(chunk, sink),
            Self::Document(reader) => reader.feed(chunk),
            Self::Sniffing(sniffer) => {
                if sniffer.held.is_empty()
                    && let Some(framing) = sniff(chunk, chunk.len() >= SNIFF_BYTES)
                {
                    // The common case: the first chunk decides, and is not copied.
                    *self = Self::new(framing, sniffer.limits);
                    return self.feed(chunk, sink);
                }
                sniffer.held.extend_from_slice(chunk);
                if let Some(framing) = sniff(&sniffer.held, sniffer.held.len() >= SNIFF_BYTES) {
                    self.settle(framing, sink);
                }
            }
        }
    }

    /// The input is over: emits what is left.
    pub fn finish(&mut self, sink: &mut UnitSink<'_>) {
        match self {
            Self::Lines(reader) => reader.finish(sink),
            Self::Sse(reader) => reader.finish(sink),
            Self::Document(reader) => reader.finish(sink),
            Self::Sniffing(sniffer) => {
                let framing = sniff(&sniffer.held, true).unwrap_or(Framing::Ndjson);
                self.settle(framing, sink);
                self.finish(sink);
            }
        }
    }

    /// The framing, once known.
    pub fn framing(&self) -> Option<Framing> {
        match self {
            Self::Lines(_) => Some(Framing::Ndjson),
            Self::Sse(_) => Some(Framing::Sse),
            Self::Document(_) => Some(Framing::Document),
            Self::Sniffing(_) => None,
        }
    }

    fn settle(&mut self, framing: Framing, sink: &mut UnitSink<'_>) {
        let Self::Sniffing(sniffer) = self else { return };
        let (held, limits) = (std::mem::take(&mut sniffer.held), sniffer.limits);
        *self = Self::new(framing, limits);
        self.feed(&held, sink);
    }
}

/// The bytes held until the framing is known: at most 4 KiB and one chunk.
#[derive(Debug)]
pub struct Sniffer {
    limits: Limits,
    held: Vec<u8>,
}

/// If the first line is still undecided after this many bytes, the framing is NDJSON.
const SNIFF_BYTES: usize = 4096;

/// Detects the framing from the first bytes; `None` if more are needed.
fn sniff(held: &[u8], all: bool) -> Option<Framing> {
    let mut text = held.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(held).trim_ascii_start();
    let (mut line_end, mut otherwise) = (None, Framing::Ndjson);
    while !text.is_empty() {
        line_end = memchr::memchr2(b'\n', b'\r', text);
        if text.first() != Some(&b':') {
            break;
        }
        // A line that looks like a comment does not decide; the next line does.
        otherwise = Framing::Sse;
        text = line_end.and_then(|end| text.get(end..)).unwrap_or_default().trim_ascii_start();
    }
    if text.is_empty() {
        return all.then_some(otherwise);
    }
    let line = text.get(..line_end.unwrap_or(text.len()))?;
    let first = *line.first()?;
    if first == b'{' || first == b'[' {
        // A line with only the opening bracket begins a pretty-printed document.
        let rest = line.get(1..)?;
        if let Some(framing) = sniff_list(line, line_end.is_some()) {
            return framing.or(all.then_some(Framing::Ndjson));
        }
        return match rest.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(_) => Some(Framing::Ndjson),
            None if line_end.is_some() => Some(Framing::Document),
            None => all.then_some(Framing::Ndjson),
        };
    }
    let field = line.split(|&byte| byte == b':').next()?;
    let is_sse = [&b"data"[..], b"event", b"id", b"retry"].contains(&field);
    match line_end {
        Some(_) => Some(if is_sse { Framing::Sse } else { Framing::Ndjson }),
        None if line.contains(&b':') && is_sse => Some(Framing::Sse),
        None => all.then_some(Framing::Ndjson),
    }
}

/// The beginning of a list in an envelope, without white space.
const LIST_HEAD: &[u8] = b"{\"object\":\"list\",\"data\":[";

/// Whether the first line is exactly the head of a list in an envelope: `Some(None)` if more bytes are needed, `None` if it is
/// another line.
#[allow(clippy::option_option, reason = "undecided and not concerned differ")]
fn sniff_list(line: &[u8], is_whole: bool) -> Option<Option<Framing>> {
    let mut head = LIST_HEAD.iter();
    let is_front = line.iter().filter(|byte| !byte.is_ascii_whitespace()).all(|byte| head.next() == Some(byte));
    match (is_front, head.len(), is_whole) {
        (true, 0, true) => Some(Some(Framing::Document)),
        (true, left, false) if left < LIST_HEAD.len() - 1 => Some(None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_framing_is_detected_from_the_first_bytes() {
        for (text, expected) in [
            ("{\"a\":1}\n", Framing::Ndjson),
            ("\n\n[1]\n", Framing::Ndjson),
            ("{\n  \"a\": 1\n}\n", Framing::Document),
            ("data: {}\n\n", Framing::Sse),
            ("\u{FEFF}event: x\ndata: {}\n\n", Framing::Sse),
            (": hello\n\n", Framing::Sse),
            (": hello\n\ndata: {}\n\n", Framing::Sse),
            (": hello\n{}\n", Framing::Ndjson),
            (":\n: [\n\nno field\n", Framing::Ndjson),
            ("garbage\n", Framing::Ndjson),
            ("data", Framing::Ndjson),
            ("", Framing::Ndjson),
            ("{", Framing::Ndjson),
            ("{\"object\":\"list\",\"data\":[\n{}\n]}\n", Framing::Document),
            ("{\"object\": \"list\", \"data\": [\n]}", Framing::Document),
            ("{\"object\":\"list\",\"data\":[", Framing::Ndjson),
            ("{\"object\":\"list\",\"data\":[{}]}\n", Framing::Ndjson),
            ("{\"object\":\"list\"}\n", Framing::Ndjson),
        ] {
            let mut reader = Reader::sniffing(Limits::default());
            for byte in text.as_bytes() {
                reader.feed(&[*byte], &mut |_| {});
            }
            reader.finish(&mut |_| {});
            assert_eq!(reader.framing(), Some(expected), "{text:?}");
        }
    }
}
