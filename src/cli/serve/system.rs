//! Limits of the operating system: open files and file size.
//!
//! Input: what the settings need. Output: limits raised as far as possible, and a warning about what is missing. Never: a
//! process that ends because a file is too large.

use crate::http::Settings;
use anyhow::Context;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

/// From now on, a write beyond the allowed file size (`ulimit -f`) is an error. By default, its signal ends the process.
///
/// # Errors
/// The signal handler cannot be installed.
pub(super) fn outlive_large_files(runtime: &Runtime) -> anyhow::Result<()> {
    let _inside = runtime.enter();
    // The handler stays installed after the stream is dropped.
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop).context("cannot listen for signals")
}

/// Open files besides connections: the log's, a few for each runner process, and the program's own.
const OTHER_FILES: u64 = 256;

/// Raises the limit of open files as far as the system allows. Lowers the number of connections if the limit is still too low,
/// so that the reserved connections are available.
pub(super) fn fit_open_files(settings: &mut Settings) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    let Some(files) = getrlimit(Resource::Nofile).current else { return };
    let reserved = settings.reserved_connections as u64 * 5;
    let wanted = settings.max_connections as u64;
    // If the limit is very low, half of the files are for connections.
    let room = files.saturating_sub(OTHER_FILES + reserved).max(files / 2).max(1);
    if wanted > room {
        let settings_connections = settings.max_connections;
        tracing::warn!(
            "server.max_connections is {settings_connections}, but the system lets the process open only {files} \
             files: {room} connections are accepted; raise the limit (ulimit -n, LimitNOFILE= of systemd) or lower the \
             setting"
        );
        settings.max_connections = usize::try_from(room).unwrap_or(usize::MAX);
    }
}
