//! Who opened a message, a call or an activity: the main thread or a subagent.
//!
//! Input: openers and what continues them, with their `subagentRunId`. Output: a finding if a later event names another subagent. Never:
//! a finding for an event without `subagentRunId`, which belongs to the owner of the item.

use crate::verify::Finding;
use std::collections::HashMap;

/// The owners of the items of one kind. They are known after the item is closed, because the client keeps them for the whole run.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// `None` for the main thread.
    by_id: HashMap<String, Option<String>>,
}

fn differs(findings: &mut Vec<Finding>) {
    let message =
        "the item was opened by another subagent, or by the main thread: its events must carry the same subagentRunId";
    findings.push(Finding::error("owner.differs", "/subagentRunId", message));
}

impl Owners {
    /// An item is opened, perhaps again.
    pub(super) fn open(&mut self, id: &str, subagent: Option<&str>, findings: &mut Vec<Finding>) {
        if self.by_id.contains_key(id) {
            self.within(id, subagent, findings);
        } else {
            self.set(id, subagent);
        }
    }

    /// An event continues or closes an item.
    pub(super) fn within(&self, id: &str, subagent: Option<&str>, findings: &mut Vec<Finding>) {
        let Some(owner) = self.by_id.get(id) else { return };
        if subagent.is_some() && subagent != owner.as_deref() {
            differs(findings);
        }
    }

    /// An item has a new owner.
    pub(super) fn set(&mut self, id: &str, subagent: Option<&str>) {
        self.by_id.insert(id.to_owned(), subagent.map(str::to_owned));
    }

    /// Whether the item is known.
    pub(super) fn has(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// The owner of an item; `None` if the item is unknown.
    pub(super) fn get(&self, id: &str) -> Option<Option<&str>> {
        self.by_id.get(id).map(Option::as_deref)
    }
}
