//! Which proxies of a shared log live, and which of them does what.
//!
//! Input: the proxies whose leases were found, and the open streams whose writer has none, with the time at which this proxy looked. Output: whether a
//! proxy lives; the streams that this proxy closes; whether it does the work that one proxy does for all. Never: a proxy that counts as lost because
//! the servers, or this proxy, were away; a request; a clock.
//!
//! Each proxy decides for itself, from the same facts. The streams that a lost proxy left open are divided by session: each proxy has a rank
//! for a session, and closes its streams after as many leases as there are proxies before it. Usually the first one does, so
//! that the frames of a stream are read once, and not by every proxy at the same time.

use super::StreamId;
use crate::clock::Moment;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;
use uuid::Uuid;

/// A lease is renewed this many times before it would lapse.
const RENEWALS: u32 = 4;

/// A stream that is open although its writer has no lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOpen {
    /// The stream.
    pub stream: StreamId,
    /// Its session.
    pub session: Uuid,
}

/// What one proxy knows of the leases.
#[derive(Debug)]
pub struct Membership {
    proxy: Uuid,
    lease: Duration,
    alive: BTreeSet<Uuid>,
    /// Since when the leases could be read without interruption.
    steady_since: Option<Moment>,
    /// Since when each stream is known to be left open.
    left_since: HashMap<StreamId, Moment>,
}

impl Membership {
    /// Starts for one proxy. A proxy that has not renewed its lease for `lease` counts as lost.
    pub fn new(proxy: Uuid, lease: Duration) -> Self {
        Self { proxy, lease, alive: BTreeSet::new(), steady_since: None, left_since: HashMap::new() }
    }

    /// The time from one renewal of the lease to the next.
    pub fn pause(&self) -> Duration {
        self.lease / RENEWALS
    }

    /// Takes in that the leases could not be read, or this proxy's could not be renewed.
    pub fn interrupted(&mut self) {
        self.steady_since = None;
    }

    /// Takes in the proxies whose leases were found at `now`.
    pub fn found(&mut self, alive: impl IntoIterator<Item = Uuid>, now: Moment) {
        self.alive = alive.into_iter().chain([self.proxy]).collect();
        self.steady_since.get_or_insert(now);
    }

    /// The streams that this proxy closes, of those whose writer had no lease when leases were last found. None as long as
    /// the leases have not been readable for a whole lease: the other proxies may only have been unable to renew theirs.
    pub fn to_close(&mut self, left: &[LeftOpen], now: Moment) -> Vec<StreamId> {
        if self.steady_since.is_none_or(|since| now.since(since) < self.lease) {
            return Vec::new();
        }
        let mut left_since = HashMap::with_capacity(left.len());
        let mut found = Vec::new();
        for LeftOpen { stream, session } in left {
            let since = self.left_since.get(stream).copied().unwrap_or(now);
            left_since.insert(*stream, since);
            if now.since(since) >= self.lease * self.rank(*session) {
                found.push(*stream);
            }
        }
        self.left_since = left_since;
        found
    }

    /// How many live proxies are before this one for a session.
    fn rank(&self, session: Uuid) -> u32 {
        let own = (weight(self.proxy, session), self.proxy);
        let before = self.alive.iter().filter(|other| (weight(**other, session), **other) > own).count();
        u32::try_from(before).unwrap_or(u32::MAX)
    }

    /// Whether this proxy does the work that one proxy does for all.
    pub fn is_elected(&self) -> bool {
        self.steady_since.is_some() && self.alive.first() == Some(&self.proxy)
    }

    /// Whether a proxy lives, as far as is known.
    pub fn lives(&self, proxy: Uuid) -> bool {
        self.alive.contains(&proxy)
    }

    /// How many proxies live.
    pub fn len(&self) -> usize {
        self.alive.len()
    }

    /// Whether no lease was found yet.
    pub fn is_empty(&self) -> bool {
        self.alive.is_empty()
    }
}

/// The weight of a proxy for a session: the same at every proxy and in every version, and unrelated to its weight for another session.
fn weight(proxy: Uuid, session: Uuid) -> u64 {
    let ((one, two), (three, four)) = (proxy.as_u64_pair(), session.as_u64_pair());
    [one, two, three, four].into_iter().fold(0, |mixed, part| mix(mixed ^ part))
}

