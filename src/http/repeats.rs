//! Requests with a prompt that were sent before, and the runs that they started.
//!
//! Input: the caller, the request's `Idempotency-Key` or its digest; later the run. Output: the run of the same request; a lock that
//! makes a second request wait while the first one starts its run. Never: a request of another caller; more requests than the setting
//! allows, apart from those in progress; a request that started no run.
//!
//! Requests are kept only in memory: after a restart of the proxy, a request that is sent again starts another run.

use super::digest::Digest;
use super::idempotency::key_of;
use super::problem::Problem;
use crate::clock::Clock;
use crate::runs::{RunState, RunStatus};
use hyper::{HeaderMap, StatusCode};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OwnedMutexGuard;
use uuid::Uuid;

/// What identifies a request that was sent before.
pub(super) struct Once {
    name: RequestName,
    digest: Digest,
    /// Whether the client says that it sends the request again.
    is_retry: bool,
}

impl Once {
    /// By the request's `Idempotency-Key`, within one path; `None` if the request has none.
    ///
    /// # Errors
    /// 400 for an invalid key.
    pub(super) fn by_key(headers: &HeaderMap, path: &'static str, digest: Digest) -> Result<Option<Self>, Problem> {
        let key = key_of(headers)?;
        Ok(key.map(|key| Self { name: RequestName::Key(path, key.to_owned()), digest, is_retry: true }))
    }

    /// By the client's id of the message that is the prompt, and what else identifies it.
    pub(super) fn by_message(identity: Digest) -> Self {
        Self { name: RequestName::Message(identity), digest: identity, is_retry: true }
    }

    /// By the digest of the request, for clients that send no key. The digest covers the path.
    pub(super) fn by_digest(headers: &HeaderMap, digest: Digest) -> Self {
        let count = headers.get(RETRY_COUNT).and_then(|count| count.to_str().ok()?.parse::<u32>().ok());
        Self { name: RequestName::Digest(digest), digest, is_retry: count.is_some_and(|count| count > 0) }
    }
}

/// The header with which the SDKs count the retries of a request.
const RETRY_COUNT: &str = "x-stainless-retry-count";

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum RequestName {
    Key(&'static str, String),
    Message(Digest),
    Digest(Digest),
}

/// The caller, and the caller's name for the request.
type Name = (String, RequestName);

/// The run of a request; `None` before it has begun. Locked while it is being started.
type RunOf = Arc<tokio::sync::Mutex<Option<Uuid>>>;

/// The bounds for what is remembered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Maximum number of requests.
    pub(super) max: usize,
    /// How long each request is remembered, at most.
    pub(super) lifetime: Duration,
    /// For how long after the end of its run a request without a key is taken for a repeated one.
    pub(super) repeat: Duration,
}

/// The remembered requests.
#[derive(Debug)]
pub(super) struct Repeats {
    bounds: Bounds,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_name: HashMap<Name, Remembered>,
    /// Oldest first, each with its number. A name that was forgotten since stays until it is the oldest.
    order: VecDeque<(u64, Name)>,
    /// The number of the next request.
    next: u64,
    /// The runs whose answer a client has received completely, oldest first.
    delivered: HashSet<Uuid>,
    delivered_order: VecDeque<Uuid>,
}

#[derive(Debug)]
struct Remembered {
    number: u64,
    since: Instant,
    digest: Digest,
    run: RunOf,
}

/// A request that no other request with its name can overtake. Unless it has started a run, it is forgotten when this is dropped.
pub(super) struct Slot {
    repeats: Arc<Repeats>,
    name: Name,
    is_retry: bool,
    run: OwnedMutexGuard<Option<Uuid>>,
}

