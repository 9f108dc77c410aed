//! The calls of streams that are read: which call id, tool id and name belong together.
//!
//! Input: the calls in the frames that are taken over. Output: whether another frame names the same call, since some contracts
//! identify calls by one id and some by the other. Never: more than [`REMEMBERED`] calls in memory.

use crate::frame::{SharedStr, Tool};
use crate::hash::HashMap;
use crate::sequence::StreamKey;
use std::collections::VecDeque;
use uuid::Uuid;

/// How many of the newest calls are remembered: more than may be open at once by default.
const REMEMBERED: usize = 16_384;

/// The newest calls.
#[derive(Debug, Default)]
pub(super) struct KnownCalls {
    by_tool: HashMap<(StreamKey, Uuid), Call>,
    by_call: HashMap<(StreamKey, SharedStr), Uuid>,
    in_order: VecDeque<(StreamKey, Uuid)>,
}

#[derive(Debug)]
struct Call {
    call_id: SharedStr,
    /// The name that it was proposed with.
    name: Option<SharedStr>,
}

impl KnownCalls {
    /// Whether no frame of the stream has one of the two ids without the other one.
    pub(super) fn fits(&self, stream: StreamKey, tool: &Tool) -> bool {
        let same_call = self.by_tool.get(&(stream, tool.id)).is_none_or(|call| call.call_id == tool.call_id);
        same_call && self.by_call.get(&(stream, tool.call_id.clone())).is_none_or(|id| *id == tool.id)
    }

    /// The name that a call was proposed with.
    pub(super) fn proposed_name(&self, stream: StreamKey, tool: &Tool) -> Option<&SharedStr> {
        self.by_tool.get(&(stream, tool.id))?.name.as_ref()
    }

    /// Remembers a call, which fits; `name` if it is proposed.
    pub(super) fn note(&mut self, stream: StreamKey, tool: &Tool, name: Option<&SharedStr>) {
        let key = (stream, tool.id);
        if let Some(call) = self.by_tool.get_mut(&key) {
            call.name = name.cloned().or(call.name.take());
            return;
        }
        self.by_tool.insert(key, Call { call_id: tool.call_id.clone(), name: name.cloned() });
        self.by_call.insert((stream, tool.call_id.clone()), tool.id);
        self.in_order.push_back(key);
        if self.in_order.len() > REMEMBERED
            && let Some(oldest) = self.in_order.pop_front()
            && let Some(call) = self.by_tool.remove(&oldest)
        {
            self.by_call.remove(&(oldest.0, call.call_id));
        }
    }
}
