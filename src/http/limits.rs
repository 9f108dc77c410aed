//! Limits for each client: requests and ingest bytes per second, and open event streams.
//!
//! Input: a request, a chunk of an ingest, a stream that begins. Output: continue, wait, or retry later. Never: memory that
//! grows with anything but the number of tokens and of open requests; a rate that is reset when the configuration is
//! reloaded.
//!
//! A rate is a token bucket, filled steadily up to its burst. A request takes one unit or is refused. A chunk has already
//! arrived when it is counted, so it may leave the bucket in debt. The next chunk is read once the debt is paid. This is the
//! backpressure, and it covers all ingests of a client together.

use super::places::{Bounds, Client, Full, Kind, Place, Tally};
use super::problem::Problem;
use hyper::{StatusCode, header};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The limits for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Requests per second; `None`: unlimited.
    pub requests: Option<Rate>,
    /// Ingest bytes per second; `None`: unlimited.
    pub ingest_bytes: Option<Rate>,
    /// Open event streams of all clients.
    pub streams: usize,
    /// Open event streams of one token.
    pub streams_per_client: usize,
    /// Open event streams of one address.
    pub streams_per_address: usize,
    /// Open ingests of one token.
    pub ingests_per_client: usize,
    /// Open ingests of one address.
    pub ingests_per_address: usize,
    /// Open runs that one token started with prompts; without tokens, one address.
    pub started_runs_per_client: usize,
    /// Open connections of one address.
    pub connections_per_address: usize,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            requests: None,
            ingest_bytes: None,
            streams: 3000,
            streams_per_client: 1500,
            streams_per_address: 1500,
            ingests_per_client: 256,
            ingests_per_address: 256,
            started_runs_per_client: 64,
            connections_per_address: 2048,
        }
    }
}

/// A sustained rate, with a burst after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Units per second; above 0.
    pub per_second: u64,
    /// Units at once; above 0.
    pub burst: u64,
}

/// A token bucket.
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

    /// Takes one unit; otherwise returns how long until one is available.
    fn take(&mut self, rate: Rate, now: Instant) -> Result<(), Duration> {
        self.fill(rate, now);
        if self.level >= 1.0 {
            self.level -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - self.level) / rate.per_second as f64))
    }

    /// How long until the debt is paid; `None` if there is no debt.
    fn debt(&mut self, rate: Rate, now: Instant) -> Option<Duration> {
        self.fill(rate, now);
        (self.level < 0.0).then(|| Duration::from_secs_f64(-self.level / rate.per_second as f64))
    }
}

/// The usage of one client.
#[derive(Debug)]
pub(super) struct Meter {
    requests: Mutex<Bucket>,
    ingest_bytes: Mutex<Bucket>,
}

