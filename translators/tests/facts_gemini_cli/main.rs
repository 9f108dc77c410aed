//! Checks every fact of every Gemini CLI recording against the frames.

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

mod calls;
mod case;
mod figures;
mod runs;
mod texts;
