//! The time source for TLS. The default source of rustls panics if the time is before 1970.

use super::Clock;
use std::time::Duration;
use tokio_rustls::rustls::pki_types::UnixTime;
use tokio_rustls::rustls::time_provider::TimeProvider;

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_millis(self.now_ms())))
    }
}
