//! How much each client gets: requests and ingest bytes in a second, event streams at a time.
//!
//! In: a request, a chunk of an ingest, a stream that begins. Out: go on, wait, or come back later. Never: memory that grows
//! with anything but the number of tokens, a rate that forgets what was taken because the configuration was read again.
//!
//! A rate is a bucket that fills steadily up to its burst. A request takes one from it, or is refused. A chunk is there
//! already when it is counted, so it may leave the bucket in debt, and the next one is read when that is paid: that is the
//! back-pressure, and it holds for all ingests of a client together.

use super::problem::Problem;
use hyper::{StatusCode, header};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How much each client gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Requests in a second; `None`: as many as it likes.
    pub requests: Option<Rate>,
    /// Bytes of ingests in a second; `None`: as many as it likes.
    pub ingest_bytes: Option<Rate>,
    /// Event streams at a time, of all clients.
    pub streams: usize,
    /// Event streams at a time, of one client.
    pub streams_per_client: usize,
}

impl Default for Rates {
    fn default() -> Self {
        Self { requests: None, ingest_bytes: None, streams: 10_000, streams_per_client: 10_000 }
    }
}

/// So many in a second in the long run, and so many at once after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// In a second; above 0.
    pub per_second: u64,
    /// At once; above 0.
    pub burst: u64,
}

/// A bucket.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    level: f64,
    at: Instant,
}

impl Bucket {
    fn full(now: Instant) -> Self {
        Self { level: f64::INFINITY, at: now }
    }

    fn fill(&mut self, rate: Rate, now: Instant) {
        let gained = now.saturating_duration_since(self.at).as_secs_f64() * rate.per_second as f64;
        self.level = (self.level + gained).min(rate.burst as f64);
        self.at = now;
    }

    /// Takes one; else gives how long it takes until there is one.
    fn take(&mut self, rate: Rate, now: Instant) -> Result<(), Duration> {
        self.fill(rate, now);
        if self.level >= 1.0 {
            self.level -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - self.level) / rate.per_second as f64))
    }

    /// How long it takes until the debt is paid; `None` where there is none.
    fn debt(&mut self, rate: Rate, now: Instant) -> Option<Duration> {
        self.fill(rate, now);
        (self.level < 0.0).then(|| Duration::from_secs_f64(-self.level / rate.per_second as f64))
    }
}

/// What one client has taken.
#[derive(Debug)]
pub(super) struct Meter {
    requests: Mutex<Bucket>,
    ingest_bytes: Mutex<Bucket>,
    streams: AtomicUsize,
}

impl Meter {
    fn new(now: Instant) -> Self {
        let full = || Mutex::new(Bucket::full(now));
        Self { requests: full(), ingest_bytes: full(), streams: AtomicUsize::new(0) }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// 429 with `Retry-After`.
    pub(super) fn request(&self, rates: &Rates) -> Result<(), Problem> {
        let Some(rate) = rates.requests else { return Ok(()) };
        locked(&self.requests).take(rate, Instant::now()).map_err(|wait| {
            let detail = format!("more than {} requests a second (limits.requests_per_second)", rate.per_second);
            later(StatusCode::TOO_MANY_REQUESTS, detail, wait)
        })
    }

    /// Counts bytes of an ingest.
    pub(super) fn took(&self, bytes: usize, rates: &Rates) {
        let Some(rate) = rates.ingest_bytes else { return };
        let mut bucket = locked(&self.ingest_bytes);
        bucket.fill(rate, Instant::now());
        bucket.level -= bytes as f64;
    }

    /// How long an ingest is to wait before it reads on; `None`: it need not.
    pub(super) fn ingest_wait(&self, rates: &Rates) -> Option<Duration> {
        locked(&self.ingest_bytes).debt(rates.ingest_bytes?, Instant::now())
    }
}

fn locked(bucket: &Mutex<Bucket>) -> MutexGuard<'_, Bucket> {
    bucket.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A refusal that says when to come back: whole seconds, one at least.
pub(super) fn later(status: StatusCode, detail: String, wait: Duration) -> Problem {
    let seconds = wait.as_secs_f64().ceil().clamp(1.0, 86_400.0) as u64;
    Problem::new(status, detail).with(header::RETRY_AFTER, seconds.into())
}

/// The meters of all clients, and the streams of all of them.
#[derive(Debug, Default)]
pub(super) struct Meters {
    by_name: Mutex<HashMap<String, Arc<Meter>>>,
    streams: Arc<AtomicUsize>,
}

impl Meters {
    /// A client's meter. Names are those of tokens, so there are no more meters than there were tokens.
    pub(super) fn of(&self, name: &str) -> Arc<Meter> {
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(meter) = by_name.get(name) {
            return meter.clone();
        }
        let meter = Arc::new(Meter::new(Instant::now()));
        by_name.insert(name.to_owned(), meter.clone());
        meter
    }

