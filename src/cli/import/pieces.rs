//! The pieces in which a file is decoded.
//!
//! Input: a file. Output: pieces of whole lines, if its records are lines, that are large enough to be stored together. Never: a line without an end
//! that the runner may still be writing.

use super::find;
use crate::cli::bad::BadRecords;
use crate::cli::input::Input;
use crate::ingest::{Source, Stopped};
use bytes::Bytes;
use std::io;
use std::path::Path;

/// The size of a piece, unless a line is longer.
const PIECE_BYTES: usize = 1 << 20;

/// The longest file, decompressed, that is decoded as a whole, before its turn. Its frames take several times as much memory.
pub(super) const WHOLE_BYTES: usize = 8 << 20;

/// A file that is read in pieces.
pub(super) struct Pieces<'i> {
    input: &'i mut Input,
    /// Counts the lines of all pieces.
    bad: &'i mut BadRecords,
    has_lines: bool,
    /// What was read behind the last piece.
    pending: Vec<u8>,
    /// A piece that was read, and not used.
    pub(super) next: Option<Vec<u8>>,
    /// Whether the end of the file was read.
    pub(super) is_over: bool,
    /// Why the file could not be read to its end.
    pub(super) failed: Option<io::Error>,
}

impl<'i> Pieces<'i> {
    pub(super) fn new(input: &'i mut Input, path: &Path, bad: &'i mut BadRecords) -> Self {
        let has_lines = has_lines(path);
        Self { input, bad, has_lines, pending: Vec::new(), next: None, is_over: false, failed: None }
    }

    /// The next piece; empty at the end. A file that cannot be read any further ends there.
    pub(super) fn read(&mut self) -> Vec<u8> {
        self.read_up_to(PIECE_BYTES)
    }

    /// The same, but the piece has this size.
    pub(super) fn read_up_to(&mut self, bytes: usize) -> Vec<u8> {
        while !self.is_over && self.pending.len() < bytes {
            match self.input.next() {
                Ok([]) => self.is_over = true,
                Ok(chunk) => self.pending.extend_from_slice(chunk),
                Err(error) => (self.is_over, self.failed) = (true, Some(error)),
            }
        }
        let whole = if self.has_lines { whole_lines(&self.pending, self.is_over) } else { self.pending.len() };
        let behind = self.pending.split_off(whole);
        let piece = std::mem::replace(&mut self.pending, behind);
        self.bad.feed(&piece);
        piece
    }
}

impl Source for Pieces<'_> {
    async fn next(&mut self) -> Result<Option<Bytes>, Stopped> {
        let piece = match self.next.take() {
            Some(piece) => piece,
            None => self.read(),
        };
        Ok(Some(Bytes::from(piece)).filter(|piece| !piece.is_empty()))
    }
}

/// Whether each record of a file is one line, as its name says.
fn has_lines(path: &Path) -> bool {
    let name = find::name_of(path);
    [".jsonl", ".ndjson"].iter().any(|ending| name.contains(ending))
}

/// How many of these bytes can be decoded: the whole lines, or all, if a line is longer than what is decoded at once. Of a line without an
/// end, the runner may still be writing the rest.
fn whole_lines(pending: &[u8], is_over: bool) -> usize {
    let lines = memchr::memrchr(b'\n', pending).map_or(0, |at| at + 1);
    let rest = pending.get(lines..).unwrap_or_default();
    let is_whole = || serde_json::from_slice::<serde::de::IgnoredAny>(rest).is_ok();
    match (lines, is_over) {
        (_, true) if is_whole() => pending.len(),
        (0, false) => pending.len(),
        _ => lines,
    }
}
