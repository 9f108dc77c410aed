//! Canonical paths.

use std::io;
use std::path::{Path, PathBuf};

/// The absolute path without links.
///
/// # Errors
/// Nothing is there, or it cannot be reached.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}
