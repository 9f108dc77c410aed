//! The built proxy over real sockets.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

mod client;
mod events;
mod ingest;
mod limits;
mod proxy;
mod redaction;
