//! The frame log that outlives the process: the library's log, and the built proxy killed and started again.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "test code; not every test uses all of what is shared"
)]

mod artifacts;
mod audits;
#[path = "../serve/client.rs"]
mod client;
mod continued;
mod crash;
mod cuts;
mod database;
mod front;
mod full;
#[path = "../serve/proxy.rs"]
mod proxy;
mod recent;
mod restart;
mod scratch;
mod texts;
