//! Events of threads with the older history, and of the `{id, msg}` lines. Each kind of work has its own events.
//!
//! Input: an event, by its type. Output: the frames that an item would have produced. Never: the deltas of a command's output,
//! which arrive in base64 and again as a whole at its end.

use super::super::errors::Failure;
use super::super::items::{
    Status, arguments, begin_command, begin_edit, changes_of, edit_args, end_command, end_edit, error_text,
    plan_entries, result_text, user_message,
};
use super::super::thread_context::{Caller, CompactionRecord, ThreadContext};
use crate::frame::{
    ApprovalRequested, ApprovalResolved, Attachment, Body, Decision, LogLevel, OutputStream, SharedStr, ToolKind,
};
use crate::json::{Json, Object, to_raw};
use crate::normalizer::Block;
use std::borrow::Cow;

/// Events that this module reports.
const TOLD: &[&str] = &[
    "user_message",
    "agent_message",
    "agent_message_delta",
    "agent_reasoning",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content",
    "agent_reasoning_raw_content_delta",
    "exec_command_begin",
    "exec_command_end",
    "patch_apply_begin",
    "patch_apply_end",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "web_search_end",
    "view_image_tool_call",
    "plan_update",
    "stream_error",
    "error",
    "warning",
    "background_event",
    "deprecation_notice",
    "context_compacted",
    "entered_review_mode",
    "exited_review_mode",
    "exec_approval_request",
    "apply_patch_approval_request",
];

/// Events that have no corresponding frame, or that repeat others.
const SILENT: &[&str] = &[
    "thread_settings_applied",
    "session_configured",
    "agent_reasoning_section_break",
    "agent_message_content_delta",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
    "plan_delta",
    "exec_command_output_delta",
    "terminal_interaction",
    "web_search_begin",
    "image_generation_begin",
    "image_generation_end",
    "turn_diff",
    "thread_rolled_back",
    "thread_goal_updated",
    "thread_name_updated",
    "model_reroute",
    "sub_agent_activity",
    "undo_started",
    "undo_completed",
    "request_user_input",
    "dynamic_tool_call_request",
    "elicitation_request",
    "shutdown_complete",
];

/// Families of events that are not about a turn's work.
const SILENT_FAMILIES: &[&str] = &["mcp_", "hook_", "collab_", "skills_", "list_", "get_", "remote_", "realtime_"];

pub(super) fn is_known(word: &str) -> bool {
    TOLD.contains(&word) || SILENT.contains(&word) || SILENT_FAMILIES.iter().any(|family| word.starts_with(family))
}

/// Reports an event. With `has_calls`, the calls and the reasoning are reported by other records and are skipped here.
pub(super) fn report(context: &mut ThreadContext<'_>, word: &str, event: &Object<'_>, has_calls: bool) {
    let id = event.str("call_id").unwrap_or_default();
    let text = |key: &str| event.str(key).unwrap_or_default();
    // Older versions mark a person's command with a separate field.
    let caller = || match event.bool("user_initiated_shell_command") {
        Some(true) => Caller::User,
        _ => Caller::of(event.str("source").as_deref()),
    };
    match word {
        "user_message" => user(context, event),
        "agent_message" => {
            let name = nameless(context, "message");
            context.complete(Block::text(&name, 0), &text("message"), None);
            context.turn.nameless += 1;
        }
        "agent_message_delta" => {
            let name = nameless(context, "message");
            if let Some(delta) = event.get("delta").and_then(Json::utf16) {
                context.delta(Block::text(&name, 0), delta);
            }
        }
        "agent_reasoning" | "agent_reasoning_raw_content" if !has_calls => {
            let name = nameless(context, word);
            context.complete(Block::reasoning(&name, 0), &text("text"), None);
            context.turn.nameless += 1;
        }
        "agent_reasoning_delta" | "agent_reasoning_raw_content_delta" if !has_calls => {
            let name = nameless(context, word.trim_end_matches("_delta"));
            if let Some(delta) = event.get("delta").and_then(Json::utf16) {
                context.delta(Block::reasoning(&name, 0), delta);
            }
        }
        "exec_command_begin" => {
            approved(context, &id);
            begin_command(context, caller(), &id, event.some("command"));
        }
        "exec_command_end" => {
            begin_command(context, caller(), &id, event.some("command"));
            let output = match event.str("aggregated_output") {
                Some(whole) => whole,
                None => {
                    context.output(&id, OutputStream::Stdout, text("stdout"));
                    context.output(&id, OutputStream::Stderr, text("stderr"));
                    Cow::Borrowed("")
                }
            };
            end_command(context, &id, output, status(event), event.i64("exit_code"), duration_ms(event));
        }
        "patch_apply_begin" => {
            approved(context, &id);
            let changes = event.some("changes").map(changes_of).unwrap_or_default();
            begin_edit(context, &id, &changes, "in_progress");
        }
        "patch_apply_end" => patch_end(context, &id, event),
        "mcp_tool_call_begin" => mcp(context, &id, event),
        "mcp_tool_call_end" => mcp_end(context, &id, event),
        "web_search_end" => {
            let (query, action) = (event.str("query"), event.some("action"));
            let action = action.and_then(|action| crate::json::value(action.text().as_bytes()).ok());
            context.begin(&id, "web_search", ToolKind::Search, || {
                to_raw(&serde_json::json!({ "query": query, "action": action }))
            });
            context.end(&id, 0, None);
        }
        "view_image_tool_call" => {
            let path = text("path");
            context.begin(&id, "image_view", ToolKind::Read, || to_raw(&serde_json::json!({ "path": path })));
            if !has_calls {
                context.end(&id, 0, None);
            }
        }
        "plan_update" => {
            if let Some(plan) = event.get("plan") {
                context.plan(plan_entries(plan));
            }
        }
        "stream_error" => context.retry(&Failure::of_event(event)),
        "warning" => context.log(LogLevel::Warn, text("message")),
        "deprecation_notice" => context.log(LogLevel::Warn, text("summary")),
        "background_event" => context.log(LogLevel::Info, text("message")),
        "context_compacted" => context.compaction(CompactionRecord::Event, None),
        "entered_review_mode" => context.log(LogLevel::Info, format!("review started: {}", text("user_facing_hint"))),
        "exited_review_mode" => context.log(LogLevel::Info, "review ended"),
        "exec_approval_request" => {
            let args = super::super::items::command_args(event.some("command"));
            asked(context, &id, "bash", args, event);
        }
        "apply_patch_approval_request" => {
            let changes = event.some("changes").map(changes_of).unwrap_or_default();
            asked(context, &id, "file_change", edit_args(&changes, "in_progress"), event);
        }
        _ => {}
    }
}

