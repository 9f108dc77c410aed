//! What a host sends to a runner, compared with what the hosts in the recordings sent and what the runner accepted.

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

mod acp;
mod claude_code;
mod codex;
mod forms;
mod host;
mod opencode;
mod pi;
mod qwen_code;
