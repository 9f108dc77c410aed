//! Session files: the same conversation in another form, with times, prompts and diffs.
//!
//! Input: the lines of `~/.qwen/projects/**/chats/*.jsonl`. Output: the same calls on the normalizer as for a stream. A file has no
//! record for the end of a run. A run therefore extends from a prompt to the last line before the next one, and counts as completed
//! if the model spoke last and asked for no call. Never: a line that the runner wrote for itself taken for a prompt.

use super::super::gemini_parts::attachment;
use super::decoder::Qwen;
use super::failure;
use super::reply::Fate;
use super::runs::{FileRun, lost};
use super::tasks::TaskEnd;
use super::usage::Tokens;
use crate::frame::{Body, ErrorScope, LogLevel, SharedStr, UserMessage};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, RunEnd, Target};
use crate::sequence::StreamKey;

/// Subtypes of the runner's own bookkeeping, and of what other lines say as well.
const BOOKKEEPING: &[&str] = &[
    "agent_bootstrap",
    "agent_launch_prompt",
    "agent_session_ready",
    "at_command",
    "attribution_snapshot",
    "background_task_completed",
    "branch_checkpoint",
    "custom_title",
    "file_history_snapshot",
    "goal_runtime",
    "goal_state",
    "goal_turn_end",
    "omni_recall",
    "parent_session",
    "rewind",
    "session_artifact_event",
    "session_artifact_snapshot",
    "session_model",
    "session_source",
    "session_sources_snapshot",
    "slash_command",
    "turn_result",
    "user_text_elements",
];

/// Whether a record is a line of a session file.
pub(super) fn is_entry(fields: &Object<'_>) -> bool {
    fields.get("session_id").is_none() && fields.get("sessionId").is_some()
}

impl Qwen {
    pub(super) fn entry(&mut self, fields: &Object<'_>, index: u64, normalizer: &mut Normalizer) {
        if let Some(session) = fields.str("sessionId").filter(|session| !session.is_empty()) {
            normalizer.set_session(&session);
        }
        match &*fields.str("type").unwrap_or_default() {
            "user" => self.user_entry(fields, index, normalizer),
            "assistant" => self.assistant_entry(fields, normalizer),
            "tool_result" => self.result_entry(fields, normalizer),
            "system" => self.system_entry(fields, normalizer),
            "" => normalizer.unknown("a record without a type"),
            other => normalizer.unknown(format!("unknown type {other:?}")),
        }
    }

    /// The stream of the run that a line belongs to. A file may begin within a run.
    pub(super) fn file_run(&mut self, normalizer: &mut Normalizer) -> StreamKey {
        let key = self.runs.ensure(normalizer);
        if let Some(run) = self.runs.run(key) {
            run.has_content = true;
            run.file.get_or_insert_default();
        }
        key
    }

    fn user_entry(&mut self, fields: &Object<'_>, index: u64, normalizer: &mut Normalizer) {
        let text = text_of(fields);
        match fields.str("subtype").as_deref() {
            Some("notification") => return self.notified(&text, normalizer),
            // A prompt that was entered while the model worked.
            Some("mid_turn_user_message") => {
                let key = self.file_run(normalizer);
                return said(Target::main(key), fields, text, index, normalizer);
            }
            Some("cron" | "realtime_message") | None => {}
            Some(known) if BOOKKEEPING.contains(&known) => return self.log(LogLevel::Debug, &text, normalizer),
            Some(other) => {
                normalizer.unknown(format!("unknown user subtype {other:?}"));
                return self.log(LogLevel::Debug, &text, normalizer);
            }
        }
        let before = self.runs.current(normalizer).map(|run| run.key);
        let key = self.runs.begin(normalizer, &text);
        if let Some(run) = self.runs.run(key) {
            run.file = Some(FileRun::default());
        }
        // The record belongs to the run that it begins, even if it ends another.
        normalizer.record_on(key);
        if let Some(before) = before {
            self.end_file_run(before, normalizer);
        }
        said(Target::main(key), fields, text, index, normalizer);
    }

    /// Handles the notice of a finished task, which wakes the model within its run.
    fn notified(&mut self, text: &str, normalizer: &mut Normalizer) {
        if let Some(task_id) = tagged(text, "task-id") {
            let end = TaskEnd {
                task_id,
                call_id: tagged(text, "tool-use-id"),
                status: tagged(text, "status").unwrap_or("completed"),
                summary: tagged(text, "result").or_else(|| tagged(text, "summary")).map(str::to_owned),
            };
            if end.status != "running" {
                self.task_ends(end, normalizer);
            }
        }
        self.log(LogLevel::Debug, text, normalizer);
    }

    fn assistant_entry(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let target = Target::main(self.file_run(normalizer));
        let Some(message) = fields.object("message") else {
            return normalizer.add_error("an assistant record without a message");
        };
        let model = fields.str("model").map(|model| SharedStr::from(&*model));
        let id = fields.str("uuid").unwrap_or_default();
        self.begin_reply(target, &id, model.clone(), normalizer);
        if let Some(file) = self.runs.run(target.stream).and_then(|run| run.file.as_mut()) {
            *file = FileRun { answered: true, ..FileRun::default() };
        }
        let mut has_calls = false;
        for part in message.items("parts").into_iter().filter_map(Json::object) {
            if let Some(call) = part.object("functionCall") {
                has_calls = true;
                self.called(target, &call, normalizer);
            } else if let Some(text) = part.str("text").filter(|text| !text.is_empty()) {
                match part.bool("thought") {
                    Some(true) => self.whole_reasoning(target, &text, normalizer),
                    _ => self.whole_text(target, &text, true, normalizer),
                }
            }
        }
        if let Some(tokens) = fields.object("usageMetadata").and_then(|usage| Tokens::of_metadata(&usage)) {
            normalizer.call_used(target, tokens.call(model));
        }
        self.leave(target, Fate::Complete, normalizer);
        if !has_calls {
            self.runs.end_turn(normalizer, target.stream);
        }
    }

