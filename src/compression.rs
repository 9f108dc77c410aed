//! Decompression of gzip and zstd.
//!
//! Input: compressed bytes, in pieces of any size. Output: the decompressed bytes, in pieces of bounded size. Never: a window
//! or a compression ratio beyond the bounds; truncated or damaged data accepted as complete.
//!
//! The zstd decoder keeps a frame's last window until the next block no longer needs it. So data that are compressed while
//! its runner still emits output are decoded with a delay. gzip has no such delay.

use flate2::write::MultiGzDecoder;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, ErrorKind, Read, Write};

/// A compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

impl Coding {
    /// All of them.
    const ALL: [Self; 2] = [Self::Gzip, Self::Zstd];

    /// The name, as in `Content-Encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// The bytes with which compressed data begin.
    fn magic(self) -> &'static [u8] {
        match self {
            Self::Gzip => b"\x1F\x8B",
            Self::Zstd => b"\x28\xB5\x2F\xFD",
        }
    }
}

/// Bounds for the decompressed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// In total, in bytes; `None`: unlimited.
    pub bytes: Option<u64>,
    /// For each compressed byte; applies beyond 1 MiB.
    pub ratio: u64,
    /// The largest window of zstd, in bytes.
    pub window: u64,
}

impl Bounds {
    /// For files that the user names. Their size does not matter, because they are read in pieces. The window is what `zstd -dc` accepts
    /// without further options.
    pub const OF_FILES: Self = Self { bytes: None, ratio: u64::MAX, window: 128 << 20 };
}

/// Decompressed bytes that are allowed at any ratio.
const FREE: u64 = 1 << 20;

/// Bytes of a gzip input that are decompressed at a time; the output is at most about a thousand times as large.
const PIECE: usize = 1 << 10;

/// Why data cannot be decompressed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecodable {
    /// They are not of this compression.
    #[error("the data are not valid {0}: {1}")]
    Damaged(&'static str, String),
    /// They are not complete.
    #[error("the input ends in the middle of its {0} data")]
    Cut(&'static str),
    /// [`Bounds::bytes`] are exceeded.
    #[error("the decompressed body has more than {0} bytes (ingest.max_decompressed_bytes)")]
    TooLarge(u64),
    /// [`Bounds::ratio`] is exceeded.
    #[error("the body decompresses to more than {0} bytes per compressed byte (ingest.max_compression_ratio)")]
    TooDense(u64),
}

/// Decompresses one input.
pub struct Decoder {
    coding: Coding,
    bounds: Bounds,
    /// Input that is not decompressed yet.
    pending: Vec<u8>,
    taken: u64,
    given: u64,
    state: State,
}

enum State {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Zstd { frames: Box<FrameDecoder>, at: At },
}

/// What the next byte of a zstd input belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Header,
    Block {
        has_checksum: bool,
    },
    /// A skippable frame, with the number of bytes left.
    Skipped(u64),
}

impl Decoder {
    /// A decoder at the start of its input.
    pub fn new(coding: Coding, bounds: Bounds) -> Self {
        let state = match coding {
            Coding::Gzip => State::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            Coding::Zstd => {
                let mut frames = Box::new(FrameDecoder::new());
                frames.set_max_window_size(bounds.window);
                State::Zstd { frames, at: At::Header }
            }
        };
        Self { coding, bounds, pending: Vec::new(), taken: 0, given: 0, state }
    }

    /// Adds input; [`Decoder::pull`] returns the decompressed bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.taken += bytes.len() as u64;
        self.pending.extend_from_slice(bytes);
    }

    /// The next decompressed bytes; `None` if more input is needed.
    ///
    /// # Errors
    /// Why the input cannot be decompressed.
    pub fn pull(&mut self) -> Result<Option<Vec<u8>>, Undecodable> {
        loop {
            let out = match &mut self.state {
                State::Gzip(gzip) => inflate(gzip, &mut self.pending)?,
                State::Zstd { frames, at } => step(frames, at, &mut self.pending)?,
            };
            let Some(out) = out else { return Ok(None) };
            if !out.is_empty() {
                return self.counted(out).map(Some);
            }
        }
    }

    /// Marks the end of the input. Returns the last decompressed bytes.
    ///
    /// # Errors
    /// Those of [`Decoder::pull`], and an input that is cut off.
    pub fn finish(&mut self) -> Result<Option<Vec<u8>>, Undecodable> {
        if self.taken == 0 {
            return Ok(None);
        }
        let cut = Undecodable::Cut(self.coding.name());
        match &mut self.state {
            State::Gzip(gzip) => {
                gzip.try_finish().map_err(|_| cut)?;
                let rest = std::mem::take(gzip.get_mut());
                if rest.is_empty() { Ok(None) } else { self.counted(rest).map(Some) }
            }
            State::Zstd { at: At::Header, .. } if self.pending.is_empty() => Ok(None),
            State::Zstd { .. } => Err(cut),
        }
    }

    fn counted(&mut self, out: Vec<u8>) -> Result<Vec<u8>, Undecodable> {
        self.given += out.len() as u64;
        if let Some(limit) = self.bounds.bytes.filter(|limit| self.given > *limit) {
            return Err(Undecodable::TooLarge(limit));
        }
        if self.given > FREE && self.given > self.taken.saturating_mul(self.bounds.ratio) {
            return Err(Undecodable::TooDense(self.bounds.ratio));
        }
        Ok(out)
    }
}

