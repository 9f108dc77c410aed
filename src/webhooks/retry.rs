//! Whether and when a notification is sent again.
//!
//! Input: the answer to an attempt. Output: delivered, not wanted any more, or failed; the pause before the next attempt. Never: a clock;
//! randomness.
//!
//! The specification Standard Webhooks calls every answer except 2xx a failure and names one that ends the deliveries: 410. All other failures are
//! temporary: a 401 or a 404 is the answer of a receiver whose secret or path is being changed. Redirects are failures too.

use std::time::Duration;

/// The answer to an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// A status, and the pause that the endpoint asks for.
    Status(u16, Option<Duration>),
    /// None, and why.
    Nothing(String),
}

/// What an answer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The endpoint has the notification.
    Delivered,
    /// The endpoint does not want notifications any more.
    Gone,
    /// The endpoint does not have the notification. It may ask for a pause.
    Failed(String, Option<Duration>),
}

impl Answer {
    /// What the answer means.
    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Status(200..=299, _) => Outcome::Delivered,
            Self::Status(410, _) => Outcome::Gone,
            Self::Status(status @ 300..=399, pause) => {
                Outcome::Failed(format!("the endpoint answered {status}; redirects are not followed"), pause)
            }
            Self::Status(status, pause) => Outcome::Failed(format!("the endpoint answered {status}"), pause),
            Self::Nothing(why) => Outcome::Failed(why, None),
        }
    }

    /// The answer as a label of a metric.
    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::Status(200..=299, _) => "2xx",
            Self::Status(300..=399, _) => "3xx",
            Self::Status(400..=499, _) => "4xx",
            Self::Status(..) => "5xx",
            Self::Nothing(_) => "none",
        }
    }
}

/// The bounds of the pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Backoff {
    pub(super) least: Duration,
    pub(super) most: Duration,
}

impl Backoff {
    /// The pause after so many failed attempts. `asked` is the pause that the endpoint asks for, `random` a number from 0 to 1.
    pub(super) fn pause(self, failed: u32, asked: Option<Duration>, random: f64) -> Duration {
        let doubled = 2u32.saturating_pow(failed.saturating_sub(1));
        let whole = self.least.saturating_mul(doubled).min(self.most);
        let jittered = whole.mul_f64(1.0 - random.clamp(0.0, 1.0) / 2.0);
        jittered.max(asked.unwrap_or_default().min(self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_2xx_delivers_and_only_410_ends() {
        for status in 100..=599 {
            let outcome = Answer::Status(status, None).outcome();
            assert_eq!(outcome == Outcome::Delivered, (200..300).contains(&status), "{status}");
            assert_eq!(outcome == Outcome::Gone, status == 410, "{status}");
        }
        let refused = Answer::Nothing("no route".to_owned());
        assert_eq!((refused.label(), refused.outcome()), ("none", Outcome::Failed("no route".to_owned(), None)));
    }

    proptest! {
        #[test]
        fn a_pause_is_within_its_bounds(
            least in 10u64..3_600_000, more in 0u64..86_400_000, failed in 0u32..2000, asked in proptest::option::of(0u64..u64::MAX),
            random in 0.0f64..=1.0,
        ) {
            let backoff = Backoff { least: Duration::from_millis(least), most: Duration::from_millis(least + more) };
            let pause = backoff.pause(failed, asked.map(Duration::from_millis), random);
            prop_assert!(pause <= backoff.most);
            prop_assert!(pause >= backoff.least / 2);
            let asked = asked.map(Duration::from_millis).unwrap_or_default();
            prop_assert!(pause >= asked.min(backoff.most));
            // Without jitter, pauses do not become shorter.
            prop_assert!(backoff.pause(failed + 1, None, 0.0) >= backoff.pause(failed, None, 0.0));
        }
    }

    #[test]
    fn pauses_double() {
        let backoff = Backoff { least: Duration::from_secs(1), most: Duration::from_secs(10) };
        let pauses: Vec<u64> = (1..=6).map(|failed| backoff.pause(failed, None, 0.0).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 10, 10]);
        assert_eq!(backoff.pause(2, None, 1.0), Duration::from_secs(1));
    }
}
