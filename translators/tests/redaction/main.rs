//! What redaction keeps out of every contract's output, and what it leaves alone.

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

mod large;
mod pieces;
mod places;
mod secrets;
mod settings;
mod stage;
mod untouched;
mod waiting;