/// Mixes bits so that each bit of the input changes about half of those of the result: the last step of SplitMix64.
fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::StreamKind;

    const LEASE: Duration = Duration::from_secs(15);

    fn ids(count: u128) -> Vec<Uuid> {
        (1..=count).map(|number| Uuid::from_u128(number << 64 | number)).collect()
    }

    fn left(count: u128) -> Vec<LeftOpen> {
        ids(count).into_iter().map(|id| LeftOpen { stream: (StreamKind::Session, id), session: id }).collect()
    }

    /// Proxies that have read the leases for long enough.
    fn steady(proxies: &[Uuid], now: Moment) -> Vec<Membership> {
        let mut all: Vec<Membership> = proxies.iter().map(|proxy| Membership::new(*proxy, LEASE)).collect();
        for one in &mut all {
            one.found(proxies.iter().copied(), now);
            one.found(proxies.iter().copied(), now.after(LEASE));
        }
        all
    }

    #[test]
    fn the_streams_of_a_lost_proxy_are_divided_and_taken_by_the_next_one_a_lease_later() {
        let (now, left) = (Moment::now(), left(1000));
        let mut all = steady(&ids(5), now);
        let now = now.after(LEASE);
        let mut taken = vec![0; left.len()];
        for one in &mut all {
            let found = one.to_close(&left, now);
            assert!((100..300).contains(&found.len()), "about a fifth of 1000: {}", found.len());
            for stream in found {
                taken[left.iter().position(|left| left.stream == stream).unwrap()] += 1;
            }
        }
        assert!(taken.iter().all(|count| *count == 1), "each by one proxy");
        // If the first proxy does not close a stream, a second one tries after one lease, a third after two.
        for (leases, count) in [(1, 2000), (2, 3000), (9, 5000)] {
            let later = now.after(LEASE * leases);
            assert_eq!(all.iter_mut().map(|one| one.to_close(&left, later).len()).sum::<usize>(), count);
        }
        // A stream that is closed and left open again is a new one.
        assert!(all.iter_mut().all(|one| one.to_close(&[], now).is_empty()));
        assert_eq!(all.iter_mut().map(|one| one.to_close(&left, now.after(LEASE * 20)).len()).sum::<usize>(), 1000);
    }

    #[test]
    fn streams_of_one_session_fall_to_one_proxy() {
        let (now, session) = (Moment::now(), Uuid::from_u128(7));
        let left: Vec<_> = left(20).into_iter().map(|left| LeftOpen { session, ..left }).collect();
        let mut all = steady(&ids(3), now);
        let mut counts: Vec<_> = all.iter_mut().map(|one| one.to_close(&left, now.after(LEASE)).len()).collect();
        counts.sort_unstable();
        assert_eq!(counts, [0, 0, 20]);
    }

    #[test]
    fn nothing_is_closed_before_the_leases_could_be_read_for_a_whole_lease() {
        let (now, left, proxies) = (Moment::now(), left(10), ids(1));
        let mut one = Membership::new(proxies[0], LEASE);
        assert!(one.to_close(&left, now).is_empty() && !one.is_elected() && one.is_empty());
        one.found([], now);
        assert!(one.is_elected() && one.lives(proxies[0]) && one.len() == 1, "it knows of itself");
        assert!(one.to_close(&left, now.after(LEASE - Duration::from_millis(1))).is_empty());
        assert_eq!(one.to_close(&left, now.after(LEASE)).len(), 10);
        one.interrupted();
        assert!(one.to_close(&left, now.after(LEASE * 2)).is_empty() && !one.is_elected());
        one.found([], now.after(LEASE * 3));
        assert!(one.to_close(&left, now.after(LEASE * 3)).is_empty());
        assert_eq!(one.to_close(&left, now.after(LEASE * 4)).len(), 10);
    }

    #[test]
    fn one_proxy_is_elected() {
        let all = steady(&ids(4), Moment::now());
        assert_eq!(all.iter().filter(|one| one.is_elected()).count(), 1);
        assert!(all[0].is_elected() && all.iter().all(|one| one.lives(ids(4)[3]) && !one.lives(ids(5)[4])));
    }
}
