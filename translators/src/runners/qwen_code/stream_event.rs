//! Partial messages: `stream_event` records.
//!
//! Input: `stream_event` records; one kind of them arrives without partial messages too. Output: text, reasoning and argument deltas,
//! and the beginning and end of turns. The runner begins a message once for a whole reply and numbers blocks from 0 in each record
//! of it. Never: a run opened for an event that says nothing about the conversation.

use super::decoder::Qwen;
use super::reply::Content;
use crate::frame::SharedStr;
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, Target};

impl Qwen {
    pub(super) fn stream_event(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(event) = fields.object("event") else { return };
        let kind = event.str("type").unwrap_or_default();
        match &*kind {
            "message_start" => {
                let target = self.speaker(fields, normalizer);
                let message = event.object("message").unwrap_or_default();
                let model = message.str("model").map(|model| SharedStr::from(&*model));
                self.begin_reply(target, &message.str("id").unwrap_or_default(), model, normalizer);
            }
            "content_block_start" => {
                let target = self.speaker(fields, normalizer);
                self.content_starts(fields, &event, target, normalizer);
            }
            "content_block_delta" => {
                let target = self.speaker(fields, normalizer);
                self.content_grows(&event, target, normalizer);
            }
            // The whole record completes the block.
            "content_block_stop" => {}
            "message_stop" => self.message_stops(fields, normalizer),
            // The state of a goal, and signs of life of a call, whose result says more.
            "goal_state" | "tool_progress" => {}
            other => normalizer.unknown(format!("unknown stream event {other:?}")),
        }
    }

    fn content_starts(&mut self, fields: &Object<'_>, event: &Object<'_>, target: Target, normalizer: &mut Normalizer) {
        let (Some(block), Some(index)) = (event.object("content_block"), index(event)) else { return };
        let content = match &*block.str("type").unwrap_or_default() {
            "text" => Content::Text,
            "thinking" => Content::Reasoning,
            "tool_use" => {
                let Some(id) = block.str("id").filter(|id| !id.is_empty()) else { return };
                let Some(run) = self.runs.run(target.stream) else { return };
                let open = run.open_call(&id, target.parent).map(|call| call.tool.call_id.clone());
                let own = open.unwrap_or_else(|| run.call_ids.await_call(&id, target.parent));
                let tool = self.tool(normalizer, target.stream, own);
                Content::Tool { tool, name: SharedStr::from(&*block.str("name").unwrap_or_default()) }
            }
            other => return normalizer.unknown(format!("unknown block {other:?}")),
        };
        // A subagent's message has no start, and an input may begin within a message.
        self.continue_reply(target, &fields.str("uuid").unwrap_or_default(), None, normalizer);
        let first = block.get(if matches!(content, Content::Reasoning) { "thinking" } else { "text" });
        self.block_starts(target, index, content, normalizer);
        if let Some(text) = first.and_then(Json::utf16) {
            self.block_grows(target, index, text, normalizer);
        }
    }

    fn content_grows(&mut self, event: &Object<'_>, target: Target, normalizer: &mut Normalizer) {
        let (Some(delta), Some(index)) = (event.object("delta"), index(event)) else { return };
        let key = match &*delta.str("type").unwrap_or_default() {
            "text_delta" => "text",
            "thinking_delta" => "thinking",
            "input_json_delta" => "partial_json",
            other => return normalizer.unknown(format!("unknown delta {other:?}")),
        };
        if let Some(piece) = delta.get(key).and_then(Json::utf16) {
            self.block_grows(target, index, piece, normalizer);
        }
    }

    /// Ends a reply, and its turn if it asked for no call. A text whose fate is unknown stays open until the next record.
    fn message_stops(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        if fields.some("parent_tool_use_id").is_some() {
            return;
        }
        let Some(key) = self.runs.current(normalizer).map(|run| run.key) else { return };
        let target = Target::main(key);
        self.record_ends(target, true, normalizer);
        if self.reply(target).is_some_and(|reply| reply.is_answered()) {
            self.runs.end_turn(normalizer, key);
        }
    }
}

fn index(event: &Object<'_>) -> Option<u32> {
    event.u64("index").and_then(|index| u32::try_from(index).ok())
}
