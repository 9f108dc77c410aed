//! The written facts about each recording of Open Responses, checked against the frames.

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

mod case;
mod records;
mod runs;
mod texts;
