//! What is done to open files and directories.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The path of an empty file.
pub(crate) const EMPTY: &str = "/dev/null";

/// Writes all bytes at a position of the file.
///
/// # Errors
/// The system's error.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], position: u64) -> io::Result<()> {
    file.write_all_at(bytes, position)
}

/// Makes a new name in the directory survive a power failure.
///
/// # Errors
/// The system's error.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
