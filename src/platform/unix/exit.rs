//! The signal that ended a program.

use rustix::process::Signal;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The number of the signal; `None` if the program exited by itself.
pub(crate) fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// The name of a signal, such as `SIGKILL`.
pub(crate) fn signal_name(number: i32) -> String {
    match Signal::from_named_raw(number) {
        Some(signal) => format!("SIG{}", format!("{signal:?}").trim_matches('"').trim_start_matches("Signal::")),
        None => format!("signal {number}"),
    }
}
