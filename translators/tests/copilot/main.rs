//! Cases that the format of GitHub Copilot CLI allows and no recording covers: small records written by hand.

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
mod ends;
mod questions;
mod recordings;
mod records;
mod texts;
mod usage;
