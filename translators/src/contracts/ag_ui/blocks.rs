//! Messages with text and reasoning, one for each block.
//!
//! Input: the pieces and the ends of blocks, of the main thread and of subagents. Output: a message with a fresh id for each block.
//! Never: two messages with one id, or a piece outside a message.

use super::data::{Content, Encrypted, Message, MessageStart, Opaque};
use super::writer::Writer;
use crate::encode::{Data, Events, Word};
use crate::frame::{BlockDelta, BlockText, RawJson, SharedStr};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use uuid::Uuid;

/// The maximum number of open messages. One more closes the oldest; the rest of its block is a message of its own.
const MAX_OPEN: usize = 64;

/// The kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum BlockKind {
    Text,
    Reasoning,
}

/// The open messages.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Blocks {
    open: VecDeque<Block>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    kind: BlockKind,
    /// The call that started the subagent whose block it is.
    thread: Option<Uuid>,
    runner_id: SharedStr,
    block_index: u32,
    id: Uuid,
    subagent: Option<Uuid>,
}

/// The thread of a block: the call that started its subagent, and the subagent's id in events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Thread {
    pub(super) call: Option<Uuid>,
    pub(super) subagent: Option<Uuid>,
}

impl Blocks {
    fn position(&self, kind: BlockKind, thread: Thread, runner_id: &str, block_index: u32) -> Option<usize> {
        let is_same = |block: &Block| {
            block.kind == kind
                && block.block_index == block_index
                && block.thread == thread.call
                && *block.runner_id == *runner_id
        };
        self.open.iter().rposition(is_same)
    }

    /// Emits a piece of a block; returns the message's id if the message is new.
    pub(super) fn delta(
        &mut self,
        kind: BlockKind,
        thread: Thread,
        piece: &BlockDelta,
        writer: &mut Writer,
        out: &mut Events,
    ) -> Option<Uuid> {
        let known = self.position(kind, thread, &piece.message_id, piece.block_index).and_then(|at| self.open.get(at));
        if let Some(block) = known {
            block.content(&piece.delta, writer, out);
            return None;
        }
        if self.open.len() == MAX_OPEN
            && let Some(oldest) = self.open.pop_front()
        {
            oldest.end(None, writer, out);
        }
        let block = Block {
            kind,
            thread: thread.call,
            runner_id: piece.message_id.clone(),
            block_index: piece.block_index,
            id: writer.fresh_id(),
            subagent: thread.subagent,
        };
        block.start(writer, out);
        block.content(&piece.delta, writer, out);
        let id = block.id;
        self.open.push_back(block);
        Some(id)
    }

    /// A block is complete. `opaque` is the provider's own form of its reasoning.
    pub(super) fn complete(
        &mut self,
        kind: BlockKind,
        thread: Thread,
        whole: &BlockText,
        opaque: Option<&RawJson>,
        writer: &mut Writer,
        out: &mut Events,
    ) {
        let at = self.position(kind, thread, &whole.message_id, whole.block_index);
        if let Some(block) = at.and_then(|at| self.open.remove(at)) {
            block.end(opaque, writer, out);
        }
    }

    /// Closes every open message, in the order of their starts.
    pub(super) fn close(&mut self, writer: &mut Writer, out: &mut Events) {
        for block in self.open.drain(..) {
            block.end(None, writer, out);
        }
    }
}

/// Emits a whole message.
pub(super) fn whole(role: &'static str, text: &str, writer: &mut Writer, out: &mut Events) {
    let (subagent, message_id) = (None, writer.fresh_id());
    writer.event("TEXT_MESSAGE_START", &MessageStart { subagent, message_id, role: Word(role) }, out);
    writer.event("TEXT_MESSAGE_CONTENT", &Content { subagent, message_id, delta: text }, out);
    writer.event("TEXT_MESSAGE_END", &Message { subagent, message_id }, out);
}

impl Block {
    fn message(&self) -> Message {
        Message { subagent: self.subagent, message_id: self.id }
    }

    fn start(&self, writer: &mut Writer, out: &mut Events) {
        let (subagent, message_id) = (self.subagent, self.id);
        match self.kind {
            BlockKind::Text => {
                let role = Word("assistant");
                writer.event("TEXT_MESSAGE_START", &MessageStart { subagent, message_id, role }, out);
            }
            BlockKind::Reasoning => {
                let role = Word("reasoning");
                writer.event("REASONING_START", &self.message(), out);
                writer.event("REASONING_MESSAGE_START", &MessageStart { subagent, message_id, role }, out);
            }
        }
    }

    fn content(&self, delta: &str, writer: &mut Writer, out: &mut Events) {
        let kind = match self.kind {
            BlockKind::Text => "TEXT_MESSAGE_CONTENT",
            BlockKind::Reasoning => "REASONING_MESSAGE_CONTENT",
        };
        writer.event(kind, &Content { subagent: self.subagent, message_id: self.id, delta }, out);
    }

    fn end(&self, opaque: Option<&RawJson>, writer: &mut Writer, out: &mut Events) {
        let message: &dyn Data = &self.message();
        match self.kind {
            BlockKind::Text => writer.event("TEXT_MESSAGE_END", message, out),
            BlockKind::Reasoning => {
                writer.event("REASONING_MESSAGE_END", message, out);
                if let Some(opaque) = opaque {
                    let data = Encrypted {
                        subagent: self.subagent,
                        subtype: Word("message"),
                        entity_id: self.id,
                        encrypted_value: Opaque(opaque),
                    };
                    writer.event("REASONING_ENCRYPTED_VALUE", &data, out);
                }
                writer.event("REASONING_END", message, out);
            }
        }
    }
}
