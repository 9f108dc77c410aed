//! The ids of a run's calls.
//!
//! The model's provider chooses the id of a call, and some providers count from the beginning again in each reply or for each
//! subagent. Input: the runner's ids, and who calls. Output: an own id for every call of the run: the runner's for the first call that
//! has it, and one with a number for each further call. Never: an own id for two calls; memory that grows with the run.

use super::super::names::NameMap;
use crate::frame::SharedStr;
use std::collections::VecDeque;
use uuid::Uuid;

/// The number of ids that are remembered per run.
const REMEMBERED: usize = 4096;

/// The ids of one run, including those of its subagents' calls.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    uses: NameMap<Uses>,
    order: VecDeque<SharedStr>,
}

/// The calls with one id of the runner's.
#[derive(Debug)]
struct Uses {
    count: u32,
    /// The own id of the newest call.
    newest: SharedStr,
    /// Who makes it: the main thread, or the subagent of a call.
    caller: Option<Uuid>,
    /// Whether it is still being written: its whole block is to come.
    is_awaited: bool,
    /// The own id of the newest call that starts a subagent.
    agent: Option<SharedStr>,
}

impl CallIds {
    /// The own id of a call that the model begins to write.
    pub(super) fn await_call(&mut self, id: &str, caller: Option<Uuid>) -> SharedStr {
        match self.uses.get_mut(id) {
            Some(uses) if uses.is_awaited && uses.caller == caller => uses.newest.clone(),
            Some(uses) => {
                uses.count = uses.count.saturating_add(1);
                uses.newest = SharedStr::from(format!("{id}#{}", uses.count));
                (uses.caller, uses.is_awaited) = (caller, true);
                uses.newest.clone()
            }
            None => {
                if self.order.len() == REMEMBERED
                    && let Some(oldest) = self.order.pop_front()
                {
                    self.uses.remove(&oldest);
                }
                let own = SharedStr::from(id);
                let uses = Uses { count: 1, newest: own.clone(), caller, is_awaited: true, agent: None };
                self.order.push_back(own.clone());
                self.uses.insert(own.clone(), uses);
                own
            }
        }
    }

    /// The own id of a call that is whole.
    pub(super) fn call(&mut self, id: &str, caller: Option<Uuid>, starts_agent: bool) -> SharedStr {
        let own = self.await_call(id, caller);
        if let Some(uses) = self.uses.get_mut(id) {
            uses.is_awaited = false;
            if starts_agent {
                uses.agent = Some(own.clone());
            }
        }
        own
    }

    /// The own id of the newest call with this id.
    pub(super) fn newest<'i>(&'i self, id: &'i str) -> &'i str {
        self.uses.get(id).map_or(id, |uses| &uses.newest)
    }

    /// Whether several calls have this id.
    pub(super) fn is_repeated(&self, id: &str) -> bool {
        self.uses.get(id).is_some_and(|uses| uses.count > 1)
    }

    /// The own id of the newest call with this id that starts a subagent; `None` if it is the runner's.
    pub(super) fn agent(&self, id: &str) -> Option<SharedStr> {
        self.uses.get(id)?.agent.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_has_an_id_of_its_own() {
        let mut ids = CallIds::default();
        let child = Some(Uuid::from_u128(1));
        assert_eq!(&*ids.await_call("a", None), "a");
        assert_eq!(&*ids.call("a", None, true), "a", "the call that was being written");
        assert_eq!(&*ids.call("a", child, false), "a#2");
        assert_eq!((ids.newest("a"), ids.agent("a").as_deref()), ("a#2", Some("a")));
        assert_eq!(&*ids.await_call("a", child), "a#3", "a call that was whole is another one");
        assert_eq!(&*ids.call("a", None, true), "a#4");
        assert_eq!(ids.agent("a").as_deref(), Some("a#4"));
        assert_eq!((ids.newest("b"), ids.agent("b")), ("b", None));
    }

    #[test]
    fn the_ids_that_are_remembered_are_bounded() {
        let mut ids = CallIds::default();
        for number in 0..=REMEMBERED {
            ids.call(&number.to_string(), None, false);
        }
        assert_eq!((ids.uses.len(), ids.order.len()), (REMEMBERED, REMEMBERED));
    }
}
