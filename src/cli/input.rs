//! What a filter reads: a file, or the standard input.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, ErrorKind, Read, StdinLock};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::Duration;

/// What is asked of the input at a time; whatever is there comes at once.
const CHUNK_BYTES: usize = 64 << 10;

/// An input that is open.
pub(super) struct Input {
    source: Source,
    chunk: Vec<u8>,
}

enum Source {
    Stdin(StdinLock<'static>),
    File(File),
}

impl Source {
    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Stdin(stdin) => stdin.read(chunk),
            Self::File(file) => file.read(chunk),
        }
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Stdin(stdin) => stdin.as_fd(),
            Self::File(file) => file.as_fd(),
        }
    }
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
        let source = if is_stdin(path) { Source::Stdin(io::stdin().lock()) } else { Source::File(File::open(path)?) };
        Ok(Self { source, chunk: vec![0; CHUNK_BYTES] })
    }

    /// Waits for the next bytes or the end; says whether there is anything. What [`Input::next`] has asked for is larger than
    /// the buffer of the standard input, so nothing that was read waits in there.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn wait(&self, patience: Duration) -> io::Result<bool> {
        let mut waiting = [PollFd::from_borrowed_fd(self.source.as_fd(), PollFlags::IN)];
        let patience = Timespec::try_from(patience).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
        match poll(&mut waiting, Some(&patience)) {
            Ok(ready) => Ok(ready > 0),
            // As if it had come early: whoever waits looks at the time again.
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
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
