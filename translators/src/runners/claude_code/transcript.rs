//! Session transcripts: the same conversation in another envelope.
//!
//! Input: the lines of `~/.claude/projects/**.jsonl`. Output: the same calls on the normalizer as for a stream. Transcripts have no
//! record for the end of a run. A run therefore extends from a prompt to the last record before the next prompt, and counts as
//! completed if the model stopped regularly, or, in versions that do not write why it stopped, if it answered and no call is open. Never: text of a side chain reported as the main thread's; a line that the runner
//! wrote for itself taken for a prompt.

use super::super::failure::{code_of, code_of_type};
use super::super::stops::Stop;
use super::assistant::AssistantRecord;
use super::decoder::Claude;
use super::outcome::Outcome;
use super::side_chains::is_side_chain;
use super::stream_event::is_final;
use super::user::{Content, tagged};
use crate::frame::{Body, ErrorReported, ErrorScope, LogLevel, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, RunEnd, Target};
use std::borrow::Cow;

/// Types that only transcripts have and that do not concern the conversation.
const BOOKKEEPING: &[&str] = &[
    "agent-name",
    "agent-setting",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "content-replacement",
    "cost-state",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "summary",
    "tag",
    "task-summary",
    "tools-used",
    "worktree-state",
];

/// Whether a line tells what the person does in the meantime, so that its time is not that of the run before it.
pub(super) fn is_beside_the_run(fields: &Object<'_>) -> bool {
    is_entry(fields) && fields.str("type").as_deref() == Some("queue-operation")
}

/// Whether a record is a transcript line. Newer lines also have the stream's `session_id`, so a field that only transcripts have
/// decides before it.
pub(super) fn is_entry(fields: &Object<'_>) -> bool {
    let mut has_stream_session = false;
    let mut has_leaf = false;
    for (name, _) in fields.iter() {
        match name {
            "sessionId" | "parentUuid" | "isSidechain" => return true,
            "session_id" => has_stream_session = true,
            "leafUuid" => has_leaf = true,
            _ => {}
        }
    }
    let is_bookkeeping = || fields.str("type").is_some_and(|kind| BOOKKEEPING.contains(&&*kind));
    !has_stream_session && (has_leaf || is_bookkeeping())
}

/// The session that a transcript line names.
pub(super) fn session_of<'f>(fields: &Object<'f>) -> Option<Cow<'f, str>> {
    fields.str("sessionId").or_else(|| fields.str("session_id"))
}

impl Claude {
    pub(super) fn entry(&mut self, fields: &Object<'_>, index: u64, normalizer: &mut Normalizer) {
        if let Some(session) = session_of(fields) {
            normalizer.set_session(&session);
        }
        if self.history.is_earlier(fields) {
            return;
        }
        match &*fields.str("type").unwrap_or_default() {
            "user" => self.user_entry(fields, index, normalizer),
            "assistant" => self.assistant_entry(fields, normalizer),
            "system" => self.system_entry(fields, normalizer),
            "attachment" => self.attached(fields, index, normalizer),
            "cost-state" => self.totals(fields, normalizer),
            kind if BOOKKEEPING.contains(&kind) => {}
            "" => normalizer.unknown("a record without a type"),
            other => normalizer.unknown(format!("unknown type {other:?}")),
        }
    }

    fn user_entry(&mut self, fields: &Object<'_>, index: u64, normalizer: &mut Normalizer) {
        let message = fields.object("message").unwrap_or_default();
        let content = Content::read(message.get("content"));
        let target = self.entry_target(fields, normalizer);
        if target.parent.is_none() {
            if fields.bool("isCompactSummary") == Some(true) {
                return self.flush_compaction(Some(content.text), normalizer);
            }
            self.flush_compaction(None, normalizer);
        }
        let mut results = 0;
        for block in message.items("content").into_iter().filter_map(Json::object) {
            if block.str("type").as_deref() == Some("tool_result") {
                self.tool_result(target, &block, &Outcome::of_entry(fields), normalizer);
                results += 1;
            }
        }
        if results > 0 || target.parent.is_some() {
            return;
        }
        if content.is_interruption() {
            return self.interrupted(target, &content, normalizer);
        }
        if let Some(output) = content.local_output() {
            // A command that the runner executes itself is complete with its output.
            if let Some(run) = self.runs.current(normalizer) {
                run.answered = true;
            }
            return self.log(LogLevel::Info, Some(output), normalizer);
        }
        if fields.bool("isMeta") == Some(true) {
            return self.log(LogLevel::Debug, Some(content.text), normalizer);
        }
        self.entry_prompt(fields, content, index, normalizer);
    }

    /// Handles a prompt, which ends the run before it.
    fn entry_prompt(&mut self, fields: &Object<'_>, mut content: Content, index: u64, normalizer: &mut Normalizer) {
        let woken = fields.object("origin").and_then(|origin| origin.str("kind").map(|kind| kind.into_owned()));
        let woken = woken.as_deref() == Some("task-notification") || content.text.starts_with("<task-notification>");
        let before = self.runs.current(normalizer).filter(|run| run.transcript).map(|run| run.key);
        content.untag_command();
        let key = self.begin_entry_run(if woken { "" } else { &content.text }, fields, normalizer);
        // The record belongs to the run that it starts, even if it ends another.
        normalizer.record_on(key);
        if let Some(before) = before {
            normalizer.at_last_frame(before, |normalizer| self.end_entry_run(before, normalizer));
        }
        if woken {
            if let Some(task_id) = tagged(&content.text, "task-id") {
                let status = tagged(&content.text, "status").unwrap_or("completed");
                let summary = tagged(&content.text, "summary").map(str::to_owned);
                self.task_ends(task_id, status, summary, normalizer);
            }
            self.log(LogLevel::Debug, Some(content.text), normalizer);
        } else {
            self.prompt(fields, content, index, normalizer);
        }
    }

