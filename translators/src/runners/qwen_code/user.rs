//! Records in the user's role: results of calls, prompts of subagents, and notices of background work.
//!
//! Input: `user` records of the stream. Output: results of calls, and log lines. The runner never writes the prompt of a person; a recording
//! of both directions has the client's, without a `uuid`. Never: a notice of the runner reported as a person's message.

use super::decoder::Qwen;
use super::reply::Fate;
use crate::frame::{Body, LogLevel, SharedStr, UserMessage};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, Target};

impl Qwen {
    pub(super) fn user(&mut self, fields: &Object<'_>, index: u64, normalizer: &mut Normalizer) {
        let message = fields.object("message").unwrap_or_default();
        let blocks: Vec<_> = message.items("content").into_iter().filter_map(Json::object).collect();
        let results: Vec<_> =
            blocks.iter().filter(|block| block.str("type").as_deref() == Some("tool_result")).collect();
        if results.is_empty() && self.runs.current(normalizer).is_none() {
            if fields.get("uuid").is_none() && fields.str("session_id").is_some_and(|session| !session.is_empty()) {
                return self.asked(text_of(&message, &blocks), index, normalizer);
            }
            // A notice between runs.
            return self.log(LogLevel::Info, &text_of(&message, &blocks), normalizer);
        }
        let target = self.speaker(fields, normalizer);
        self.leave(target, Fate::Complete, normalizer);
        for block in &results {
            self.result_arrived(target, block, normalizer);
        }
        // The text of a subagent's record is its prompt, which its start has.
        if target.parent.is_none() && results.is_empty() {
            self.log(LogLevel::Info, &text_of(&message, &blocks), normalizer);
        }
    }

    /// The client's prompt begins a run.
    fn asked(&mut self, text: String, index: u64, normalizer: &mut Normalizer) {
        let key = self.runs.begin(normalizer, &text);
        normalizer.record_on(key);
        let message_id = SharedStr::from(format!("user-{index}"));
        let message = UserMessage { message_id, text, attachments: Vec::new() };
        normalizer.push(Target::main(key), Body::UserMessage(Box::new(message)));
    }

    fn result_arrived(&mut self, target: Target, block: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(id) = block.str("tool_use_id").filter(|id| !id.is_empty()) else { return };
        let text = block.get("content").map(result_text).unwrap_or_default();
        let is_error = block.bool("is_error") == Some(true);
        let outcome = super::outcome::Outcome::of(is_error, text);
        self.returned(target, &id, outcome, normalizer);
    }
}

/// The text of a message.
fn text_of(message: &Object<'_>, blocks: &[Object<'_>]) -> String {
    if let Some(text) = message.str("content") {
        return text.into_owned();
    }
    let texts: Vec<_> = blocks.iter().filter_map(|block| block.str("text")).collect();
    texts.join("\n")
}

/// The text of a result, which is a string. A list of blocks is read as well.
fn result_text(content: Json<'_>) -> String {
    if let Some(text) = content.str() {
        return text.into_owned();
    }
    let parts = content.items().into_iter().filter_map(Json::object);
    parts.filter_map(|part| part.str("text").map(|text| text.into_owned())).collect::<Vec<_>>().join("\n")
}
