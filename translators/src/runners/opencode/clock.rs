//! When things happened, on the runner's own clock.
//!
//! In: the times that records carry, and the time at which each record came in. Out: the time of what is said next.
//! Many records carry no time. For these the time of ingest is carried over to the runner's clock by the distance that
//! the last record with a time showed: live, that is the time of ingest; for a recording, it is the time of what was
//! recorded, so that one record without a time does not push all that follows into the present.

use crate::json::{Json, Object};
use crate::ledger::Ledger;

/// The runner's clock, as far as records told it.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// When the current record came in.
    now_ms: u64,
    /// The latest time that a record told, and when that record came in.
    latest: Option<(u64, u64)>,
}

impl Clock {
    /// A record begins, which may carry no time.
    pub(super) fn begin(&mut self, ledger: &mut Ledger) {
        self.now_ms = ledger.time_ms();
        if let Some((told_ms, came_ms)) = self.latest {
            ledger.set_time(told_ms.saturating_add(self.now_ms.saturating_sub(came_ms)));
        }
    }

    /// Something happened at this time.
    pub(super) fn at(&mut self, unix_ms: Option<u64>, ledger: &mut Ledger) {
        if let Some(unix_ms) = unix_ms {
            if self.latest.is_none_or(|(told_ms, _)| told_ms <= unix_ms) {
                self.latest = Some((unix_ms, self.now_ms));
            }
            ledger.set_time(unix_ms);
        }
    }
}

/// A time that is a number of milliseconds or an ISO 8601 string.
pub(super) fn timestamp(value: Json<'_>) -> Option<u64> {
    value.u64().or_else(|| {
        let time: jiff::Timestamp = value.str()?.parse().ok()?;
        u64::try_from(time.as_millisecond()).ok()
    })
}

/// The last thing that a part says of its own time.
pub(super) fn of_part(part: &Object<'_>) -> Option<u64> {
    let time = times(part)?;
    time.u64("end").or_else(|| time.u64("start"))
}

/// What a part says of its own time.
pub(super) fn times<'p>(part: &Object<'p>) -> Option<Object<'p>> {
    part.object("time").or_else(|| part.object("state")?.object("time"))
}
