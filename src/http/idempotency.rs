//! `Idempotency-Key`: lets a client send an ingest again without creating its runs twice.
//!
//! Input: the caller, the runner in the path, the key; later the digest of the body and the result of the ingest. Output:
//! whether the ingest proceeds, or the result of the first ingest with the key. Never: a key of another caller; a key whose
//! ingest failed (the client may try again); more keys than the setting allows.
//!
//! Keys are kept only in memory. After a restart, a body that is sent again is still recognised by its records
//! (`ingest::repeats`).

use super::digest::Digest;
use super::limits::{SOON, later};
use super::problem::Problem;
use crate::log::StreamId;
use hyper::{HeaderMap, StatusCode};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The name of the header.
pub(super) const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The header of a response whose request was sent before.
pub(super) const REPLAYED: &str = "idempotency-replayed";

/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 255;

/// The result of an ingest with a key.
#[derive(Clone, Debug)]
pub(super) struct Made {
    /// The digest of the decoded body.
    pub(super) digest: Digest,
    /// The members of the JSON response except the runs.
    pub(super) counts: Counts,
    /// The streams, in order.
    pub(super) streams: Arc<[StreamId]>,
}

/// The counts in the JSON response of an ingest.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Counts {
    pub(super) records: u64,
    pub(super) invalid_records: u64,
    pub(super) unknown_records: u64,
    /// Runs of the body that were already in the log. They are included in the runs of the response.
    pub(super) repeated_runs: u64,
    /// Runs of the body that replaced shorter ones in the log.
    pub(super) replaced_runs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) looks_like: Option<&'static str>,
}

/// The owner of a key: the caller, the runner in the path, and the key itself.
type Owner = (String, String, String);

#[derive(Debug)]
enum State {
    Running,
    Done(Instant, Made),
}

/// The key of a request; `None` if the request has none.
///
/// # Errors
/// 400 for an invalid key.
pub(super) fn key_of(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let key = value.to_str().ok().filter(|_| values.next().is_none()).map(unquoted);
    let is_key =
        |key: &&str| (1..=MAX_KEY_BYTES).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
    key.filter(is_key).map(Some).ok_or_else(|| {
        let detail = format!("Idempotency-Key must be one value of 1 to {MAX_KEY_BYTES} visible ASCII characters");
        Problem::new(StatusCode::BAD_REQUEST, detail)
    })
}

/// All idempotency keys.
#[derive(Debug)]
pub(super) struct Keys {
    max: usize,
    lifetime: Duration,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_owner: HashMap<Owner, State>,
    /// The finished ones, oldest first.
    done: VecDeque<Owner>,
}

/// The meaning of a key.
#[derive(Debug)]
pub(super) enum Claim {
    /// A new ingest.
    New(Claimed),
    /// A finished ingest.
    Made(Made),
}

/// A key whose ingest is running. If it is dropped without [`Claimed::done`], the key can be used again.
#[derive(Debug)]
pub(super) struct Claimed {
    keys: Arc<Keys>,
    owner: Option<Owner>,
}

impl Keys {
    /// An empty store that keeps at most `max` finished keys, each for `lifetime`.
    pub(super) fn new(max: usize, lifetime: Duration) -> Self {
        Self { max, lifetime, known: Mutex::default() }
    }

