//! The decoder: passes each event to the module for its type.
//!
//! Input: records. Output: each record assigned to the open run, or to the session's thread. Never: a record of an unknown type
//! treated as an error of the stream; it is kept, with a note.

use super::runs::{Run, Session};
use super::time_of;
use crate::decode::{Decoder, Record};
use crate::frame::{Body, LogLevel, Tool};
use crate::json::Object;
use crate::normalizer::{Normalizer, RunEnd, Target};
use crate::sequence::StreamKey;
use std::borrow::Cow;

/// Decodes both surfaces of GitHub Copilot CLI.
#[derive(Debug, Default)]
pub(super) struct Copilot {
    pub(super) run: Option<Run>,
    pub(super) session: Session,
}

/// One event: its contents, and the subagent that caused it.
#[derive(Debug)]
pub(super) struct Event<'r> {
    pub(super) data: Object<'r>,
    /// The subagent's own id; `None` for the main thread.
    pub(super) agent: Option<Cow<'r, str>>,
}

/// Types that carry nothing for a frame: start-up, lists of what is available, interfaces of other hosts, and what other events
/// say as well.
const SILENT: &[&str] = &[
    "agent.interrupted",
    "assistant.fusion_phase_activity",
    "assistant.fusion_phase_completed",
    "assistant.fusion_phase_failed",
    "assistant.fusion_phase_started",
    "assistant.idle",
    "assistant.intent",
    "assistant.server_tool_progress",
    "assistant.streaming_delta",
    "assistant.turn_retry",
    "auto_mode_switch.completed",
    "auto_mode_switch.requested",
    "capabilities.changed",
    "command.completed",
    "command.execute",
    "command.queued",
    "commands.changed",
    "external_tool.completed",
    "external_tool.requested",
    "factory.run_settled",
    "factory.run_started",
    "factory.run_updated",
    "hook.end",
    "hook.progress",
    "hook.start",
    "mcp.headers_refresh_completed",
    "mcp.headers_refresh_required",
    "mcp.oauth_completed",
    "mcp.oauth_required",
    "mcp.prompts.list_changed",
    "mcp.resources.list_changed",
    "mcp.tools.list_changed",
    "mcp_app.tool_call_complete",
    "model.call_final_result",
    "model.call_finished",
    "pending_messages.modified",
    "permission.assentDetected",
    "permission.carriedForward",
    "permission.contextualAuthorization",
    "permission.messageAuthorization",
    "permission.messageAuthorizationDegraded",
    "permission.messageAuthorizationRead",
    "sampling.completed",
    "sampling.requested",
    "session.auto_mode_resolved",
    "session.auto_tier_recommendation",
    "session.auto_tier_switch_failed",
    "session.autopilot_objective_changed",
    "session.background_tasks_changed",
    "session.binary_asset",
    "session.canvas.closed",
    "session.canvas.opened",
    "session.canvas.recorded",
    "session.canvas.registry_changed",
    "session.canvas.removed",
    "session.canvas.unavailable",
    "session.compaction_start",
    "session.completion_receipt",
    "session.context_changed",
    "session.context_cleared",
    "session.custom_agents_updated",
    "session.custom_notification",
    "session.extensions.attachments_pushed",
    "session.extensions_loaded",
    "session.fusion_completed",
    "session.fusion_resolved",
    "session.fusion_route_failed",
    "session.fusion_route_started",
    "session.handoff",
    "session.idle",
    "session.managed_settings_enforced",
    "session.managed_settings_resolved",
    "session.mcp_server_needs_reconnect",
    "session.mcp_server_removed",
    "session.mcp_server_status_changed",
    "session.mcp_server_tools_loaded",
    "session.mcp_servers_loaded",
    "session.mode_changed",
    "session.mode_notice_delivered",
    "session.permissions_changed",
    "session.plan_changed",
    "session.remote_steerable_changed",
    "session.schedule_cancelled",
    "session.schedule_created",
    "session.schedule_rearmed",
    "session.session_limits_changed",
    "session.skills_loaded",
    "session.snapshot_rewind",
    "session.task_complete",
    "session.title_changed",
    "session.todos_changed",
    "session.truncation",
    "session.usage_checkpoint",
    "session.usage_info",
    "session.workspace_file_changed",
    "session_limits_exhausted.completed",
    "session_limits_exhausted.requested",
    "subagent.configured",
    "subagent.deselected",
    "subagent.selected",
    "system.message",
    "system.notification",
    "tool.execution_progress",
    "tool.user_requested",
    "tool_search.activated",
    "ui.ephemeral_query",
];

