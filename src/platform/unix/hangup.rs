//! Interprets SIGHUP: it means a new configuration, or a terminal that has closed.
//!
//! Input: how the process was started, and whether its terminal still exists. Output: whether to stop. Never: a service stopped
//! (it has no terminal); a process stopped that was started to outlive its terminal (`nohup`).

use std::fs::{File, read_to_string};
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals.
pub(crate) struct Hangups(Signal);

impl Hangups {
    /// From now on, SIGHUP does not end the process. Must be called in a runtime.
    ///
    /// # Errors
    /// The signal cannot be listened for.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::hangup())?))
    }

    /// Waits for the next signal; `None` if there will be no more.
    pub(crate) async fn next(&mut self) -> Option<()> {
        self.0.recv().await
    }
}

/// The terminal that started the process.
pub(crate) struct Terminal {
    is_followed: bool,
}

impl Terminal {
    /// Looks for the terminal. Must be called before a SIGHUP handler is installed.
    pub(crate) fn at_start() -> Self {
        Self { is_followed: is_there() && !ignores_hangup() }
    }

    /// Whether the process stops when its terminal closes.
    pub(crate) fn is_followed(&self) -> bool {
        self.is_followed
    }

    /// Whether the process must stop because its terminal has closed.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_followed && !is_there()
    }
}

/// Whether the process has a controlling terminal: `/dev/tty` can only be opened if there is one.
fn is_there() -> bool {
    File::open("/dev/tty").is_ok()
}

/// Whether the process was started with SIGHUP ignored. Returns false if the system does not say.
fn ignores_hangup() -> bool {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    ignores(&status, rustix::process::Signal::HUP.as_raw())
}

fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_ignored_if_its_bit_is_set() {
        assert!(ignores("Name:\tx\nSigIgn:\t0000000000001001\n", 1));
        assert!(!ignores("SigIgn:\t0000000000001000\n", 1));
        assert!(!ignores("", 1) && !ignores("SigIgn:\tno number\n", 1));
    }
}
