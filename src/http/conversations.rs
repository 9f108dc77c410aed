//! Finds the session of a conversation by what was said in it.
//!
//! The Chat Completions API has no sessions: each request repeats the whole conversation, and requests to the Responses API may. A conversation continues a session if its
//! prompts are those of the session's runs, and its last answer is what the last of these runs answered.
//!
//! Input: the prompts of each run that was started; later a conversation. Output: the run that gave its last answer. Never: a run of
//! another caller or upstream; more prompts than the setting allows. Prompts are kept only in memory, as digests.

use super::digest::{Digest, digest};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// How many runs with the same prompts are remembered: conversations often begin with the same words.
const ALIKE: usize = 16;

/// The conversations.
#[derive(Debug)]
pub(super) struct Conversations {
    max: usize,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The runs of each list of prompts, oldest first.
    runs: HashMap<Digest, VecDeque<Uuid>>,
    /// What was added, oldest first.
    order: VecDeque<(Digest, Uuid)>,
}

/// The prompts of a conversation with one upstream, and who wrote them.
pub(super) fn prompts_of<'p>(caller: &'p str, upstream: &'p str, prompts: impl Iterator<Item = &'p str>) -> Digest {
    digest([caller, upstream].into_iter().chain(prompts).map(Some))
}

impl Conversations {
    pub(super) fn new(max: usize) -> Self {
        Self { max, known: Mutex::default() }
    }

    /// Records the run that answers the last of these prompts.
    pub(super) fn add(&self, prompts: Digest, run: Uuid) {
        let mut known = self.known();
        let runs = known.runs.entry(prompts).or_default();
        if runs.contains(&run) {
            return;
        }
        runs.push_back(run);
        if runs.len() > ALIKE {
            runs.pop_front();
        }
        known.order.push_back((prompts, run));
        while known.order.len() > self.max {
            known.forget_oldest();
        }
    }

    /// The runs that answered the last of these prompts, newest first.
    pub(super) fn find(&self, prompts: Digest) -> Vec<Uuid> {
        self.known().runs.get(&prompts).into_iter().flatten().rev().copied().collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn forget_oldest(&mut self) {
        let Some((prompts, run)) = self.order.pop_front() else { return };
        if let Some(runs) = self.runs.get_mut(&prompts) {
            runs.retain(|known| *known != run);
            if runs.is_empty() {
                self.runs.remove(&prompts);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompts(words: &[&str]) -> Digest {
        prompts_of("me", "claude", words.iter().copied())
    }

    #[test]
    fn a_conversation_belongs_to_its_caller_upstream_and_prompts() {
        let of = |caller, upstream, words: &[&str]| prompts_of(caller, upstream, words.iter().copied());
        let one = of("me", "claude", &["a", "b"]);
        for other in [of("you", "claude", &["a", "b"]), of("me", "codex", &["a", "b"]), of("me", "claude", &["ab"])] {
            assert_ne!(one, other);
        }
        assert_eq!(one, of("me", "claude", &["a", "b"]));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let conversations = Conversations::new(20);
        let run = Uuid::from_u128;
        (0..ALIKE as u128 + 2).for_each(|nth| conversations.add(prompts(&["hello"]), run(nth)));
        let alike = conversations.find(prompts(&["hello"]));
        assert_eq!((alike.len(), alike[0], alike[ALIKE - 1]), (ALIKE, run(17), run(2)), "newest first");
        (100..120).for_each(|nth| conversations.add(prompts(&[&nth.to_string()]), run(nth)));
        assert!(conversations.find(prompts(&["hello"])).is_empty());
        assert_eq!(conversations.find(prompts(&["100"])), [run(100)]);
        let known = conversations.known();
        assert_eq!((known.order.len(), known.runs.len()), (20, 20));
    }
}
