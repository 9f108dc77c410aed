//! When things happened, on the runner's own clock.
//!
//! Input: the times that records carry, and the time at which each record arrived. Output: the time of what is reported next.
//! Many records carry no time. Their ingest time is converted to the runner's clock by the offset that the last record with a
//! time had. For a live stream the result is the time of ingest; for a recording, it is the time of the recording. A record
//! without a time therefore does not push everything after it into the present.

use crate::normalizer::Normalizer;

/// The runner's clock, derived from its records.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// When the current record arrived.
    now_ms: u64,
    /// The latest time in a record, and when that record arrived.
    latest: Option<(u64, u64)>,
}

impl Clock {
    /// Starts a record, which may carry no time.
    pub(crate) fn begin(&mut self, normalizer: &mut Normalizer) {
        self.now_ms = normalizer.time_ms();
        if let Some((told_ms, came_ms)) = self.latest {
            normalizer.set_time(told_ms.saturating_add(self.now_ms.saturating_sub(came_ms)));
        }
    }

    /// Notes the time of something that happened.
    pub(crate) fn at(&mut self, unix_ms: Option<u64>, normalizer: &mut Normalizer) {
        if let Some(unix_ms) = unix_ms {
            if self.latest.is_none_or(|(told_ms, _)| told_ms <= unix_ms) {
                self.latest = Some((unix_ms, self.now_ms));
            }
            normalizer.set_time(unix_ms);
        }
    }
}