/// An id for an event without one. It contains a counter, so that the deltas and the whole that follows share it.
pub(super) fn nameless(context: &ThreadContext<'_>, what: &str) -> String {
    format!("{what}-{}", context.turn.nameless)
}

fn user(context: &mut ThreadContext<'_>, event: &Object<'_>) {
    let name = nameless(context, "user");
    context.turn.nameless += 1;
    let mut message = user_message(&name, &[]);
    message.text = event.str("message").unwrap_or_default().into_owned();
    for (key, kind) in [("images", "image"), ("local_images", "image"), ("audio", "audio"), ("local_audio", "audio")] {
        for link in event.items(key).into_iter().filter_map(Json::str) {
            let name = (!link.starts_with("data:")).then(|| Cow::into_owned(link));
            message.attachments.push(Attachment {
                kind: SharedStr::from(kind),
                mime: None,
                artifact_id: None,
                name,
                bytes: None,
            });
        }
    }
    context.emit(Body::UserMessage(Box::new(message)));
}

fn status(event: &Object<'_>) -> Option<Status> {
    match &*event.str("status")? {
        "completed" => Some(Status::Completed),
        "failed" => Some(Status::Failed),
        "declined" => Some(Status::Declined),
        _ => None,
    }
}

fn duration_ms(event: &Object<'_>) -> Option<u64> {
    let duration = event.object("duration")?;
    Some(duration.u64("secs")?.saturating_mul(1000) + duration.u64("nanos").unwrap_or(0) / 1_000_000)
}

fn patch_end(context: &mut ThreadContext<'_>, id: &str, event: &Object<'_>) {
    // The start of the edit contains the files that its end leaves out.
    let begun = context.turn.edits.get(id).cloned();
    let begun = begun.as_deref().and_then(|args| Json::new(args).object()?.get("files"));
    let changes = event.some("changes").or(begun).map(changes_of).unwrap_or_default();
    let well = event.bool("success").unwrap_or(true);
    let status = status(event).unwrap_or(if well { Status::Completed } else { Status::Failed });
    begin_edit(context, id, &changes, "in_progress");
    let text = |key: &str| event.str(key).unwrap_or_default();
    end_edit(context, id, &changes, status, &text("stdout"), &text("stderr"));
}

fn mcp(context: &mut ThreadContext<'_>, id: &str, event: &Object<'_>) {
    let call = event.object("invocation").unwrap_or_default();
    let text = |key: &str| call.str(key).unwrap_or_default();
    let name = format!("mcp__{}__{}", text("server"), text("tool"));
    context.begin(id, &name, ToolKind::Mcp, || arguments(call.some("arguments")));
}

/// Ends an MCP call, whose result is `{"Ok": …}` or `{"Err": …}`.
fn mcp_end(context: &mut ThreadContext<'_>, id: &str, event: &Object<'_>) {
    mcp(context, id, event);
    let result = event.object("result").unwrap_or_default();
    let mut failed = false;
    if let Some(good) = result.some("Ok") {
        context.output(id, OutputStream::Stdout, result_text(good));
        let says_error = |fields: Object<'_>| fields.bool("isError").or_else(|| fields.bool("is_error"));
        failed = good.object().and_then(says_error).unwrap_or_default();
    }
    if let Some(bad) = result.some("Err") {
        context.output(id, OutputStream::Stderr, error_text(bad));
        failed = true;
    }
    context.end(id, i32::from(failed), duration_ms(event));
}

fn asked(context: &mut ThreadContext<'_>, id: &str, tool_name: &str, args: crate::frame::RawJson, event: &Object<'_>) {
    let request = ApprovalRequested {
        approval_id: SharedStr::from(id),
        tool_id: Some(context.tool(id).id),
        tool_name: SharedStr::from(tool_name),
        args,
        reason: event.str("reason").map(Cow::into_owned),
    };
    context.normalizer.approval_requested(context.target, request);
}

/// Approves a call that has started: it must have been permitted.
fn approved(context: &mut ThreadContext<'_>, id: &str) {
    let answer = ApprovalResolved {
        approval_id: SharedStr::from(id),
        decision: Decision::Approved,
        by: None,
        reason: None,
        scope: None,
    };
    context.normalizer.approval_resolved(context.target.stream, answer);
}
