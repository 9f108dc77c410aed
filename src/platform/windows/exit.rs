//! The signal that ended a program: there is none, since programs always end with a status.

use std::process::ExitStatus;

/// The number of the signal: always `None`.
pub(crate) fn signal(_: ExitStatus) -> Option<i32> {
    None
}

/// The name of a signal.
pub(crate) fn signal_name(number: i32) -> String {
    format!("signal {number}")
}