impl Decoder for Copilot {
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        if let Some(ms) = time_of(record) {
            normalizer.set_time(ms);
        }
        let fields = &record.fields;
        let kind = fields.str("type").unwrap_or_default();
        if &*kind == "result" {
            self.result(fields, normalizer);
        } else {
            let event = Event {
                data: fields.object("data").unwrap_or_default(),
                agent: fields.str("agentId").filter(|id| !id.is_empty()),
            };
            self.event(&kind, &event, record.index, normalizer);
        }
        let stream = self.stream(normalizer);
        normalizer.record_on(stream);
        if let Some(run) = self.run.as_mut().filter(|_| fields.bool("ephemeral") == Some(true)) {
            run.course.is_live = true;
        }
    }

    fn give_up(&mut self, run: StreamKey, end: RunEnd, normalizer: &mut Normalizer) {
        match self.run.take_if(|open| open.key == run) {
            Some(open) => self.close_run(open, end, normalizer),
            None => normalizer.end_run(run, end),
        }
    }

    fn end(&mut self, normalizer: &mut Normalizer) {
        self.end_run_as_it_went(None, normalizer);
    }
}

impl Copilot {
    fn event(&mut self, kind: &str, event: &Event<'_>, index: u64, normalizer: &mut Normalizer) {
        match kind {
            "user.message" => self.user_message(event, index, normalizer),
            "assistant.turn_start" => self.turn_starts(event, normalizer),
            "assistant.turn_end" => self.turn_ends(event, normalizer),
            "model.call_start" => self.model_called(event, normalizer),
            "assistant.message_start" => self.message_starts(event, normalizer),
            "assistant.message_delta" => self.text_grows(event, normalizer),
            "assistant.reasoning_delta" => self.reasoning_grows(event, normalizer),
            "assistant.tool_call_delta" => self.call_grows(event, normalizer),
            "assistant.message" => self.message(event, normalizer),
            "assistant.reasoning" => self.reasoning(event, normalizer),
            "tool.execution_start" => self.call_starts(event, normalizer),
            "tool.shell_output" => self.shell_output(event, normalizer),
            "tool.execution_partial_result" => self.output_so_far(event, normalizer),
            "tool.execution_complete" => self.call_ends(event, normalizer),
            "subagent.started" => self.agent_started(event, normalizer),
            "subagent.completed" | "subagent.failed" => self.agent_is_done(kind, event, normalizer),
            "permission.requested" => self.permission_requested(event, normalizer),
            "permission.completed" => self.permission_completed(event, normalizer),
            "elicitation.requested" | "user_input.requested" | "exit_plan_mode.requested" => {
                self.question_asked(kind, event, normalizer);
            }
            "elicitation.completed" | "user_input.completed" | "exit_plan_mode.completed" => {
                self.question_answered(event, normalizer);
            }
            "skill.invoked" => self.skill_invoked(event, normalizer),
            "model.call_failure" => self.call_failed(event, normalizer),
            "session.error" => self.session_error(event, normalizer),
            "session.warning" => self.log(LogLevel::Warn, event, normalizer),
            "session.info" => self.log(LogLevel::Info, event, normalizer),
            "abort" => self.aborted(event, normalizer),
            "session.start" => self.session_starts(event, normalizer),
            "session.resume" => self.session_resumes(event, normalizer),
            "session.model_change" | "session.tools_updated" => self.model_chosen(event),
            "session.usage_record" => {
                let usage = event.data.object("usage").unwrap_or_default();
                self.call_used(event, &usage, normalizer);
            }
            "assistant.usage" => self.call_used(event, &event.data, normalizer),
            "session.compaction_complete" => self.compacted(event, normalizer),
            "session.shutdown" => self.shut_down(event, normalizer),
            known if SILENT.contains(&known) => {}
            "" => normalizer.unknown("a record without a type"),
            other => normalizer.unknown(format!("unknown type {other:?}")),
        }
    }

    /// The place for the frames of an event: the main thread, or a subagent. Opens a run if none is open. `None` if the event is
    /// from a subagent whose call is not known.
    pub(super) fn speaker(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) -> Option<Target> {
        let stream = self.ensure(normalizer).key;
        let named = event.data.str("parentToolCallId").filter(|id| !id.is_empty());
        let call_id = match (named, &event.agent) {
            (Some(call_id), agent) => {
                self.agent_begins(&call_id, agent.as_deref(), normalizer);
                call_id.into_owned()
            }
            (None, Some(agent)) => self.run.as_ref()?.agent_calls.get(&**agent)?.to_string(),
            (None, None) => return Some(Target::main(stream)),
        };
        Some(Target { stream, parent: Some(self.tool(normalizer, stream, &call_id).id) })
    }

    /// The ids of the newest call with this id. They are derived within the session, so they are the same in every run.
    pub(super) fn tool(&self, normalizer: &Normalizer, stream: StreamKey, call_id: &str) -> Tool {
        normalizer.newest_tool(stream, normalizer.session_id_of(stream), call_id)
    }

    /// The ids of a call that the model makes.
    pub(super) fn new_tool(&self, normalizer: &mut Normalizer, target: Target, call_id: &str) -> Tool {
        let scope = normalizer.session_id_of(target.stream);
        normalizer.tool_of_new_call(target, scope, call_id)
    }

    /// Logs the event's message, unless it is empty.
    fn log(&mut self, level: LogLevel, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(message) = event.data.str("message").filter(|message| !message.is_empty()) else { return };
        let target = self.main(normalizer);
        normalizer.push(target, Body::LogEmitted { level, message: message.into_owned() });
    }
}
