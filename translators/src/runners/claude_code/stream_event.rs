//! The provider's stream events, which the runner passes on if partial messages are enabled.
//!
//! Input: `stream_event` records. Output: text, reasoning and argument deltas, the message's stop reason and final usage.
//! Never: a new run for closing events that arrive after their stream has ended; a synthetic closing event treated as a regular
//! stop.

use super::decoder::Claude;
use super::message::Content;
use super::usage::Tokens;
use crate::frame::{SharedStr, UsageScope};
use crate::json::{Object, Utf16Text};
use crate::normalizer::{Block, Normalizer, Target};

impl Claude {
    pub(super) fn stream_event(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(event) = fields.object("event") else { return };
        let parent = fields.str("parent_tool_use_id");
        let kind = event.str("type").unwrap_or_default();
        if kind == "message_start" && parent.is_none() {
            self.runs.ensure(normalizer, "");
        }
        let target = self.target(normalizer, parent.as_deref());
        match &*kind {
            "message_start" => self.message_start(&event, target, normalizer),
            "content_block_start" => self.block_start(&event, target, normalizer),
            "content_block_delta" => self.block_delta(&event, target, normalizer),
            "content_block_stop" => {
                if let (Some(message), Some(index)) = (self.runs.message(target), index(&event)) {
                    message.stop(index);
                }
            }
            "message_delta" => self.message_delta(&event, target),
            "message_stop" => self.message_stop(target, normalizer),
            "ping" => {}
            "error" => {
                let error = event.object("error").unwrap_or_default();
                let message = error.str("message").unwrap_or_default().into_owned();
                self.provider_error(target, &error.str("type").unwrap_or_default(), message, None, normalizer);
            }
            other => normalizer.unknown(format!("unknown stream event {other:?}")),
        }
    }

    fn message_start(&mut self, event: &Object<'_>, target: Target, normalizer: &mut Normalizer) {
        let Some(message) = event.object("message") else { return };
        let Some(id) = message.str("id") else { return };
        let model = message.str("model").map(|model| SharedStr::from(&*model));
        if let Some(run) = self.runs.run(target.stream).filter(|_| target.parent.is_none()) {
            run.answered = false;
        }
        self.runs.enter(normalizer, target, &id, model);
        if let (Some(entered), Some(usage)) = (self.runs.message(target), message.object("usage")) {
            entered.tokens.update(Tokens::read(&usage));
        }
    }

    fn block_start(&mut self, event: &Object<'_>, target: Target, normalizer: &mut Normalizer) {
        let Some(block) = event.object("content_block") else { return };
        let Some(index) = index(event) else { return };
        let content = match &*block.str("type").unwrap_or_default() {
            "text" => Content::Text,
            "thinking" | "redacted_thinking" => Content::Reasoning,
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let Some(id) = block.str("id") else { return };
                let tool = self.new_tool(normalizer, target, &id);
                Content::Tool { tool, name: SharedStr::from(&*block.str("name").unwrap_or_default()) }
            }
            _ => Content::Other,
        };
        let first = match content {
            Content::Text => block.get("text"),
            Content::Reasoning => block.get("thinking"),
            Content::Tool { .. } | Content::Other => None,
        };
        let Some(message) = self.runs.message(target) else { return };
        message.start(index, content);
        if let Some(text) = first.and_then(crate::json::Json::utf16) {
            self.append(index, text, target, normalizer);
        }
    }

    fn block_delta(&mut self, event: &Object<'_>, target: Target, normalizer: &mut Normalizer) {
        let Some(delta) = event.object("delta") else { return };
        let Some(index) = index(event) else { return };
        let key = match &*delta.str("type").unwrap_or_default() {
            "text_delta" => "text",
            "thinking_delta" => "thinking",
            "input_json_delta" => "partial_json",
            // The whole block contains them.
            "signature_delta" | "citations_delta" => return,
            other => return normalizer.unknown(format!("unknown delta {other:?}")),
        };
        if let Some(text) = delta.get(key).and_then(crate::json::Json::utf16) {
            self.append(index, text, target, normalizer);
        }
    }

    fn append(&mut self, index: u32, text: Utf16Text, target: Target, normalizer: &mut Normalizer) {
        let Some(message) = self.runs.message(target) else { return };
        let Some(open) = message.block(index) else { return };
        let empty = text.text.is_empty() && text.low.is_none() && text.high.is_none();
        match &open.content {
            _ if empty => {}
            Content::Text => normalizer.delta(target, Block::text(&message.id, index), text),
            Content::Reasoning => normalizer.delta(target, Block::reasoning(&message.id, index), text),
            Content::Tool { tool, name } => {
                let (tool, name) = (tool.clone(), name.clone());
                normalizer.tool_input(target, &tool, &name, text);
            }
            Content::Other => {}
        }
    }

    fn message_delta(&mut self, event: &Object<'_>, target: Target) {
        let Some(message) = self.runs.message(target) else { return };
        // The runner closes an abandoned stream with a null stop reason and usage that is not the provider's.
        let Some(reason) =
            event.object("delta").and_then(|delta| delta.str("stop_reason").map(|at| SharedStr::from(&*at)))
        else {
            return;
        };
        if let Some(usage) = event.object("usage") {
            message.tokens.update(Tokens::read(&usage));
        }
        message.stop_reason = Some(reason.clone());
        self.stopped(target, reason);
    }

    fn message_stop(&mut self, target: Target, normalizer: &mut Normalizer) {
        let Some(message) = self.runs.message(target) else { return };
        let Some(reason) = message.stop_reason.clone() else { return self.runs.leave(normalizer, target) };
        self.count(target, normalizer);
        if target.parent.is_none() && is_final(&reason) {
            self.runs.end_turn(normalizer, target.stream);
        }
    }

    /// Notes why the model stopped.
    pub(super) fn stopped(&mut self, target: Target, reason: SharedStr) {
        if let Some(run) = self.runs.run(target.stream).filter(|_| target.parent.is_none()) {
            run.stop_reason = Some(reason);
        }
    }

    /// Reports the message's usage once it is final.
    pub(super) fn count(&mut self, target: Target, normalizer: &mut Normalizer) {
        let Some(message) = self.runs.message(target).filter(|message| !message.counted) else { return };
        if let Some(usage) = message.tokens.report(UsageScope::Turn, message.model.clone(), None) {
            message.counted = true;
            normalizer.call_used(target, usage);
        }
    }
}

/// Whether this stop reason ends the model's turn.
pub(super) fn is_final(stop_reason: &str) -> bool {
    !matches!(stop_reason, "tool_use" | "pause_turn")
}

fn index(event: &Object<'_>) -> Option<u32> {
    event.u64("index").and_then(|index| u32::try_from(index).ok())
}
