//! The records of `--output-format stream-json`.
//!
//! Input: records by type. Output: texts, calls, errors, and the run's end. Never: text of a broken attempt taken back; a success
//! without an answer reported as one with it: see [`outcome`](super::outcome).

use super::calls::tool;
use super::decoder::Gemini;
use super::failure;
use super::outcome::{Outcome, end_of};
use super::usage;
use crate::derived::numbered;
use crate::frame::{Body, ErrorScope, LogLevel, SharedStr, UserMessage};
use crate::json::{Json, Object};
use crate::normalizer::{Covers, Normalizer};

impl Gemini {
    /// A record of the stream.
    pub(super) fn stream_record(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        match &*fields.str("type").unwrap_or_default() {
            "init" => self.init(fields, normalizer),
            "message" => self.message_record(fields, normalizer),
            "tool_use" => self.tool_use(fields, normalizer),
            "tool_result" => self.tool_result(fields, normalizer),
            "error" => self.error(fields, normalizer),
            "result" => self.result(fields, normalizer),
            "" => normalizer.unknown("a record without a type"),
            other => normalizer.unknown(format!("unknown type {other:?}")),
        }
    }

    fn init(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        if let Some(session) = fields.str("session_id").filter(|session| !session.is_empty()) {
            normalizer.set_session(&session);
        }
        self.begin("", normalizer);
        let model = fields.str("model").filter(|model| !model.is_empty());
        self.ensure(normalizer).model = model.map(|model| SharedStr::from(&*model));
    }

    fn message_record(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        match &*fields.str("role").unwrap_or_default() {
            "user" => {
                self.end_text(normalizer);
                let target = self.main(normalizer);
                let text = fields.str("content").unwrap_or_default().into_owned();
                let id = normalizer.stream(target.stream).map(|stream| numbered(&stream.id, "prompt-", 0));
                let message_id = SharedStr::from(id.map(|id| id.to_string()).unwrap_or_default());
                let message = UserMessage { message_id, text, attachments: Vec::new() };
                normalizer.push(target, Body::UserMessage(Box::new(message)));
            }
            "assistant" => {
                let piece = fields.get("content").and_then(Json::utf16);
                match piece {
                    Some(piece) => self.says(piece, normalizer),
                    None => normalizer.add_error("a message without text"),
                }
                // The runner writes only pieces; a whole message would be complete.
                if fields.bool("delta") != Some(true) {
                    self.end_text(normalizer);
                }
            }
            other => normalizer.unknown(format!("unknown role {other:?}")),
        }
    }

    fn tool_use(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        self.end_text(normalizer);
        let target = self.speaks(normalizer);
        let name = fields.str("tool_name").unwrap_or_default();
        match fields.str("tool_id").filter(|id| !id.is_empty()) {
            Some(id) => {
                let tool = tool(target, &id, true, normalizer);
                self.called(target, tool, &id, &name, fields.get("parameters"), normalizer);
                self.delegates(&id, None, normalizer);
            }
            None => normalizer.add_error("a call without an id"),
        }
    }

    fn tool_result(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        self.end_text(normalizer);
        let target = self.main(normalizer);
        if let Some(id) = fields.str("tool_id").filter(|id| !id.is_empty()) {
            let outcome = Outcome::of_record(fields);
            let stop = outcome.stop();
            self.returned(target, &id, &outcome, normalizer);
            let run = self.ensure(normalizer);
            run.stop = stop.or_else(|| run.stop.take());
        } else {
            normalizer.add_error("a result without the id of its call");
        }
        let run = self.ensure(normalizer);
        run.is_answered = false;
        run.reply_is_over();
    }

    fn error(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        // The text so far belongs to a reply that was stopped or rejected.
        self.cut_text(normalizer);
        let target = self.main(normalizer);
        let message = fields.str("message").unwrap_or_default();
        let is_warning = fields.str("severity").as_deref() == Some("warning");
        let failure = failure::of_stop(&message).or_else(|| (!is_warning).then(|| failure::invalid(&message)));
        match &failure {
            Some(failure) => normalizer.push(target, failure.body(ErrorScope::Turn)),
            None => {
                let body = Body::LogEmitted { level: LogLevel::Warn, message: message.into_owned() };
                normalizer.push(target, body);
            }
        }
        let run = self.ensure(normalizer);
        run.stop = failure.map(failure::run_end).or_else(|| run.stop.take());
        run.reply_is_over();
    }

    fn result(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let is_error = fields.str("status").as_deref() != Some("success");
        if is_error || self.run(normalizer).is_some_and(|run| run.stop.is_some()) {
            self.cut_text(normalizer);
        } else {
            self.end_text(normalizer);
        }
        let target = self.main(normalizer);
        let error = fields.object("error").map(|error| failure::of_result(&error));
        if let Some(body) = error.as_ref().filter(|_| is_error).and_then(failure::reported) {
            normalizer.push(target, body);
        }
        let stats = fields.object("stats").unwrap_or_default();
        if let Some(usage) = usage::of_result(&stats) {
            normalizer.run_used(target.stream, usage, Covers::Run(None));
        }
        let run = self.ensure(normalizer);
        let end = end_of(is_error, error, run.stop.take(), run.is_answered);
        self.end_run(end, normalizer);
    }
}
