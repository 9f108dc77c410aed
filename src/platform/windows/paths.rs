//! Canonical paths.

use std::io;
use std::path::{Path, PathBuf};

/// The absolute path without links. It has the prefix `\\?\` only if it is no path without it.
///
/// # Errors
/// Nothing is there, or it cannot be reached.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}
