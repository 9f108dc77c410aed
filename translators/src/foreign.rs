//! Recognises inputs that are not a runner's output: compressed data, an archive, a database, UTF-16 text.
//!
//! Input: the first bytes of an input. Output: what they are, and the program that converts them to text. Never: a verdict on
//! bytes that a record can begin with, or more than [`FRONT_BYTES`] held.

/// How many bytes are checked for a signature.
pub const FRONT_BYTES: usize = 16;

/// How many bytes are checked for a NUL, which a runner's text never contains.
const TEXT_BYTES: usize = 4096;

/// What an input is if it is not a runner's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// A description that completes "The input is …": `compressed with gzip`.
    pub what: &'static str,
    /// A command that converts standard input, or a file given as its argument, to text; `None` if there is none.
    pub reader: Option<&'static str>,
}

impl std::fmt::Display for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.what)
    }
}

/// Known signatures. A signature comes before any other one that is its prefix.
const SIGNATURES: &[(&[u8], Foreign)] = &[
    (b"\x1F\x8B", Foreign { what: "compressed with gzip", reader: Some("gzip -dc") }),
    (b"\x28\xB5\x2F\xFD", Foreign { what: "compressed with zstd", reader: Some("zstd -dc") }),
    (b"\xFD7zXZ\0", Foreign { what: "compressed with xz", reader: Some("xz -dc") }),
    (b"\x04\x22\x4D\x18", Foreign { what: "compressed with lz4", reader: Some("lz4 -dc") }),
    (b"PK\x03\x04", Foreign { what: "a zip archive", reader: Some("unzip -p") }),
    (b"7z\xBC\xAF\x27\x1C", Foreign { what: "a 7z archive", reader: Some("7z x -so") }),
    (
        b"SQLite format 3\0",
        Foreign { what: "an SQLite database (framegate's own log is read with framegate log)", reader: None },
    ),
    (b"\x7FELF", Foreign { what: "a program", reader: None }),
    (b"\x89PNG\r\n\x1A\n", Foreign { what: "a PNG image", reader: None }),
    (b"%PDF-", Foreign { what: "a PDF document", reader: None }),
    (b"\xFF\xFE\0\0", UTF_32),
    (b"\0\0\xFE\xFF", UTF_32),
    (b"\xFF\xFE", UTF_16),
    (b"\xFE\xFF", UTF_16),
];

const BZIP2: Foreign = Foreign { what: "compressed with bzip2", reader: Some("bzip2 -dc") };
const UTF_32: Foreign = Foreign { what: "encoded in UTF-32", reader: Some("iconv -f UTF-32 -t UTF-8") };
const UTF_16: Foreign = Foreign { what: "encoded in UTF-16", reader: Some("iconv -f UTF-16 -t UTF-8") };
const UTF_16_LE: Foreign = Foreign { what: "encoded in UTF-16", reader: Some("iconv -f UTF-16LE -t UTF-8") };
const UTF_16_BE: Foreign = Foreign { what: "encoded in UTF-16", reader: Some("iconv -f UTF-16BE -t UTF-8") };

/// Inspects the first bytes of an input as they arrive. The deciding bytes of a signature never contain a line end, so no
/// record is read before the input is known to have no signature.
#[derive(Debug, Default)]
pub struct ForeignDetector {
    bytes: Vec<u8>,
    looked: usize,
    has_nul: bool,
    found: Option<Foreign>,
}

impl ForeignDetector {
    /// Feeds the next bytes; returns what the input is, once that is known.
    pub fn feed(&mut self, chunk: &[u8]) -> Option<Foreign> {
        if self.looked < TEXT_BYTES {
            let text = chunk.get(..chunk.len().min(TEXT_BYTES - self.looked)).unwrap_or_default();
            self.has_nul |= memchr::memchr(0, text).is_some();
            self.looked += text.len();
        }
        if self.found.is_none() && self.bytes.len() < FRONT_BYTES {
            let room = FRONT_BYTES - self.bytes.len();
            self.bytes.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
            self.found = foreign(&self.bytes);
        }
        self.found
    }

