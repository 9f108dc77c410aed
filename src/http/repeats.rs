//! Requests with a prompt that were sent before, and the runs that they started.
//!
//! Input: the caller, the request's `Idempotency-Key` or its digest; later the run. Output: the run of the same request; a lock that
//! makes a second request wait while the first one starts its run. Never: a request of another caller; more requests than the setting
//! allows, apart from those in progress; a request whose start failed.
//!
//! Requests are kept only in memory: after a restart of the proxy, a request that is sent again starts another run.

use super::digest::Digest;
use super::idempotency::key_of;
use super::problem::Problem;
use crate::clock::Clock;
use crate::runs::RunStatus;
use hyper::{HeaderMap, StatusCode};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OwnedMutexGuard;
use uuid::Uuid;

/// What identifies a request that was sent before.
pub(super) struct Once {
    name: RequestName,
    digest: Digest,
}

impl Once {
    /// By the request's `Idempotency-Key`, within one path; `None` if the request has none.
    ///
    /// # Errors
    /// 400 for an invalid key.
    pub(super) fn by_key(headers: &HeaderMap, path: &'static str, digest: Digest) -> Result<Option<Self>, Problem> {
        let key = key_of(headers)?;
        Ok(key.map(|key| Self { name: RequestName::Key(path, key.to_owned()), digest }))
    }

    /// By an identity that the client gives each prompt, such as the id of its message.
    pub(super) fn by_identity(path: &'static str, identity: Digest) -> Self {
        let key = identity.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { name: RequestName::Key(path, key), digest: identity }
    }

    /// By the digest of the request, for clients that send no key. The digest covers the path.
    pub(super) fn by_digest(digest: Digest) -> Self {
        Self { name: RequestName::Digest(digest), digest }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum RequestName {
    Key(&'static str, String),
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
    by_name: HashMap<Name, (Digest, RunOf)>,
    /// Oldest first. May have names that were forgotten.
    order: VecDeque<(Instant, Name)>,
}

/// A request that no other request with its name can overtake.
pub(super) struct Slot {
    repeats: Arc<Repeats>,
    name: Name,
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
            known.expire(self.bounds);
            match known.by_name.get(&name) {
                Some((digest, _)) if *digest != once.digest => {
                    let detail = "this Idempotency-Key was sent with another request; use a new key for each request";
                    return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
                }
                Some((_, run)) => run.clone(),
                None => {
                    let run = RunOf::default();
                    known.by_name.insert(name.clone(), (once.digest, run.clone()));
                    known.order.push_back((Instant::now(), name.clone()));
                    run
                }
            }
        };
        Ok(Slot { repeats: self.clone(), name, run: run.lock_owned().await })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Forgets what is too old or too much. A request in progress stays.
    fn expire(&mut self, bounds: Bounds) {
        for _ in 0..self.order.len() {
            let is_due =
                |(at, _): &mut (Instant, Name)| self.by_name.len() > bounds.max || at.elapsed() >= bounds.lifetime;
            let Some((at, name)) = self.order.pop_front_if(is_due) else { return };
            match self.by_name.get(&name) {
                Some((_, run)) if Arc::strong_count(run) > 1 => self.order.push_back((at, name)),
                _ => drop(self.by_name.remove(&name)),
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

    /// Whether a request that is the same as the one that started the run means this run. Without a key, it does for a while only: the
    /// same words may be meant again.
    pub(super) fn applies_to(&self, status: &RunStatus) -> bool {
        let repeat = u64::try_from(self.repeats.bounds.repeat.as_millis()).unwrap_or(u64::MAX);
        let is_recent = |ended_at_ms: u64| Clock::System.now_ms() < ended_at_ms.saturating_add(repeat);
        self.has_key() || status.ended_at_ms.is_none_or(is_recent)
    }

    /// Records the run.
    pub(super) fn started(mut self, run: Uuid) {
        *self.run = Some(run);
    }

    /// Forgets the request, unless another one with its name waits: that one tries next.
    pub(super) fn forget(self) {
        let mut known = self.repeats.known();
        // Two owners: the list, and this slot.
        if Arc::strong_count(OwnedMutexGuard::mutex(&self.run)) == 2 {
            known.by_name.remove(&self.name);
        }
    }
}
