//! Standard error of this process, which cannot go elsewhere on Windows: messages are written where the cursor is.

use std::io::{self, PipeWriter};

/// Where standard error went before: there is no such value.
pub(crate) enum Diverted {}

impl Diverted {
    /// Leaves standard error where it is: always `None`.
    pub(crate) fn to(_: &PipeWriter) -> Option<Self> {
        None
    }

    /// Gives standard error back.
    ///
    /// # Errors
    /// None; other systems have some.
    pub(crate) fn restore(&self) -> io::Result<()> {
        match *self {}
    }
}
