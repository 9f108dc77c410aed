//! Runners that the proxy starts: fakes that misbehave, and the real ones.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code; what it shares with the tests of the server is not all used"
)]

mod approvals;
#[path = "../serve/client.rs"]
mod client;
mod command_line;
mod faults;
mod forms;
#[path = "../serve/holding.rs"]
mod holding;
mod interrupting;
mod model;
mod presets;
#[path = "../serve/proxy.rs"]
mod proxy;
mod readme;
mod real;
mod real_codex;
mod real_feed;
mod sessions;
mod started;
mod starting;
#[path = "../serve/verdicts.rs"]
mod verdicts;
