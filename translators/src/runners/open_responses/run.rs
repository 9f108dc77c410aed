//! One response, which is one run.
//!
//! Input: what the dispatcher learned from an event. Output: calls on the normalizer. Never: anything specific to a contract.

use super::items::Items;
use crate::frame::{SharedStr, Tool};
use crate::normalizer::{Normalizer, Target};
use crate::sequence::StreamKey;

/// A response that has not ended.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) stream: StreamKey,
    /// The response's id in the first event about it.
    pub(super) id: Option<SharedStr>,
    /// Whether its `response.created` has arrived.
    pub(super) created: bool,
    pub(super) model: Option<SharedStr>,
    pub(super) items: Items,
    /// Whether the excess of items has been reported.
    pub(super) crowded: bool,
    /// The text of the last message, with the position of its item.
    pub(super) final_text: Option<(usize, String)>,
    /// The error of an `error` event. `response.failed` should follow.
    pub(super) error: Option<super::error::ResponseError>,
}

impl Run {
    /// A run on an open stream.
    pub(super) fn new(stream: StreamKey) -> Self {
        Self {
            stream,
            id: None,
            created: false,
            model: None,
            items: Items::default(),
            crowded: false,
            final_text: None,
            error: None,
        }
    }

    pub(super) fn target(&self) -> Target {
        Target::main(self.stream)
    }

    /// The ids of a call in frames.
    pub(super) fn tool(&mut self, at: usize, normalizer: &Normalizer) -> Option<Tool> {
        let scope = normalizer.stream(self.stream)?.id;
        let item = self.items.get(at)?;
        let call = item.call.as_ref()?;
        if let Some(tool) = &call.tool {
            return Some(tool.clone());
        }
        let call_id = call.call_id.as_ref().unwrap_or(&item.message_id);
        let mut tool = normalizer.tool(scope, call_id);
        // A second call with the same call id gets a different id in frames.
        if self.items.call(call_id).is_some_and(|first| first != at) {
            tool.id = normalizer.tool(scope, &format!("{call_id}/{at}")).id;
        }
        self.items.get_mut(at)?.call.as_mut()?.tool = Some(tool.clone());
        Some(tool)
    }
}
