//! The prompts that a runner was given, until each has its run.
//!
//! In: prompts as they are said, runs as they begin and end, what runs tell of people's words. Out: how many runs are due. Never:
//! more of them than the bound, a prompt that was not passed on.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many are told apart; the oldest are forgotten first.
const MAX_DUE: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Prompts {
    due: VecDeque<Prompt>,
    number: u64,
    /// How often something became of them, so that whoever waits knows that it goes on.
    pub(super) changes: u64,
}

#[derive(Debug)]
struct Prompt {
    number: u64,
    words: u64,
}

impl Prompts {
    /// A prompt is to be passed on; gives its number.
    pub(super) fn said(&mut self, text: &str) -> u64 {
        self.number += 1;
        self.changes += 1;
        if self.due.len() == MAX_DUE {
            self.due.pop_front();
        }
        self.due.push_back(Prompt { number: self.number, words: hash(text) });
        self.number
    }

    /// It could not be passed on.
    pub(super) fn failed(&mut self, number: u64) {
        self.due.retain(|prompt| prompt.number != number);
    }

    /// A run begins: that of the oldest.
    pub(super) fn run_began(&mut self) {
        self.changes += 1;
        self.due.pop_front();
    }

    /// A run ends: what is due begins behind it.
    pub(super) fn run_ended(&mut self) {
        self.changes += 1;
    }

    /// A run that goes on was told this by somebody: a prompt that came into it has no run of its own.
    pub(super) fn joined(&mut self, text: &str) {
        let words = hash(text);
        if let Some(at) = self.due.iter().position(|prompt| prompt.words == words) {
            self.changes += 1;
            self.due.remove(at);
        }
    }

    /// How many runs are still to come.
    pub(super) fn due(&self) -> usize {
        self.due.len()
    }

    /// No run comes of them any more.
    pub(super) fn forget(&mut self) {
        self.due.clear();
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.trim().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_prompt_has_a_run_unless_it_joins_one_or_is_lost() {
        let mut prompts = Prompts::default();
        let (first, second) = (prompts.said("one"), prompts.said("two"));
        prompts.said("three");
        prompts.run_began();
        assert_eq!(prompts.due(), 2, "of the first");
        prompts.joined("not ours");
        prompts.joined("three\n");
        assert_eq!(prompts.due(), 1);
        prompts.failed(first);
        assert_eq!(prompts.due(), 1, "it has its run");
        prompts.failed(second);
        assert_eq!(prompts.due(), 0);
        // A run that nobody asked for takes nobody's place.
        prompts.run_began();
        prompts.said("four");
        assert_eq!(prompts.due(), 1);
    }

    #[test]
    fn no_more_than_the_bound_are_told_apart() {
        let mut prompts = Prompts::default();
        for nth in 0..=MAX_DUE {
            prompts.said(&nth.to_string());
        }
        assert_eq!(prompts.due(), MAX_DUE);
        prompts.joined("0");
        assert_eq!(prompts.due(), MAX_DUE, "the oldest is forgotten");
        prompts.joined("1");
        assert_eq!(prompts.due(), MAX_DUE - 1);
    }
}
