//! The runner's clock.
//!
//! Input: the time of ingest, and the timestamps that some records carry. Output: one time for every record. Never: a duration
//! measured across two clocks. A record without a timestamp gets the time of ingest plus the offset of the last timestamp from
//! its own ingest time. An old recording therefore has the same durations as the live run.

use crate::decode::Record;
use crate::normalizer::Normalizer;

/// The runner's clock, derived from its records.
#[derive(Debug, Default)]
pub(super) struct Clock {
    ingest_ms: u64,
    ahead_ms: Option<i64>,
}

impl Clock {
    /// Notes the ingest time of a new record.
    pub(super) fn arrive(&mut self, normalizer: &Normalizer) {
        self.ingest_ms = normalizer.time_ms();
    }

    /// Sets the normalizer's time for what is read next.
    pub(super) fn set(&mut self, normalizer: &mut Normalizer, timestamp: Option<&str>) {
        if let Some(own) = timestamp.and_then(unix_ms) {
            let ahead = own.saturating_sub_unsigned(self.ingest_ms);
            if self.ahead_ms.replace(ahead).is_none() {
                normalizer.correct_clock(ahead);
            }
        }
        if let Some(ahead) = self.ahead_ms {
            normalizer.set_time(self.ingest_ms.saturating_add_signed(ahead));
        }
    }
}

/// The timestamp of a record, in Unix epoch milliseconds.
pub(super) fn time_of(record: &Record<'_>) -> Option<u64> {
    let list = record.json.items();
    let first = list.iter().filter_map(|item| item.object()).find_map(|item| unix_ms(&item.str("timestamp")?));
    let ms = record.fields.str("timestamp").and_then(|time| unix_ms(&time)).or(first)?;
    u64::try_from(ms).ok()
}

/// Parses an RFC 3339 time to Unix epoch milliseconds; `None` if it is invalid or before 1970.
pub(super) fn unix_ms(text: &str) -> Option<i64> {
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(time.as_millisecond()).filter(|ms| *ms >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3339_times_are_read_and_others_are_absent() {
        assert_eq!(unix_ms("1970-01-01T00:00:01.250Z"), Some(1250));
        assert_eq!(unix_ms("1970-01-01T01:00:00+01:00"), Some(0));
        for text in ["", "yesterday", "1969-12-31T23:59:59Z", "99999-01-01T00:00:00Z"] {
            assert_eq!(unix_ms(text), None, "{text}");
        }
    }
}
