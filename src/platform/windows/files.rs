//! What is done to open files and directories.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::windows::fs::FileExt;
use std::path::Path;

/// The path of an empty file.
pub(crate) const EMPTY: &str = "NUL";

/// Writes all bytes at a position of the file.
///
/// # Errors
/// The system's error.
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut position: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_write(bytes, position) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = bytes.get(written..).unwrap_or_default();
                position += written as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Does nothing: Windows cannot sync a directory, and its file system keeps a journal of names.
///
/// # Errors
/// None; other systems have some.
pub(crate) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
