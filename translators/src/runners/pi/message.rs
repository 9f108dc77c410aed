//! Whole messages of every role.
//!
//! Input: `message_start` and `message_end`, and the messages of session files. Output: prompts, the texts, reasoning, calls and usage of
//! a reply. Never: a message reported twice, because most come at their start and at their end; the text of a failed reply as the
//! run's answer.

use super::decoder::Pi;
use super::failure;
use super::run::{Last, Reply};
use super::usage;
use crate::frame::{Attachment, Body, LogLevel, SharedStr, UserMessage};
use crate::json::{Json, Object};
use crate::normalizer::{Block, Normalizer, Target};

/// What a message of a person contains.
pub(super) fn prompt_of(message: &Object<'_>) -> (String, Vec<Attachment>) {
    if let Some(text) = message.str("content") {
        return (text.into_owned(), Vec::new());
    }
    let (mut text, mut attachments) = (String::new(), Vec::new());
    for part in message.items("content").into_iter().filter_map(Json::object) {
        match &*part.str("type").unwrap_or_default() {
            "text" => text.push_str(&part.str("text").unwrap_or_default()),
            "image" => attachments.push(Attachment {
                kind: SharedStr::from("image"),
                mime: part.str("mimeType").map(|mime| SharedStr::from(&*mime)),
                artifact_id: None,
                name: None,
                bytes: None,
            }),
            _ => {}
        }
    }
    (text, attachments)
}

/// The text parts of a content list, one after the other.
pub(super) fn text_of(content: &[Json<'_>]) -> String {
    let texts = content.iter().filter_map(|part| part.object()?.str("text").map(String::from));
    texts.collect::<Vec<_>>().join("\n")
}

impl Pi {
    pub(super) fn message_start(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(message) = fields.object("message") else { return };
        match &*message.str("role").unwrap_or_default() {
            "assistant" => {
                self.clock.at(message.u64("timestamp"), normalizer);
                self.reply_begins(&message, normalizer);
            }
            "user" => {
                self.clock.at(message.u64("timestamp"), normalizer);
                self.user_said(&message, normalizer);
                self.runs.ensure(normalizer).is_said = true;
            }
            "toolResult" => self.clock.at(message.u64("timestamp"), normalizer),
            "system" | "bashExecution" | "custom" => {}
            other => normalizer.unknown(format!("unknown role {other:?}")),
        }
    }

    pub(super) fn message_end(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(message) = fields.object("message") else { return };
        match &*message.str("role").unwrap_or_default() {
            "assistant" => self.reply(&message, normalizer),
            "user" => {
                let run = self.runs.ensure(normalizer);
                if !std::mem::take(&mut run.is_said) {
                    self.user_said(&message, normalizer);
                }
            }
            "toolResult" => self.tool_result(&message, normalizer),
            "custom" => self.extension_said(&message, normalizer),
            "system" | "bashExecution" => {}
            other => normalizer.unknown(format!("unknown role {other:?}")),
        }
    }

    /// A message of an extension. Some are for the model only.
    pub(super) fn extension_said(&mut self, message: &Object<'_>, normalizer: &mut Normalizer) {
        if message.bool("display") != Some(false) {
            let (text, _) = prompt_of(message);
            self.log(LogLevel::Info, &text, normalizer);
        }
    }

    /// A message of a person.
    pub(super) fn user_said(&mut self, message: &Object<'_>, normalizer: &mut Normalizer) {
        let (text, attachments) = prompt_of(message);
        let run = self.runs.ensure(normalizer);
        let message_id = run.next_message(normalizer);
        let body = UserMessage { message_id, text, attachments };
        normalizer.push(Target::main(run.key), Body::UserMessage(Box::new(body)));
    }

    pub(super) fn reply_begins(&mut self, message: &Object<'_>, normalizer: &mut Normalizer) {
        let run = self.runs.ensure(normalizer);
        let key = run.key;
        let id = run.next_message(normalizer);
        run.reply = Some(Reply::new(id));
        normalizer.turn_started(key, usage::model_of(message));
    }

    /// A whole reply: completes what its pieces began.
    pub(super) fn reply(&mut self, message: &Object<'_>, normalizer: &mut Normalizer) {
        if self.runs.ensure(normalizer).reply.is_none() {
            self.reply_begins(message, normalizer);
        }
        let Some(run) = self.runs.open.as_mut() else { return };
        let Some(reply) = run.reply.take() else { return };
        let target = Target::main(run.key);
        let last = last_of(message);
        let is_whole = matches!(last, Last::Stopped(_));
        for (index, block) in (0_u32..).zip(message.items("content")) {
            let Some(block) = block.object() else { continue };
            match &*block.str("type").unwrap_or_default() {
                "text" | "thinking" if reply.ended.contains(&index) => {}
                "text" => {
                    let text = block.str("text").unwrap_or_default();
                    said(target, Block::text(&reply.id, index), &text, is_whole, normalizer);
                }
                "thinking" => {
                    // The text of redacted reasoning is a note of the runner.
                    let is_redacted = block.bool("redacted") == Some(true);
                    let text = block.str("thinking").filter(|_| !is_redacted).unwrap_or_default();
                    said(target, Block::reasoning(&reply.id, index), &text, is_whole, normalizer);
                }
                // A call of a reply that broke off may not be whole, and is never run.
                "toolCall" if is_whole => self.called(target, &block, normalizer),
                _ => {}
            }
        }
        if let Some(spent) = message.object("usage").and_then(|usage| usage::of(&usage, usage::model_of(message))) {
            normalizer.call_used(target, spent);
        }
        if let Some(run) = self.runs.open.as_mut() {
            if !is_whole {
                run.calls.retain(|_, call| call.is_started);
            }
            run.stop_reason = SharedStr::from(&*message.str("stopReason").unwrap_or_default());
            run.last = Some(last);
        }
    }
}

/// Reports a block, of which pieces may be known. An empty one is nothing.
fn said(target: Target, block: Block<'_>, text: &str, is_whole: bool, normalizer: &mut Normalizer) {
    if text.is_empty() && normalizer.text_so_far(target, block).is_none() {
        return;
    }
    let snapshot = Some(text).filter(|text| !text.is_empty());
    if is_whole {
        normalizer.complete(target, block, snapshot, None);
    } else {
        normalizer.cut(target, block, snapshot);
    }
}

/// How a reply ended.
fn last_of(message: &Object<'_>) -> Last {
    let reason = message.str("stopReason").unwrap_or_default();
    let error = message.str("errorMessage").unwrap_or_default();
    match &*reason {
        "aborted" => Last::Aborted(error.into_owned()),
        // An abort during a call ends the reply after it like this.
        "error" if is_abort(&error) => Last::Aborted(error.into_owned()),
        "error" => {
            let raw = message.str("rawStopReason").unwrap_or_default();
            Last::Failed { failure: failure::read(&error, &raw), is_reported: false }
        }
        _ => Last::Stopped(SharedStr::from(&*reason)),
    }
}

/// Whether the message of an error says that a client aborted the request.
fn is_abort(error: &str) -> bool {
    matches!(error, "This operation was aborted" | "Request was aborted" | "Request was aborted.")
}
