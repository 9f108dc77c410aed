//! The system's limits for this process.

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use std::io;
use tokio::signal::unix::{SignalKind, signal};

/// Raises the limit of open files as far as the system allows. Returns the limit; `None` if there is none.
pub(crate) fn raise_open_files() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    getrlimit(Resource::Nofile).current
}

/// The largest size of a file, in bytes; `None` if there is no limit.
pub(crate) fn file_bytes() -> Option<u64> {
    getrlimit(Resource::Fsize).current
}

/// From now on, a write beyond the allowed file size (`ulimit -f`) is an error. By default, its signal ends the process. Must be called in a
/// runtime.
///
/// # Errors
/// The signal handler cannot be installed.
pub(crate) fn outlive_large_files() -> io::Result<()> {
    // The handler stays installed after the stream is dropped.
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)
}