/// Decompresses one piece; `None` if there is no input.
fn inflate(gzip: &mut MultiGzDecoder<Vec<u8>>, pending: &mut Vec<u8>) -> Result<Option<Vec<u8>>, Undecodable> {
    if pending.is_empty() {
        return Ok(None);
    }
    let piece: Vec<u8> = pending.drain(..pending.len().min(PIECE)).collect();
    let written = gzip.write_all(&piece).and_then(|()| gzip.flush());
    written.map_err(|error| Undecodable::Damaged(Coding::Gzip.name(), error.to_string()))?;
    Ok(Some(std::mem::take(gzip.get_mut())))
}

/// The longest header of a zstd frame, in bytes.
const LONGEST_HEAD: usize = 18;

/// Decompresses a block, or consumes a header or a skippable frame; `None` if more input is needed.
fn step(frames: &mut FrameDecoder, at: &mut At, pending: &mut Vec<u8>) -> Result<Option<Vec<u8>>, Undecodable> {
    let damaged = |why: String| Undecodable::Damaged(Coding::Zstd.name(), why);
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    match *at {
        At::Skipped(0) => *at = At::Header,
        At::Skipped(left) => {
            let passed = pending.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            if passed == 0 {
                return Ok(None);
            }
            pending.drain(..passed);
            *at = At::Skipped(left - passed as u64);
        }
        At::Header => {
            let Some(magic) = pending.get(..4).map(number) else { return Ok(None) };
            if magic & 0xFFFF_FFF0 == 0x184D_2A50 {
                let Some(length) = pending.get(4..8).map(number) else { return Ok(None) };
                pending.drain(..8);
                *at = At::Skipped(length);
                return Ok(Some(Vec::new()));
            }
            let mut rest = pending.as_slice();
            match frames.reset(&mut rest) {
                Ok(()) => {
                    let read = pending.len() - rest.len();
                    let has_checksum = pending.get(4).is_some_and(|descriptor| descriptor & 4 != 0);
                    pending.drain(..read);
                    *at = At::Block { has_checksum };
                }
                // The header may be incomplete.
                Err(_) if pending.len() < LONGEST_HEAD && magic == 0xFD2F_B528 => return Ok(None),
                Err(error) => return Err(damaged(error.to_string())),
            }
        }
        At::Block { has_checksum } => {
            let Some(head) = pending.get(..3).map(number) else { return Ok(None) };
            let (is_last, kind, size) = (head & 1 == 1, head >> 1 & 3, head >> 3);
            // An RLE block (one repeated byte) contains only that byte.
            let content = if kind == 1 { 1 } else { size };
            let checksum = if is_last && has_checksum { 4 } else { 0 };
            if (pending.len() as u64) < 3 + content + checksum {
                return Ok(None);
            }
            let mut rest = pending.as_slice();
            let decoded = frames.decode_blocks(&mut rest, BlockDecodingStrategy::UptoBlocks(1));
            decoded.map_err(|error| damaged(error.to_string()))?;
            let read = pending.len() - rest.len();
            pending.drain(..read);
            let out = frames.collect().unwrap_or_default();
            if is_last {
                if has_checksum && frames.get_checksum_from_data() != frames.get_calculated_checksum() {
                    return Err(damaged("the checksum does not match".to_owned()));
                }
                *at = At::Header;
            }
            return Ok(Some(out));
        }
    }
    Ok(Some(Vec::new()))
}

/// A reader of text that may be compressed.
///
/// The first bytes decide, so that the names of files do not matter.
pub struct Decompressing<R> {
    source: R,
    form: Form,
    /// What was read from the source, and what of it was not given yet.
    chunk: Vec<u8>,
    /// Bytes that can be given, from an index on.
    ready: (Vec<u8>, usize),
}

