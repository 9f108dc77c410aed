//! The programs and pages in `examples/`.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code; not all helpers shared with the tests of the server are used"
)]

#[path = "../serve/client.rs"]
mod client;
mod clients;
mod editors;
mod programs;
#[path = "../serve/proxy.rs"]
mod proxy;
mod react_page;
