//! Every rule of the contracts, through `framegate check`: each rule reports a stream that breaks it, at the right event and
//! without other findings. No rule reports the clean stream.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

#[path = "../cli/mod.rs"]
mod cli;

mod acp;
mod ag_ui;
mod agent_manager;
mod all;
mod cases;
mod chat_completions;
mod claude_code;
mod frames;
mod hecate;
mod open_responses;
mod pixir;
mod sse;
mod ui_message_stream;
