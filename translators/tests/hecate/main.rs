//! `hecate.v1`: recordings, the mapping of each group from hand-made frames, and the schemas' own examples.

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

mod examples;
mod harness;
mod mapping;
mod output;
mod recordings;
mod tools;
