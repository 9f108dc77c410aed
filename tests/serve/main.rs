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
mod auth;
mod bounds;
mod client;
mod clients;
mod cors;
mod events;
mod feed_upstream;
mod feeds;
mod holding;
mod http2;
mod ingest;
mod limits;
mod logs;
mod metrics;
mod native;
mod openapi;
#[cfg(feature = "otel")]
mod otlp;
mod proxy;
mod rates;
mod redaction;
mod relay;
mod reload;
mod responses;
mod schemas;
mod scripted;
mod sdks;
mod secrecy;
mod slow;
mod stopping;
mod tls;
mod upstream_faults;
mod upstream_tls;
mod verdicts;
mod wire;