impl Repeats {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, known: Mutex::default() }
    }

    /// The slot of a request, once no other request holds it.
    ///
    /// # Errors
    /// 422 if the key was sent with another request.
    pub(super) async fn slot(self: &Arc<Self>, once: Once, caller: &str) -> Result<Slot, Problem> {
        let name = (caller.to_owned(), once.name);
        let run = {
            let mut known = self.known();
            let run = match known.by_name.get(&name) {
                Some(remembered) if remembered.digest != once.digest => {
                    let detail = "this Idempotency-Key was sent with another request; use a new key for each request";
                    return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
                }
                Some(remembered) => remembered.run.clone(),
                None => known.remember(name.clone(), once.digest),
            };
            known.expire(self.bounds);
            run
        };
        Ok(Slot { repeats: self.clone(), name, is_retry: once.is_retry, run: run.lock_owned().await })
    }

    /// Records that a client has received the whole answer of a run.
    pub(super) fn delivered(&self, run: Uuid) {
        let mut known = self.known();
        if known.delivered.insert(run) {
            known.delivered_order.push_back(run);
        }
        while known.delivered_order.len() > self.bounds.max {
            let Some(oldest) = known.delivered_order.pop_front() else { break };
            known.delivered.remove(&oldest);
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn remember(&mut self, name: Name, digest: Digest) -> RunOf {
        let (number, run) = (self.next, RunOf::default());
        self.next += 1;
        self.order.push_back((number, name.clone()));
        self.by_name.insert(name, Remembered { number, since: Instant::now(), digest, run: run.clone() });
        run
    }

    /// Forgets what is too old or too much. A request in progress stays.
    fn expire(&mut self, bounds: Bounds) {
        for _ in 0..self.order.len() {
            let Some((number, name)) = self.order.front() else { return };
            let remembered = self.by_name.get(name).filter(|remembered| remembered.number == *number);
            let is_due = remembered.is_none_or(|remembered| {
                self.order.len() > bounds.max || remembered.since.elapsed() >= bounds.lifetime
            });
            if !is_due {
                return;
            }
            // The other owner is a request in progress, or one that waits for it.
            let is_in_use = remembered.is_some_and(|remembered| Arc::strong_count(&remembered.run) > 1);
            let is_known = remembered.is_some();
            let Some((number, name)) = self.order.pop_front() else { return };
            if is_in_use {
                self.order.push_back((number, name));
            } else if is_known {
                self.by_name.remove(&name);
            }
        }
    }
}

impl Slot {
    /// The run that the request started.
    pub(super) fn run(&self) -> Option<Uuid> {
        *self.run
    }

    /// Whether the request has a key.
    pub(super) fn has_key(&self) -> bool {
        matches!(self.name.1, RequestName::Key(..))
    }

    /// Whether the request means the run that it started before. A key always does, and so does a request whose run is in progress.
    ///
    /// After that, a message that failed may be sent again. Without a name, the same words may be meant again too: the request means the
    /// run for a while only, if the client says that it tries again, or if no client has received the whole answer.
    pub(super) fn applies_to(&self, status: &RunStatus) -> bool {
        let Some(ended_at_ms) = status.ended_at_ms else { return true };
        match &self.name.1 {
            RequestName::Key(..) => true,
            RequestName::Message(_) => status.state == RunState::Completed,
            RequestName::Digest(_) => {
                let repeat = u64::try_from(self.repeats.bounds.repeat.as_millis()).unwrap_or(u64::MAX);
                let is_recent = Clock::System.now_ms() < ended_at_ms.saturating_add(repeat);
                is_recent && (self.is_retry || !self.repeats.known().delivered.contains(&status.run_id))
            }
        }
    }

    /// The run of an earlier request does not answer this one.
    pub(super) fn clear(&mut self) {
        *self.run = None;
    }

    /// Records the run.
    pub(super) fn started(mut self, run: Uuid) {
        *self.run = Some(run);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.run.is_some() {
            return;
        }
        let mut known = self.repeats.known();
        // Two owners: the list, and this slot. A third one waits, and tries next.
        if Arc::strong_count(OwnedMutexGuard::mutex(&self.run)) == 2 {
            known.by_name.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(max: usize) -> Arc<Repeats> {
        let hour = Duration::from_secs(3600);
        Arc::new(Repeats::new(Bounds { max, lifetime: hour, repeat: hour }))
    }

    fn message(byte: u8) -> Once {
        Once::by_message([byte; 32])
    }

    fn key(key: &str, byte: u8) -> Once {
        let mut headers = HeaderMap::new();
        headers.insert("idempotency-key", key.parse().unwrap());
        Once::by_key(&headers, "/path", [byte; 32]).unwrap().unwrap()
    }

    #[tokio::test]
    async fn a_request_that_started_nothing_is_forgotten() {
        let repeats = repeats(10);
        for byte in 0..100 {
            drop(repeats.slot(key("one", byte), "me").await.unwrap());
        }
        let known = repeats.known();
        assert!(known.by_name.is_empty() && known.order.len() <= 1, "{:?}", known.order);
    }

    #[tokio::test]
    async fn requests_are_bounded_and_belong_to_a_caller() {
        let repeats = repeats(3);
        for byte in 0..10 {
            repeats.slot(message(byte), "me").await.unwrap().started(Uuid::from_u128(byte.into()));
        }
        assert_eq!(repeats.known().by_name.len(), 3);
        assert_eq!(repeats.slot(message(9), "me").await.unwrap().run(), Some(Uuid::from_u128(9)));
        assert_eq!(repeats.slot(message(9), "you").await.unwrap().run(), None);
        assert_eq!(repeats.slot(message(1), "me").await.unwrap().run(), None, "the oldest are forgotten");
    }

    #[tokio::test]
    async fn a_second_request_waits_for_the_first_and_takes_over_if_it_fails() {
        let repeats = repeats(10);
        let first = repeats.slot(key("one", 1), "me").await.unwrap();
        let waiting = {
            let repeats = repeats.clone();
            tokio::spawn(async move { repeats.slot(key("one", 1), "me").await })
        };
        tokio::task::yield_now().await;
        drop(first);
        let second = waiting.await.unwrap().unwrap();
        assert_eq!(second.run(), None);
        second.started(Uuid::from_u128(7));
        assert_eq!(repeats.slot(key("one", 1), "me").await.unwrap().run(), Some(Uuid::from_u128(7)));
        let other = repeats.slot(key("one", 2), "me").await.err().unwrap();
        assert_eq!(other.status(), StatusCode::UNPROCESSABLE_ENTITY);
    }

    #[test]
    fn delivered_runs_are_bounded() {
        let repeats = repeats(2);
        (1..=3).for_each(|run| repeats.delivered(Uuid::from_u128(run)));
        repeats.delivered(Uuid::from_u128(3));
        let known = repeats.known();
        assert_eq!(known.delivered, HashSet::from([Uuid::from_u128(2), Uuid::from_u128(3)]));
        assert_eq!(known.delivered_order.len(), 2);
    }
}
