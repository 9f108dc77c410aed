//! One response: a run.
//!
//! In: what the dispatcher found out about an event. Out: calls on the ledger. Never: a contract's view.

use super::items::Items;
use crate::frame::Name;
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

    /// Whether the item is an open call that a frame has to name; gives it its names in frames.
    pub(super) fn tool(&mut self, at: usize, ledger: &Ledger) -> Option<crate::frame::Tool> {
        let scope = ledger.stream(self.stream)?.id;
        let item = self.items.get_mut(at)?;
        let message_id = item.message_id.clone();
        let call = item.call.as_mut()?;
        if call.tool.is_none() {
            let call_id = call.call_id.clone().or(item.id.clone()).unwrap_or(message_id);
            call.tool = Some(ledger.tool(scope, &call_id));
        }
        call.tool.clone()
    }
}