enum Form {
    /// The first bytes are still to come.
    Unknown,
    Plain,
    Compressed(Decoder),
    Ended,
}

/// How many bytes are read from the source at once.
const CHUNK_BYTES: usize = 64 << 10;

impl<R: Read> Decompressing<R> {
    /// A reader at the start of its source.
    pub fn new(source: R) -> Self {
        Self { source, form: Form::Unknown, chunk: vec![0; CHUNK_BYTES], ready: (Vec::new(), 0) }
    }

    /// The source.
    pub fn source(&self) -> &R {
        &self.source
    }

    /// Whether bytes can be read without reading the source.
    pub fn is_ready(&self) -> bool {
        self.ready.1 < self.ready.0.len()
    }

    /// Reads on until there are bytes to give. There are none at the end.
    fn fill(&mut self) -> io::Result<()> {
        while !self.is_ready() {
            if let Form::Compressed(decoder) = &mut self.form
                && let Some(more) = decoder.pull().map_err(invalid)?
            {
                self.ready = (more, 0);
                continue;
            }
            if matches!(self.form, Form::Ended) {
                return Ok(());
            }
            let read = read_some(&mut self.source, &mut self.chunk)?;
            let bytes = self.chunk.get(..read).unwrap_or_default();
            match &mut self.form {
                Form::Unknown => {
                    let mut first = std::mem::take(&mut self.ready.0);
                    first.extend_from_slice(bytes);
                    self.begin(first, read == 0);
                }
                Form::Plain if read > 0 => {
                    self.ready.0.clear();
                    self.ready.0.extend_from_slice(bytes);
                    self.ready.1 = 0;
                }
                Form::Compressed(decoder) if read > 0 => decoder.push(bytes),
                Form::Compressed(decoder) => {
                    let last = decoder.finish().map_err(invalid)?;
                    (self.ready, self.form) = ((last.unwrap_or_default(), 0), Form::Ended);
                }
                Form::Plain | Form::Ended => self.form = Form::Ended,
            }
        }
        Ok(())
    }

    /// Decides by the first bytes, or waits for more if they may be the beginning of a compression's.
    fn begin(&mut self, first: Vec<u8>, is_end: bool) {
        let may_be = |coding: &Coding| coding.magic().starts_with(&first);
        if let Some(coding) = Coding::ALL.into_iter().find(|coding| first.starts_with(coding.magic())) {
            let mut decoder = Decoder::new(coding, Bounds::OF_FILES);
            decoder.push(&first);
            self.form = Form::Compressed(decoder);
        } else if !is_end && Coding::ALL.iter().any(may_be) {
            // An index behind the bytes: they are not given yet.
            self.ready = (first, usize::MAX);
        } else {
            (self.ready, self.form) = ((first, 0), if is_end { Form::Ended } else { Form::Plain });
        }
    }
}

impl<R: Read> Read for Decompressing<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let (bytes, given) = &mut self.ready;
        let rest = bytes.get(*given..).unwrap_or_default();
        let length = rest.len().min(out.len());
        let (Some(to), Some(from)) = (out.get_mut(..length), rest.get(..length)) else { return Ok(0) };
        to.copy_from_slice(from);
        *given += length;
        Ok(length)
    }
}

