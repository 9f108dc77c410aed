//! The open questions that a dialogue has seen. Their number is bounded; the oldest are dropped first.

use crate::frame::SharedStr;
use std::collections::VecDeque;

/// How many questions are remembered.
const MOST: usize = 1024;

/// See the module.
#[derive(Debug)]
pub(crate) struct PendingQuestions<T>(VecDeque<(SharedStr, T)>);

impl<T> Default for PendingQuestions<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> PendingQuestions<T> {
    /// Adds a question; replaces one with the same id.
    pub(crate) fn insert(&mut self, id: &str, question: T) {
        self.remove(id);
        self.0.push_back((SharedStr::from(id), question));
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| **known == *id).map(|(_, question)| question)
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<T> {
        let at = self.0.iter().position(|(known, _)| **known == *id)?;
        self.0.remove(at).map(|(_, question)| question)
    }

    /// All questions, oldest first.
    pub(crate) fn into_all(self) -> impl Iterator<Item = T> {
        self.0.into_iter().map(|(_, question)| question)
    }

    /// Removes the questions for which `keep` is false.
    pub(crate) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.0.retain(|(_, question)| keep(question));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_question_is_evicted_first_and_a_repeated_one_is_newest() {
        let mut waiting = PendingQuestions::default();
        for nth in 0..MOST {
            waiting.insert(&nth.to_string(), nth);
        }
        waiting.insert("0", 7);
        waiting.insert("one more", 8);
        assert_eq!((waiting.get("0"), waiting.get("1"), waiting.get("2")), (Some(&7), None, Some(&2)));
        assert_eq!(waiting.remove("0"), Some(7));
        assert_eq!(waiting.remove("0"), None);
        waiting.retain(|&question| question == 8);
        assert_eq!((waiting.get("2"), waiting.get("one more")), (None, Some(&8)));
    }
}
