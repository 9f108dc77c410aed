//! The ids of a run's tool calls.
//!
//! The model's provider chooses a call's id, and some providers repeat the same one. Only part ids are unique. If another part
//! of the run already uses a call id, the part's id is used instead.

use super::super::names::{NameMap, NameSet};
use crate::frame::{SharedStr, Tool};
use crate::normalizer::Normalizer;
use std::collections::VecDeque;
use uuid::Uuid;

/// The number of call ids remembered per run.
const REMEMBERED: usize = 4096;

/// The call ids of one run, including those of its child sessions.
#[derive(Debug, Default)]
pub(super) struct Calls {
    owners: NameMap<Owner>,
    order: VecDeque<SharedStr>,
    /// The call that waits for each approval.
    waiting: NameMap<SharedStr>,
    /// Refused calls that have not ended yet.
    refused: NameSet,
}

#[derive(Debug)]
struct Owner {
    /// The part that used the id first; `None` if only an approval has mentioned it so far.
    part: Option<SharedStr>,
    /// The newest call with this id.
    newest: Tool,
}

impl Calls {
    /// The ids of a call that a part shows for the first time.
    pub(super) fn claim(&mut self, normalizer: &Normalizer, scope: Uuid, call_id: &str, part: &SharedStr) -> Tool {
        let call_id = if call_id.is_empty() { part } else { call_id };
        match self.owners.get_mut(call_id) {
            Some(owner) if owner.part.is_none() || owner.part.as_ref() == Some(part) => {
                owner.part = Some(part.clone());
                owner.newest.clone()
            }
            Some(owner) => {
                owner.newest = normalizer.tool(scope, part);
                owner.newest.clone()
            }
            None => self.add(normalizer.tool(scope, call_id), Some(part.clone())),
        }
    }

    /// Notes that a call uses another id than the one derived from its own.
    pub(super) fn renamed(&mut self, tool: &Tool) {
        if let Some(owner) = self.owners.get_mut(&tool.call_id) {
            owner.newest = tool.clone();
        }
    }

    /// The newest call with this id, which may not have been shown yet.
    pub(super) fn newest(&mut self, normalizer: &Normalizer, scope: Uuid, call_id: &str) -> Tool {
        match self.owners.get(call_id) {
            Some(owner) => owner.newest.clone(),
            None => self.add(normalizer.tool(scope, call_id), None),
        }
    }

    /// Notes that a call waits for an approval.
    pub(super) fn waits(&mut self, approval_id: &str, tool: &Tool) {
        self.waiting.insert(SharedStr::from(approval_id), tool.call_id.clone());
    }

    /// Notes the answer to an approval.
    pub(super) fn answered(&mut self, approval_id: &str, approved: bool) {
        if let Some(call_id) = self.waiting.remove(approval_id)
            && !approved
        {
            self.refused.insert(call_id);
        }
    }

    /// Whether a call that ends now was refused. Forgets the refusal.
    pub(super) fn was_refused(&mut self, tool: &Tool) -> bool {
        self.refused.remove(&tool.call_id)
    }

    fn add(&mut self, tool: Tool, part: Option<SharedStr>) -> Tool {
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
