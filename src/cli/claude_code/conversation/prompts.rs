//! The prompts that wait for the run in progress.
//!
//! Input: prompts of the client. Output: the next one. Never: a prompt that the client sent before, under the same id; an unbounded queue.

use crate::cli::claude_code::incoming::Prompt;
use std::collections::{HashSet, VecDeque};

/// The maximum number of prompts that wait.
const MAX_WAITING: usize = 1000;

/// Size limit for the prompts that wait, in bytes of their lines. One prompt always fits.
const MAX_BYTES: usize = 128 << 20;

/// How many ids are known. Beyond it, the oldest is forgotten.
const MAX_KNOWN: usize = 10_000;

/// The longest id that is known, in bytes.
const MAX_ID: usize = 256;

/// The queue, and the ids of the prompts that were in it.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    waiting: VecDeque<Prompt>,
    bytes: usize,
    known: HashSet<String>,
    /// Oldest first.
    order: VecDeque<String>,
}

/// What became of a prompt.
#[derive(Debug)]
pub(super) enum Added {
    /// It waits for its run.
    Waits,
    /// The client sent it before.
    Known(Prompt),
    /// Too much waits.
    Full,
}

impl Prompts {
    /// Adds a prompt.
    pub(super) fn add(&mut self, prompt: Prompt) -> Added {
        if self.known.contains(&prompt.uuid) {
            return Added::Known(prompt);
        }
        let fits = self.waiting.is_empty() || self.bytes.saturating_add(prompt.bytes) <= MAX_BYTES;
        if self.waiting.len() >= MAX_WAITING || !fits {
            return Added::Full;
        }
        if (1..=MAX_ID).contains(&prompt.uuid.len()) {
            self.known.insert(prompt.uuid.clone());
            self.order.push_back(prompt.uuid.clone());
        }
        while self.order.len() > MAX_KNOWN {
            let Some(oldest) = self.order.pop_front() else { break };
            self.known.remove(&oldest);
        }
        self.bytes += prompt.bytes;
        self.waiting.push_back(prompt);
        Added::Waits
    }

    /// The prompt that has waited longest.
    pub(super) fn next(&mut self) -> Option<Prompt> {
        let next = self.waiting.pop_front()?;
        self.bytes -= next.bytes;
        Some(next)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The ids of the prompts that wait and have one.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.waiting.iter().map(|prompt| prompt.uuid.as_str()).filter(|id| !id.is_empty())
    }

    /// Removes the prompt with this id, which may be sent again. Returns whether it waited.
    pub(super) fn cancel(&mut self, id: &str) -> bool {
        let at = self.waiting.iter().position(|prompt| !id.is_empty() && prompt.uuid == id);
        let Some(cancelled) = at.and_then(|at| self.waiting.remove(at)) else { return false };
        self.bytes -= cancelled.bytes;
        self.forget(id);
        true
    }

    /// Removes all prompts. Returns the ids of those that have one.
    pub(super) fn cancel_all(&mut self) -> Vec<String> {
        let ids: Vec<String> = self.ids().map(str::to_owned).collect();
        self.waiting.clear();
        self.bytes = 0;
        ids.iter().for_each(|id| self.forget(id));
        ids
    }

    fn forget(&mut self, id: &str) {
        if self.known.remove(id) {
            self.order.retain(|known| known != id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(uuid: &str, bytes: usize) -> Prompt {
        Prompt { content: Err("none".to_owned()), uuid: uuid.to_owned(), message: None, bytes }
    }

    #[test]
    fn a_prompt_that_was_sent_before_is_known_until_it_is_cancelled() {
        let mut prompts = Prompts::default();
        let waits = |added: Added| matches!(added, Added::Waits);
        assert!(waits(prompts.add(prompt("a", 1))) && waits(prompts.add(prompt("b", 1))));
        assert!(matches!(prompts.add(prompt("a", 1)), Added::Known(_)));
        assert_eq!(prompts.next().unwrap().uuid, "a");
        assert!(matches!(prompts.add(prompt("a", 1)), Added::Known(_)), "it has a run");
        assert!(prompts.cancel("b") && !prompts.cancel("b") && !prompts.cancel(""));
        assert!(waits(prompts.add(prompt("b", 1))));
        // Without an id, the same words are another prompt.
        assert!(waits(prompts.add(prompt("", 1))) && waits(prompts.add(prompt("", 1))));
        assert_eq!(prompts.ids().collect::<Vec<_>>(), ["b"]);
        assert_eq!(prompts.cancel_all(), ["b"]);
        assert!(prompts.is_empty() && prompts.bytes == 0);
    }

    #[test]
    fn what_waits_and_what_is_known_is_bounded() {
        let mut prompts = Prompts::default();
        assert!(matches!(prompts.add(prompt("large", MAX_BYTES + 1)), Added::Waits));
        assert!(matches!(prompts.add(prompt("more", 1)), Added::Full));
        prompts.next().unwrap();
        for at in 0..MAX_WAITING {
            assert!(matches!(prompts.add(prompt(&at.to_string(), 1)), Added::Waits));
        }
        assert!(matches!(prompts.add(prompt("more", 1)), Added::Full));
        for at in 0..=MAX_KNOWN {
            prompts.next();
            prompts.add(prompt(&format!("next {at}"), 1));
        }
        assert!(matches!(prompts.add(prompt(&"x".repeat(MAX_ID + 1), 1)), Added::Full));
        assert_eq!((prompts.known.len(), prompts.order.len()), (MAX_KNOWN, MAX_KNOWN));
        assert!(!prompts.known.contains("large"));
    }
}
