//! Files and directories that other users of the machine cannot read.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Gives a file that is created the mode 0600.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// Creates a directory and those above it with the mode 0700. Directories that exist stay as they are.
///
/// # Errors
/// The system's error.
pub(crate) fn create_private_directories(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
