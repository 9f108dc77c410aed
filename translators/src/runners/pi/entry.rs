//! The lines of a session file.
//!
//! Input: entries with an id and a parent. Output: runs, each from a prompt to the next one. The entries are a tree of which only one
//! branch is the conversation; the file's order is the order in which things happened, and that is the order of the frames. Never: a message
//! that a person sent while the agent worked taken for the beginning of another run.

use super::decoder::Pi;
use super::run::Last;
use crate::json::Object;
use crate::normalizer::Normalizer;

/// Whether a record is an entry of a session file.
pub(super) fn is_entry(fields: &Object<'_>) -> bool {
    fields.get("parentId").is_some() && fields.str("id").is_some()
}

impl Pi {
    pub(super) fn entry(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        match &*fields.str("type").unwrap_or_default() {
            "message" => {
                if let Some(message) = fields.object("message") {
                    self.entry_message(&message, normalizer);
                }
            }
            "compaction" => self.summarised(None, fields, normalizer),
            "branch_summary"
            | "context_edit"
            | "custom"
            | "custom_message"
            | "label"
            | "model_change"
            | "session_info"
            | "thinking_level_change"
            | "usage" => {}
            other => normalizer.unknown(format!("unknown entry {other:?}")),
        }
    }

    fn entry_message(&mut self, message: &Object<'_>, normalizer: &mut Normalizer) {
        match &*message.str("role").unwrap_or_default() {
            "user" => {
                let is_over = |last: &Option<Last>| last.as_ref().is_some_and(Last::is_final);
                if self.runs.open.as_ref().is_some_and(|run| is_over(&run.last)) {
                    self.settle(normalizer);
                }
                if self.runs.open.is_none() {
                    self.runs.begin_of_file(normalizer);
                }
                self.user_said(message, normalizer);
            }
            "assistant" => {
                self.report_failure(None, normalizer);
                if self.runs.open.is_none() {
                    self.runs.begin_of_file(normalizer);
                }
                self.reply(message, normalizer);
                self.turn_end(normalizer);
            }
            "toolResult" => {
                if self.runs.open.is_none() {
                    self.runs.begin_of_file(normalizer);
                }
                self.tool_result(message, normalizer);
            }
            "system" | "bashExecution" => {}
            other => normalizer.unknown(format!("unknown role {other:?}")),
        }
    }
}
