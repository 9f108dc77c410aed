//! What a host says to a runner, held against what the hosts of the recordings said, and against what the runner took.

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

mod claude_code;
mod codex;
mod forms;
mod host;
mod opencode;