    fn assistant_entry(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        if self.runs.current(normalizer).is_none() {
            self.flush_compaction(None, normalizer);
            self.begin_entry_run("", fields, normalizer);
        }
        let Some(message) = fields.object("message") else {
            return normalizer.add_error("an assistant record without a message");
        };
        let target = self.entry_target(fields, normalizer);
        if target.parent.is_none() {
            self.flush_compaction(None, normalizer);
        }
        let error = fields.str("error");
        let is_error = fields.bool("isApiErrorMessage") == Some(true);
        let index = fields.u64("apiBlockIndex").and_then(|index| u32::try_from(index).ok());
        self.assistant(
            &AssistantRecord {
                message: &message,
                target,
                uuid: &fields.str("uuid").unwrap_or_default(),
                aborted: fields.bool("aborted") == Some(true),
                error: error.as_deref().or(is_error.then_some("unknown")),
                http_status: fields.u64("apiErrorStatus"),
                index,
            },
            normalizer,
        );
    }

    fn system_entry(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let target = self.entry_target(fields, normalizer);
        let is_compaction = fields.str("subtype").as_deref() == Some("compact_boundary");
        if target.parent.is_none() && is_compaction {
            let data = fields.object("compactMetadata").unwrap_or_default();
            return self.compacted(&data, ["preTokens", "postTokens"], normalizer);
        }
        if target.parent.is_none() {
            self.flush_compaction(None, normalizer);
        } else if is_compaction {
            // Frames have no compaction of a subagent's history.
            return;
        }
        if fields.str("subtype").as_deref() == Some("api_error") {
            return self.retried(target, fields, normalizer);
        }
        self.system(fields, normalizer);
    }

    /// Reports a failed API attempt that will be retried.
    fn retried(&mut self, target: Target, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let error = fields.object("error").unwrap_or_default();
        let small = |key: &str| fields.u64(key).and_then(|number| u32::try_from(number).ok());
        let http_status = error.u64("status").and_then(|status| u16::try_from(status).ok());
        // The body of the provider's answer, if the error has one: `{"type": "error", "error": {"type": …, "message": …}}`.
        let body = error.object("error").and_then(|body| body.object("error"));
        let inner = body.as_ref().unwrap_or(&error);
        let of_type = inner.str("type").and_then(|kind| code_of_type(&kind));
        let code = of_type.or_else(|| http_status.and_then(code_of)).unwrap_or("api_error");
        let report = ErrorReported {
            scope: ErrorScope::Provider,
            code: SharedStr::from(code),
            message: inner
                .str("message")
                .or_else(|| error.str("message"))
                .map_or_else(|| "the request failed".to_owned(), |message| message.into_owned()),
            retryable: true,
            attempt: small("retryAttempt"),
            max_attempts: small("maxRetries"),
            http_status,
        };
        normalizer.push(target, Body::ErrorReported(Box::new(report)));
    }

    /// Handles attachments. A prompt that was entered while the model worked is stored in one.
    fn attached(&mut self, fields: &Object<'_>, index: u64, normalizer: &mut Normalizer) {
        let attachment = fields.object("attachment").unwrap_or_default();
        if attachment.str("type").as_deref() != Some("queued_command") || is_side_chain(fields) {
            return;
        }
        let content = Content::read(attachment.get("prompt"));
        if attachment.str("commandMode").as_deref() == Some("task-notification") {
            return self.log(LogLevel::Debug, Some(content.text), normalizer);
        }
        self.prompt(fields, content, index, normalizer);
    }

    fn end_entry_run(&mut self, key: crate::sequence::StreamKey, normalizer: &mut Normalizer) {
        let message = self.runs.message(Target::main(key));
        let stop_reason = message.and_then(|message| message.stop_reason.clone());
        let has_open_call = self.calls.values().any(|call| call.target.stream == key);
        let Some(run) = self.runs.run(key) else { return };
        let done = run.answered && !has_open_call;
        let end = match (run.interrupted, run.error.clone(), stop_reason) {
            (true, ..) => RunEnd::interrupted("interrupted", "interrupted by the user"),
            (_, Some((code, message)), reason) => {
                let of_reason = reason.as_deref().and_then(|word| Some((Stop::of(word)?, word)));
                match Stop::of(&code).map(|stop| (stop, &*code)).or(of_reason) {
                    Some((stop, word)) => stop.end(word, Some(&message)),
                    None => RunEnd::failed(code, message),
                }
            }
            (.., Some(reason)) if is_final(&reason) => {
                Stop::of(&reason).map_or_else(RunEnd::completed, |stop| stop.end(&reason, None))
            }
            (.., None) if done => RunEnd::completed(),
            _ => RunEnd::interrupted(crate::normalizer::STREAM_ENDED, "the transcript does not say how the run ended"),
        };
        self.report_totals(key, normalizer);
        self.end_run(normalizer, key, end);
    }

    /// Handles the end of the transcript.
    pub(super) fn end_transcript(&mut self, normalizer: &mut Normalizer) {
        for key in self.runs.transcript_runs() {
            normalizer.at_last_frame(key, |normalizer| self.end_entry_run(key, normalizer));
        }
    }
}
