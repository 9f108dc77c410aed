//! The built proxy over real sockets.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

mod artifacts;
mod bounds;
mod client;
mod events;
mod feeds;
mod ingest;
mod limits;
mod logs;
mod metrics;
mod native;
mod openapi;
mod proxy;
mod redaction;
mod schemas;
mod stopping;
mod wire;
