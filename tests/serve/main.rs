//! The built proxy over real sockets.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

mod acp;
mod ag_ui;
mod artifacts;
mod auth;
#[cfg(feature = "tls")]
mod authority;
mod beginning;
mod bounds;
mod chat_completions;
mod claude_code;
mod client;
mod client_packages;
mod clients;
mod codings;
mod cors;
mod costs;
mod dashboard;
mod demo;
#[cfg(feature = "jetstream")]
mod deployments;
mod events;
mod feed_upstream;
mod feed_visible;
mod feeds;
mod filters;
mod following;
mod haproxy;
mod http2;
mod ingest;
mod limits;
mod logs;
mod metrics;
mod native;
mod nginx;
mod open_responses;
mod openapi;
mod openapi_tools;
#[cfg(feature = "otel")]
mod otlp;
#[cfg(feature = "otel")]
mod otlp_collector;
#[cfg(all(feature = "otel", feature = "tls"))]
mod otlp_tls;
mod own_frames;
mod page;
mod prometheus;
mod proxy;
mod rates;
mod raw;
mod recorded_runs;
mod redaction;
mod relay;
mod reload;
mod resources;
mod responses;
mod resuming;
mod schemas;
mod scripted;
mod sdks;
mod search;
mod secrecy;
mod sent_twice;
mod slow;
mod starvation;
mod stats;
mod stopping;
mod surroundings;
#[cfg(feature = "tls")]
mod tls;
mod trace;
mod ui_message_stream;
mod upstream_faults;
#[cfg(feature = "tls")]
mod upstream_tls;
mod verdicts;
mod webhooks;
mod wire;
#[cfg(feature = "jetstream")]
mod yaml;
