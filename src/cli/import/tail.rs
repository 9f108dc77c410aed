//! A file that grows.
//!
//! Input: its path. Output: what was written behind the part that was read. Never: an open file between two reads; bytes of another file that took the
//! place of the first.

use crate::platform::identity::Identity;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How many bytes before the offset are compared before more is read.
const COMPARED_BYTES: usize = 1 << 10;

/// A file, read up to an offset.
pub(super) struct Tail {
    path: PathBuf,
    identity: Option<Identity>,
    offset: u64,
    /// The last bytes that were read.
    end: Vec<u8>,
    /// When it was last written, as far as it was read.
    modified: Option<SystemTime>,
}

/// What happened to a file since it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Nothing,
    Written,
    /// It is another file, or has other content than was read.
    Replaced,
}

impl Tail {
    /// A file of which nothing was read.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, identity: None, offset: 0, end: Vec::new(), modified: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Looks at the file.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn look(&mut self) -> io::Result<Change> {
        let metadata = std::fs::metadata(&self.path)?;
        let identity = Identity::at(&self.path)?;
        let modified = metadata.modified().ok();
        let is_same = *self.identity.get_or_insert(identity) == identity;
        if is_same && metadata.len() == self.offset && modified == self.modified {
            return Ok(Change::Nothing);
        }
        if !is_same || !self.has_end(&metadata)? {
            return Ok(Change::Replaced);
        }
        self.modified = modified;
        Ok(Change::Written)
    }

    /// Whether what was read last is still there.
    fn has_end(&self, metadata: &Metadata) -> io::Result<bool> {
        if metadata.len() < self.offset {
            return Ok(false);
        }
        let mut end = vec![0; self.end.len()];
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset - end.len() as u64))?;
        match file.read_exact(&mut end) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            read => read.map(|()| end == self.end),
        }
    }

    /// Reads what comes next; 0 bytes at the end.
    ///
    /// # Errors
    /// The system's error, or that another file took its place.
    pub(super) fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        let mut file = File::open(&self.path)?;
        let identity = Identity::of(&file)?;
        if *self.identity.get_or_insert(identity) != identity {
            return Err(io::Error::other("another file took its place while it was read"));
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let length = file.read(chunk)?;
        let read = chunk.get(..length).unwrap_or_default();
        self.offset += read.len() as u64;
        self.end.extend_from_slice(read.get(read.len().saturating_sub(COMPARED_BYTES)..).unwrap_or_default());
        self.end.drain(..self.end.len().saturating_sub(COMPARED_BYTES));
        Ok(length)
    }
}
