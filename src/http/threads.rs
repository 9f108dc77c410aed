//! The newest run of each thread, which is a chat that its client names, and where its responses ended.
//!
//! Input: a thread's name, and a run as it begins or waits for a person. Output: the run, and where a response to its client ended. Never:
//! more threads than the setting allows. They are kept only in memory.

use super::digest::Digest;
use crate::clock::Clock;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// The threads, by the digests of their names.
#[derive(Debug)]
pub(super) struct Threads {
    max: usize,
    known: Mutex<Known>,
}

/// The newest run of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) run: Uuid,
    /// What identifies the prompt that the run answers, within the thread.
    pub(super) message: Digest,
    /// What identified the request that started the run, or its message.
    pub(super) identity: Digest,
    /// What identifies the prompts of its session as they were sent, which a client may have from a snapshot.
    pub(super) shown: Digest,
    /// Where responses ended because the run waited for a person, oldest first.
    pub(super) waits: Vec<Wait>,
    /// What identifies the questions of the last of them.
    pub(super) asked: Digest,
}

/// The end of a response whose run waited for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    /// The number of the event before which the response ended.
    pub(super) position: u64,
    /// When it ended, in Unix epoch seconds.
    pub(super) at: u64,
}

impl Thread {
    /// A thread whose newest run has just begun.
    pub(super) fn new(run: Uuid, message: Digest, identity: Digest) -> Self {
        let none = Digest::default();
        Self { run, message, identity, shown: none, waits: Vec::new(), asked: none }
    }
}

/// How many responses of a run are remembered.
const MAX_WAITS: usize = 256;

#[derive(Debug, Default)]
struct Known {
    threads: HashMap<Digest, Thread>,
    /// Each run as it began, oldest first.
    order: VecDeque<(Digest, Uuid)>,
}

impl Known {
    fn add(&mut self, name: Digest, thread: Thread, max: usize) {
        self.order.push_back((name, thread.run));
        self.threads.insert(name, thread);
        while self.order.len() > max {
            let Some((oldest, run)) = self.order.pop_front() else { break };
            if self.threads.get(&oldest).is_some_and(|thread| thread.run == run) {
                self.threads.remove(&oldest);
            }
        }
    }
}

impl Threads {
    pub(super) fn new(max: usize) -> Self {
        Self { max, known: Mutex::default() }
    }

    /// Records that a run of the thread began.
    pub(super) fn begun(&self, name: Digest, thread: Thread) {
        self.known().add(name, thread, self.max);
    }

    /// Records the newest run of the thread's session, which began elsewhere; not if the thread has another newest run than `before`.
    pub(super) fn found(&self, name: Digest, before: Option<Uuid>, thread: Thread) {
        let mut known = self.known();
        if known.threads.get(&name).map(|thread| thread.run) == before {
            known.add(name, thread, self.max);
        }
    }

    /// Records that a response with the newest run ended before event `position`, because the run waits for a person. `asked` identifies
    /// the open questions: a second response that ends at the same ones does not count.
    pub(super) fn waits(&self, name: Digest, run: Uuid, position: u64, asked: Digest) {
        let mut known = self.known();
        let Some(thread) = known.threads.get_mut(&name).filter(|thread| thread.run == run) else { return };
        let is_new = thread.waits.last().is_none_or(|last| last.position < position && thread.asked != asked);
        if is_new && thread.waits.len() < MAX_WAITS {
            thread.waits.push(Wait { position, at: Clock::System.now_ms() / 1000 });
            thread.asked = asked;
        }
    }

    /// The newest run of the thread.
    pub(super) fn find(&self, name: Digest) -> Option<Thread> {
        self.known().threads.get(&name).cloned()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::digest::digest;
    use super::*;

    fn thread(run: u128) -> Thread {
        Thread::new(Uuid::from_u128(run), [0; 32], [0; 32])
    }

    #[test]
    fn a_thread_has_its_newest_run_and_threads_are_bounded() {
        let threads = Threads::new(3);
        let (one, two) = ([1; 32], [2; 32]);
        threads.begun(one, thread(1));
        // Another reader ends later at the same question.
        for (position, asked) in [(7, 1), (7, 1), (8, 1), (9, 2)] {
            threads.waits(one, Uuid::from_u128(1), position, [asked; 32]);
        }
        let found = threads.find(one).unwrap();
        let positions: Vec<u64> = found.waits.iter().map(|wait| wait.position).collect();
        assert_eq!((positions, found.asked), (vec![7, 9], [2; 32]));
        assert!(found.waits[0].at > 0 && found.waits[0].at <= found.waits[1].at, "{found:?}");
        threads.begun(one, thread(2));
        threads.waits(one, Uuid::from_u128(1), 11, [3; 32]);
        assert_eq!(threads.find(one), Some(thread(2)), "the position is of an earlier run");
        threads.begun(two, thread(3));
        threads.begun(two, thread(4));
        assert_eq!(threads.find(one), Some(thread(2)));
        threads.begun(two, thread(5));
        assert_eq!((threads.find(one), threads.known().order.len()), (None, 3));
    }

    #[test]
    fn a_run_that_was_found_does_not_replace_one_that_began_meanwhile() {
        let (threads, name) = (Threads::new(3), [1; 32]);
        threads.found(name, None, thread(1));
        assert_eq!(threads.find(name), Some(thread(1)));
        threads.begun(name, thread(3));
        threads.found(name, Some(Uuid::from_u128(1)), thread(2));
        assert_eq!(threads.find(name), Some(thread(3)));
    }

    #[test]
    fn the_responses_of_a_run_are_bounded() {
        let threads = Threads::new(1);
        threads.begun([1; 32], thread(1));
        for position in 0..=MAX_WAITS as u64 {
            threads.waits(
                [1; 32],
                Uuid::from_u128(1),
                position,
                digest([Some(position.to_string().as_str())].into_iter()),
            );
        }
        let waits = threads.find([1; 32]).unwrap().waits;
        assert_eq!((waits.len(), waits.last().unwrap().position), (MAX_WAITS, MAX_WAITS as u64 - 1));
    }
}
