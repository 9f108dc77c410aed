//! The identity of a file, which stays when it is renamed: its volume and its index there.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use winapi_util::file::information;

/// The identity of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    volume: u64,
    index: u64,
}

impl Identity {
    /// Of the file at a path.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        // No access beyond what the file's properties need, so that a file that another program writes to can be opened.
        Self::of(&OpenOptions::new().access_mode(0).open(path)?)
    }

    /// Of an open file.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let found = information(file)?;
        Ok(Self { volume: found.volume_serial_number(), index: found.file_index() })
    }
}