impl Meter {
    fn new(now: Instant) -> Self {
        let full = || Mutex::new(Bucket::full(now));
        Self { requests: full(), ingest_bytes: full() }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// 429 with `Retry-After`.
    pub(super) fn request(&self, rates: &Rates) -> Result<(), Problem> {
        let Some(rate) = rates.requests else { return Ok(()) };
        locked(&self.requests).take(rate, Instant::now()).map_err(|wait| {
            let detail = format!("more than {} requests per second (limits.requests_per_second)", rate.per_second);
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

    /// How long an ingest must wait before it reads on; `None` if it need not wait.
    pub(super) fn ingest_wait(&self, rates: &Rates) -> Option<Duration> {
        locked(&self.ingest_bytes).debt(rates.ingest_bytes?, Instant::now())
    }
}

fn locked(bucket: &Mutex<Bucket>) -> MutexGuard<'_, Bucket> {
    bucket.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A refusal with `Retry-After`, in whole seconds and at least one.
pub(super) fn later(status: StatusCode, detail: String, wait: Duration) -> Problem {
    let seconds = wait.as_secs_f64().ceil().clamp(1.0, 86_400.0) as u64;
    Problem::new(status, detail).with(header::RETRY_AFTER, seconds.into())
}

/// The meters of all clients, and the permits that they hold.
#[derive(Debug, Default)]
pub(super) struct Meters {
    by_name: Mutex<HashMap<String, Arc<Meter>>>,
    pub(super) places: Arc<Tally>,
}

impl Meters {
    /// The meter of a client. Names are token names, so there are never more meters than there have been tokens.
    pub(super) fn of(&self, name: &str) -> Arc<Meter> {
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(meter) = by_name.get(name) {
            return meter.clone();
        }
        let meter = Arc::new(Meter::new(Instant::now()));
        by_name.insert(name.to_owned(), meter.clone());
        meter
    }

    /// A permit for an event stream, valid until it is dropped.
    ///
    /// # Errors
    /// 429 if the client has too many streams open, 503 if all clients together have.
    pub(super) fn stream(&self, client: &Client, rates: &Rates) -> Result<Place, Problem> {
        let Rates { streams: all, streams_per_client: per_token, streams_per_address: per_address, .. } = *rates;
        let taken = self.places.take(Kind::Stream, client, Bounds { all, per_token, per_address });
        taken.map_err(|full| {
            let (status, limit, whose, setting) = match full {
                Full::Token => (TOO_MANY, per_token, " per token", "limits.max_event_streams_per_client"),
                Full::Address => (TOO_MANY, per_address, " per address", "limits.max_event_streams_per_address"),
                Full::All => (StatusCode::SERVICE_UNAVAILABLE, all, "", "limits.max_event_streams"),
            };
            later(status, format!("{limit} event streams are open, which is the limit{whose} ({setting})"), SOON)
        })
    }

    /// A permit for an ingest, valid until it is dropped. The limit across all clients is enforced elsewhere.
    ///
    /// # Errors
    /// The limit that was reached, and a 429 problem.
    pub(super) fn ingest(&self, client: &Client, rates: &Rates) -> Result<Place, (Full, Problem)> {
        let Rates { ingests_per_client: per_token, ingests_per_address: per_address, .. } = *rates;
        let bounds = Bounds { all: usize::MAX, per_token, per_address };
        self.places.take(Kind::Ingest, client, bounds).map_err(|full| {
            let (limit, whose, setting) = match full {
                Full::Token => (per_token, " per token", "limits.max_ingests_per_client"),
                _ => (per_address, " per address", "limits.max_ingests_per_address"),
            };
            let detail = format!("{limit} ingests are open, which is the limit{whose} ({setting}); try again later");
            (full, later(TOO_MANY, detail, SOON))
        })
    }

    /// A permit for a run that a client starts, valid until it is dropped. The upstream limits the runs of all clients.
    ///
    /// # Errors
    /// 429 if too many runs of the client are open.
    pub(super) fn started_run(&self, client: &Client, rates: &Rates) -> Result<Place, Problem> {
        let limit = rates.started_runs_per_client;
        // Several tokens may share an address.
        let per_address = if client.token.is_some() { usize::MAX } else { limit };
        let bounds = Bounds { all: usize::MAX, per_token: limit, per_address };
        self.places.take(Kind::StartedRun, client, bounds).map_err(|_| {
            let setting = "limits.max_started_runs_per_client";
            let detail = format!(
                "{limit} runs that this client started are open, which is the limit ({setting}); try again later"
            );
            later(TOO_MANY, detail, SOON)
        })
    }
}

/// The permit that an open event stream holds.
pub(super) type StreamSlot = Place;

const TOO_MANY: StatusCode = StatusCode::TOO_MANY_REQUESTS;

/// When a client without a permit should retry. This is a guess: permits are released one by one.
pub(super) const SOON: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { per_second: 10, burst: 3 };

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::full(start);
        assert!((0..3).all(|_| bucket.take(RATE, start).is_ok()));
        let wait = bucket.take(RATE, start).unwrap_err();
        assert!((wait.as_secs_f64() - 0.1).abs() < 1e-6, "{wait:?}");
        assert!(bucket.take(RATE, start + Duration::from_millis(101)).is_ok());
        assert!(bucket.take(RATE, start + Duration::from_millis(102)).is_err());
        // A long pause allows no more than the burst.
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
    fn dropping_a_permit_frees_its_slot() {
        let meters = Meters::default();
        let rates = Rates { streams: 2, streams_per_client: 1, ..Rates::default() };
        let client = |name: &str| {
            let address = std::net::IpAddr::from([127, 0, 0, 1]);
            Client { token: Some(Arc::from(name)), ..Client::at(address) }
        };
        let (one, two, three) = (client("one"), client("two"), client("three"));
        let status = |outcome: Result<Place, Problem>| outcome.err().map(|problem| problem.status().as_u16());
        let permit = meters.stream(&one, &rates).unwrap();
        assert_eq!(status(meters.stream(&one, &rates)), Some(429));
        let _other = meters.stream(&two, &rates).unwrap();
        assert_eq!(status(meters.stream(&three, &rates)), Some(503));
        drop(permit);
        assert_eq!(status(meters.stream(&three, &rates)), None);
    }
}
