//! Cases of pi's format: messages that come several times, updates that replace, ends that are no ends. Small records, written by hand.

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
mod messages;
mod questions;
mod recordings;
mod records;
mod session_files;
