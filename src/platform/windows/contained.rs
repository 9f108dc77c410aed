//! Files that are reached through one directory and never lie outside it, whatever links lead there.
//!
//! Windows is not able to keep a path within a directory, so that no file is opened.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// A directory whose files are not served.
#[derive(Debug)]
pub(crate) struct ContainedDirectory;

impl ContainedDirectory {
    /// Checks that the directory exists.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        std::fs::read_dir(path).map(|_| Self)
    }

    /// Refuses to open a file.
    ///
    /// # Errors
    /// Always [`ErrorKind::Unsupported`].
    pub(crate) fn read(&self, _: &Path) -> io::Result<File> {
        Err(unsupported())
    }

    /// Refuses to open a file.
    ///
    /// # Errors
    /// Always [`ErrorKind::Unsupported`].
    pub(crate) fn write(&self, _: &Path) -> io::Result<File> {
        Err(unsupported())
    }

    /// Refuses to create directories.
    ///
    /// # Errors
    /// Always [`ErrorKind::Unsupported`].
    pub(crate) fn create_above(&self, _: &Path) -> io::Result<()> {
        Err(unsupported())
    }
}

fn unsupported() -> io::Error {
    io::Error::new(ErrorKind::Unsupported, "files are only served on Linux")
}

/// Whether the error is what the system says about a link that leads outside.
pub(crate) fn leads_outside(_: &io::Error) -> bool {
    false
}

/// Whether the error lies in what was found at the path.
pub(crate) fn is_unusable(_: &io::Error) -> bool {
    false
}
