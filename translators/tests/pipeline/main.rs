//! From bytes to frames and events, for every runner and contract.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

#[path = "../support/mod.rs"]
mod support;

mod artifacts;
mod demo;
mod framing;
mod gaps;
mod held;
mod invariants;
mod prompts;
mod recognition;
mod redaction;
mod state;
mod stored;
