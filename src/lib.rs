//! framegate: everything that waits, or that reads a clock, a file or a socket. The translators that it wraps are sans-IO.

pub mod artifacts;
pub mod auth;
pub mod budgets;
pub mod catalogue;
pub mod cli;
pub mod client;
pub mod clock;
pub mod compression;
pub mod config;
pub mod defaults;
pub mod demo;
mod features;
pub mod gate;
pub mod headers;
pub mod http;
pub mod ingest;
pub mod log;
pub mod network;
mod platform;
pub mod policy;
pub mod prices;
pub mod render;
pub mod runs;
pub mod search;
pub mod shutdown;
pub mod stats;
pub mod storage;
pub mod suggest;
pub mod telemetry;
#[cfg(feature = "ui")]
pub mod ui;
pub mod upstream;
mod visible;
pub mod webhooks;

pub use platform::allocator::{ALLOCATOR, Allocator};
