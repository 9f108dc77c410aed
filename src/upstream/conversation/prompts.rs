//! The prompts sent to a runner that have not started a run yet.
//!
//! Input: prompts as they are sent, runs as they begin and end, user messages that runs report. Output: how many runs are
//! due. Never: more of them than the bound; a prompt that was not passed on.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many prompts are tracked. The oldest are forgotten first.
const MAX_DUE: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Prompts {
    due: VecDeque<Prompt>,
    number: u64,
    /// Incremented on every change, so that the driver notices progress.
    pub(super) changes: u64,
}

#[derive(Debug)]
struct Prompt {
    number: u64,
    words: u64,
}

impl Prompts {
    /// Records a prompt that is about to be passed on. Returns its number.
    pub(super) fn said(&mut self, text: &str) -> u64 {
        self.number += 1;
        self.changes += 1;
        if self.due.len() == MAX_DUE {
            self.due.pop_front();
        }
        self.due.push_back(Prompt { number: self.number, words: hash(text) });
        self.number
    }

    /// Removes a prompt that could not be passed on.
    pub(super) fn failed(&mut self, number: u64) {
        self.due.retain(|prompt| prompt.number != number);
    }

    /// Records that a run began. It is attributed to the oldest prompt.
    pub(super) fn run_began(&mut self) {
        self.changes += 1;
        self.due.pop_front();
    }

    /// Records that a run ended. Prompts that are due begin their runs after it.
    pub(super) fn run_ended(&mut self) {
        self.changes += 1;
    }

    /// Records a user message within a run in progress. A prompt that joined that run has no run of its own.
    pub(super) fn joined(&mut self, text: &str) {
        let words = hash(text);
        if let Some(at) = self.due.iter().position(|prompt| prompt.words == words) {
            self.changes += 1;
            self.due.remove(at);
        }
    }

    /// The number of runs that are still due.
    pub(super) fn due(&self) -> usize {
        self.due.len()
    }

    /// Stops waiting for the runs of all prompts.
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
    fn each_prompt_is_due_a_run_unless_it_joins_one_or_is_lost() {
        let mut prompts = Prompts::default();
        let (first, second) = (prompts.said("one"), prompts.said("two"));
        prompts.said("three");
        prompts.run_began();
        assert_eq!(prompts.due(), 2, "the first prompt has its run");
        prompts.joined("not ours");
        prompts.joined("three\n");
        assert_eq!(prompts.due(), 1);
        prompts.failed(first);
        assert_eq!(prompts.due(), 1, "the failed prompt already had its run");
        prompts.failed(second);
        assert_eq!(prompts.due(), 0);
        // A run without a prompt does not take another prompt's position.
        prompts.run_began();
        prompts.said("four");
        assert_eq!(prompts.due(), 1);
    }

    #[test]
    fn tracked_prompts_are_bounded() {
        let mut prompts = Prompts::default();
        for nth in 0..=MAX_DUE {
            prompts.said(&nth.to_string());
        }
        assert_eq!(prompts.due(), MAX_DUE);
        prompts.joined("0");
        assert_eq!(prompts.due(), MAX_DUE, "the oldest must be forgotten");
        prompts.joined("1");
        assert_eq!(prompts.due(), MAX_DUE - 1);
    }
}
