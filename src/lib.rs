//! The proxy: everything that waits. Sockets, the log, the command line; what is said about events is said by the
//! translators.

pub mod clock;
pub mod http;
pub mod ingest;
pub mod log;
pub mod runs;
