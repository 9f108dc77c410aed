//! What redaction removes from the output of every contract, and what it leaves unchanged.

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

mod harmless;
mod harness;
mod large;
mod pieces;
mod places;
mod planted;
mod secrets;
mod settings;
mod timed;
mod untouched;
mod waiting;
