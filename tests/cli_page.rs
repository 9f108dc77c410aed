//! `framegate view` and `framegate export`: recordings in a browser, and in one file.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod cli;
#[allow(dead_code, unreachable_pub, reason = "shared; not every test uses all")]
#[path = "serve/client.rs"]
mod client;
#[path = "cli_page/export.rs"]
mod export;
#[allow(dead_code, unreachable_pub, reason = "shared; not every test uses all")]
#[path = "serve/proxy.rs"]
mod proxy;
#[path = "cli_page/view.rs"]
mod view;