    /// Whether no bytes have arrived.
    pub fn is_empty(&self) -> bool {
        self.looked == 0
    }

    /// Whether the first bytes contain a NUL, which no runner writes.
    pub fn is_binary(&self) -> bool {
        self.has_nul
    }
}

/// What begins with these bytes, if that is certain.
fn foreign(front: &[u8]) -> Option<Foreign> {
    // The UTF-16 byte order mark is a prefix of the UTF-32 one.
    let is_open = front.len() < 4 && b"\xFF\xFE\0\0".starts_with(front);
    let signed = SIGNATURES.iter().find(|(signature, _)| !is_open && front.starts_with(signature));
    if let Some((_, found)) = signed {
        return Some(*found);
    }
    if let [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] = front {
        return Some(BZIP2);
    }
    // JSON and event streams begin with a printable ASCII character and contain no NUL.
    match front {
        [letter, 0, ..] if letter.is_ascii_graphic() => Some(UTF_16_LE),
        [0, letter, ..] if letter.is_ascii_graphic() => Some(UTF_16_BE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(bytes: &[u8], piece: usize) -> Option<Foreign> {
        let mut front = ForeignDetector::default();
        bytes.chunks(piece).fold(None, |_, chunk| front.feed(chunk))
    }

    #[test]
    fn foreign_formats_are_detected_in_any_chunking() {
        for (bytes, what, reader) in [
            (&b"\x1F\x8B\x08\0\0\0"[..], "compressed with gzip", "gzip -dc"),
            (b"\x28\xB5\x2F\xFD\x04\x58", "compressed with zstd", "zstd -dc"),
            (b"BZh91AY&SY", "compressed with bzip2", "bzip2 -dc"),
            (b"\xFD7zXZ\0\0\x04", "compressed with xz", "xz -dc"),
            (b"\x04\x22\x4D\x18\x64", "compressed with lz4", "lz4 -dc"),
            (b"PK\x03\x04\x14\0", "a zip archive", "unzip -p"),
            (b"\xFF\xFE{\0\"\0", "encoded in UTF-16", "iconv -f UTF-16 -t UTF-8"),
            (b"\xFE\xFF\0{\0\"", "encoded in UTF-16", "iconv -f UTF-16 -t UTF-8"),
            (b"{\0\"\0t\0", "encoded in UTF-16", "iconv -f UTF-16LE -t UTF-8"),
            (b"\0{\0\"\0t", "encoded in UTF-16", "iconv -f UTF-16BE -t UTF-8"),
            (b"\xFF\xFE\0\0{\0\0\0", "encoded in UTF-32", "iconv -f UTF-32 -t UTF-8"),
        ] {
            for piece in [1, 3, bytes.len()] {
                let found = detect(bytes, piece);
                assert_eq!(found.map(|found| found.what), Some(what), "{bytes:?} by {piece}");
                assert_eq!(found.and_then(|found| found.reader), Some(reader), "{bytes:?} by {piece}");
            }
        }
    }

    #[test]
    fn text_is_not_taken_for_a_foreign_format() {
        let database = detect(b"SQLite format 3\0\x10", 5).unwrap();
        assert!(database.what.contains("framegate log") && database.reader.is_none());
        for text in
            ["{\"type\":\"system\"}\n", "data: {}\n\n", "\u{FEFF}{}\n", "[]", "", "BZh", "PK", "7z", "\n", "BZhello"]
        {
            for piece in [1, 16] {
                assert_eq!(detect(text.as_bytes(), piece), None, "{text:?}");
            }
        }
        let mut front = ForeignDetector::default();
        assert!(front.is_empty() && front.feed(b"").is_none() && front.is_empty());
        assert_eq!(front.feed(b"text\nwith a \0"), None);
        assert!(front.is_binary() && !front.is_empty());
    }
}
