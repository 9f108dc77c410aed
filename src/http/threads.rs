//! The newest run of each chat that a client names itself, and where its responses ended.
//!
//! Input: a chat's name, and a run as it begins or waits for a person. Output: the run, and where a response to its client ended. Never: more
//! chats than the setting allows. They are kept only in memory.

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) run: Uuid,
    /// What identifies the message that the run answers.
    pub(super) message: Digest,
    /// What identified the request that started the run.
    pub(super) identity: Digest,
    /// The numbers of the events at which a response ended because the run waited for a person, oldest first.
    pub(super) waits: Vec<u64>,
}

/// How many responses of a run are remembered.
const MAX_WAITS: usize = 256;

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
    pub(super) fn begun(&self, name: Digest, thread: Thread) {
        let (mut known, run) = (self.known(), thread.run);
        known.threads.insert(name, thread);
        known.order.push_back((name, run));
        while known.order.len() > self.max {
            let Some((oldest, run)) = known.order.pop_front() else { break };
            if known.threads.get(&oldest).is_some_and(|thread| thread.run == run) {
                known.threads.remove(&oldest);
            }
        }
    }

    /// Records that a response with the newest run ended before event `position`, because the run waits for a person.
    pub(super) fn waits(&self, name: Digest, run: Uuid, position: u64) {
        let mut known = self.known();
        let Some(thread) = known.threads.get_mut(&name).filter(|thread| thread.run == run) else { return };
        if thread.waits.last().is_none_or(|last| *last < position) && thread.waits.len() < MAX_WAITS {
            thread.waits.push(position);
        }
    }

    /// The newest run of the conversation.
    pub(super) fn find(&self, name: Digest) -> Option<Thread> {
        self.known().threads.get(&name).cloned()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(run: u128) -> Thread {
        Thread { run: Uuid::from_u128(run), message: [0; 32], identity: [0; 32], waits: Vec::new() }
    }

    #[test]
    fn a_thread_has_its_newest_run_and_threads_are_bounded() {
        let threads = Threads::new(3);
        let (one, two) = ([1; 32], [2; 32]);
        threads.begun(one, thread(1));
        for position in [7, 7, 9] {
            threads.waits(one, Uuid::from_u128(1), position);
        }
        assert_eq!(threads.find(one), Some(Thread { waits: vec![7, 9], ..thread(1) }));
        threads.begun(one, thread(2));
        threads.waits(one, Uuid::from_u128(1), 11);
        assert_eq!(threads.find(one), Some(thread(2)), "the position is of an earlier run");
        threads.begun(two, thread(3));
        threads.begun(two, thread(4));
        assert_eq!(threads.find(one), Some(thread(2)));
        threads.begun(two, thread(5));
        assert_eq!((threads.find(one), threads.known().order.len()), (None, 3));
    }

    #[test]
    fn the_responses_of_a_run_are_bounded() {
        let threads = Threads::new(1);
        threads.begun([1; 32], thread(1));
        (0..=MAX_WAITS as u64).for_each(|position| threads.waits([1; 32], Uuid::from_u128(1), position));
        let waits = threads.find([1; 32]).unwrap().waits;
        assert_eq!((waits.len(), waits.last()), (MAX_WAITS, Some(&(MAX_WAITS as u64 - 1))));
    }
}
