//! Ctrl-Z: SIGTSTP, by which a terminal asks a program to stop until it is continued.

use rustix::process::{Signal as Number, getpid, kill_process};
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals.
pub(crate) struct Suspensions(Signal);

impl Suspensions {
    /// From now on, the signal does not stop the process by itself. Must be called in a runtime.
    ///
    /// # Errors
    /// It cannot be listened for.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::from_raw(Number::TSTP.as_raw()))?))
    }

    /// Waits for the next one. The future may be dropped without loss.
    pub(crate) async fn next(&mut self) {
        // Without a further signal, nothing is to be done.
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// Stops this process; returns when it is continued.
///
/// # Errors
/// The system's error.
pub(crate) fn stop_here() -> io::Result<()> {
    Ok(kill_process(getpid(), Number::STOP)?)
}
