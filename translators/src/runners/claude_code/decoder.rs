//! The decoder: tells the surfaces apart and passes each record to the module for its type.
//!
//! Input: records. Output: each record assigned to its run, or to its session's thread stream. Never: a record of an unknown
//! type treated as a stream error; it is kept, with a note.

use super::agents::Agent;
use super::clock::Clock;
use super::control::Ask;
use super::runs::Runs;
use super::system::Compaction;
use super::tasks::Tasks;
use super::tools::Call;
use super::transcript;
use crate::decode::{Decoder, Record};
use crate::frame::{Body, ErrorReported, ErrorScope, LogLevel, Name, Tool};
use crate::hash::HashMap;
use crate::json::{Kind, Object};
use crate::ledger::{Ledger, Place, RunEnd};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// Decodes all surfaces of Claude Code.
#[derive(Default)]
pub(super) struct Claude {
    pub(super) clock: Clock,
    pub(super) runs: Runs,
    /// Calls that await their result, by the runner's id.
    pub(super) calls: HashMap<Name, Call>,
    /// The number of calls at which those that no longer run are forgotten.
    pub(super) forget_at: usize,
    /// Active subagents, by the id of the call that started them.
    pub(super) agents: HashMap<Name, Agent>,
    /// The number of subagents called so far.
    pub(super) agents_called: u64,
    pub(super) tasks: Tasks,
    /// Questions that await their answer, by the id of the call that they are about.
    pub(super) asks: HashMap<Name, Ask>,
    /// A compaction whose summary may come next.
    pub(super) compaction: Option<Compaction>,
}

