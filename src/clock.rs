//! The clock: the only place that reads it, so that everything else is a function of what it is given.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use uuid::{NoContext, Timestamp, Uuid};

/// Where the time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The system's clock.
    System,
    /// A clock that stands still, at Unix epoch milliseconds.
    Fixed(u64),
}

impl Clock {
    /// Unix epoch milliseconds.
    pub fn now_ms(self) -> u64 {
        match self {
            Self::System => system_ms(),
            Self::Fixed(now_ms) => now_ms,
        }
    }

    /// A new id that sorts by the time at which it was made; random beyond that.
    pub fn new_id(self) -> Uuid {
        let now_ms = self.now_ms();
        let nanos = u32::try_from(now_ms % 1000 * 1_000_000).unwrap_or_default();
        Uuid::new_v7(Timestamp::from_unix(NoContext, now_ms / 1000, nanos))
    }
}

/// A moment, to measure from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(Instant);

impl Moment {
    /// This one.
    pub fn now() -> Self {
        Self(Instant::now())
    }

    /// How long ago it was.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// When something came: the time by a clock, and a moment to measure from, which goes on when that clock is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Unix epoch milliseconds.
    pub ms: u64,
    /// The same moment, to measure from.
    pub moment: Moment,
}

impl Arrival {
    /// Now, by that clock.
    pub fn now(clock: Clock) -> Self {
        Self { ms: clock.now_ms(), moment: Moment::now() }
    }

    /// How long it is until a deadline that was set by the clock of then (Unix epoch milliseconds).
    pub fn until(self, deadline_ms: u64) -> Duration {
        Duration::from_millis(deadline_ms.saturating_sub(self.ms)).saturating_sub(self.moment.elapsed())
    }
}

/// A clock before 1970 reads as 1970.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
fn system_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_stands_still_and_the_other_one_is_of_this_century() {
        assert_eq!(Clock::Fixed(7).now_ms(), 7);
        assert!(Clock::System.now_ms() > 1_700_000_000_000);
    }

    #[test]
    fn a_deadline_comes_nearer_although_the_clock_stands_still() {
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
