//! One response: a run.
//!
//! In: what the dispatcher found out about an event. Out: calls on the ledger. Never: a contract's view.

use super::items::Items;
use crate::frame::{Name, Tool};
use crate::ledger::{Ledger, Place};
use crate::sequence::StreamKey;

/// One response that has not ended.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) stream: StreamKey,
    /// The response's id, as it was told first.
    pub(super) id: Option<Name>,
    /// Its `response.created` has come.
    pub(super) created: bool,
    pub(super) model: Option<Name>,
    pub(super) items: Items,
    /// The text of the message that spoke last, and which item that is.
    pub(super) final_text: Option<(usize, String)>,
    /// An `error` event has come; `response.failed` ought to follow.
    pub(super) error: Option<super::error::Fault>,
}

impl Run {
    /// A run whose stream is open.
    pub(super) fn new(stream: StreamKey) -> Self {
        Self { stream, id: None, created: false, model: None, items: Items::default(), final_text: None, error: None }
    }

    pub(super) fn place(&self) -> Place {
        Place::main(self.stream)
    }

    /// The names of a call in frames.
    pub(super) fn tool(&mut self, at: usize, ledger: &Ledger) -> Option<Tool> {
        let scope = ledger.stream(self.stream)?.id;
        let item = self.items.get(at)?;
        let call = item.call.as_ref()?;
        if let Some(tool) = &call.tool {
            return Some(tool.clone());
        }
        let call_id = call.call_id.as_ref().unwrap_or(&item.message_id);
        let mut tool = ledger.tool(scope, call_id);
        // A second call of the same id is told apart in frames.
        if self.items.call(call_id).is_some_and(|first| first != at) {
            tool.id = ledger.tool(scope, &format!("{call_id}/{at}")).id;
        }
        self.items.get_mut(at)?.call.as_mut()?.tool = Some(tool.clone());
        Some(tool)
    }
}
