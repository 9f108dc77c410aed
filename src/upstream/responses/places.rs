//! Permits for connections to one upstream.
//!
//! Input: requests. Output: a permit for each, immediately or after a short wait, in order of arrival. Never: more
//! connections than the bound; a queue that is unbounded in length or time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The permits of one upstream.
#[derive(Debug)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    connections: usize,
    queued: AtomicUsize,
    max_queued: usize,
    timeout: Duration,
}

/// Why a request has no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoPlace {
    /// Too many requests wait already.
    #[error(
        "{connections} requests to this upstream are in progress (max_connections of its table), and {queued} are \
             waiting (max_queued); try again later"
    )]
    QueueFull {
        /// Requests in progress.
        connections: usize,
        /// Requests in the queue.
        queued: usize,
    },
    /// The wait was too long.
    #[error(
        "{connections} requests to this upstream are in progress (max_connections of its table), and none ended \
             within {waited_ms} ms (queue_timeout_ms); try again later"
    )]
    Timeout {
        /// Requests in progress.
        connections: usize,
        /// How long the request waited, in milliseconds.
        waited_ms: u64,
    },
}

impl Places {
    pub(super) fn new(connections: usize, max_queued: usize, timeout: Duration) -> Self {
        let free = Arc::new(Semaphore::new(connections));
        Self { free, connections, queued: AtomicUsize::new(0), max_queued, timeout }
    }

    /// Acquires a permit for one request.
    pub(super) async fn take(&self) -> Result<OwnedSemaphorePermit, NoPlace> {
        let connections = self.connections;
        if let Ok(place) = self.free.clone().try_acquire_owned() {
            return Ok(place);
        }
        let timed_out =
            NoPlace::Timeout { connections, waited_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX) };
        if self.timeout.is_zero() {
            return Err(timed_out);
        }
        let Some(_queued) = Queued::enter(self) else {
            return Err(NoPlace::QueueFull { connections, queued: self.max_queued });
        };
        // The semaphore is never closed, and serves waiters in order.
        match tokio::time::timeout(self.timeout, self.free.clone().acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(timed_out),
        }
    }
}

/// One waiting request. It leaves the queue when this is dropped.
struct Queued<'p>(&'p AtomicUsize);

impl<'p> Queued<'p> {
    fn enter(places: &'p Places) -> Option<Self> {
        let more = |queued: usize| (queued < places.max_queued).then_some(queued + 1);
        places.queued.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Self(&places.queued))
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn requests_wait_in_a_bounded_queue() {
        let places = Places::new(1, 1, Duration::from_secs(30));
        let permit = places.take().await.unwrap();
        let (waiting, full) = tokio::join!(places.take(), async {
            // The queue has space for one.
            let full = places.take().await;
            drop(permit);
            full
        });
        assert_eq!(full.unwrap_err(), NoPlace::QueueFull { connections: 1, queued: 1 });
        assert_eq!(places.queued.load(Ordering::Relaxed), 0);
        drop(waiting.unwrap());
        assert!(places.take().await.is_ok());
    }

    #[tokio::test]
    async fn requests_wait_no_longer_than_the_timeout() {
        let places = Places::new(1, 1, Duration::from_millis(10));
        let permit = places.take().await.unwrap();
        assert_eq!(places.take().await.unwrap_err(), NoPlace::Timeout { connections: 1, waited_ms: 10 });
        assert_eq!(places.queued.load(Ordering::Relaxed), 0);
        drop(permit);
        assert!(places.take().await.is_ok());
    }

    #[tokio::test]
    async fn without_a_queue_a_request_is_refused_at_once() {
        for (queued, timeout) in [(0, 5000), (5, 0)] {
            let places = Places::new(1, queued, Duration::from_millis(timeout));
            let _held = places.take().await.unwrap();
            assert!(places.take().await.is_err());
        }
    }
}
