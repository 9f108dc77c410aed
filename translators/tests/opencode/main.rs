//! OpenCode's behaviour: cases from the recordings, and cases that only small hand-written records show.

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
mod export;
mod later;
mod recordings;
mod records;
mod run;
mod shapes;
mod tools;
