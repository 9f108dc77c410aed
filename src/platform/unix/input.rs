//! Inputs whose bytes may come later: standard input, and files that may be named pipes.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::{File, FileType};
use std::io::{self, ErrorKind, Read, Stdin};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::Duration;

/// An open input.
pub(crate) struct Readable(Source);

enum Source {
    Stdin(Stdin),
    File(File),
}

impl Readable {
    /// The standard input, which nothing else may read meanwhile.
    pub(crate) fn stdin() -> Self {
        Self(Source::Stdin(io::stdin()))
    }

    /// Opens a file.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn file(path: &Path) -> io::Result<Self> {
        File::open(path).map(|file| Self(Source::File(file)))
    }

    /// Whether it is a directory.
    pub(crate) fn is_directory(&self) -> bool {
        self.file_type().is_some_and(|kind| kind.is_dir())
    }

    /// Whether it is a file on disk, which has all its bytes already.
    pub(crate) fn is_file(&self) -> bool {
        self.file_type().is_some_and(|kind| kind.is_file())
    }

    /// Waits until bytes or the end can be read; returns false on timeout. Reads with a larger buffer than that of the standard input leave
    /// no bytes in the latter, so that polling the descriptor is sufficient.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn wait(&self, patience: Duration) -> io::Result<bool> {
        let mut waiting = [PollFd::from_borrowed_fd(self.descriptor(), PollFlags::IN)];
        let patience = Timespec::try_from(patience).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
        match poll(&mut waiting, Some(&patience)) {
            Ok(ready) => Ok(ready > 0),
            // Treated as an early timeout: the caller checks the time again.
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match &self.0 {
            Source::Stdin(stdin) => stdin.as_fd(),
            Source::File(file) => file.as_fd(),
        }
    }

    fn file_type(&self) -> Option<FileType> {
        Some(File::from(self.descriptor().try_clone_to_owned().ok()?).metadata().ok()?.file_type())
    }
}

impl Read for Readable {
    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Source::Stdin(stdin) => stdin.read(chunk),
            Source::File(file) => file.read(chunk),
        }
    }
}
