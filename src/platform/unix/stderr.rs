//! Standard error of this process, while it goes elsewhere.

use rustix::stdio::dup2_stderr;
use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};

/// Where standard error went before.
pub(crate) struct Diverted(OwnedFd);

impl Diverted {
    /// Has standard error go to a pipe; `None` if the system has no descriptor left.
    pub(crate) fn to(pipe: &PipeWriter) -> Option<Self> {
        let before = io::stderr().as_fd().try_clone_to_owned().ok()?;
        dup2_stderr(pipe).ok()?;
        Some(Self(before))
    }

    /// Gives standard error back.
    ///
    /// # Errors
    /// The system's error: it still goes to the pipe.
    pub(crate) fn restore(&self) -> io::Result<()> {
        Ok(dup2_stderr(&self.0)?)
    }
}
