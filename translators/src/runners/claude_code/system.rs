//! The runner's own notices: `system` records and similar ones.
//!
//! Input: `system` records by subtype, and rate limits. Output: status changes, retries, compactions, log lines. Task records
//! are passed to their own module. Never: a frame for something only a terminal needs; the record itself is kept in any case.

use super::decoder::{Claude, is_retryable};
use crate::frame::{Body, ErrorReported, ErrorScope, LogLevel, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, Target};

/// An announced compaction. The next record may contain its summary.
#[derive(Debug)]
pub(super) struct Compaction {
    target: Target,
    trigger: Option<SharedStr>,
    before: Option<u64>,
    after: Option<u64>,
}

/// The level of a notice for people.
fn level(fields: &Object<'_>) -> LogLevel {
    match fields.str("level").as_deref() {
        Some("error") => LogLevel::Error,
        Some("warning" | "warn") => LogLevel::Warn,
        Some("debug") => LogLevel::Debug,
        _ => LogLevel::Info,
    }
}

impl Claude {
    pub(super) fn system(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        match &*fields.str("subtype").unwrap_or_default() {
            "init" => self.init(fields, normalizer),
            "status" => self.status(fields, normalizer),
            "compact_boundary" => {
                let data = fields.object("compact_metadata").unwrap_or_default();
                self.compacted(&data, ["pre_tokens", "post_tokens"], normalizer);
            }
            "api_retry" => self.api_retry(fields, normalizer),
            "task_started" => self.task_started(fields, normalizer),
            "task_updated" => self.task_updated(fields, normalizer),
            "task_notification" => self.task_notified(fields, normalizer),
            "permission_denied" => self.permission_denied(fields, normalizer),
            "hook_started" => {
                let name = fields.str("hook_name").unwrap_or_default();
                self.log(LogLevel::Debug, Some(format!("hook {name} started")), normalizer);
            }
            "hook_response" => self.hook_response(fields, normalizer),
            "informational" | "local_command" | "local_command_output" => {
                self.log(level(fields), fields.str("content"), normalizer);
            }
            "notification" => self.log(LogLevel::Info, fields.str("text"), normalizer),
            "model_fallback" | "model_refusal_fallback" | "model_refusal_no_fallback" | "model_consent_fallback" => {
                let content = fields.str("content").filter(|content| !content.is_empty());
                let content = content.map_or_else(|| model_change(fields), |content| content.into_owned());
                self.log(LogLevel::Warn, Some(content), normalizer);
            }
            "api_error" | "mirror_error" | "session_writes_lost" | "worker_shutting_down" | "plugin_install" => {
                let text = ["error", "message", "reason", "content"].iter().find_map(|key| fields.str(key));
                self.log(LogLevel::Warn, text, normalizer);
            }
            known if SILENT.contains(&known) => {}
            // Transcripts of early versions have notices without a subtype.
            "" if fields.str("content").is_some() && fields.str("level").is_some() => {
                self.log(level(fields), fields.str("content"), normalizer);
            }
            "" => normalizer.unknown("a system record without a subtype"),
            other => normalizer.unknown(format!("unknown system subtype {other:?}")),
        }
    }

    fn init(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        self.runs.announce(normalizer);
        for server in fields.items("mcp_servers").into_iter().filter_map(Json::object) {
            if server.str("status").as_deref() == Some("failed") {
                let name = server.str("name").unwrap_or_default();
                self.log(LogLevel::Warn, Some(format!("MCP server {name} failed")), normalizer);
            }
        }
        for key in ["plugin_errors", "mcp_server_errors"] {
            for error in fields.items(key) {
                let message = error.object().and_then(|error| error.str("error").or_else(|| error.str("message")));
                self.log(LogLevel::Warn, message.or_else(|| error.str()), normalizer);
            }
        }
    }

    fn status(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let status = fields.str("status");
        // Model calls are reported by their own events.
        if status.as_deref() == Some("requesting") {
            return;
        }
        if let Some(mode) = fields.str("permissionMode") {
            self.log(LogLevel::Info, Some(format!("permission mode: {mode}")), normalizer);
        }
        let target = Target::main(self.runs.stream(normalizer));
        let new = status.filter(|status| !status.is_empty()).map(|status| SharedStr::from(&*status));
        let old = std::mem::replace(&mut self.runs.session(normalizer).status, new.clone());
        if old == new {
            return;
        }
        let running = || SharedStr::from("running");
        let result = fields.str("compact_result");
        let error = fields.str("compact_error");
        let reason = match (result, error) {
            (Some(result), Some(error)) => Some(format!("compaction {result}: {error}")),
            (Some(result), None) => Some(format!("compaction {result}")),
            (None, error) => error.map(|error| error.into_owned()),
        };
        let (old_status, new_status) = (old.unwrap_or_else(running), new.unwrap_or_else(running));
        normalizer.push(target, Body::StatusChanged { old_status, new_status, reason });
    }

    /// Notes that a summary replaces the history. The next record may contain the summary.
    pub(super) fn compacted(&mut self, data: &Object<'_>, [before, after]: [&str; 2], normalizer: &mut Normalizer) {
        self.flush_compaction(None, normalizer);
        let target = Target::main(self.runs.stream(normalizer));
        let trigger = data.str("trigger").map(|trigger| SharedStr::from(&*trigger));
        self.compaction = Some(Compaction { target, trigger, before: data.u64(before), after: data.u64(after) });
    }

