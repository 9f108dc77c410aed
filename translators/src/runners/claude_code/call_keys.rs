//! The keys under which calls, subagents and questions are kept.
//!
//! Input: the id of a call and the session that names it. Output: a key that no call of another session has. Never: a copied id
//! for an input with one session.

use crate::frame::SharedStr;
use std::borrow::Cow;

/// The number of renamed sessions that are remembered.
const RENAMED: usize = 64;

/// The sessions whose calls an input names.
#[derive(Debug, Default)]
pub(super) struct CallKeys {
    /// The first session. Its keys are the calls' ids.
    first: Option<SharedStr>,
    /// Names that sessions got when their conversation was cleared, each with the first name.
    renamed: Vec<(SharedStr, SharedStr)>,
}

impl CallKeys {
    pub(super) fn key<'k>(&mut self, session: &SharedStr, call_id: &'k str) -> Cow<'k, str> {
        let session = self.original(session);
        if *self.first.get_or_insert_with(|| session.clone()) == session {
            Cow::Borrowed(call_id)
        } else {
            Cow::Owned(format!("{session}\n{call_id}"))
        }
    }

    /// Notes that a session continues under another name. Its open calls keep their keys.
    pub(super) fn rename(&mut self, session: &SharedStr, name: &str) {
        let original = self.original(session);
        if *original == *name {
            return;
        }
        self.first.get_or_insert_with(|| original.clone());
        if self.renamed.len() == RENAMED {
            self.renamed.remove(0);
        }
        self.renamed.push((SharedStr::from(name), original));
    }

    fn original(&self, session: &SharedStr) -> SharedStr {
        let renamed = self.renamed.iter().rev().find(|(name, _)| name == session);
        renamed.map_or_else(|| session.clone(), |(_, original)| original.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ids_of_two_sessions_have_different_keys() {
        let (mut keys, one, two) = (CallKeys::default(), SharedStr::from("one"), SharedStr::from("two"));
        assert_eq!(keys.key(&one, "c"), "c");
        assert_ne!(keys.key(&two, "c"), "c");
        keys.rename(&one, "three");
        assert_eq!(keys.key(&SharedStr::from("three"), "c"), "c", "the cleared conversation goes on");
    }
}
