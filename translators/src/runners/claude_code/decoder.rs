//! The decoder: tells the surfaces apart and passes each record to the module for its type.
//!
//! Input: records. Output: each record assigned to its run, or to its session's thread stream. Never: a record of an unknown
//! type treated as a stream error; it is kept, with a note.

use super::agents::Agent;
use super::call_keys::CallKeys;
use super::clock::Clock;
use super::control::PendingQuestion;
use super::history::History;
use super::runs::Runs;
use super::side_chains::SideChains;
use super::system::Compaction;
use super::tasks::Tasks;
use super::tools::Call;
use super::transcript;
use crate::decode::{Decoder, Record};
use crate::frame::{Body, ErrorReported, ErrorScope, LogLevel, SharedStr, Tool};
use crate::hash::HashMap;
use crate::json::{Kind, Object};
use crate::normalizer::{Normalizer, RunEnd, Target};
use crate::sequence::StreamKey;
use std::borrow::Cow;

/// Decodes all surfaces of Claude Code.
#[derive(Default)]
pub(super) struct Claude {
    pub(super) clock: Clock,
    pub(super) runs: Runs,
    pub(super) keys: CallKeys,
    /// Calls that await their result, by the key of their id.
    pub(super) calls: HashMap<SharedStr, Call>,
    /// The number of calls at which those that no longer run are forgotten.
    pub(super) forget_at: usize,
    /// Active subagents, by the key of the call that started them.
    pub(super) agents: HashMap<SharedStr, Agent>,
    /// The number of subagents called so far.
    pub(super) agents_called: u64,
    pub(super) side_chains: SideChains,
    pub(super) history: History,
    pub(super) tasks: Tasks,
    /// Questions that await their answer, by the key of the call that they are about.
    pub(super) asks: HashMap<SharedStr, PendingQuestion>,
    /// A compaction whose summary may come next.
    pub(super) compaction: Option<Compaction>,
}

impl Decoder for Claude {
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        self.clock.arrive(normalizer);
        match record.json.kind() {
            Kind::Object => self.one(&record.fields, record.index, normalizer),
            // All frames at once, as printed by `--output-format json --verbose`.
            Kind::Array => {
                for frame in record.json.items() {
                    if let Some(fields) = frame.object() {
                        self.one(&fields, record.index, normalizer);
                    }
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, normalizer: &mut Normalizer) {
        self.flush_compaction(None, normalizer);
        self.end_transcript(normalizer);
        self.settle_tasks(normalizer);
    }
}

impl Claude {
    fn one(&mut self, fields: &Object<'_>, index: u64, normalizer: &mut Normalizer) {
        let stays = transcript::is_beside_the_run(fields)
            && self.runs.current(normalizer).is_some()
            && self.clock.stay(normalizer);
        if !stays {
            self.clock.set(normalizer, fields.str("timestamp").as_deref());
        }
        if transcript::is_entry(fields) {
            self.entry(fields, index, normalizer);
        } else {
            if let Some(session) = fields.str("session_id") {
                normalizer.set_session(&session);
            }
            self.frame(fields, index, normalizer);
        }
        let stream = self.runs.stream(normalizer);
        normalizer.record_on(stream);
        while let Some(oldest) = self.runs.overdue() {
            let end = RunEnd::interrupted(crate::normalizer::STREAM_ENDED, "too many other runs began after it");
            self.end_run(normalizer, oldest, end);
        }
    }

    fn frame(&mut self, fields: &Object<'_>, index: u64, normalizer: &mut Normalizer) {
        let kind = fields.str("type").unwrap_or_default();
        if kind != "user" {
            self.flush_compaction(None, normalizer);
        }
        match &*kind {
            "assistant" => self.assistant_frame(fields, normalizer),
            "user" => self.user_frame(fields, index, normalizer),
            "stream_event" => self.stream_event(fields, normalizer),
            "system" => self.system(fields, normalizer),
            "result" => self.result(fields, normalizer),
            "control_request" => self.control_request(fields, normalizer),
            "control_response" => self.control_response(fields, normalizer),
            "control_cancel_request" => self.control_cancelled(fields, normalizer),
            "rate_limit_event" => self.rate_limit(fields, normalizer),
            "tool_use_summary" => self.log(LogLevel::Info, fields.str("summary"), normalizer),
            "prompt_suggestion" => self.log(LogLevel::Debug, fields.str("suggestion"), normalizer),
            "conversation_reset" => {
                if let Some(session) = fields.str("new_conversation_id") {
                    self.keys.rename(&normalizer.session(), &session);
                    self.runs.rename(normalizer, &session);
                }
            }
            "auth_status" => {
                if let Some(error) = fields.str("error").filter(|error| !error.is_empty()) {
                    self.log(LogLevel::Warn, Some(error), normalizer);
                }
            }
            // The call's own result says more than its heartbeat. The other types are protocol or host bookkeeping.
            "tool_progress" | "command_lifecycle" | "keep_alive" | "active_goal" | "transcript_mirror"
            | "tombstone" | "task_assignment" | "task_completed" | "attachment" => {}
            // An error of the runner itself, in the form that the API uses.
            "error" => {
                let target = Target::main(self.runs.stream(normalizer));
                let error = fields.object("error");
                let of = |key: &str| error.as_ref().and_then(|error| error.str(key)).or_else(|| fields.str(key));
                let code = error.as_ref().and_then(|error| error.str("type").or_else(|| error.str("code")));
                let message = of("message").or_else(|| fields.str("error")).unwrap_or_default().into_owned();
                self.provider_error(target, code.as_deref().unwrap_or("error"), message, None, normalizer);
            }
            "" => normalizer.unknown("a record without a type"),
            other => normalizer.unknown(format!("unknown type {other:?}")),
        }
    }

    /// The place for the frames of a speaker. Frames of a subagent belong to the run that started it, or to the session's
    /// thread once that run has ended.
    pub(super) fn target(&mut self, normalizer: &mut Normalizer, parent_call: Option<&str>) -> Target {
        let Some(call_id) = parent_call else { return Target::main(self.runs.stream(normalizer)) };
        let key = self.key(call_id, normalizer);
        let agent = self.agents.get(&*key).map(|agent| (agent.target.stream, agent.tool.id));
        let known = agent.or_else(|| self.calls.get(&*key).map(|call| (call.target.stream, call.tool.id)));
        let (known, called) = known.unzip();
        let stream = match known {
            Some(stream) if normalizer.is_open(stream) => stream,
            Some(_) => normalizer.thread(),
            None => self.runs.stream(normalizer),
        };
        let parent = called.unwrap_or_else(|| self.tool(normalizer, Target::main(stream), call_id).id);
        Target { stream, parent: Some(parent) }
    }

    /// The key of a call in the current session.
    pub(super) fn key<'k>(&mut self, call_id: &'k str, normalizer: &Normalizer) -> Cow<'k, str> {
        self.keys.key(&normalizer.session(), call_id)
    }

