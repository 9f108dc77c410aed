//! SIGHUP, which Windows does not have: a new configuration needs a restart, and a console that closes asks the process to end
//! ([`signals`](super::signals)).

use std::io;

/// The signals, which never come.
pub(crate) struct Hangups(());

impl Hangups {
    /// Listens for nothing.
    ///
    /// # Errors
    /// None; other systems have some.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Waits for ever.
    pub(crate) async fn next(&mut self) -> Option<()> {
        std::future::pending().await
    }
}

/// The terminal that started the process. Nothing is known about it.
pub(crate) struct Terminal(());

impl Terminal {
    /// Looks for nothing.
    pub(crate) fn at_start() -> Self {
        Self(())
    }

    /// Whether the process stops when its terminal closes: not by a hangup.
    pub(crate) fn is_followed(&self) -> bool {
        false
    }

    /// Whether the process must stop because its terminal has closed: not by a hangup.
    pub(crate) fn is_gone(&self) -> bool {
        false
    }
}
