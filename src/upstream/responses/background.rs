//! Responses that continue at the upstream after an answer ended: those requested with `background`, and those whose answer
//! broke off here.
//!
//! Input: the ids of responses in progress, and of responses that clients request again. Output: whether an answer becomes a
//! run. Never: two runs of one answer; more ids than the bound.

use super::asking::Said;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many responses in progress are remembered. The oldest is forgotten first.
const REMEMBERED: usize = 4096;

/// The continuing responses of one upstream.
#[derive(Debug, Default)]
pub(super) struct Background {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What the request for each response said, by the response's id.
    under_way: HashMap<String, Said>,
    order: VecDeque<String>,
    /// The responses whose answers are currently becoming runs.
    claimed: HashSet<String>,
}

impl Background {
    /// Records that a response continues at the upstream.
    pub(super) fn goes_on(&self, id: String, said: Said) {
        let mut state = self.lock();
        if state.under_way.insert(id.clone(), said).is_none() {
            state.order.push_back(id);
        }
        while state.order.len() > REMEMBERED {
            if let Some(oldest) = state.order.pop_front() {
                state.under_way.remove(&oldest);
            }
        }
    }

    /// What the request for a continuing response said; `None` if the response is not known to continue.
    pub(super) fn said(&self, id: &str) -> Option<Said> {
        self.lock().under_way.get(id).cloned()
    }

    /// Forgets a response that has become a run or was deleted.
    pub(super) fn forget(&self, id: &str) {
        let mut state = self.lock();
        if state.under_way.remove(id).is_some() {
            state.order.retain(|known| known != id);
        }
    }

    /// Claims the right to make a run of an answer; `None` if another answer of the response is becoming one.
    pub(super) fn claim(self: &Arc<Self>, id: &str) -> Option<Claimed> {
        let is_first = self.lock().claimed.insert(id.to_owned());
        is_first.then(|| Claimed { background: self.clone(), id: id.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to make a run of an answer, until it is dropped.
#[derive(Debug)]
pub(super) struct Claimed {
    background: Arc<Background>,
    id: String,
}

impl Drop for Claimed {
    fn drop(&mut self) {
        self.background.lock().claimed.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_has_at_most_one_claim() {
        let background = Arc::new(Background::default());
        let claimed = background.claim("a");
        assert!(claimed.is_some() && background.claim("a").is_none() && background.claim("b").is_some());
        drop(claimed);
        assert!(background.claim("a").is_some());
    }

    #[test]
    fn the_oldest_responses_are_forgotten() {
        let background = Background::default();
        let said = |name: &str| Said { header: Some(name.to_owned()), ..Said::default() };
        for nth in 0..=REMEMBERED {
            background.goes_on(nth.to_string(), said("s"));
        }
        assert_eq!((background.said("0"), background.said("1")), (None, Some(said("s"))));
        background.forget("1");
        background.goes_on("2".to_owned(), said("t"));
        assert_eq!((background.said("1"), background.said("2")), (None, Some(said("t"))));
        assert_eq!(background.lock().order.len(), REMEMBERED - 1);
    }
}