    /// Reports the pending compaction, with its summary if there is one.
    pub(super) fn flush_compaction(&mut self, summary: Option<String>, normalizer: &mut Normalizer) {
        let Some(Compaction { target, trigger, before, after }) = self.compaction.take() else { return };
        // The current record may belong to another stream.
        let stream = self.runs.stream(normalizer);
        normalizer.record_on(stream);
        let body = Body::HistoryCompacted { trigger, tokens_before: before, tokens_after: after, summary };
        normalizer.push(target, body);
    }

    fn api_retry(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let target = Target::main(self.runs.stream(normalizer));
        let small = |key: &str| fields.u64(key).and_then(|number| u32::try_from(number).ok());
        let http_status = fields.u64("error_status").and_then(|status| u16::try_from(status).ok());
        let code = fields.str("error").unwrap_or_default();
        let message = match (http_status, fields.u64("retry_delay_ms")) {
            (Some(status), Some(delay)) => format!("{code} (HTTP {status}); next attempt in {delay} ms"),
            (None, Some(delay)) => format!("{code}; next attempt in {delay} ms"),
            (Some(status), None) => format!("{code} (HTTP {status})"),
            (None, None) => code.clone().into_owned(),
        };
        let report = ErrorReported {
            scope: ErrorScope::Provider,
            code: SharedStr::from(if code.is_empty() { "unknown" } else { &*code }),
            message,
            retryable: true,
            attempt: small("attempt"),
            max_attempts: small("max_retries"),
            http_status,
        };
        normalizer.push(target, Body::ErrorReported(Box::new(report)));
    }

    fn permission_denied(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let id = fields.str("tool_use_id").unwrap_or_default();
        let key = self.key(&id, normalizer);
        let call = self.calls.get_mut(&*key);
        let target = call.map(|call| {
            call.denied = true;
            call.target
        });
        let target = target.unwrap_or_else(|| Target::main(self.runs.stream(normalizer)));
        let name = fields.str("tool_name").unwrap_or_default();
        let message = format!("{name} denied: {}", fields.str("message").unwrap_or_default());
        normalizer.push(target, Body::LogEmitted { level: LogLevel::Warn, message });
    }

    fn hook_response(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let name = fields.str("hook_name").unwrap_or_default();
        let outcome = fields.str("outcome").unwrap_or_default();
        let level = if &*outcome == "error" { LogLevel::Warn } else { LogLevel::Debug };
        let output = fields.str("output").unwrap_or_default();
        let output = output.trim_end();
        let mut line = format!("hook {name} {outcome}");
        if !output.is_empty() {
            line.push_str(": ");
            line.push_str(output);
        }
        self.log(level, Some(line), normalizer);
    }

    pub(super) fn rate_limit(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let info = fields.object("rate_limit_info").unwrap_or_default();
        let status = info.str("status").unwrap_or_default();
        let level = if &*status == "allowed" { LogLevel::Debug } else { LogLevel::Warn };
        let mut line = format!("rate limit: {status}");
        if let Some(kind) = info.str("rateLimitType") {
            line.push_str(&format!(" ({kind})"));
        }
        if let Some(part) = info.f64("utilization") {
            line.push_str(&format!(", {:.0} % used", part * 100.0));
        }
        if &*status == "rejected" {
            let target = Target::main(self.runs.stream(normalizer));
            let report = ErrorReported {
                scope: ErrorScope::Provider,
                code: SharedStr::from("rate_limit"),
                message: line,
                retryable: is_retryable("rate_limit"),
                attempt: None,
                max_attempts: None,
                http_status: None,
            };
            normalizer.push(target, Body::ErrorReported(Box::new(report)));
        } else {
            self.log(level, Some(line), normalizer);
        }
    }
}

fn model_change(fields: &Object<'_>) -> String {
    let from = fields.str("original_model").unwrap_or_default();
    match fields.str("fallback_model") {
        Some(to) => format!("{from} gave way to {to}"),
        None => format!("{from} refused to answer"),
    }
}

/// Known subtypes that only repeat another record, or that do not concern the conversation.
const SILENT: &[&str] = &[
    "agents_killed",
    "away_summary",
    "background_tasks_changed",
    "bridge_state",
    "checkpoint_done",
    "cloud_session_delta",
    "cloud_session_status",
    "code_change_published",
    "commands_changed",
    "control_request_progress",
    "dev_intent",
    "elicitation_complete",
    "feedback_draft_queued",
    "file_attachments_missing",
    "file_snapshot",
    "files_persisted",
    "hook_progress",
    "inherited_asks_settled",
    "instruction_size_warning",
    "late_allow_not_run",
    "memory_recall",
    "memory_saved",
    "peer_message_hold",
    "per_turn_effort_changed",
    "permission_check_status",
    "permission_retry",
    "post_turn_summary",
    "rewind_stand_in",
    "scheduled_task_fire",
    "session_metadata",
    "session_state_changed",
    "session_title_changed",
    "shell_cwd",
    "start_folder",
    "stop_hook_summary",
    "task_list_statuses",
    "task_progress",
    "task_summary",
    "thinking",
    "thinking_tokens",
    "tool_host_result",
    "turn_began_before_init",
    "turn_duration",
    "turn_handoff_available",
    "turn_preempted",
    "turn_starting",
    "ui_focus",
    "ui_invalidate",
    "ui_log",
    "ui_notify",
    "ui_notify_cancel",
    "ui_panes",
    "ui_placed",
    "ui_scroll",
    "ui_status",
    "ui_toast",
    "vcs_state_changed",
    "voice_call_talk",
];