    /// The ids of the newest call with this id. They are derived within the session, so they are the same in every run.
    pub(super) fn tool(&self, normalizer: &Normalizer, target: Target, call_id: &str) -> Tool {
        normalizer.newest_tool(target.stream, normalizer.session_id_of(target.stream), call_id)
    }

    /// The ids of a call that the model makes.
    pub(super) fn new_tool(&self, normalizer: &mut Normalizer, target: Target, call_id: &str) -> Tool {
        let scope = normalizer.session_id_of(target.stream);
        normalizer.tool_of_new_call(target, scope, call_id)
    }

    /// Logs a line on the current stream, unless the message is empty.
    pub(super) fn log(&mut self, level: LogLevel, message: Option<impl Into<String>>, normalizer: &mut Normalizer) {
        if let Some(message) = message.map(Into::into).filter(|message: &String| !message.is_empty()) {
            let target = Target::main(self.runs.stream(normalizer));
            normalizer.push(target, Body::LogEmitted { level, message });
        }
    }

    /// Reports an error of the provider, or of the runner in its place, within the turn. The run may continue.
    pub(super) fn provider_error(
        &mut self,
        target: Target,
        code: &str,
        message: String,
        http_status: Option<u16>,
        normalizer: &mut Normalizer,
    ) {
        let code = SharedStr::from(if code.is_empty() { "unknown" } else { code });
        if let Some(run) = self.runs.run(target.stream).filter(|_| target.parent.is_none()) {
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
        normalizer.push(target, Body::ErrorReported(Box::new(body)));
    }

    /// Ends a run and forgets the state that only it used.
    pub(super) fn end_run(&mut self, normalizer: &mut Normalizer, key: StreamKey, end: RunEnd) {
        self.runs.end(normalizer, key, end);
        self.calls.retain(|_, call| call.target.stream != key);
        self.asks.retain(|_, ask| ask.target.stream != key);
        self.agents.retain(|_, agent| agent.target.stream != key || agent.background);
    }
}

/// Whether a retry may help.
pub(super) fn is_retryable(code: &str) -> bool {
    matches!(code, "rate_limit" | "overloaded" | "server_error" | "rate_limit_error" | "overloaded_error" | "api_error")
}
