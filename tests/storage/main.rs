//! The persistent frame log: the log as a library, and the built proxy killed and restarted.

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
mod damage;
mod database;
mod disk;
mod every_kind;
mod figures;
mod filling;
mod front;
mod full;
mod instrumented;
mod kinds;
mod migration;
#[path = "../serve/proxy.rs"]
mod proxy;
mod recent;
mod restart;
mod restarts;
mod retention;
mod scratch;
mod texts;
