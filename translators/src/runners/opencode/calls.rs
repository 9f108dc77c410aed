//! The names of a run's tool calls.
//!
//! A call's id is whatever the model's provider sent, and some providers send the same one again and again. Only a part's
//! id is unique, so a call id that another part of the run already has gives way to the part's id.

use super::super::names::{NameMap, NameSet};
use crate::frame::{Name, Tool};
use crate::ledger::Ledger;
use std::collections::VecDeque;
use uuid::Uuid;

/// How many call ids of a run are remembered.
const REMEMBERED: usize = 4096;

/// The call ids of one run, those of its child sessions among them.
#[derive(Debug, Default)]
pub(super) struct Calls {
    owners: NameMap<Owner>,
    order: VecDeque<Name>,
    /// Which calls wait for which approvals.
    waiting: NameMap<Name>,
    /// Calls that were refused, and have not ended yet.
    refused: NameSet,
}

#[derive(Debug)]
struct Owner {
    /// The part that had the id first; `None` where only an approval spoke of it so far.
    part: Option<Name>,
    /// The newest call under this id.
    newest: Tool,
}

impl Calls {
    /// The names of the call that a part shows for the first time.
    pub(super) fn claim(&mut self, ledger: &Ledger, scope: Uuid, call_id: &str, part: &Name) -> Tool {
        let call_id = if call_id.is_empty() { part } else { call_id };
        match self.owners.get_mut(call_id) {
            Some(owner) if owner.part.is_none() || owner.part.as_ref() == Some(part) => {
                owner.part = Some(part.clone());
                owner.newest.clone()
            }
            Some(owner) => {
                owner.newest = ledger.tool(scope, part);
                owner.newest.clone()
            }
            None => self.add(ledger.tool(scope, call_id), Some(part.clone())),
        }
    }

    /// The newest call under this id, which may still have to show itself.
    pub(super) fn newest(&mut self, ledger: &Ledger, scope: Uuid, call_id: &str) -> Tool {
        match self.owners.get(call_id) {
            Some(owner) => owner.newest.clone(),
            None => self.add(ledger.tool(scope, call_id), None),
        }
    }

    /// A call waits for an approval.
    pub(super) fn waits(&mut self, approval_id: &str, tool: &Tool) {
        self.waiting.insert(Name::from(approval_id), tool.call_id.clone());
    }

    /// The approval was answered.
    pub(super) fn answered(&mut self, approval_id: &str, approved: bool) {
        if let Some(call_id) = self.waiting.remove(approval_id)
            && !approved
        {
            self.refused.insert(call_id);
        }
    }

    /// Whether a call that ends now was refused.
    pub(super) fn was_refused(&mut self, tool: &Tool) -> bool {
        self.refused.remove(&tool.call_id)
    }

    fn add(&mut self, tool: Tool, part: Option<Name>) -> Tool {
        if self.order.len() == REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.owners.remove(&oldest);
        }
        self.order.push_back(tool.call_id.clone());
        self.owners.insert(tool.call_id.clone(), Owner { part, newest: tool.clone() });
        tool
    }
}
