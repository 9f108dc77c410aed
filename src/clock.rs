//! The clock. No other module reads the system time, so everything else is a function of its arguments.

#[cfg(feature = "tls")]
mod tls;

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;
use uuid::{NoContext, Timestamp, Uuid};

/// A source of the current time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The system's clock.
    System,
    /// A clock that does not advance, in Unix epoch milliseconds.
    Fixed(u64),
    /// A clock that showed this time (Unix epoch milliseconds) at this moment. Used to read a recording as if it were being
    /// recorded now.
    Since(u64, Moment),
}

impl Clock {
    /// Unix epoch milliseconds.
    pub fn now_ms(self) -> u64 {
        match self {
            Self::System => system_ms(),
            Self::Fixed(now_ms) => now_ms,
            Self::Since(then_ms, moment) => {
                then_ms.saturating_add(u64::try_from(moment.elapsed().as_millis()).unwrap_or(u64::MAX))
            }
        }
    }

    /// A new UUIDv7: it sorts by creation time, and the rest is random.
    pub fn new_id(self) -> Uuid {
        let now_ms = self.now_ms();
        let nanos = u32::try_from(now_ms % 1000 * 1_000_000).unwrap_or_default();
        Uuid::new_v7(Timestamp::from_unix(NoContext, now_ms / 1000, nanos))
    }
}

/// A point in time to measure from. Where tokio's time is paused, it is a time of that clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Instant);

impl Moment {
    /// The current moment.
    pub fn now() -> Self {
        Self(Instant::now())
    }

    /// The time that has elapsed since this moment.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// The time between an earlier moment and this one; zero if that is the later one.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// The moment that long after this one.
    pub fn after(self, more: Duration) -> Self {
        Self(self.0 + more)
    }
}

/// When something arrived: the clock time, and a monotonic moment that is not affected when the system clock is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Unix epoch milliseconds.
    pub ms: u64,
    /// The same moment on the monotonic clock.
    pub moment: Moment,
}

impl Arrival {
    /// The arrival time now, read from `clock`.
    pub fn now(clock: Clock) -> Self {
        Self { ms: clock.now_ms(), moment: Moment::now() }
    }

    /// The time left until a deadline. The deadline is in Unix epoch milliseconds of the clock that this arrival was read from.
    pub fn until(self, deadline_ms: u64) -> Duration {
        Duration::from_millis(deadline_ms.saturating_sub(self.ms)).saturating_sub(self.moment.elapsed())
    }
}

/// The last millisecond of the year 9999, the latest date that contracts and HTTP can express.
const LATEST_MS: u64 = 253_402_300_799_999;

/// The system time, clamped to the years 1970 to 9999.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
fn system_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(LATEST_MS).min(LATEST_MS)
}

/// Waits until that time; for ever without one.
pub async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_does_not_move_and_the_system_clock_is_plausible() {
        assert_eq!(Clock::Fixed(7).now_ms(), 7);
        assert!(Clock::System.now_ms() > 1_700_000_000_000);
    }

    #[test]
    fn a_clock_since_a_moment_continues_from_it() {
        let clock = Clock::Since(5_000, Moment::now());
        let read = clock.now_ms();
        assert!((5_000..60_000).contains(&read), "{read}");
        assert!(clock.now_ms() >= read);
    }

    #[test]
    fn a_deadline_approaches_although_the_clock_is_fixed() {
        let arrival = Arrival::now(Clock::Fixed(5_000));
        assert_eq!(arrival.until(4_000), Duration::ZERO);
        assert!(arrival.until(65_000) > Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(5));
        assert!(arrival.until(65_000) <= Duration::from_millis(59_995));
        assert_eq!(arrival.until(5_005), Duration::ZERO);
    }

    #[test]
    fn ids_are_random_and_carry_the_time() {
        let clock = Clock::Fixed(1_770_000_000_123);
        let (one, two) = (clock.new_id(), clock.new_id());
        assert_ne!(one, two);
        assert_eq!(one.get_version_num(), 7);
        assert_eq!(one.get_timestamp().map(|time| time.to_unix()), Some((1_770_000_000, 123_000_000)));
    }
}
