//! The decoder: tells entries of session files from records of the stream, and passes each to the module for its type.
//!
//! Input: records. Output: each record assigned to its run, or to its session's thread stream. Never: a record of an unknown type
//! treated as an error of the stream; it is kept, with a note.

use super::super::clock::Clock;
use super::entry;
use super::run::{Runs, lost};
use super::written_ms;
use crate::decode::{Decoder, Record};
use crate::frame::{Body, ErrorReported, ErrorScope, LogLevel, SharedStr};
use crate::json::{Kind, Object};
use crate::normalizer::{Normalizer, RunEnd, Target};
use crate::sequence::StreamKey;

/// Decodes the stream and the session files of pi.
#[derive(Debug, Default)]
pub(super) struct Pi {
    pub(super) runs: Runs,
    /// Most records of the stream have no time.
    pub(super) clock: Clock,
    /// When the session was forked from another one, in milliseconds; `None` if it was not.
    pub(super) forked_ms: Option<u64>,
}

impl Decoder for Pi {
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        if record.json.kind() != Kind::Object {
            return;
        }
        let fields = &record.fields;
        self.clock.begin(normalizer);
        if entry::is_entry(fields) {
            self.entry(fields, normalizer);
        } else {
            self.stream_record(fields, normalizer);
        }
        let stream = self.runs.stream(normalizer);
        normalizer.record_on(stream);
    }

    fn give_up(&mut self, run: StreamKey, end: RunEnd, normalizer: &mut Normalizer) {
        match self.runs.open.take_if(|open| open.key == run) {
            Some(open) => open.end(end, normalizer),
            None => normalizer.end_run(run, end),
        }
    }

    fn end(&mut self, normalizer: &mut Normalizer) {
        match self.runs.open.as_ref().map(|run| run.key) {
            Some(run) => normalizer.at_last_frame(run, |normalizer| self.input_over(normalizer)),
            None => self.input_over(normalizer),
        }
    }
}

impl Pi {
    fn stream_record(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        match &*fields.str("type").unwrap_or_default() {
            "session" => self.session(fields, normalizer),
            "agent_start" => self.agent_start(normalizer),
            "turn_start" => drop(self.runs.ensure(normalizer)),
            "message_start" => self.message_start(fields, normalizer),
            "message_update" => self.message_update(fields, normalizer),
            "message_end" => self.message_end(fields, normalizer),
            "tool_execution_start" => self.tool_start(fields, normalizer),
            "tool_execution_update" => self.tool_update(fields, normalizer),
            "tool_execution_end" => self.tool_end(fields, normalizer),
            "turn_end" => self.turn_end(normalizer),
            "agent_end" => self.agent_end(fields, normalizer),
            "agent_settled" => self.settle(normalizer),
            "auto_retry_start" => self.retry(fields, normalizer),
            "compaction_end" => self.compacted(fields, normalizer),
            "response" => self.response(fields, normalizer),
            "extension_ui_request" => self.extension_asks(fields, normalizer),
            "extension_error" => {
                let error = fields.str("error").unwrap_or_default();
                self.log(LogLevel::Warn, &error, normalizer);
            }
            // They say nothing that a frame has, or announce what the next records say.
            "auto_retry_end"
            | "bash_execution_update"
            | "compaction_start"
            | "entry_appended"
            | "queue_update"
            | "session_info_changed"
            | "summarization_retry_attempt_start"
            | "summarization_retry_finished"
            | "summarization_retry_scheduled"
            | "thinking_level_changed" => {}
            "" => normalizer.unknown("a record without a type"),
            other => normalizer.unknown(format!("unknown type {other:?}")),
        }
    }

    /// The first line of the stream of one process, or of a session file.
    fn session(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        if let Some(id) = fields.str("id").filter(|id| !id.is_empty()) {
            self.leave(lost("another session began before the end of the run"), normalizer);
            normalizer.set_session(&id);
            let is_fork = fields.str("parentSession").is_some_and(|parent| !parent.is_empty());
            self.forked_ms = written_ms(fields).filter(|_| is_fork);
        }
    }

    /// The answer to a command on standard input.
    fn response(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        if let Some(session) = fields.object("data").and_then(|data| data.str("sessionId").map(String::from))
            && self.runs.open.is_none()
        {
            normalizer.set_session(&session);
        }
        if fields.bool("success") == Some(false) {
            // A refused prompt begins no run, and one that comes too early is no error of the run that works.
            let error = ErrorReported {
                scope: ErrorScope::Provider,
                code: SharedStr::from("command_refused"),
                message: fields.str("error").unwrap_or_default().into_owned(),
                retryable: false,
                attempt: None,
                max_attempts: None,
                http_status: None,
            };
            let target = Target::main(normalizer.thread());
            normalizer.push(target, Body::ErrorReported(Box::new(error)));
        } else if fields.str("command").as_deref() == Some("bash")
            && let Some(result) = fields.object("data")
        {
            self.client_ran(&result, normalizer);
        }
    }

    /// A command that the client ran itself, beside the agent. It is no call of the model, so it is logged. The answer over `rpc` does not
    /// repeat the command.
    pub(super) fn client_ran(&mut self, result: &Object<'_>, normalizer: &mut Normalizer) {
        let command = result.str("command").filter(|command| !command.is_empty());
        let command = command.map_or_else(|| "a command".to_owned(), |command| format!("`{command}`"));
        let outcome = match result.i64("exitCode") {
            _ if result.bool("cancelled") == Some(true) => "cancelled".to_owned(),
            Some(code) => format!("exit code {code}"),
            None => "no exit code".to_owned(),
        };
        let output = result.str("output").unwrap_or_default();
        let message = format!("the client ran {command} ({outcome})\n{output}");
        self.log(LogLevel::Info, message.trim_end(), normalizer);
    }

    /// Logs a line on the current stream, unless the message is empty.
    pub(super) fn log(&mut self, level: LogLevel, message: &str, normalizer: &mut Normalizer) {
        if !message.is_empty() {
            let target = Target::main(self.runs.stream(normalizer));
            normalizer.push(target, Body::LogEmitted { level, message: message.to_owned() });
        }
    }
}
