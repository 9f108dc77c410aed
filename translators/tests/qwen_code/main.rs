//! Cases that Qwen Code's format allows and no recording covers: small records written by hand.

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

mod children;
mod ends;
mod figures;
mod hostile;
mod recognition;
mod records;
mod session_files;
mod snapshot;
mod texts;