impl Decoder for Claude {
    fn record(&mut self, record: &Record<'_>, ledger: &mut Ledger) {
        self.clock.arrive(ledger);
        match record.json.kind() {
            Kind::Object => self.one(&record.fields, record.index, ledger),
            // All frames at once, as printed by `--output-format json --verbose`.
            Kind::Array => {
                for frame in record.json.items() {
                    if let Some(fields) = frame.object() {
                        self.one(&fields, record.index, ledger);
                    }
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, ledger: &mut Ledger) {
        self.flush_compaction(None, ledger);
        self.end_transcript(ledger);
        self.settle_tasks(ledger);
    }
}

impl Claude {
    fn one(&mut self, fields: &Object<'_>, index: u64, ledger: &mut Ledger) {
        self.clock.set(ledger, fields.str("timestamp").as_deref());
        if transcript::is_entry(fields) {
            self.entry(fields, index, ledger);
        } else {
            if let Some(session) = fields.str("session_id") {
                ledger.set_session(&session);
            }
            self.frame(fields, index, ledger);
        }
        let stream = self.runs.stream(ledger);
        ledger.record_on(stream);
        while let Some(oldest) = self.runs.overdue() {
            let end = RunEnd::interrupted(crate::ledger::STREAM_ENDED, "too many other runs began after it");
            self.end_run(ledger, oldest, end);
        }
    }

    fn frame(&mut self, fields: &Object<'_>, index: u64, ledger: &mut Ledger) {
        let kind = fields.str("type").unwrap_or_default();
        if kind != "user" {
            self.flush_compaction(None, ledger);
        }
        match &*kind {
            "assistant" => self.assistant_frame(fields, ledger),
            "user" => self.user_frame(fields, index, ledger),
            "stream_event" => self.stream_event(fields, ledger),
            "system" => self.system(fields, ledger),
            "result" => self.result(fields, ledger),
            "control_request" => self.control_request(fields, ledger),
            "control_response" => self.control_response(fields, ledger),
            "control_cancel_request" => self.control_cancelled(fields, ledger),
            "rate_limit_event" => self.rate_limit(fields, ledger),
            "tool_use_summary" => self.log(LogLevel::Info, fields.str("summary"), ledger),
            "prompt_suggestion" => self.log(LogLevel::Debug, fields.str("suggestion"), ledger),
            "conversation_reset" => {
                if let Some(session) = fields.str("new_conversation_id") {
                    self.runs.rename(ledger, &session);
                }
            }
            "auth_status" => {
                if let Some(error) = fields.str("error").filter(|error| !error.is_empty()) {
                    self.log(LogLevel::Warn, Some(error), ledger);
                }
            }
            // The call's own result says more than its heartbeat. The other types are protocol or host bookkeeping.
            "tool_progress" | "command_lifecycle" | "keep_alive" | "active_goal" | "transcript_mirror"
            | "tombstone" | "task_assignment" | "task_completed" | "attachment" => {}
            // An error of the runner itself, in the form that the API uses.
            "error" => {
                let place = Place::main(self.runs.stream(ledger));
                let error = fields.object("error");
                let of = |key: &str| error.as_ref().and_then(|error| error.str(key)).or_else(|| fields.str(key));
                let code = error.as_ref().and_then(|error| error.str("type").or_else(|| error.str("code")));
                let message = of("message").or_else(|| fields.str("error")).unwrap_or_default().into_owned();
                self.provider_error(place, code.as_deref().unwrap_or("error"), message, None, ledger);
            }
            "" => ledger.unknown("a record without a type"),
            other => ledger.unknown(format!("unknown type {other:?}")),
        }
    }

    /// The place for the frames of a speaker. Frames of a subagent belong to the run that started it, or to the session's
    /// thread once that run has ended.
    pub(super) fn place(&mut self, ledger: &mut Ledger, parent_call: Option<&str>) -> Place {
        let Some(call_id) = parent_call else { return Place::main(self.runs.stream(ledger)) };
        let agent = self.agents.get(call_id).map(|agent| agent.place.stream);
        let known = agent.or_else(|| self.calls.get(call_id).map(|call| call.place.stream));
        let stream = match known {
            Some(stream) if ledger.is_open(stream) => stream,
            Some(_) => ledger.thread(),
            None => self.runs.stream(ledger),
        };
        let parent = self.tool(ledger, Place::main(stream), call_id).id;
        Place { stream, parent: Some(parent) }
    }

    /// The ids of a call. They are derived within the session, so they are the same in every run.
    pub(super) fn tool(&self, ledger: &Ledger, place: Place, call_id: &str) -> Tool {
        let scope = ledger.stream(place.stream).map_or(Uuid::nil(), |stream| stream.session.id);
        ledger.tool(scope, call_id)
    }

    /// Logs a line on the current stream, unless the message is empty.
    pub(super) fn log(&mut self, level: LogLevel, message: Option<impl Into<String>>, ledger: &mut Ledger) {
        if let Some(message) = message.map(Into::into).filter(|message: &String| !message.is_empty()) {
            let place = Place::main(self.runs.stream(ledger));
            ledger.push(place, Body::LogEmitted { level, message });
        }
    }

    /// Reports an error of the provider, or of the runner in its place, within the turn. The run may continue.
    pub(super) fn provider_error(
        &mut self,
        place: Place,
        code: &str,
        message: String,
        http_status: Option<u16>,
        ledger: &mut Ledger,
    ) {
        let code = Name::from(if code.is_empty() { "unknown" } else { code });
        if let Some(run) = self.runs.run(place.stream).filter(|_| place.parent.is_none()) {
            run.error = Some((code.clone(), message.clone()));
        }
        let retryable = is_retryable(&code);
        let body = ErrorReported {
            scope: ErrorScope::Turn,
            code,
            message,
            retryable,
            attempt: None,
            max_attempts: None,
            http_status,
        };
        ledger.push(place, Body::ErrorReported(Box::new(body)));
    }

    /// Ends a run and forgets the state that only it used.
    pub(super) fn end_run(&mut self, ledger: &mut Ledger, key: StreamKey, end: RunEnd) {
        self.runs.end(ledger, key, end);
        self.calls.retain(|_, call| call.place.stream != key);
        self.asks.retain(|_, ask| ask.place.stream != key);
        self.agents.retain(|_, agent| agent.place.stream != key || agent.background);
    }
}

/// Whether a retry may help.
pub(super) fn is_retryable(code: &str) -> bool {
    matches!(code, "rate_limit" | "overloaded" | "server_error" | "rate_limit_error" | "overloaded_error" | "api_error")
}
