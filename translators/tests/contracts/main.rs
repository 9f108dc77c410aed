//! The events of each contract, what `check` finds in them, and the files that are published for it.

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
mod ag_ui;
mod ag_ui_segments;
mod check_mutations;
mod claude_code_v1;
mod digests;
mod documents;
mod frames;
mod hecate;
mod judges;
mod open_responses_v1;
mod pixir;
mod published;
mod sse_v1;
mod ui_message_stream;
mod withheld;
