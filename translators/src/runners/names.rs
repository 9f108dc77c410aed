//! Maps keyed by the names that runners use for sessions, messages, parts and calls.
//!
//! Input: a name as spelled in a record. Output: the value stored under it; a name is copied only when it is new. Never: an
//! iteration order that affects a frame.

use crate::frame::SharedStr;
use crate::hash::{HashMap, HashSet};

/// A map from names to values.
pub(super) type NameMap<V> = HashMap<SharedStr, V>;

/// A set of names.
pub(super) type NameSet = HashSet<SharedStr>;

/// The value under a name, inserted with its default if missing. The name is copied only when it is new.
pub(super) fn enter<'m, V: Default>(map: &'m mut NameMap<V>, name: &str) -> &'m mut V {
    let name = own(map, name);
    map.entry(name).or_default()
}

/// The map's own copy of the name, or a new copy if the map does not have it.
pub(super) fn own<V>(map: &NameMap<V>, name: &str) -> SharedStr {
    map.get_key_value(name).map_or_else(|| SharedStr::from(name), |(known, _)| known.clone())
}

/// The minimum number of idle sessions that an input remembers: the most recently entered or mentioned ones.
pub(super) const REMEMBERED: u64 = 4096;

/// Decides when to scan the known sessions for ones to forget. A scan costs time proportional to the number of sessions, and at
/// least as many new sessions arrive before the next scan. The amortised cost per session is therefore constant, however many
/// an input names.
#[derive(Debug, Default)]
pub(super) struct Turnover {
    entered: u64,
    scan_at: usize,
}

impl Turnover {
    /// The number of sessions entered so far. A session stores this value whenever it is mentioned.
    pub(super) fn now(&self) -> u64 {
        self.entered
    }

    /// Counts a new session; `sessions` is the number known now. Returns whether a scan is due.
    pub(super) fn enter(&mut self, sessions: usize) -> bool {
        self.entered += 1;
        sessions > self.scan_at.max(2 * REMEMBERED as usize)
    }

    /// Notes that a scan is done and how many sessions it left.
    pub(super) fn scanned(&mut self, left: usize) {
        self.scan_at = left.saturating_mul(2);
    }

    /// Whether a session that was last mentioned at `noted` is among the most recent ones.
    pub(super) fn remembers(&self, noted: u64) -> bool {
        noted.saturating_add(REMEMBERED) > self.entered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scans_are_rare_and_the_newest_sessions_stay() {
        let (mut turnover, mut known, mut looked_at) = (Turnover::default(), Vec::new(), 0);
        for at in 0..200_000_u64 {
            let is_due = turnover.enter(known.len() + 1);
            known.push((at, turnover.now()));
            if is_due {
                looked_at += known.len();
                // One session in a hundred is active.
                known.retain(|(at, noted)| at % 100 == 0 || turnover.remembers(*noted));
                turnover.scanned(known.len());
            }
            assert!(known.len() as u64 <= 2 * (REMEMBERED + at / 100) + 1, "{} at {at}", known.len());
        }
        assert!(looked_at < 3 * 200_000, "{looked_at}");
        let newest: Vec<u64> = known.iter().rev().take(REMEMBERED as usize).map(|(at, _)| *at).collect();
        assert!(newest.into_iter().eq((200_000 - REMEMBERED..200_000).rev()));
    }
}
