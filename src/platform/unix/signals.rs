//! What asks this process to end: SIGINT and SIGTERM.

use crate::platform::EndSignal;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals.
pub(crate) struct EndSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl EndSignals {
    /// From now on, the signals do not end the process. Must be called in a runtime.
    ///
    /// # Errors
    /// They cannot be listened for.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next one. The future may be dropped without loss.
    pub(crate) async fn next(&mut self) -> EndSignal {
        tokio::select! {
            _ = self.interrupt.recv() => EndSignal::Interrupt,
            _ = self.terminate.recv() => EndSignal::Terminate,
        }
    }
}
