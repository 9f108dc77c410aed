//! Compressed request bodies (RFC 9110, section 8.4): `gzip` and `zstd`.
//!
//! Input: compressed bytes, in pieces of any size. Output: the decompressed bytes, in pieces of bounded size. Never: a window
//! or a compression ratio beyond the bounds; a truncated or damaged body accepted as complete.
//!
//! The zstd decoder keeps a frame's last window until the next block no longer needs it. So a body that is compressed while
//! its runner still emits output is decoded with a delay. gzip has no such delay.

use super::problem::Problem;
use flate2::write::MultiGzDecoder;
use hyper::StatusCode;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::Write;

/// The compression of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Zstd,
}

/// The value of `Accept-Encoding` in the response that refuses a coding (RFC 9110, section 15.5.16).
const ACCEPTED: &str = "gzip, zstd";

impl Coding {
    /// The coding of a body; `None` if it is not compressed.
    ///
    /// # Errors
    /// 415: the coding is not supported, or there is more than one.
    pub(super) fn of(headers: &HeaderMap) -> Result<Option<Self>, Problem> {
        let mut found = None;
        for list in headers.get_all(CONTENT_ENCODING) {
            for name in list.to_str().unwrap_or("?").split(',').map(str::trim).filter(|name| !name.is_empty()) {
                let coding = match name.to_ascii_lowercase().as_str() {
                    "identity" => continue,
                    "gzip" | "x-gzip" => Self::Gzip,
                    "zstd" => Self::Zstd,
                    _ => return Err(refused(format!("the body's Content-Encoding is {name:?}"))),
                };
                if found.replace(coding).is_some() {
                    return Err(refused("the body is compressed more than once".to_owned()));
                }
            }
        }
        Ok(found)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

fn refused(what: String) -> Problem {
    let detail = format!("{what}; send it with one of {ACCEPTED}, or without a Content-Encoding");
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail).with(ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED))
}

/// Bounds for the decompressed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// In total, in bytes; `None`: unlimited.
    pub(super) bytes: Option<u64>,
    /// For each compressed byte; applies beyond [`FREE`].
    pub(super) ratio: u64,
}

/// Decompressed bytes that are allowed at any ratio.
const FREE: u64 = 1 << 20;

/// The largest zstd window, in bytes: decoders must support it (RFC 9659).
const WINDOW: u64 = 8 << 20;

/// Bytes of a gzip body that are decompressed at a time; the output is at most about a thousand times as large.
const PIECE: usize = 1 << 10;

/// Why a body cannot be decompressed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Undecodable {
    #[error("the body is not valid {0}: {1}")]
    Damaged(&'static str, String),
    #[error("the body ends in the middle of its {0} data")]
    Cut(&'static str),
    #[error("the decompressed body has more than {0} bytes (ingest.max_decompressed_bytes)")]
    TooLarge(u64),
    #[error("the body decompresses to more than {0} bytes per compressed byte (ingest.max_compression_ratio)")]
    TooDense(u64),
}

/// Decompresses one body.
pub(super) struct Decoder {
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

/// What the next byte of a zstd body belongs to.
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
    pub(super) fn new(coding: Coding, bounds: Bounds) -> Self {
        let state = match coding {
            Coding::Gzip => State::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            Coding::Zstd => {
                let mut frames = Box::new(FrameDecoder::new());
                frames.set_max_window_size(WINDOW);
                State::Zstd { frames, at: At::Header }
            }
        };
        Self { coding, bounds, pending: Vec::new(), taken: 0, given: 0, state }
    }

    /// Adds input; [`Decoder::next`] returns the decompressed bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.taken += bytes.len() as u64;
        self.pending.extend_from_slice(bytes);
    }

    /// The next decompressed bytes; `None` if more input is needed.
    ///
    /// # Errors
    /// Why the body cannot be decompressed.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, Undecodable> {
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

    /// Marks the end of the body. Returns the last decompressed bytes.
    ///
    /// # Errors
    /// Those of [`Decoder::next`], and a body that is cut off.
    pub(super) fn finish(&mut self) -> Result<Option<Vec<u8>>, Undecodable> {
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

/// Decompresses a complete body within `bounds`.
///
/// # Errors
/// Why the body cannot be decompressed.
pub(super) fn decoded(coding: Coding, body: &[u8], bounds: Bounds) -> Result<Vec<u8>, Undecodable> {
    let mut decoder = Decoder::new(coding, bounds);
    let mut out = Vec::new();
    decoder.push(body);
    while let Some(more) = decoder.next()? {
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

    const OPEN: Bounds = Bounds { bytes: None, ratio: u64::MAX };

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
            while let Some(more) = decoder.next()? {
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

    #[test]
    fn the_coding_is_read_from_the_headers() {
        let of = |values: &[&'static str]| {
            let headers: HeaderMap =
                values.iter().map(|value| (CONTENT_ENCODING, HeaderValue::from_static(value))).collect();
            Coding::of(&headers).map_err(|problem| problem.status().as_u16())
        };
        assert_eq!((of(&[]), of(&["identity"]), of(&[""])), (Ok(None), Ok(None), Ok(None)));
        assert_eq!(
            (of(&["GZIP"]), of(&["x-gzip"]), of(&["zstd"])),
            (Ok(Some(Coding::Gzip)), Ok(Some(Coding::Gzip)), Ok(Some(Coding::Zstd)))
        );
        assert_eq!(
            (of(&["br"]), of(&["gzip, zstd"]), of(&["gzip", "gzip"]), of(&["deflate"])),
            (Err(415), Err(415), Err(415), Err(415))
        );
    }
}
