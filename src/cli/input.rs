//! What a filter reads: a file, or the standard input.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// What is asked of the input at a time; whatever is there comes at once.
const CHUNK_BYTES: usize = 64 << 10;

/// An input that is open.
pub(super) struct Input {
    source: Box<dyn Read>,
    chunk: Vec<u8>,
}

/// Whether the path means the standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The path for people.
pub(super) fn shown(path: &Path) -> String {
    if is_stdin(path) { "the standard input".to_owned() } else { path.display().to_string() }
}

impl Input {
    /// Opens it.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let source: Box<dyn Read> =
            if is_stdin(path) { Box::new(io::stdin().lock()) } else { Box::new(File::open(path)?) };
        Ok(Self { source, chunk: vec![0; CHUNK_BYTES] })
    }

    /// The next bytes, as soon as there are any; none at the end.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn next(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.source.read(&mut self.chunk) {
                Ok(length) => return Ok(self.chunk.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