    /// Claims the key of a request; `None` if the request has none.
    ///
    /// # Errors
    /// 400 for an invalid key, 409 while another ingest with the key is running.
    pub(super) fn claim(
        self: &Arc<Self>,
        headers: &HeaderMap,
        caller: &str,
        runner: &str,
    ) -> Result<Option<Claim>, Problem> {
        let Some(key) = key_of(headers)? else { return Ok(None) };
        let owner: Owner = (caller.to_owned(), runner.to_owned(), key.to_owned());
        let mut known = self.known();
        known.expire(self.lifetime);
        match known.by_owner.get(&owner) {
            Some(State::Running) => {
                let detail =
                    "an ingest with this Idempotency-Key is in progress; wait for its response or try again later";
                Err(later(StatusCode::CONFLICT, detail.to_owned(), SOON))
            }
            Some(State::Done(_, made)) => Ok(Some(Claim::Made(made.clone()))),
            None => {
                known.by_owner.insert(owner.clone(), State::Running);
                Ok(Some(Claim::New(Claimed { keys: self.clone(), owner: Some(owner) })))
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Forgets the keys that are older than `lifetime`.
    fn expire(&mut self, lifetime: Duration) {
        while let Some(oldest) = self.done.front() {
            let is_old = match self.by_owner.get(oldest) {
                Some(State::Done(at, _)) => at.elapsed() >= lifetime,
                _ => true,
            };
            if !is_old {
                break;
            }
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.done.pop_front() {
            self.by_owner.remove(&oldest);
        }
    }
}

impl Claimed {
    /// Records the result of the finished ingest.
    pub(super) fn done(mut self, made: Made) {
        let Some(owner) = self.owner.take() else { return };
        let keys = self.keys.clone();
        let mut known = keys.known();
        known.done.push_back(owner.clone());
        known.by_owner.insert(owner, State::Done(Instant::now(), made));
        while known.done.len() > keys.max {
            known.forget_oldest();
        }
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        if let Some(owner) = self.owner.take() {
            self.keys.known().by_owner.remove(&owner);
        }
    }
}

/// Removes the quotes of a key that is written as a structured field string.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn headers(key: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.append(IDEMPOTENCY_KEY, key.parse().unwrap());
        headers
    }

    fn made(byte: u8) -> Made {
        let counts = Counts {
            records: 1,
            invalid_records: 0,
            unknown_records: 0,
            repeated_runs: 0,
            replaced_runs: 0,
            looks_like: None,
        };
        Made { digest: [byte; 32], counts, streams: Arc::default() }
    }

    fn begin(keys: &Arc<Keys>, caller: &str, key: &str) -> Claimed {
        match keys.claim(&headers(key), caller, "codex").unwrap() {
            Some(Claim::New(claimed)) => claimed,
            other => panic!("{other:?}"),
        }
    }

    fn claimed_digest(keys: &Arc<Keys>, caller: &str, key: &str) -> Option<u8> {
        match keys.claim(&headers(key), caller, "codex").unwrap() {
            Some(Claim::Made(made)) => Some(made.digest[0]),
            _ => None,
        }
    }

    #[test]
    fn a_key_is_running_then_done_and_belongs_to_one_caller() {
        let keys = Arc::new(Keys::new(10, HOUR));
        let first = begin(&keys, "alice", "one");
        let conflict = keys.claim(&headers("one"), "alice", "codex").unwrap_err();
        assert_eq!(conflict.status(), StatusCode::CONFLICT);
        drop(begin(&keys, "bob", "one"));
        first.done(made(7));
        assert_eq!(claimed_digest(&keys, "alice", "one"), Some(7));
        assert_eq!(claimed_digest(&keys, "alice", "\"one\""), Some(7), "the same key as a structured field");
        assert_eq!(claimed_digest(&keys, "bob", "one"), None);
        assert!(matches!(keys.claim(&headers("one"), "alice", "auto"), Ok(Some(Claim::New(_)))), "another path");
    }

    #[test]
    fn a_key_whose_ingest_failed_is_free_again() {
        let keys = Arc::new(Keys::new(10, HOUR));
        drop(begin(&keys, "alice", "one"));
        begin(&keys, "alice", "one").done(made(1));
        assert_eq!(claimed_digest(&keys, "alice", "one"), Some(1));
    }

    #[test]
    fn the_oldest_finished_keys_are_evicted_first() {
        let keys = Arc::new(Keys::new(2, HOUR));
        let running = begin(&keys, "alice", "running");
        for key in 1..=3 {
            begin(&keys, "alice", &key.to_string()).done(made(key));
        }
        assert_eq!([claimed_digest(&keys, "alice", "2"), claimed_digest(&keys, "alice", "3")], [Some(2), Some(3)]);
        assert_eq!(claimed_digest(&keys, "alice", "1"), None);
        running.done(made(9));
        assert_eq!(claimed_digest(&keys, "alice", "running"), Some(9));
        assert_eq!(claimed_digest(&keys, "alice", "2"), None);
    }

    #[test]
    fn a_key_is_forgotten_after_its_lifetime() {
        let keys = Arc::new(Keys::new(10, Duration::ZERO));
        begin(&keys, "alice", "one").done(made(1));
        assert_eq!(claimed_digest(&keys, "alice", "one"), None);
        assert!(keys.known().done.is_empty());
    }

    #[test]
    fn invalid_keys_are_refused() {
        let keys = Arc::new(Keys::new(10, HOUR));
        for wrong in ["", "\"\"", "two words", &"x".repeat(256)] {
            let refused = keys.claim(&headers(wrong), "alice", "codex").unwrap_err();
            assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{wrong:?}");
        }
        let longest = "x".repeat(255);
        assert!(matches!(keys.claim(&headers(&longest), "alice", "codex"), Ok(Some(Claim::New(_)))));
        let mut twice = headers("one");
        twice.append(IDEMPOTENCY_KEY, "two".parse().unwrap());
        assert_eq!(keys.claim(&twice, "alice", "codex").unwrap_err().status(), StatusCode::BAD_REQUEST);
        assert!(keys.claim(&HeaderMap::new(), "alice", "codex").unwrap().is_none());
    }
}
