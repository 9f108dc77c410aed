//! What asks this process to end: Ctrl-C and Ctrl-Break, the end of the console, and the shutdown of the system. After the last two, Windows
//! gives the process a few seconds.

use crate::platform::EndSignal;
use std::io;
use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
};

/// The signals.
pub(crate) struct EndSignals {
    interrupt: CtrlC,
    stop: CtrlBreak,
    close: CtrlClose,
    shutdown: CtrlShutdown,
}

impl EndSignals {
    /// From now on, the signals do not end the process at once. Must be called in a runtime.
    ///
    /// # Errors
    /// They cannot be listened for.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: ctrl_c()?, stop: ctrl_break()?, close: ctrl_close()?, shutdown: ctrl_shutdown()? })
    }

    /// Waits for the next one. The future may be dropped without loss.
    pub(crate) async fn next(&mut self) -> EndSignal {
        tokio::select! {
            _ = self.interrupt.recv() => EndSignal::Interrupt,
            // What one process sends to another: Ctrl-C cannot be sent to a single process group.
            _ = self.stop.recv() => EndSignal::Terminate,
            _ = self.close.recv() => EndSignal::Terminate,
            _ = self.shutdown.recv() => EndSignal::Terminate,
        }
    }
}
