//! The end of a command that runs until the user stops it.
//!
//! Input: Ctrl-C and SIGTERM. Output: that one of them came. Never: the end of the process at once.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ctrl-C and SIGTERM.
pub(super) struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    /// From now on, the signals do not end the process. Must be called in a runtime.
    ///
    /// # Errors
    /// The signals cannot be listened for.
    pub(super) fn new() -> anyhow::Result<Self> {
        let of = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self { interrupt: of(SignalKind::interrupt())?, terminate: of(SignalKind::terminate())? })
    }

    /// Waits for one of them.
    pub(super) async fn requested(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
