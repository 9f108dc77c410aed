//! Task calls whose child session is not known yet, and child sessions whose task call is not known yet.
//!
//! Input: task calls when they appear, and child sessions when they speak. Output: which belongs to which. A call names its
//! child in its metadata, but the child may speak before that, and the first release may name it only at the call's end. Until
//! then, the title of the child's session decides, which begins with the call's description; otherwise the order of arrival
//! decides. Never: one call for two children.

use crate::frame::SharedStr;
use std::collections::{BTreeMap, VecDeque};
use uuid::Uuid;

/// The maximum number of a session's child sessions that may speak before their calls appear.
const AHEAD: usize = 1024;

/// The unmatched task calls and child sessions of one session.
#[derive(Debug, Default)]
pub(super) struct UnmatchedTasks {
    /// Calls without a child, in order of arrival.
    calls: BTreeMap<u64, TaskCall>,
    positions: crate::hash::HashMap<Uuid, u64>,
    next: u64,
    /// Children without a call: the stand-in ids of their calls, and their titles.
    children: VecDeque<(Uuid, Option<Box<str>>)>,
}

/// A task call.
#[derive(Clone, Debug)]
pub(super) struct TaskCall {
    /// The call.
    pub(super) tool: Uuid,
    /// The description of the task.
    pub(super) description: Box<str>,
    /// The kind of agent.
    pub(super) agent: Option<SharedStr>,
    /// The prompt for the child.
    pub(super) task: Option<String>,
}

impl TaskCall {
    /// Whether a child session with this title belongs to the call: `DESCRIPTION (@AGENT subagent)`.
    pub(super) fn is_titled(&self, title: &str) -> bool {
        let rest = title.strip_prefix(&*self.description).filter(|_| !self.description.is_empty());
        rest.is_some_and(|rest| {
            rest.is_empty() || self.agent.as_deref().is_none_or(|agent| rest == format!(" (@{agent} subagent)"))
        })
    }
}

impl UnmatchedTasks {
    /// Adds or updates a call that has not named its child.
    pub(super) fn add(&mut self, call: TaskCall) {
        let position = *self.positions.entry(call.tool).or_insert_with(|| {
            self.next += 1;
            self.next
        });
        self.calls.insert(position, call);
    }

    /// Removes a call that has named its child or is over.
    pub(super) fn remove(&mut self, tool: Uuid) {
        if let Some(position) = self.positions.remove(&tool) {
            self.calls.remove(&position);
        }
    }

    /// Takes the call for a child that speaks; `None` if no call is waiting.
    pub(super) fn claim(&mut self, title: Option<&str>) -> Option<TaskCall> {
        let titled = title.and_then(|title| self.calls.iter().find(|(_, call)| call.is_titled(title)));
        let (&position, _) = titled.or_else(|| self.calls.first_key_value())?;
        let call = self.calls.remove(&position)?;
        self.positions.remove(&call.tool);
        Some(call)
    }

    /// Adds a child whose call is not known; `tool` is the stand-in id of the call.
    pub(super) fn stand_in(&mut self, tool: Uuid, title: Option<Box<str>>) {
        if self.children.len() == AHEAD {
            self.children.pop_front();
        }
        self.children.push_back((tool, title));
    }

    /// Takes the stand-in id for a call that appears for the first time; `None` if no child spoke before it.
    pub(super) fn take_stand_in(&mut self, call: &TaskCall) -> Option<Uuid> {
        let is_titled =
            |(_, title): &(Uuid, Option<Box<str>>)| title.as_deref().is_some_and(|title| call.is_titled(title));
        let at = self.children.iter().position(is_titled).unwrap_or_default();
        self.children.remove(at).map(|(tool, _)| tool)
    }

    /// Takes this stand-in id if no call has it yet.
    pub(super) fn take(&mut self, tool: Uuid) -> Option<Uuid> {
        let at = self.children.iter().position(|(stand_in, _)| *stand_in == tool)?;
        self.children.remove(at).map(|(tool, _)| tool)
    }

    /// Forgets everything, because the run is over.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: u128, description: &str) -> TaskCall {
        let agent = Some(SharedStr::from("general"));
        TaskCall { tool: Uuid::from_u128(number), description: description.into(), agent, task: None }
    }

    #[test]
    fn a_child_is_matched_by_title_and_otherwise_by_order() {
        let mut waiting = UnmatchedTasks::default();
        for (number, description) in [(1, "One"), (2, "Two"), (3, "Three"), (4, "Four")] {
            waiting.add(call(number, description));
        }
        waiting.add(call(2, "Two"));
        let mut claimed = |title: Option<&str>| waiting.claim(title).map(|call| call.tool.as_u128());
        assert_eq!(claimed(Some("Three (@general subagent)")), Some(3));
        assert_eq!(claimed(Some("Two (@other subagent)")), Some(1), "another agent's");
        assert_eq!(claimed(None), Some(2));
        waiting.remove(Uuid::from_u128(4));
        assert!(waiting.claim(None).is_none());
    }

    #[test]
    fn a_call_takes_the_id_of_a_child_that_spoke_first() {
        let mut waiting = UnmatchedTasks::default();
        waiting.stand_in(Uuid::from_u128(7), Some("One (@general subagent)".into()));
        waiting.stand_in(Uuid::from_u128(8), Some("Two (@general subagent)".into()));
        assert_eq!(waiting.take_stand_in(&call(2, "Two")), Some(Uuid::from_u128(8)));
        assert_eq!(waiting.take_stand_in(&call(1, "Anything")), Some(Uuid::from_u128(7)));
        assert_eq!(waiting.take_stand_in(&call(3, "Three")), None);
    }
}
