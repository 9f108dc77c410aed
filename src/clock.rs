//! The only place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Unix epoch milliseconds, now.
pub fn unix_ms() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "this is the place")]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
