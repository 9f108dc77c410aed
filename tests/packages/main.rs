//! The ways to install framegate: each package is made by the scripts of a release from the binary that cargo built, installed as its
//! users install it, and run. What needs no other tool runs always; the rest is ignored here, and `test.sh` runs what it can.
#![cfg(target_os = "linux")]
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code; not all helpers shared with the tests of the server are used"
)]

mod action;
#[path = "../serve/client.rs"]
mod client;
mod deb;
mod files;
mod image;
mod npm;
mod packed;
#[path = "../serve/proxy.rs"]
mod proxy;
mod python_wheel;
mod release;
mod service;
