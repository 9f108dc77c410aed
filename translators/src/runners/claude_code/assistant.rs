//! Model messages as whole frames of one block each, and messages that the runner writes in the model's place.
//!
//! Input: `assistant` records of streams and transcripts. Output: completed blocks, tool calls, errors. Never: an error text
//! reported as the assistant's text; text repeated that the deltas already delivered.

use super::decoder::Claude;
use super::message::Message;
use super::usage::Tokens;
use crate::frame::{Body, LogLevel, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Block, BlockKind, Normalizer, Target};

/// One `assistant` record of either surface.
pub(super) struct AssistantRecord<'r, 'a> {
    /// The provider's message, with the blocks of this record.
    pub(super) message: &'r Object<'a>,
    /// The speaker.
    pub(super) target: Target,
    /// The record's id.
    pub(super) uuid: &'r str,
    /// Whether an interrupt cut the block off.
    pub(super) aborted: bool,
    /// The kind of error that the text describes.
    pub(super) error: Option<&'r str>,
    /// The provider's HTTP status.
    pub(super) http_status: Option<u64>,
    /// The block's index, if the record has one.
    pub(super) index: Option<u32>,
}

/// The text that the runner writes into a transcript when no answer was requested.
const NO_ANSWER: &str = "No response requested.";

impl Claude {
    pub(super) fn assistant_frame(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let parent = fields.str("parent_tool_use_id");
        if parent.is_none() {
            self.runs.ensure(normalizer, "");
        }
        let Some(message) = fields.object("message") else {
            return normalizer.add_error("an assistant record without a message");
        };
        let target = self.target(normalizer, parent.as_deref());
        if let Some(call_id) = &parent {
            self.child_spoke(call_id, fields, normalizer);
        }
        let error = fields.str("error");
        let is_error = fields.bool("is_api_error_message") == Some(true);
        self.assistant(
            &AssistantRecord {
                message: &message,
                target,
                uuid: &fields.str("uuid").unwrap_or_default(),
                aborted: fields.bool("aborted") == Some(true),
                error: error.as_deref().or(is_error.then_some("unknown")),
                http_status: fields.u64("api_error_status"),
                index: None,
            },
            normalizer,
        );
    }

    pub(super) fn assistant(&mut self, record: &AssistantRecord<'_, '_>, normalizer: &mut Normalizer) {
        let model = record.message.str("model");
        if model.as_deref() == Some("<synthetic>") {
            return self.synthetic(record, normalizer);
        }
        let id = record.message.str("id").filter(|id| !id.is_empty());
        let id = id.as_deref().unwrap_or(record.uuid);
        self.runs.enter(normalizer, record.target, id, model.map(|model| SharedStr::from(&*model)));
        if let Some(message) = self.runs.message(record.target) {
            let reason = record.message.str("stop_reason").map(|reason| SharedStr::from(&*reason));
            let newer = reason.is_some() || message.stop_reason.is_none();
            if let Some(usage) = record.message.object("usage").filter(|_| newer) {
                message.tokens.update(Tokens::read(&usage));
            }
            // The figures are final only with a stop reason. Before that, they are those of the start of the message.
            if let Some(reason) = reason {
                message.stop_reason = Some(reason.clone());
                self.stopped(record.target, reason);
                self.count(record.target, normalizer);
            }
        }
        if let Some(text) = record.message.get("content").and_then(Json::str) {
            return self.whole_text(record, id, &text, normalizer);
        }
        for block in record.message.items("content") {
            self.block(record, id, block, normalizer);
        }
    }

    fn block(&mut self, record: &AssistantRecord<'_, '_>, id: &str, json: Json<'_>, normalizer: &mut Normalizer) {
        let target = record.target;
        let Some(block) = json.object() else { return };
        match &*block.str("type").unwrap_or_default() {
            "text" => self.whole_text(record, id, &block.str("text").unwrap_or_default(), normalizer),
            kind @ ("thinking" | "redacted_thinking") => {
                let text = block.str("thinking").unwrap_or_default();
                let index = self.index(record, BlockKind::Reasoning);
                let at = Block::reasoning(id, index);
                if record.aborted {
                    normalizer.cut(target, at, Some(&text));
                } else {
                    let sealed = kind == "redacted_thinking" || block.some("signature").is_some();
                    let opaque = sealed.then(|| json.to_raw());
                    normalizer.complete(target, at, Some(&text), opaque);
                }
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                if let Some(message) = self.runs.message(target) {
                    message.whole_other(block.str("id").as_deref());
                }
                self.acts(target);
                self.call(target, &block, normalizer);
            }
            kind if kind.ends_with("_tool_result") => {
                if let Some(message) = self.runs.message(target) {
                    message.whole_other(None);
                }
                self.server_result(target, &block, normalizer);
            }
            other => {
                normalizer.unknown(format!("unknown block {other:?}"));
                if let Some(message) = self.runs.message(target) {
                    message.whole_other(None);
                }
            }
        }
    }

    fn whole_text(&mut self, record: &AssistantRecord<'_, '_>, id: &str, text: &str, normalizer: &mut Normalizer) {
        let index = self.index(record, BlockKind::Text);
        let block = Block::text(id, index);
        if record.aborted {
            normalizer.cut(record.target, block, Some(text));
        } else {
            normalizer.complete(record.target, block, Some(text), None);
            self.answers(record.target);
        }
    }

    fn index(&mut self, record: &AssistantRecord<'_, '_>, kind: BlockKind) -> u32 {
        self.runs.message(record.target).map_or(0, |message: &mut Message| message.whole(kind, record.index))
    }

    /// Handles text that the runner writes in the model's place: an error, or the output of one of its own commands.
    fn synthetic(&mut self, record: &AssistantRecord<'_, '_>, normalizer: &mut Normalizer) {
        let mut texts = Vec::new();
        if let Some(text) = record.message.get("content").and_then(Json::str) {
            texts.push(text.into_owned());
        }
        for block in record.message.items("content").into_iter().filter_map(Json::object) {
            texts.extend(block.str("text").map(|text| text.into_owned()));
        }
        if let Some(code) = record.error {
            let status = record.http_status.and_then(|status| u16::try_from(status).ok());
            return self.provider_error(record.target, code, texts.join("\n"), status, normalizer);
        }
        let id = record.message.str("id").unwrap_or_default();
        for (text, index) in texts.iter().zip(0..) {
            if text == NO_ANSWER {
                normalizer.push(record.target, Body::LogEmitted { level: LogLevel::Debug, message: text.clone() });
            } else {
                normalizer.complete(record.target, Block::text(&id, index), Some(text), None);
            }
        }
    }

    /// Notes that the main thread produced text, which is its answer unless a call follows.
    fn answers(&mut self, target: Target) {
        if let Some(run) = self.runs.run(target.stream).filter(|_| target.parent.is_none()) {
            run.answered = true;
            run.error = None;
        }
    }

    /// Notes that the main thread is working.
    pub(super) fn acts(&mut self, target: Target) {
        if let Some(run) = self.runs.run(target.stream).filter(|_| target.parent.is_none()) {
            run.answered = false;
        }
    }
}
