//! The decoder: tells the surfaces apart and passes each record to the module for its type.
//!
//! Input: records. Output: each record assigned to its run, or to its session's thread stream. Never: a record of an unknown type
//! treated as an error of the stream; it is kept, with a note.

use super::reply::Fate;
use super::runs::{Runs, lost};
use super::{session_file, time_of};
use crate::decode::{Decoder, Record};
use crate::derived::uuid_v5;
use crate::frame::{Body, LogLevel, SharedStr, Tool};
use crate::json::{Kind, Object};
use crate::normalizer::{Normalizer, RunEnd, Target};
use crate::sequence::StreamKey;

/// Decodes all surfaces of Qwen Code.
#[derive(Debug, Default)]
pub(super) struct Qwen {
    pub(super) runs: Runs,
}

impl Decoder for Qwen {
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        if let Some(ms) = time_of(record) {
            normalizer.set_time(ms);
        }
        match record.json.kind() {
            Kind::Object => self.one(&record.fields, record.index, normalizer),
            // All records at once, as printed by `--output-format json`.
            Kind::Array => {
                for item in record.json.items() {
                    if let Some(fields) = item.object() {
                        self.one(&fields, record.index, normalizer);
                    }
                }
            }
            _ => {}
        }
    }

    fn give_up(&mut self, run: StreamKey, end: RunEnd, normalizer: &mut Normalizer) {
        self.end_run(run, end, Fate::Cut, normalizer);
    }

    fn end(&mut self, normalizer: &mut Normalizer) {
        for key in self.runs.keys() {
            if self.runs.run(key).is_some_and(|run| run.file.is_some()) {
                self.end_file_run(key, normalizer);
            } else {
                let unknown = super::runs::lost("the stream ended before the runner said how the run ended");
                self.close(key, Fate::Cut, &unknown, normalizer);
            }
        }
    }
}

impl Qwen {
    fn one(&mut self, fields: &Object<'_>, index: u64, normalizer: &mut Normalizer) {
        if session_file::is_entry(fields) {
            self.entry(fields, index, normalizer);
        } else {
            if let Some(session) = fields.str("session_id").filter(|session| !session.is_empty()) {
                normalizer.set_session(&session);
            }
            self.stream_record(fields, index, normalizer);
        }
        let stream = self.runs.stream(normalizer);
        normalizer.record_on(stream);
        while let Some(oldest) = self.runs.overdue() {
            self.end_run(oldest, lost("too many other runs began after it"), Fate::Cut, normalizer);
        }
    }

    fn stream_record(&mut self, fields: &Object<'_>, index: u64, normalizer: &mut Normalizer) {
        match &*fields.str("type").unwrap_or_default() {
            "assistant" => self.assistant(fields, normalizer),
            "user" => self.user(fields, index, normalizer),
            "stream_event" => self.stream_event(fields, normalizer),
            "system" => self.system(fields, normalizer),
            "result" => self.result(fields, normalizer),
            "control_request" => self.control_request(fields, normalizer),
            "control_response" => self.control_response(fields, normalizer),
            "control_cancel_request" => self.control_cancelled(fields, normalizer),
            "" => normalizer.unknown("a record without a type"),
            other => normalizer.unknown(format!("unknown type {other:?}")),
        }
    }

    /// The place for the frames of a speaker: the main thread, or the subagent of a call. Opens a run if none is open.
    pub(super) fn speaker(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) -> Target {
        let stream = self.runs.ensure(normalizer);
        if let Some(run) = self.runs.run(stream) {
            run.has_content = true;
        }
        let parent = fields.str("parent_tool_use_id").filter(|id| !id.is_empty());
        let parent = parent.map(|id| {
            let call_id = self.agent_call(stream, &id);
            self.agent_begins(stream, &call_id, None, normalizer);
            self.tool(normalizer, stream, call_id).id
        });
        Target { stream, parent }
    }

    /// The ids of a call with this own id. They are derived within the session, so they are the same in every run.
    pub(super) fn tool(&self, normalizer: &Normalizer, stream: StreamKey, call_id: SharedStr) -> Tool {
        let scope = normalizer.session_id_of(stream);
        Tool { id: uuid_v5(&scope, call_id.as_bytes()), call_id }
    }

    /// Logs a line on the current stream, unless the message is empty.
    pub(super) fn log(&mut self, level: LogLevel, message: &str, normalizer: &mut Normalizer) {
        if !message.is_empty() {
            let target = self.runs.main(normalizer);
            normalizer.push(target, Body::LogEmitted { level, message: message.to_owned() });
        }
    }

    /// Ends a run because another one of its session begins. The record belongs to the new one, which this opens.
    pub(super) fn end_earlier_run(&mut self, before: StreamKey, end: RunEnd, normalizer: &mut Normalizer) {
        let key = self.runs.begin(normalizer, "");
        normalizer.record_on(key);
        self.end_run(before, end, Fate::Cut, normalizer);
    }

    /// Closes everything that is open in a run, then its turn. `end` is how the run is going to end.
    pub(super) fn close(&mut self, key: StreamKey, fate: Fate<'_>, end: &RunEnd, normalizer: &mut Normalizer) {
        self.leave_all(key, fate, normalizer);
        normalizer.close_work(key, end);
        self.runs.end_turn(normalizer, key);
    }

    /// Ends a run and forgets its state.
    pub(super) fn end_run(&mut self, key: StreamKey, end: RunEnd, fate: Fate<'_>, normalizer: &mut Normalizer) {
        self.close(key, fate, &end, normalizer);
        let is_totalled = self.runs.run(key).is_none_or(|run| run.is_totalled);
        let spent = normalizer.reported_usage(key).filter(|_| !is_totalled);
        if let (Some(session), Some(spent)) = (self.runs.remove(key), spent) {
            session.add_calls(&spent);
        }
        normalizer.end_run(key, end);
    }
}
