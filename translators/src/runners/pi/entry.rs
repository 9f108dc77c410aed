//! The lines of a session file.
//!
//! Input: entries with an id and a parent. Output: runs, each from a prompt to the next one. The entries are a tree of which only one
//! branch is the conversation; the file's order is the order in which things happened, and that is the order of the frames. Never: a message
//! that a person sent while the agent worked taken for the beginning of another run.

use super::super::failure::Attempt;
use super::decoder::Pi;
use super::message::prompt_of;
use super::run::{Last, lost};
use super::written_ms;
use crate::json::{Json, Object};
use crate::normalizer::Normalizer;

/// Whether a record is an entry of a session file.
pub(super) fn is_entry(fields: &Object<'_>) -> bool {
    fields.get("parentId").is_some() && fields.str("id").is_some()
}

impl Pi {
    pub(super) fn entry(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let written = written_ms(fields);
        if written.is_some_and(|written| self.forked_ms.is_some_and(|forked| written < forked)) {
            // An entry of the session that this one continues.
            return;
        }
        self.clock.at(written, normalizer);
        match &*fields.str("type").unwrap_or_default() {
            "message" => {
                if let Some(message) = fields.object("message") {
                    self.entry_message(&message, written, normalizer);
                }
            }
            "compaction" => self.summarised(None, fields, normalizer),
            "branch_summary" | "usage" => self.spent_beside(fields),
            "custom_message" => self.extension_said(fields, normalizer),
            "context_edit" | "custom" | "label" | "model_change" | "session_info" | "thinking_level_change" => {}
            other => normalizer.unknown(format!("unknown entry {other:?}")),
        }
    }

    fn entry_message(&mut self, message: &Object<'_>, written: Option<u64>, normalizer: &mut Normalizer) {
        match &*message.str("role").unwrap_or_default() {
            "user" => {
                if let Some(run) = self.runs.open.as_ref().map(|run| run.key) {
                    normalizer.at_last_frame(run, |normalizer| self.leave_before_prompt(normalizer));
                }
                self.runs.ensure_asked(&prompt_of(message).0, normalizer);
                self.user_said(message, normalizer);
            }
            "assistant" => {
                self.report_failure(Attempt::default(), normalizer);
                self.runs.ensure_of_file(normalizer);
                // The calls of the reply before this one belong to its turn.
                self.turn_end(normalizer);
                // The message has the time at which it began, and its entry the time at which it was whole.
                self.clock.at(message.u64("timestamp"), normalizer);
                self.reply_begins(message, normalizer);
                self.clock.at(written, normalizer);
                self.reply(message, normalizer);
                self.start_calls_of(message, normalizer);
                if self.runs.open.as_ref().is_some_and(|run| run.last.as_ref().is_some_and(Last::is_final)) {
                    self.turn_end(normalizer);
                }
            }
            "toolResult" => {
                self.runs.ensure_of_file(normalizer);
                self.tool_result(message, normalizer);
            }
            "custom" => self.extension_said(message, normalizer),
            "bashExecution" => self.client_ran(message, normalizer),
            "system" => {}
            other => normalizer.unknown(format!("unknown role {other:?}")),
        }
    }

    /// Ends the run before the message of a person, unless that message may be a part of it: one that came while the agent worked
    /// follows the results of calls.
    fn leave_before_prompt(&mut self, normalizer: &mut Normalizer) {
        let Some(run) = &self.runs.open else { return };
        match &run.last {
            Some(last) if last.is_final() => self.settle(normalizer),
            None if run.is_empty() => {}
            Some(_) if run.calls.is_empty() => {}
            _ => {
                let end = lost("another prompt follows, and the session file has no end of this one");
                if let Some(run) = self.runs.open.take() {
                    run.end(end, normalizer);
                }
            }
        }
    }

    /// The calls of a whole reply run from its end on.
    fn start_calls_of(&mut self, message: &Object<'_>, normalizer: &mut Normalizer) {
        let is_whole = self.runs.open.as_ref().is_some_and(|run| matches!(run.last, Some(Last::Stopped(_))));
        let blocks = message.items("content").into_iter().filter_map(Json::object);
        for call in blocks.filter(|block| is_whole && block.str("type").as_deref() == Some("toolCall")) {
            self.start_known(&call.str("id").unwrap_or_default(), normalizer);
        }
    }
}