/// Reads once, and again if a signal interrupts it.
fn read_some(source: &mut impl Read, chunk: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(chunk) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn invalid(error: Undecodable) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

/// Decompresses a complete input within `bounds`.
///
/// # Errors
/// Why the input cannot be decompressed.
pub fn decoded(coding: Coding, body: &[u8], bounds: Bounds) -> Result<Vec<u8>, Undecodable> {
    let mut decoder = Decoder::new(coding, bounds);
    let mut out = Vec::new();
    decoder.push(body);
    while let Some(more) = decoder.pull()? {
        out.extend(more);
    }
    out.extend(decoder.finish()?.unwrap_or_default());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    const OPEN: Bounds = Bounds { window: 8 << 20, ..Bounds::OF_FILES };

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    fn in_pieces(coding: Coding, body: &[u8], length: usize, bounds: Bounds) -> Result<Vec<u8>, Undecodable> {
        let mut decoder = Decoder::new(coding, bounds);
        let mut out = Vec::new();
        for piece in body.chunks(length) {
            decoder.push(piece);
            while let Some(more) = decoder.pull()? {
                out.extend(more);
            }
        }
        out.extend(decoder.finish()?.unwrap_or_default());
        Ok(out)
    }

    #[test]
    fn compressed_input_is_restored_whatever_the_chunking() {
        let text: Vec<u8> = (0..40_000u32).flat_map(|number| format!("{{\"n\":{number}}}\n").into_bytes()).collect();
        let skipped: &[u8] = &[0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 7, 7, 7];
        for (coding, body) in [
            (Coding::Gzip, gzip(&text)),
            (Coding::Gzip, [gzip(&text[..100]), gzip(&text[100..])].concat()),
            (Coding::Zstd, zstd(&text)),
            (Coding::Zstd, [&zstd(&text[..100]), skipped, &zstd(&text[100..])].concat()),
        ] {
            for length in [1, 7, 4096, usize::MAX] {
                assert!(in_pieces(coding, &body, length, OPEN).unwrap() == text, "{coding:?} in pieces of {length}");
            }
            assert!(decoded(coding, &body, OPEN).unwrap() == text);
            for end in [1, 9, 20, body.len() / 2, body.len() - 1] {
                let cut = in_pieces(coding, &body[..end], 64, OPEN).unwrap_err();
                assert_eq!(cut, Undecodable::Cut(coding.name()), "{end} of {}", body.len());
            }
            assert_eq!(in_pieces(coding, b"", 1, OPEN).unwrap(), b"");
            assert!(matches!(in_pieces(coding, b"{\"no\":\"compression\"}", 5, OPEN), Err(Undecodable::Damaged(..))));
            let mut damaged = body.clone();
            *damaged.last_mut().unwrap() ^= 1;
            assert!(in_pieces(coding, &damaged, 4096, OPEN).is_err(), "{coding:?}: the checksum must be verified");
        }
    }

    #[test]
    fn decompression_bombs_are_refused_before_they_are_in_memory() {
        let zeros = vec![b' '; 64 << 20];
        // The highest possible ratio: RLE blocks of 128 KiB in four bytes each.
        let head = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38];
        let block = (128u32 << 10) << 3 | 1 << 1;
        let [one, two, three, _] = block.to_le_bytes();
        let repeated = [head.to_vec(), [one, two, three, b' '].repeat(20_000)].concat();
        for (coding, body) in [(Coding::Gzip, gzip(&zeros)), (Coding::Zstd, zstd(&zeros)), (Coding::Zstd, repeated)] {
            let dense = in_pieces(coding, &body, 4096, Bounds { ratio: 200, ..OPEN }).unwrap_err();
            assert_eq!(dense, Undecodable::TooDense(200), "{coding:?}");
            let large = in_pieces(coding, &body, 4096, Bounds { bytes: Some(1 << 20), ..OPEN }).unwrap_err();
            assert_eq!(large, Undecodable::TooLarge(1 << 20), "{coding:?}");
        }
        // A frame that requests a window of 2 GiB.
        let greedy = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xA8, 0x01, 0x00, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert!(matches!(decoded(Coding::Zstd, &greedy, OPEN), Err(Undecodable::Damaged(..))));
    }

    /// Returns one byte at a time.
    struct Trickle<'t>(&'t [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            (out[0], self.0) = (*first, rest);
            Ok(1)
        }
    }

    #[test]
    fn a_reader_gives_the_text_whether_it_is_compressed_or_not() {
        let text: Vec<u8> = (0..40_000u32).flat_map(|number| format!("{{\"n\":{number}}}\n").into_bytes()).collect();
        for text in [&text[..], b"", b"{", b"\x28", b"\x28\xB5", b"\x1F", b"(not json)"] {
            let mut bodies = vec![text.to_vec()];
            if text.len() != 1 && text != b"\x28\xB5" {
                bodies.extend([gzip(text), zstd(text)]);
            }
            for body in bodies {
                let mut whole = Vec::new();
                Decompressing::new(&body[..]).read_to_end(&mut whole).unwrap();
                assert!(whole == text, "{:?}", String::from_utf8_lossy(&body[..body.len().min(40)]));
                let mut trickled = Vec::new();
                Decompressing::new(Trickle(&body)).read_to_end(&mut trickled).unwrap();
                assert!(trickled == text);
            }
        }
        for body in [gzip(&text), zstd(&text)] {
            let cut = Decompressing::new(&body[..body.len() - 1]).read_to_end(&mut Vec::new()).unwrap_err();
            assert!(cut.kind() == ErrorKind::InvalidData && cut.to_string().contains("ends in the middle"), "{cut}");
        }
    }
}
