//! Every rule of the contracts, seen through `framegate check`: each fires on a stream that breaks it, at the right event,
//! and alone; none fires on the clean twin.

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

mod agent_manager;
mod all;
mod cases;
mod frames;
mod hecate;
mod pixir;
mod sse;
