//! Several proxies that share a log on NATS JetStream.
//!
//! Input: recordings, sent to one proxy or another, whole or live; faults of proxies (killed, stopped) and of NATS servers. Output:
//! every run, event, status, session and feed, as each proxy serves them. Never: an event that differs between two proxies, that is
//! missing or that is sent twice; a run with two ends; a proxy that writes after its lease.
//!
//! Each test starts its own NATS servers, in a folder of its own. `NATS_SERVER` is the path of the program; `./test.sh` installs it.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "test code; not all helpers shared with the tests of the server are used"
)]

mod access;
mod alike;
mod bounds;
mod chaos;
#[path = "../cli/program.rs"]
mod cli;
#[path = "../serve/client.rs"]
mod client;
mod clients;
#[path = "../storage/every_kind/mod.rs"]
mod every_kind;
mod every_kind_of_log;
mod harness;
mod kinds;
mod log;
mod log_commands;
mod lost;
mod messages;
mod moving;
mod outage;
mod ports;
mod proxies;
#[path = "../serve/proxy.rs"]
mod proxy;
mod reading;
#[path = "../serve/recorded_runs.rs"]
mod recorded_runs;
#[path = "../serve/relay.rs"]
mod relay;
#[path = "../storage/restarts.rs"]
mod restarts;
#[path = "../storage/scratch.rs"]
mod scratch;
#[path = "../serve/scripted.rs"]
mod scripted;
mod sequences;
mod servers;
mod webhooks;
