//! The newest run of each conversation that a client names itself, and how much of it the client has.
//!
//! Input: a conversation's name, and a run as it begins or waits for a person. Output: the run, and the number of the event that follows
//! what the client has. Never: more conversations than the setting allows. They are kept only in memory.

use super::digest::Digest;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// The conversations, by the digests of their names.
#[derive(Debug)]
pub(super) struct Threads {
    max: usize,
    known: Mutex<Known>,
}

/// The newest run of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) run: Uuid,
    /// The number of the event that follows those that the client has; `None` before the run has waited for a person.
    pub(super) position: Option<u64>,
}

#[derive(Debug, Default)]
struct Known {
    threads: HashMap<Digest, Thread>,
    /// Each run as it began, oldest first.
    order: VecDeque<(Digest, Uuid)>,
}

impl Threads {
    pub(super) fn new(max: usize) -> Self {
        Self { max, known: Mutex::default() }
    }

    /// Records that a run of the conversation began.
    pub(super) fn begun(&self, name: Digest, run: Uuid) {
        let mut known = self.known();
        known.threads.insert(name, Thread { run, position: None });
        known.order.push_back((name, run));
        while known.order.len() > self.max {
            let Some((oldest, run)) = known.order.pop_front() else { break };
            if known.threads.get(&oldest).is_some_and(|thread| thread.run == run) {
                known.threads.remove(&oldest);
            }
        }
    }

    /// Records how much of the newest run the client has.
    pub(super) fn sent(&self, name: Digest, run: Uuid, position: u64) {
        if let Some(thread) = self.known().threads.get_mut(&name).filter(|thread| thread.run == run) {
            thread.position = Some(position);
        }
    }

    /// The newest run of the conversation.
    pub(super) fn find(&self, name: Digest) -> Option<Thread> {
        self.known().threads.get(&name).copied()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_its_newest_run_and_threads_are_bounded() {
        let threads = Threads::new(3);
        let (one, two) = ([1; 32], [2; 32]);
        let run = Uuid::from_u128;
        threads.begun(one, run(1));
        threads.sent(one, run(1), 7);
        assert_eq!(threads.find(one), Some(Thread { run: run(1), position: Some(7) }));
        threads.begun(one, run(2));
        threads.sent(one, run(1), 9);
        assert_eq!(
            threads.find(one),
            Some(Thread { run: run(2), position: None }),
            "the position is of an earlier run"
        );
        threads.begun(two, run(3));
        threads.begun(two, run(4));
        assert_eq!(threads.find(one).map(|thread| thread.run), Some(run(2)));
        threads.begun(two, run(5));
        assert_eq!((threads.find(one), threads.known().order.len()), (None, 3));
    }
}
