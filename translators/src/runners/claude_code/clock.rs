//! The runner's clock.
//!
//! In: the time of ingest and the timestamps that some records carry. Out: one time for every record. Never: a duration
//! across two clocks. A record without a timestamp stands at the time of ingest, corrected by how far the last timestamp
//! was from it, so that an old recording gives the same durations as the live run.

use crate::ledger::Ledger;

/// The runner's clock, as far as its records tell it.
#[derive(Debug, Default)]
pub(super) struct Clock {
    ingest_ms: u64,
    ahead_ms: Option<i64>,
}

impl Clock {
    /// A record came.
    pub(super) fn arrive(&mut self, ledger: &Ledger) {
        self.ingest_ms = ledger.time_ms();
    }

    /// Tells the ledger the time of what is read next.
    pub(super) fn set(&mut self, ledger: &mut Ledger, timestamp: Option<&str>) {
        if let Some(own) = timestamp.and_then(unix_ms) {
            let ahead = own.saturating_sub_unsigned(self.ingest_ms);
            if self.ahead_ms.replace(ahead).is_none() {
                ledger.correct_clock(ahead);
            }
        }
        if let Some(ahead) = self.ahead_ms {
            ledger.set_time(self.ingest_ms.saturating_add_signed(ahead));
        }
    }
}

/// An RFC 3339 time in Unix epoch milliseconds; `None` before 1970 or where it is none.
pub(super) fn unix_ms(text: &str) -> Option<i64> {
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(time.as_millisecond()).filter(|ms| *ms >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3339_is_read_and_the_rest_is_absent() {
        assert_eq!(unix_ms("1970-01-01T00:00:01.250Z"), Some(1250));
        assert_eq!(unix_ms("1970-01-01T01:00:00+01:00"), Some(0));
        for text in ["", "yesterday", "1969-12-31T23:59:59Z", "99999-01-01T00:00:00Z"] {
            assert_eq!(unix_ms(text), None, "{text}");
        }
    }
}
