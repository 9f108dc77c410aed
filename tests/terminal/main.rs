//! Text for people: in pipes, and on a real pseudo-terminal.
#![cfg(target_os = "linux")]
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code; not all helpers shared with the tests of the server are used"
)]

#[path = "../serve/client.rs"]
mod client;
mod pipes;
#[path = "../serve/proxy.rs"]
mod proxy;
mod run;
mod screen;
mod watch;
mod window;
