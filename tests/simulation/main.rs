//! Many proxies with one log, simulated: how much they ask of the servers, and for how long, when proxies are lost, readers move, and answers
//! are lost.
//!
//! Input: numbers of proxies, runs and readers, and what one request costs the servers, as measured. Output: how many requests of each kind reach the
//! servers, and how long it takes until all is well again. Never: a real server, socket or second. The runs, the readers and the
//! decisions about lost proxies are the product's own; only the servers are modelled, and the clock is tokio's paused one.
//!
//! `docs/cluster.md` has the figures. To see them for other numbers:
//! `SIMULATION_PROXIES=50 SIMULATION_RUNS=5000 cargo test … --test simulation -- --nocapture --test-threads 1`.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "test code"
)]

mod answers;
mod leases;
mod log;
mod proxy;
mod readers;
mod servers;

use std::time::Duration;

/// Runs a scenario on the paused clock, which advances when every task waits.
fn simulate<T>(scenario: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(scenario)
}

/// A number from the environment, or the default.
fn number(name: &str, default: u32) -> u32 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}
