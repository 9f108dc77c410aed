//! Cases that Claude Code's format allows and no recording covers: small records written by hand.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

#[path = "../support/mod.rs"]
mod support;

mod blocks;
mod children;
mod records;
mod runs;
mod tasks;
mod transcripts;
