//! The commands of the built binary: their input, their output and their exit codes.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

mod check;
#[allow(dead_code, reason = "shared; not every test uses all")]
#[path = "../serve/client.rs"]
mod client;
mod drift;
mod import;
mod import_database;
mod import_subagents;
mod kept;
mod list;
mod log;
#[cfg(target_os = "linux")]
mod memory;
mod page;
mod prices;
mod program;
#[allow(dead_code, reason = "shared; not every test uses all")]
#[path = "../serve/proxy.rs"]
mod proxy;
mod redaction;
mod rules;
mod search;
mod shell;
mod stats;
mod translate;
mod unreadable;
