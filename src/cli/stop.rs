//! The end of a command that runs until the user stops it.
//!
//! Input: Ctrl-C and SIGTERM. Output: that one of them came. Never: the end of the process at once.

use crate::platform::signals::EndSignals;
use anyhow::Context;

/// Ctrl-C and SIGTERM.
pub(super) struct Stop(EndSignals);

impl Stop {
    /// From now on, the signals do not end the process. Must be called in a runtime.
    ///
    /// # Errors
    /// The signals cannot be listened for.
    pub(super) fn new() -> anyhow::Result<Self> {
        EndSignals::listen().map(Self).context("cannot listen for signals")
    }

    /// Waits for one of them.
    pub(super) async fn requested(&mut self) {
        self.0.next().await;
    }
}
