//! Defaults that the configuration shares with the modules that it configures.

/// Default for how many bytes of frames and artifacts of one ingest may wait for an append.
pub const AHEAD_BYTES: u64 = 512 << 10;

/// Default size in bytes of the window of events that the readers of one stream in one contract share.
pub const VIEW_BYTES: usize = 4 << 20;

/// The name of the upstream that `serve --demo` adds.
pub const DEMO_UPSTREAM: &str = "demo";
