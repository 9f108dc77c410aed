//! Ingests that hold a permit but have not sent anything yet.
//!
//! Input: an ingest that begins, its first bytes, a client that finds no permit. Output: the permit of the ingest that has
//! been silent for longest. Never: a permit taken from an ingest that has sent anything, or that has only just begun.

use super::places::{Client, Full, Place};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The permits that an open ingest holds.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) _permit: OwnedSemaphorePermit,
    pub(super) _place: Place,
}

/// The ingests that have not sent anything.
#[derive(Debug, Default)]
pub(super) struct Silent {
    by_number: Mutex<BTreeMap<u64, Waiting>>,
    next: AtomicU64,
}

#[derive(Debug)]
struct Waiting {
    since: Instant,
    client: Client,
    slot: Slot,
    gone: CancellationToken,
}

impl Silent {
    /// Registers an ingest that begins.
    pub(super) fn begin(self: &Arc<Self>, client: Client, slot: Slot) -> Seat {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let gone = CancellationToken::new();
        let waiting = Waiting { since: Instant::now(), client, slot, gone: gone.clone() };
        self.waiting().insert(number, waiting);
        Seat { silent: self.clone(), number, gone, slot: None }
    }

    /// Frees the permit of the ingest that has been silent for longest, and for at least `grace`, among those under the limit
    /// that is reached. Returns whether there was one.
    pub(super) fn make_room(&self, full: Full, client: &Client, grace: Duration) -> bool {
        let is_in_the_way = |waiting: &Waiting| match full {
            Full::All => true,
            Full::Address => waiting.client.address == client.address,
            Full::Token => waiting.client.token == client.token,
        };
        let mut waiting = self.waiting();
        let oldest = waiting.iter().find(|(_, waiting)| is_in_the_way(waiting) && waiting.since.elapsed() >= grace);
        let Some(number) = oldest.map(|(number, _)| *number) else { return false };
        let Some(displaced) = waiting.remove(&number) else { return false };
        drop(waiting);
        displaced.gone.cancel();
        drop(displaced.slot);
        true
    }

    /// Whether any silent ingest could be displaced.
    pub(super) fn has_room(&self, grace: Duration) -> bool {
        self.waiting().values().any(|waiting| waiting.since.elapsed() >= grace)
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, Waiting>> {
        self.by_number.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An ingest's hold on its permits, released when dropped.
#[derive(Debug)]
pub(super) struct Seat {
    silent: Arc<Silent>,
    number: u64,
    gone: CancellationToken,
    /// The permits themselves, once the ingest has sent something.
    slot: Option<Slot>,
}

impl Seat {
    /// Protects the permits from being taken: the ingest has sent something. Returns whether it still held them.
    pub(super) fn keep(&mut self) -> bool {
        if self.slot.is_none() {
            self.slot = self.silent.waiting().remove(&self.number).map(|waiting| waiting.slot);
        }
        self.slot.is_some()
    }

    /// Resolves when the permits were given to another ingest; never, once they are protected.
    pub(super) async fn lost(&self) {
        self.gone.cancelled().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let waiting = self.silent.waiting().remove(&self.number);
        drop(waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::super::places::{Bounds, Kind, Tally};
    use super::*;
    use tokio::sync::Semaphore;

    #[tokio::test]
    async fn only_silent_ingests_are_displaced_and_the_oldest_first() {
        let (silent, tally) = (Arc::new(Silent::default()), Arc::new(Tally::default()));
        let places = Arc::new(Semaphore::new(3));
        let bounds = Bounds { all: 3, per_token: 3, per_address: 3 };
        let begin = |address: &str| {
            let client = Client::at(address.parse().unwrap());
            let place = tally.take(Kind::Ingest, &client, bounds).unwrap();
            let permit = places.clone().try_acquire_owned().unwrap();
            silent.begin(client, Slot { _permit: permit, _place: place })
        };
        let (mut speaking, first, second) = (begin("10.0.0.1"), begin("10.0.0.1"), begin("10.0.0.2"));
        assert!(speaking.keep());
        let newcomer = Client::at("10.0.0.3".parse().unwrap());
        let room = |full, grace: u64| silent.make_room(full, &newcomer, Duration::from_secs(grace));
        assert!(!room(Full::All, 3600), "the grace period of both is not over");
        assert!(!room(Full::Address, 0), "no silent ingest is from that address");
        assert!(room(Full::All, 0));
        first.lost().await;
        assert_eq!(places.available_permits(), 1);
        assert!(room(Full::All, 0) && !room(Full::All, 0));
        second.lost().await;
        assert!(speaking.keep());
        drop((speaking, first, second));
        assert_eq!(places.available_permits(), 3);
        assert!(silent.waiting().is_empty());
    }
}
