//! Ctrl-Z, which on Windows does not stop programs.

use std::io;

/// The signals, which never come.
pub(crate) struct Suspensions(());

impl Suspensions {
    /// Listens for nothing.
    ///
    /// # Errors
    /// None; other systems have some.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Waits for ever.
    pub(crate) async fn next(&mut self) {
        std::future::pending::<()>().await;
    }
}

/// Does nothing: nothing asks for it.
///
/// # Errors
/// None; other systems have some.
pub(crate) fn stop_here() -> io::Result<()> {
    Ok(())
}
