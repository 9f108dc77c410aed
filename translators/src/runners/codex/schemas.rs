//! The known records of each surface: one schema per kind, and the kind of a record.
//!
//! Input: records as the CLI wrote them. Output: the name of the schema for such a record. The schemas describe the version
//! named in `VERSIONS.md`, which is next to them. Never: a verdict; records of other versions are translated all the same.

use crate::decode::Record;
use crate::schema::SchemaFile;
use std::borrow::Cow;

macro_rules! files {
    ($surface:literal, $($kind:literal),+ $(,)?) => {
        &[$(SchemaFile {
            kind: $kind,
            text: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/schemas/runners/codex/", $surface, "/", $kind, ".schema.json"
            )),
        }),+]
    };
}

/// The `type` of a line.
pub(super) fn exec_kind<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    record.fields.str("type")
}

/// The method of a notification or request; `response` for a response.
pub(super) fn app_server_kind<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    let fields = &record.fields;
    let answers = || fields.get("id").is_some() && (fields.get("result").is_some() || fields.get("error").is_some());
    fields.str("method").or_else(|| answers().then_some(Cow::Borrowed("response")))
}

/// The `type` of a line. For the two wrapper types, the type of the payload is appended.
pub(super) fn rollout_kind<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    let word = record.fields.str("type")?;
    match &*word {
        "event_msg" | "response_item" => {
            let inner = record.fields.object("payload")?.str("type")?.into_owned();
            Some(Cow::Owned(format!("{word}.{inner}")))
        }
        _ => Some(word),
    }
}

/// `codex exec --json`.
pub(super) const EXEC: &[SchemaFile] = files!(
    "exec",
    "error",
    "item.completed",
    "item.started",
    "item.updated",
    "thread.started",
    "turn.completed",
    "turn.failed",
    "turn.started",
);

/// `codex app-server`: the server's messages, and the client's messages that lead to them.
pub(super) const APP_SERVER: &[SchemaFile] = files!(
    "app-server",
    "account/chatgptAuthTokens/refresh",
    "account/gatewayOAuth/changed",
    "account/login/completed",
    "account/rateLimits/updated",
    "account/updated",
    "app/list/updated",
    "applyPatchApproval",
    "attestation/generate",
    "autoApprovalReview/strictReviewRequired",
    "command/exec/outputDelta",
    "configWarning",
    "currentTime/read",
    "deprecationNotice",
    "error",
    "execCommandApproval",
    "externalAgentConfig/import/completed",
    "externalAgentConfig/import/progress",
    "fs/changed",
    "fuzzyFileSearch/sessionCompleted",
    "fuzzyFileSearch/sessionUpdated",
    "guardianWarning",
    "hook/completed",
    "hook/started",
    "initialize",
    "initialized",
    "item/agentMessage/delta",
    "item/autoApprovalReview/completed",
    "item/autoApprovalReview/started",
    "item/commandExecution/outputDelta",
    "item/commandExecution/requestApproval",
    "item/commandExecution/terminalInteraction",
    "item/completed",
    "item/fileChange/outputDelta",
    "item/fileChange/patchUpdated",
    "item/fileChange/requestApproval",
    "item/mcpToolCall/progress",
    "item/permissions/requestApproval",
    "item/plan/delta",
    "item/reasoning/summaryPartAdded",
    "item/reasoning/summaryTextDelta",
    "item/reasoning/textDelta",
    "item/started",
    "item/tool/call",
    "item/tool/requestUserInput",
    "mcpServer/elicitation/request",
    "mcpServer/event/stream/notification",
    "mcpServer/oauthLogin/completed",
    "mcpServer/startupStatus/updated",
    "model/rerouted",
    "model/safetyBuffering/updated",
    "model/verification",
    "modelProvider/authRecoveryCompleted",
    "modelProvider/authRecoveryStarted",
    "process/exited",
    "process/outputDelta",
    "project/changed",
    "rawResponse/completed",
    "rawResponseItem/completed",
    "remoteControl/status/changed",
    "response",
    "review/start",
    "serverRequest/resolved",
    "skills/changed",
    "thread/archived",
    "thread/attachment/updated",
    "thread/closed",
    "thread/compacted",
    "thread/deleted",
    "thread/environment/connected",
    "thread/environment/disconnected",
    "thread/goal/cleared",
    "thread/goal/updated",
    "thread/name/updated",
    "thread/prediction/updated",
    "thread/project/updated",
    "thread/queue/changed",
    "thread/readState/changed",
    "thread/realtime/closed",
    "thread/realtime/error",
    "thread/realtime/item/completed",
    "thread/realtime/item/started",
    "thread/realtime/item/transcript/delta",
    "thread/realtime/itemAdded",
    "thread/realtime/outputAudio/delta",
    "thread/realtime/sdp",
    "thread/realtime/started",
    "thread/realtime/transcript/delta",
    "thread/realtime/transcript/done",
    "thread/reverted",
    "thread/section/changed",
    "thread/settings/updated",
    "thread/shellCommand",
    "thread/start",
    "thread/started",
    "thread/status/changed",
    "thread/tokenUsage/updated",
    "thread/unarchived",
    "turn/completed",
    "turn/diff/updated",
    "turn/interrupt",
    "turn/moderationMetadata",
    "turn/plan/updated",
    "turn/start",
    "turn/started",
    "turn/steer",
    "warning",
    "windows/worldWritableWarning",
    "windowsSandbox/setupCompleted",
);

