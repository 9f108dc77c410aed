//! What decoders make of the records of single runners, what a host sends to a runner, and cases that runners have in common.

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

mod acp_agents;
mod claude_code;
mod codex;
mod copilot;
mod dialogues;
mod durations;
mod gemini_cli;
mod open_responses;
mod open_responses_mixtures;
mod open_responses_segments;
mod opencode;
mod pi;
mod qwen_code;
mod reused_call_ids;
mod runner_cases;
