//! The runner's clock.
//!
//! Input: the time of ingest, and the timestamps that some records carry. Output: one time for every record. Never: a duration
//! measured across two clocks. A record without a timestamp gets the time of ingest plus the offset of the last timestamp from
//! its own ingest time. An old recording therefore has the same durations as the live run.

use crate::decode::Record;
use crate::normalizer::Normalizer;
use crate::rfc3339::unix_ms;

/// The runner's clock, derived from its records.
#[derive(Debug, Default)]
pub(super) struct Clock {
    ingest_ms: u64,
    ahead_ms: Option<i64>,
    /// The time of the last record, in milliseconds.
    last_ms: Option<u64>,
}

impl Clock {
    /// Notes the ingest time of a new record.
    pub(super) fn arrive(&mut self, normalizer: &Normalizer) {
        self.ingest_ms = normalizer.time_ms();
    }

    /// Sets the normalizer's time for what is read next.
    pub(super) fn set(&mut self, normalizer: &mut Normalizer, timestamp: Option<&str>) {
        if let Some(own) = timestamp.and_then(|text| i64::try_from(unix_ms(text)?).ok()) {
            let ahead = own.saturating_sub_unsigned(self.ingest_ms);
            if self.ahead_ms.replace(ahead).is_none() {
                normalizer.correct_clock(ahead);
            }
        }
        if let Some(ahead) = self.ahead_ms {
            let now = self.ingest_ms.saturating_add_signed(ahead);
            self.last_ms = Some(now);
            normalizer.set_time(now);
        }
    }

    /// Leaves the normalizer's time at that of the last record. Returns whether there was one with a time.
    pub(super) fn stay(&self, normalizer: &mut Normalizer) -> bool {
        self.last_ms.map(|last| normalizer.set_time(last)).is_some()
    }
}

/// The timestamp of a record, in Unix epoch milliseconds.
pub(super) fn time_of(record: &Record<'_>) -> Option<u64> {
    let list = record.json.items();
    let first = list.iter().filter_map(|item| item.object()).find_map(|item| unix_ms(&item.str("timestamp")?));
    record.fields.str("timestamp").and_then(|time| unix_ms(&time)).or(first)
}
