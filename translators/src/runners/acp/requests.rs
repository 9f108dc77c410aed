//! Requests that await their answers, in each direction.
//!
//! Input: requests and answers. Output: what an answer answers. Never: more than [`MOST`] requests at once; a message of one
//! direction that answers a request of the same direction. The ids of both directions overlap.

use super::super::names::NameMap;
use crate::frame::SharedStr;
use crate::json::{Json, Kind};
use crate::sequence::StreamKey;
use std::collections::{BTreeSet, VecDeque};

/// The maximum number of unanswered requests of one direction. Beyond it, the oldest is forgotten.
const MOST: usize = 4096;

/// An id as a key: numbers, strings and null differ. `None` if the id is of no permitted kind.
pub(super) fn id_of(id: Json<'_>) -> Option<SharedStr> {
    matches!(id.kind(), Kind::Number | Kind::String | Kind::Null).then(|| SharedStr::from(id.text()))
}

/// A request of the client.
#[derive(Clone, Debug)]
pub(super) enum ClientRequest {
    Initialize,
    /// A session that does not exist yet.
    New,
    /// A session whose history is replayed before the answer, or which just continues.
    Load(SharedStr),
    Prompt(SharedStr),
    /// Anything else about a session; "" if it names none.
    Other(SharedStr),
}

/// A request of the agent.
#[derive(Clone, Debug)]
pub(super) enum AgentRequest {
    Permission(Question),
    Elicitation(Question),
    /// What a terminal of the client shows, or how it ended.
    Terminal {
        session: SharedStr,
        terminal: SharedStr,
    },
    /// A request whose answer has no frame.
    Silent,
}

/// A question to a person.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) approval_id: SharedStr,
    pub(super) session: SharedStr,
    pub(super) stream: StreamKey,
    /// The call in question.
    pub(super) call: Option<SharedStr>,
    /// The ids of the options, with their kinds.
    pub(super) options: Vec<(String, String)>,
}

/// Unanswered requests, oldest first.
#[derive(Debug)]
pub(super) struct Pending<R> {
    by_id: NameMap<(u64, R)>,
    order: VecDeque<(u64, SharedStr)>,
    next: u64,
}

impl<R> Default for Pending<R> {
    fn default() -> Self {
        Self { by_id: NameMap::default(), order: VecDeque::new(), next: 0 }
    }
}

impl<R> Pending<R> {
    pub(super) fn insert(&mut self, id: SharedStr, request: R) {
        self.next += 1;
        self.order.push_back((self.next, id.clone()));
        self.by_id.insert(id, (self.next, request));
        while self.order.len() > MOST {
            let Some((number, id)) = self.order.pop_front() else { break };
            if self.by_id.get(&id).is_some_and(|(of, _)| *of == number) {
                self.by_id.remove(&id);
            }
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<&R> {
        self.by_id.get(id).map(|(_, request)| request)
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<R> {
        self.by_id.remove(id).map(|(_, request)| request)
    }
}

/// The ids of answers, for an input without the client's lines. A client that numbers its requests has one unanswered request
/// for each gap.
#[derive(Debug, Default)]
pub(super) struct Answered {
    /// Every number below is answered, or was never used.
    low: Option<u64>,
    above: BTreeSet<u64>,
    recent: VecDeque<SharedStr>,
    known: super::super::names::NameSet,
}

/// How far ahead of the oldest gap the request of a prompt is searched for.
const AHEAD: u64 = 64;

impl Answered {
    /// Notes an answer. Returns `false` if the same id was answered already.
    pub(super) fn note(&mut self, id: &SharedStr) -> bool {
        if !self.known.insert(id.clone()) {
            return false;
        }
        self.recent.push_back(id.clone());
        if self.recent.len() > MOST
            && let Some(oldest) = self.recent.pop_front()
        {
            self.known.remove(&oldest);
        }
        if let Ok(number) = id.parse::<u64>() {
            let low = self.low.get_or_insert(number);
            if number >= *low && self.above.len() < MOST {
                self.above.insert(number);
            }
            while self.above.remove(low) {
                *low = low.saturating_add(1);
            }
        }
        true
    }

    /// Whether requests have numbers.
    pub(super) fn are_numbers(&self) -> bool {
        self.low.is_some()
    }

    /// The smallest number that is not answered and for which `is_taken` is false.
    pub(super) fn next_unanswered(&self, is_taken: impl Fn(u64) -> bool) -> Option<u64> {
        let low = self.low?;
        (low..low.saturating_add(AHEAD)).find(|number| !self.above.contains(number) && !is_taken(*number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u64) -> SharedStr {
        SharedStr::from(number.to_string())
    }

    #[test]
    fn the_oldest_gap_is_the_next_prompt() {
        let mut answered = Answered::default();
        assert_eq!(answered.next_unanswered(|_| false), None);
        for number in [5, 6, 8] {
            assert!(answered.note(&id(number)));
        }
        assert!(!answered.note(&id(6)), "an answer is noted once");
        assert_eq!(answered.next_unanswered(|_| false), Some(7));
        assert_eq!(answered.next_unanswered(|number| number == 7), Some(9));
        answered.note(&id(7));
        assert_eq!(answered.next_unanswered(|_| false), Some(9));
        assert!(answered.note(&SharedStr::from("\"text\"")));
    }

    #[test]
    fn the_oldest_request_is_forgotten() {
        let mut pending = Pending::default();
        for number in 0..=MOST as u64 {
            pending.insert(id(number), number);
        }
        assert_eq!((pending.get("0").copied(), pending.remove("1"), pending.remove("1")), (None, Some(1), None));
    }
}
