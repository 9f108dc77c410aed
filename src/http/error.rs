//! Why the server did not start, with a remedy for each reason.

use crate::client::ClientError;
use std::net::SocketAddr;

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Other machines could reach the server, and no token is configured.
    #[error(
        "server.listen is {0}, which other machines can reach, but there is no token: set server.token_file or \
             auth.tokens_file, or listen on 127.0.0.1"
    )]
    Open(SocketAddr),
    /// The address is not available.
    #[error("cannot listen on server.listen, {address}: {reason}; {}", remedy(.reason))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        reason: std::io::Error,
    },
    /// The TLS client for an upstream could not be set up.
    #[error("upstream {0:?}: {1}")]
    Upstream(String, #[source] ClientError),
}

/// Advice for an address that is not available.
fn remedy(reason: &std::io::Error) -> &'static str {
    use std::io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
    match reason.kind() {
        AddrInUse => "another process listens there: stop it, or use another port (0 selects a free one)",
        AddrNotAvailable => "it must be an address of this machine: 127.0.0.1, or 0.0.0.0 for all addresses",
        PermissionDenied => "ports below 1024 are for privileged processes: use a higher one",
        _ => "use another address",
    }
}
