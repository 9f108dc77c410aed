//! Checks the facts that manifests state about recordings against the frames.

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
mod copilot;
mod gemini_cli;
mod open_responses;
mod opencode;
mod pi;
mod qwen_code;