    /// A place for an event stream, for as long as it is held.
    ///
    /// # Errors
    /// 429 where the client has too many, 503 where all have.
    pub(super) fn stream(&self, meter: &Arc<Meter>, rates: &Rates) -> Result<StreamSlot, Problem> {
        let soon = Duration::from_secs(1);
        let mine = Place::take(Counter::Client(meter.clone()), rates.streams_per_client).ok_or_else(|| {
            let limit = rates.streams_per_client;
            let detail = format!(
                "{limit} event streams are open, which is a client's limit (limits.max_event_streams_per_client)"
            );
            later(StatusCode::TOO_MANY_REQUESTS, detail, soon)
        })?;
        let all = Place::take(Counter::All(self.streams.clone()), rates.streams).ok_or_else(|| {
            let detail =
                format!("{} event streams are open, which is the limit (limits.max_event_streams)", rates.streams);
            later(StatusCode::SERVICE_UNAVAILABLE, detail, soon)
        })?;
        Ok(StreamSlot { _mine: mine, _all: all })
    }
}

/// An event stream's place; given back when dropped.
#[derive(Debug)]
pub(super) struct StreamSlot {
    _mine: Place,
    _all: Place,
}

#[derive(Debug)]
enum Counter {
    Client(Arc<Meter>),
    All(Arc<AtomicUsize>),
}

impl Counter {
    fn count(&self) -> &AtomicUsize {
        match self {
            Self::Client(meter) => &meter.streams,
            Self::All(count) => count,
        }
    }
}

#[derive(Debug)]
struct Place(Counter);

impl Place {
    fn take(counter: Counter, limit: usize) -> Option<Self> {
        let more = |open: usize| (open < limit).then_some(open + 1);
        counter.count().fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Self(counter))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.count().fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { per_second: 10, burst: 3 };

    #[test]
    fn a_burst_goes_at_once_and_the_rest_at_the_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::full(start);
        assert!((0..3).all(|_| bucket.take(RATE, start).is_ok()));
        let wait = bucket.take(RATE, start).unwrap_err();
        assert!((wait.as_secs_f64() - 0.1).abs() < 1e-6, "{wait:?}");
        assert!(bucket.take(RATE, start + Duration::from_millis(101)).is_ok());
        assert!(bucket.take(RATE, start + Duration::from_millis(102)).is_err());
        // A long pause gives no more than the burst.
        let later = start + Duration::from_secs(3600);
        assert_eq!((0..10).filter(|_| bucket.take(RATE, later).is_ok()).count(), 3);
    }

    #[test]
    fn a_debt_is_paid_at_the_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::full(start);
        bucket.fill(RATE, start);
        bucket.level -= 23.0;
        let wait = bucket.debt(RATE, start).unwrap();
        assert!((wait.as_secs_f64() - 2.0).abs() < 1e-6, "{wait:?}");
        assert!(bucket.debt(RATE, start + Duration::from_millis(2001)).is_none());
    }

    #[test]
    fn places_are_given_back() {
        let meters = Meters::default();
        let rates = Rates { streams: 2, streams_per_client: 1, ..Rates::default() };
        let (one, two, three) = (meters.of("one"), meters.of("two"), meters.of("three"));
        let status = |outcome: Result<StreamSlot, Problem>| outcome.err().map(|problem| problem.status().as_u16());
        let held = meters.stream(&one, &rates).unwrap();
        assert_eq!(status(meters.stream(&one, &rates)), Some(429));
        let _other = meters.stream(&two, &rates).unwrap();
        assert_eq!(status(meters.stream(&three, &rates)), Some(503));
        drop(held);
        assert_eq!(status(meters.stream(&three, &rates)), None);
    }
}
