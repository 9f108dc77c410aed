//! The system's limits for this process: there are none.

use std::io;

/// The limit of open files: always `None`.
pub(crate) fn raise_open_files() -> Option<u64> {
    None
}

/// The largest size of a file: always `None`.
pub(crate) fn file_bytes() -> Option<u64> {
    None
}

/// Does nothing: no file is too large.
///
/// # Errors
/// None; other systems have some.
pub(crate) fn outlive_large_files() -> io::Result<()> {
    Ok(())
}