/// Session files.
pub(super) const ROLLOUT: &[SchemaFile] = files!(
    "rollout",
    "compacted",
    "event_msg.agent_message",
    "event_msg.agent_message_content_delta",
    "event_msg.agent_reasoning",
    "event_msg.agent_reasoning_raw_content",
    "event_msg.agent_reasoning_section_break",
    "event_msg.apply_patch_approval_request",
    "event_msg.context_compacted",
    "event_msg.deprecation_notice",
    "event_msg.entered_review_mode",
    "event_msg.error",
    "event_msg.exec_approval_request",
    "event_msg.exec_command_begin",
    "event_msg.exec_command_end",
    "event_msg.exec_command_output_delta",
    "event_msg.exited_review_mode",
    "event_msg.hook_completed",
    "event_msg.hook_started",
    "event_msg.image_generation_begin",
    "event_msg.image_generation_end",
    "event_msg.item_completed",
    "event_msg.item_started",
    "event_msg.mcp_tool_call_begin",
    "event_msg.mcp_tool_call_end",
    "event_msg.model_reroute",
    "event_msg.patch_apply_begin",
    "event_msg.patch_apply_end",
    "event_msg.plan_delta",
    "event_msg.plan_update",
    "event_msg.reasoning_content_delta",
    "event_msg.shutdown_complete",
    "event_msg.stream_error",
    "event_msg.sub_agent_activity",
    "event_msg.task_complete",
    "event_msg.task_started",
    "event_msg.thread_goal_updated",
    "event_msg.thread_rolled_back",
    "event_msg.thread_settings_applied",
    "event_msg.token_count",
    "event_msg.turn_aborted",
    "event_msg.turn_diff",
    "event_msg.user_message",
    "event_msg.view_image_tool_call",
    "event_msg.warning",
    "event_msg.web_search_begin",
    "event_msg.web_search_end",
    "inter_agent_communication_metadata",
    "response_item.additional_tools",
    "response_item.agent_message",
    "response_item.compaction",
    "response_item.configuration_update",
    "response_item.context_compaction",
    "response_item.custom_tool_call",
    "response_item.custom_tool_call_output",
    "response_item.function_call",
    "response_item.function_call_output",
    "response_item.image_generation_call",
    "response_item.local_shell_call",
    "response_item.message",
    "response_item.reasoning",
    "response_item.tool_search_call",
    "response_item.tool_search_output",
    "response_item.web_search_call",
    "retained_context",
    "session_meta",
    "token_usage_record",
    "turn_context",
    "world_state",
);
