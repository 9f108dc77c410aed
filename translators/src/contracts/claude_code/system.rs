//! `system` messages, errors, and the user's messages.
//!
//! Input: the beginning of a run, and what happens besides text and calls. Output: a message in Claude Code's words. Never: a message
//! for a log line of the level debug.

use super::data::{AssistantMessage, Content};
use super::encode::ClaudeCode;
use super::line::Text;
use super::words;
use super::writer::{Envelope, Writer};
use crate::encode::{Events, Null, ObjectWriter, Value, key};
use crate::frame::{Body, ErrorReported, ErrorScope, Frame, LogLevel, SharedStr, SkillEvent, UserMessage};
use uuid::Uuid;

/// The model of a message that the runner writes itself.
const SYNTHETIC: &str = "<synthetic>";

/// The name of a runner's status while it compacts its history.
const COMPACTING: &str = "compacting";

/// The maximum length of a subagent's description, in characters.
const DESCRIPTION_CHARS: usize = 80;

/// Writes a `system` message.
pub(super) fn system(
    writer: &mut Writer,
    subtype: &'static str,
    out: &mut Events,
    fields: impl Fn(&mut ObjectWriter<'_>),
) {
    writer.message("system", Envelope::Session, out, |map| {
        map.word(key!("subtype"), subtype);
        fields(map);
    });
}

/// Writes a line for the user. `tag` marks one of framegate.
pub(super) fn informational(
    writer: &mut Writer,
    level: &'static str,
    tag: Option<&'static str>,
    content: &str,
    out: &mut Events,
) {
    system(writer, "informational", out, |map| {
        Text(content).field(key!("content"), map);
        map.word(key!("level"), level);
        if let Some(tag) = tag {
            map.word(key!("tag"), tag);
        }
    });
}

/// Writes the session as a run finds it. Frames do not know most of it. `notice` is a message of framegate.
pub(super) fn init(writer: &mut Writer, model: &str, notice: Option<&str>, out: &mut Events) {
    system(writer, "init", out, |map| {
        map.word(key!("cwd"), "");
        Text(model).field(key!("model"), map);
        map.word(key!("permissionMode"), "default");
        map.word(key!("apiKeySource"), "none");
        map.word(key!("claude_code_version"), super::RELEASE);
        map.word(key!("output_style"), "default");
        for key in [
            key!("tools"),
            key!("mcp_servers"),
            key!("slash_commands"),
            key!("agents"),
            key!("skills"),
            key!("plugins"),
        ] {
            map.raw(key, "[]");
        }
        if let Some(notice) = notice {
            map.list(key!("plugin_errors"), &[notice], |map, notice| {
                map.word(key!("plugin"), "framegate");
                map.word(key!("type"), crate::gate::CODE);
                Text(notice).field(key!("message"), map);
            });
        }
    });
}

/// The first line of a text, bounded.
fn description(text: &str) -> String {
    text.trim_start().lines().next().unwrap_or_default().chars().take(DESCRIPTION_CHARS).collect()
}

impl ClaudeCode {
    /// Writes `init`, unless it was written.
    pub(super) fn begin_session(&mut self, out: &mut Events) {
        if !std::mem::replace(&mut self.has_init, true) {
            let model = self.model();
            init(&mut self.writer, &model, None, out);
        }
    }

    fn inform(&mut self, level: &'static str, content: &str, out: &mut Events) {
        self.begin_session(out);
        informational(&mut self.writer, level, None, content, out);
    }

    /// A message of the user, repeated.
    pub(super) fn replay(&mut self, message: &UserMessage, frame: &Frame, out: &mut Events) {
        if !message.text.is_empty() {
            self.begin_session(out);
            self.user_text(&message.text, true, frame, out);
        }
    }

    /// The summary that replaces the history.
    pub(super) fn summary(&mut self, summary: Option<&str>, frame: &Frame, out: &mut Events) {
        if let Some(summary) = summary.filter(|summary| !summary.is_empty()) {
            self.user_text(summary, false, frame, out);
        }
    }

    fn user_text(&mut self, text: &str, is_replay: bool, frame: &Frame, out: &mut Events) {
        self.writer.message("user", Envelope::Timed(None, frame.timestamp_ms), out, |map| {
            map.object(key!("message"), |map| {
                map.word(key!("role"), "user");
                map.list(key!("content"), &[text], |map, text| {
                    map.word(key!("type"), "text");
                    Text(text).field(key!("text"), map);
                });
            });
            let key = if is_replay { key!("isReplay") } else { key!("isSynthetic") };
            map.entry(key, &true);
        });
    }

    /// The runner's status changed.
    pub(super) fn status(&mut self, old: &str, new: &str, reason: Option<&str>, out: &mut Events) {
        if old != COMPACTING && new != COMPACTING {
            return;
        }
        self.begin_session(out);
        system(&mut self.writer, "status", out, |map| match new {
            COMPACTING => map.word(key!("status"), COMPACTING),
            _ => {
                Null.field(key!("status"), map);
                let failed = reason.is_some_and(|reason| reason.contains("failed"));
                map.word(key!("compact_result"), if failed { "failed" } else { "success" });
                reason.filter(|_| failed).map(Text).field(key!("compact_error"), map);
            }
        });
    }

    pub(super) fn compacted(
        &mut self,
        trigger: Option<&str>,
        tokens_before: Option<u64>,
        tokens_after: Option<u64>,
        out: &mut Events,
    ) {
        self.begin_session(out);
        system(&mut self.writer, "compact_boundary", out, |map| {
            map.object(key!("compact_metadata"), |map| {
                map.word(key!("trigger"), if trigger == Some("manual") { "manual" } else { "auto" });
                map.entry(key!("pre_tokens"), &tokens_before.unwrap_or_default());
                tokens_after.field(key!("post_tokens"), map);
            });
            Null.field(key!("logical_parent_uuid"), map);
        });
    }

    /// Something went wrong: an attempt that is repeated, a message in the model's place, or a line for the user.
    pub(super) fn error(&mut self, error: &ErrorReported, frame: &Frame, out: &mut Events) {
        self.begin_session(out);
        let kind = words::error(&error.code);
        match (error.scope, error.attempt, error.max_attempts) {
            (ErrorScope::Provider, Some(attempt), Some(max)) => {
                system(&mut self.writer, "api_retry", out, |map| {
                    map.entry(key!("attempt"), &attempt);
                    map.entry(key!("max_retries"), &max);
                    map.entry(key!("retry_delay_ms"), &0_u64);
                    match error.http_status {
                        Some(status) => map.entry(key!("error_status"), &status),
                        None => Null.field(key!("error_status"), map),
                    }
                    map.word(key!("error"), kind);
                });
            }
            (ErrorScope::Provider, ..) => self.inform("warning", &error.message, out),
            (ErrorScope::Run | ErrorScope::Turn, ..) => {
                let parent = self.calls.parent_of(frame);
                let id: Uuid = frame.id();
                let id = id.to_string();
                let stop_reason = Some("stop_sequence");
                let content = Content::Text(&error.message);
                let message = AssistantMessage { id: &id, model: SYNTHETIC, content, stop_reason };
                let envelope = Envelope::Timed(parent.as_deref(), frame.timestamp_ms);
                self.writer.message("assistant", envelope, out, |map| {
                    message.field(key!("message"), map);
                    map.word(key!("error"), kind);
                    map.entry(key!("is_api_error_message"), &true);
                    error.http_status.field(key!("api_error_status"), map);
                });
            }
        }
    }

    /// Handles a frame that is about no text and no call.
    pub(super) fn notice(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::LogEmitted { level, message } if !message.is_empty() => match level {
                LogLevel::Debug => {}
                LogLevel::Info => self.inform("info", message, out),
                LogLevel::Warn | LogLevel::Error => self.inform("warning", message, out),
            },
            Body::GapDetected { reason, .. } => self.inform("warning", &format!("events are missing: {reason}"), out),
            Body::Skill(skill) => {
                if let SkillEvent::Warning { detail, .. } = &**skill {
                    self.inform("warning", detail, out);
                }
            }
            Body::SubagentStarted { subagent_id, tool_id, agent, task, depth } => {
                let call = self.calls.subagent_started(subagent_id, *tool_id);
                self.subagent_started(subagent_id, call.as_ref(), agent.as_deref(), task.as_deref(), *depth, out);
            }
            Body::SubagentEnded { subagent_id, status, summary } => {
                let call = self.calls.subagent_ended(subagent_id);
                self.subagent_ended(subagent_id, call.as_ref(), status, summary.as_deref(), out);
            }
            _ => {}
        }
    }

    fn subagent_started(
        &mut self,
        id: &SharedStr,
        call: Option<&SharedStr>,
        agent: Option<&str>,
        task: Option<&str>,
        depth: u32,
        out: &mut Events,
    ) {
        self.begin_session(out);
        let description = task.map(description).or_else(|| agent.map(str::to_owned)).unwrap_or_default();
        system(&mut self.writer, "task_started", out, |map| {
            Text(id).field(key!("task_id"), map);
            call.map(|call| Text(call)).field(key!("tool_use_id"), map);
            Text(&description).field(key!("description"), map);
            map.word(key!("task_type"), "local_agent");
            agent.map(Text).field(key!("subagent_type"), map);
            map.entry(key!("spawn_depth"), &depth);
            task.map(Text).field(key!("prompt"), map);
        });
    }

    fn subagent_ended(
        &mut self,
        id: &SharedStr,
        call: Option<&SharedStr>,
        status: &str,
        summary: Option<&str>,
        out: &mut Events,
    ) {
        self.begin_session(out);
        system(&mut self.writer, "task_notification", out, |map| {
            Text(id).field(key!("task_id"), map);
            call.map(|call| Text(call)).field(key!("tool_use_id"), map);
            let status = match status {
                "completed" => "completed",
                "failed" => "failed",
                _ => "stopped",
            };
            map.word(key!("status"), status);
            map.word(key!("output_file"), "");
            Text(summary.unwrap_or_default()).field(key!("summary"), map);
        });
    }
}
