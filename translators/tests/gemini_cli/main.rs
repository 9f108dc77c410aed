//! Cases that Gemini CLI's format allows and no recording covers: small records written by hand.

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

mod chat_files;
mod ends;
mod hostile;
mod recognition;
mod records;
mod snapshot;
mod texts;
