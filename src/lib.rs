//! framegate: everything that waits, reads a clock, a file or a socket, around the sans-IO translators.

pub mod artifacts;
pub mod auth;
pub mod catalogue;
pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
pub mod gate;
pub mod http;
pub mod ingest;
pub mod log;
pub mod nearest;
pub mod runs;
pub mod stopping;
pub mod telemetry;
pub mod upstream;