    fn system_entry(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let payload = fields.object("systemPayload").unwrap_or_default();
        match &*fields.str("subtype").unwrap_or_default() {
            "ui_telemetry" => self.telemetry(&payload.object("uiEvent").unwrap_or_default(), normalizer),
            "chat_compression" => {
                let info = payload.object("info").unwrap_or_default();
                let target = self.runs.main(normalizer);
                let body = Body::HistoryCompacted {
                    trigger: info.str("triggerReason").map(|trigger| SharedStr::from(&*trigger)),
                    tokens_before: info.u64("originalTokenCount"),
                    tokens_after: info.u64("newTokenCount"),
                    summary: None,
                };
                normalizer.push(target, body);
            }
            known if BOOKKEEPING.contains(&known) => {}
            "" => normalizer.unknown("a system record without a subtype"),
            other => normalizer.unknown(format!("unknown system subtype {other:?}")),
        }
    }

    /// Handles what the runner measured: a failed model request, or the duration of a call whose result follows.
    fn telemetry(&mut self, event: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(run) = self.runs.current(normalizer) else { return };
        match event.str("event.name").as_deref() {
            Some("qwen-code.api_error") => {
                let key = run.key;
                let child = self.subagent_of(key, event, normalizer);
                let target = child.unwrap_or_else(|| Target::main(key));
                let message = event.str("error_message").or_else(|| event.str("error")).unwrap_or_default();
                let failure = failure::of_request(&message, event.u64("status_code"));
                normalizer.push(target, failure.body(ErrorScope::Turn));
                // A subagent's request that failed ends no run.
                let file = self.runs.run(key).filter(|_| child.is_none()).and_then(|run| run.file.as_mut());
                if let Some(file) = file {
                    *file = FileRun { failure: Some(failure), ..FileRun::default() };
                }
            }
            Some("qwen-code.api_response") => {
                let key = run.key;
                self.subagent_used(key, event, normalizer);
            }
            Some("qwen-code.tool_call") => {
                if let Some(call) = event.str("call_id").and_then(|id| run.calls.get_mut(run.call_ids.newest(&id))) {
                    call.duration_ms = event.u64("duration_ms");
                }
            }
            _ => {}
        }
    }

    /// The subagent whose model call was measured; `None` if it was the main thread.
    fn subagent_of(&mut self, key: StreamKey, event: &Object<'_>, normalizer: &mut Normalizer) -> Option<Target> {
        let (id, name) = (event.str("subagent_id")?, event.str("subagent_name")?);
        // The runner makes the id of a subagent from its name and its call.
        let call_id = self.agent_call(key, id.strip_prefix(&*name)?.strip_prefix('-')?);
        self.agent_begins(key, &call_id, Some(&id), normalizer);
        Some(Target { stream: key, parent: Some(self.tool(normalizer, key, call_id).id) })
    }

    /// Reports the usage of a subagent's model call. That of the main thread is on its own line.
    fn subagent_used(&mut self, key: StreamKey, event: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(tokens) = Tokens::of_telemetry(event) else { return };
        let Some(child) = self.subagent_of(key, event, normalizer) else { return };
        let model = event.str("model").map(|model| SharedStr::from(&*model));
        normalizer.call_used(child, tokens.call(model));
    }

    /// Ends a run of a session file, by what its last lines say.
    pub(super) fn end_file_run(&mut self, key: StreamKey, normalizer: &mut Normalizer) {
        let file = self.runs.run(key).and_then(|run| run.file.take());
        let end = match file {
            Some(FileRun { failure: Some(failure), .. }) => failure.run_end(),
            Some(FileRun { answered: true, .. }) => RunEnd::completed(),
            Some(FileRun { cancelled: true, .. }) => RunEnd::interrupted("interrupted", "interrupted by the user"),
            _ => lost("the session file does not say how the run ended"),
        };
        normalizer.at_last_frame(key, |normalizer| self.end_run(key, end, Fate::Cut, normalizer));
    }
}

/// Reports a person's message.
fn said(target: Target, fields: &Object<'_>, text: String, index: u64, normalizer: &mut Normalizer) {
    let message = fields.object("message").unwrap_or_default();
    let attachments: Vec<_> = message.objects("parts").filter_map(|part| attachment(&part)).collect();
    if text.is_empty() && attachments.is_empty() {
        return;
    }
    let message_id = match fields.str("uuid").filter(|uuid| !uuid.is_empty()) {
        Some(uuid) => SharedStr::from(&*uuid),
        None => SharedStr::from(format!("user-{index}")),
    };
    let message = UserMessage { message_id, text, attachments };
    normalizer.push(target, Body::UserMessage(Box::new(message)));
}

/// The text of a line: its text parts, which the runner splits at what is between them.
fn text_of(fields: &Object<'_>) -> String {
    let message = fields.object("message").unwrap_or_default();
    let parts = message.items("parts").into_iter().filter_map(Json::object);
    let texts: Vec<_> = parts.filter_map(|part| part.str("text").map(|text| text.into_owned())).collect();
    texts.concat()
}

/// The text between a pair of tags.
fn tagged<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(inside)
}
