//! The document that `--output-format json` prints: a whole run in one record.
//!
//! Input: the document. Output: a run with the last reply's text, its usage and its end. Never: a call; the document only counts them.

use super::decoder::Gemini;
use super::failure;
use super::outcome::end_of;
use super::usage;
use crate::frame::{Body, ErrorScope, LogLevel};
use crate::json::{Json, Kind, Object};
use crate::normalizer::{Block, Covers, Normalizer};

/// Whether a record is such a document. It has no type.
pub(super) fn is_document(fields: &Object<'_>) -> bool {
    let has = |key: &str, kind: Kind| fields.get(key).is_some_and(|value| value.kind() == kind);
    fields.get("type").is_none()
        && (has("response", Kind::String) || has("stats", Kind::Object) || has("error", Kind::Object))
        && has("session_id", Kind::String)
}

impl Gemini {
    /// Reads a whole run.
    pub(super) fn document(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        if let Some(session) = fields.str("session_id").filter(|session| !session.is_empty()) {
            normalizer.set_session(&session);
        }
        self.begin("", normalizer);
        let target = self.main(normalizer);
        let response = fields.str("response").filter(|response| !response.is_empty());
        let total = fields.object("stats").and_then(|stats| usage::of_document(&stats));
        if let Some(text) = &response {
            let run = self.ensure(normalizer);
            run.model = total.as_ref().and_then(|(usage, _)| usage.model.clone());
            run.is_answered = true;
            self.speaks(normalizer);
            let message = self.message(normalizer);
            normalizer.complete(target, Block::text(&message, 0), Some(text), None);
        }
        let mut stopped = None;
        for warning in fields.items("warnings").into_iter().filter_map(Json::str) {
            let stop = failure::of_stop(&warning);
            match stop {
                Some(stop) => {
                    normalizer.push(target, stop.body(ErrorScope::Turn));
                    stopped = Some(failure::run_end(stop));
                }
                None => {
                    let body = Body::LogEmitted { level: LogLevel::Warn, message: warning.into_owned() };
                    normalizer.push(target, body);
                }
            }
        }
        let error = fields.object("error").map(|error| failure::of_result(&error));
        if let Some(body) = error.as_ref().and_then(failure::reported) {
            normalizer.push(target, body);
        }
        if let Some((usage, main)) = total {
            normalizer.run_used(target.stream, usage, Covers::Run(main));
        }
        let end = end_of(error.is_some(), error, stopped, response.is_some());
        self.end_run(end, normalizer);
    }
}
