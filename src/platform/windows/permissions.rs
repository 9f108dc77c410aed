//! Files and directories that other users of the machine cannot read. Windows passes the access list of a folder on to what is created in it,
//! and that of a user's profile admits the user, administrators and the system.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

/// Changes nothing: a file that is created has the access list that its folder passes on.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Creates a directory and those above it, with the access lists that are passed on to them.
///
/// # Errors
/// The system's error.
pub(crate) fn create_private_directories(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(path)
}
