//! The schemas of runners: drift from them, and how they differ from what the runners publish.

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

mod drift;
mod upstream_claude_code;
mod upstream_codex;
mod upstream_copilot;
mod upstream_gemini_cli;
mod upstream_opencode;
mod upstream_pi;
mod upstream_qwen_code;
mod upstream_schemas;
