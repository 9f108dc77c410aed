//! Whole blocks: `assistant` records.
//!
//! Input: `assistant` records of the stream, with blocks of one kind each. Output: completed blocks, calls, and the usage of the
//! model call, which only the last record of a reply has. Never: a record that arrives twice emitted twice.

use super::decoder::Qwen;
use super::usage::Tokens;
use crate::frame::SharedStr;
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, Target};

impl Qwen {
    pub(super) fn assistant(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let target = self.speaker(fields, normalizer);
        let Some(message) = fields.object("message") else {
            return normalizer.add_error("an assistant record without a message");
        };
        let id = message.str("id").or_else(|| fields.str("uuid")).unwrap_or_default();
        let Some(run) = self.runs.run(target.stream) else { return };
        if !id.is_empty() && run.last_record.as_deref() == Some(&*id) {
            return;
        }
        run.last_record = Some(SharedStr::from(&*id));
        let blocks = message.items("content");
        // The mark belongs on the record, whose frame precedes those of its blocks.
        let kinds = blocks.iter().filter_map(|block| block.object()).map(|block| block.str("type"));
        for kind in kinds.filter(|kind| !matches!(kind.as_deref(), Some("text" | "thinking" | "tool_use"))) {
            normalizer.unknown(format!("unknown block {:?}", kind.unwrap_or_default()));
        }
        let model = message.str("model").map(|model| SharedStr::from(&*model));
        self.continue_reply(target, &id, model.clone(), normalizer);
        let tokens = message.object("usage").and_then(|usage| Tokens::of_usage(&usage));
        if let Some(text) = message.get("content").and_then(Json::str) {
            self.whole_text(target, &text, tokens.is_some(), normalizer);
        }
        for block in blocks {
            self.whole_block(target, block, tokens.is_some(), normalizer);
        }
        let is_last = tokens.is_some() || target.parent.is_some();
        self.record_ends(target, is_last, normalizer);
        if let Some(tokens) = tokens {
            normalizer.call_used(target, tokens.call(model));
        }
        if target.parent.is_none()
            && let Some(reason) = message.str("stop_reason")
            && let Some(run) = self.runs.run(target.stream)
        {
            run.stop_reason = Some(SharedStr::from(&*reason));
        }
    }

    fn whole_block(&mut self, target: Target, block: Json<'_>, is_final: bool, normalizer: &mut Normalizer) {
        let Some(block) = block.object() else { return };
        match &*block.str("type").unwrap_or_default() {
            "text" => self.whole_text(target, &block.str("text").unwrap_or_default(), is_final, normalizer),
            // The signature is the subject of the thought, which the text contains.
            "thinking" => self.whole_reasoning(target, &block.str("thinking").unwrap_or_default(), normalizer),
            "tool_use" => {
                self.settle(target, super::reply::Fate::Complete, normalizer);
                self.called(target, &block, normalizer);
            }
            _ => {}
        }
    }
}
