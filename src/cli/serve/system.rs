//! The limit of open files.
//!
//! Input: what the settings need. Output: a limit raised as far as possible, and a warning about what is missing.

use crate::http::Settings;
use crate::platform::limits;

/// Open files besides connections: the log's, a few for each runner process, and the program's own.
const OTHER_FILES: u64 = 256;

/// Raises the limit of open files as far as the system allows. Lowers the number of connections if the limit is still too low,
/// so that the reserved connections are available.
pub(super) fn fit_open_files(settings: &mut Settings) {
    let Some(files) = limits::raise_open_files() else { return };
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
