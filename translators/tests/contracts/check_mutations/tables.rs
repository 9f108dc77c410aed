//! The fields of each event type, according to the documents.
//!
//! A field is `name:type`, or `name?:type` if the document allows it to be absent. Types: `s` text, `n` a non-negative whole
//! number, `i` a whole number, `f` a number, `b` a boolean, `o` an object, `a` a list, `*` anything. `|` and `null` are used if
//! the document says so.

/// The fields of one contract.
pub struct Table {
    pub contract: &'static str,
    /// The pointer to an event type's own fields.
    pub body: &'static str,
    pub type_key: &'static str,
    pub envelope: &'static str,
    pub kinds: &'static [(&'static str, &'static str)],
    /// Fields that framegate always writes and that the document allows to be absent, besides those that may be null.
    pub optional: &'static [(&'static str, &'static [&'static str])],
    /// Whether optional fields may be null, because the document only shows them by example.
    pub is_by_example: bool,
    /// Whether a field that may be null may also be absent.
    pub null_is_absent: bool,
}

/// The optional fields of frames.
const OPTIONAL: &[(&str, &[&str])] = &[
    ("session_started", &["input"]),
    ("output_text_delta", &["message_id", "block_index"]),
    ("tool_started", &["call_id", "kind"]),
    ("tool_stdout", &["call_id"]),
    ("tool_stderr", &["call_id"]),
    ("tool_ended", &["call_id"]),
    ("tool_failed", &["call_id"]),
    ("tool_call_proposed", &["call_id", "kind"]),
    ("user_message", &["message_id", "attachments"]),
];

/// `spec/frames.md`, "Schema (v1)" and "Frame types". Fields that may be null may also be absent: readers of the document treat
/// an absent field as null.
pub const FRAMES_V1: Table = Table {
    contract: "frames.v1",
    optional: OPTIONAL,
    is_by_example: true,
    null_is_absent: false,
    body: "",
    type_key: "type",
    envelope: "id:s session_id:s seq:n timestamp_ms:n",
    kinds: &[
        ("session_started", "input:s"),
        ("output_text_delta", "delta:s"),
        ("session_ended", "reason:s"),
        ("tool_started", "tool_id:s name:s args:o timeout_ms?:n|null"),
        ("tool_stdout", "tool_id:s chunk:s"),
        ("tool_stderr", "tool_id:s chunk:s"),
        ("tool_ended", "tool_id:s exit_code:i duration_ms:n artifacts?:o|null"),
        ("tool_failed", "tool_id:s error:s"),
        (
            "provider_event",
            "provider:s status:s event_name?:s|null data?:o|null raw?:s|null errors:a response_errors:a",
        ),
        ("checkpoint_created", "checkpoint_id:s label:s created_at_ms:n files:a auto:b tool_name?:s|null"),
        ("checkpoint_rewound", "checkpoint_id:s label:s files:a"),
        ("checkpoint_failed", "action:s error:s"),
        // "encoded using the v1 envelope": a field with `?` in the document may be absent, a field without a type may be
        // anything.
        (
            "tool_task_spawned",
            "task_id:s tool_name:s args:* cwd?:s|null title?:s|null execution_mode:s origin_session_id?:s|null artifacts?:*",
        ),
        (
            "tool_task_status",
            "task_id:s status:s exit_code?:i|null started_at_ms?:n|null ended_at_ms?:n|null artifacts?:* error?:s|null",
        ),
        ("tool_task_cancel_requested", "task_id:s reason:s"),
        ("tool_task_cancelled", "task_id:s reason:s wall_time_ms?:n|null"),
        ("tool_task_output_delta", "task_id:s stream:s chunk:s artifacts?:*"),
        ("tool_task_stdin_written", "task_id:s chunk_b64:s"),
        ("tool_task_resized", "task_id:s rows:n cols:n"),
        ("tool_task_signalled", "task_id:s signal:s"),
    ],
};

/// `spec/frames.md`, "Schema (v2)"; the planned types; this project's extension types. Fields that may be null are always
/// written.
pub const FRAMES_V2: Table = Table {
    contract: "frames.v2",
    optional: OPTIONAL,
    is_by_example: true,
    null_is_absent: true,
    body: "",
    type_key: "type",
    envelope: "id:s stream_kind:s stream_id:s seq:n timestamp_ms:n",
    kinds: &[
        ("session_started", "input:s"),
        ("output_text_delta", "delta:s message_id:s block_index:n"),
        ("session_ended", "reason:s final_text:s|null error_code:s|null message:s|null"),
        ("tool_started", "tool_id:s call_id:s name:s kind:s args:o|s timeout_ms:n|null"),
        ("tool_stdout", "tool_id:s call_id:s chunk:s"),
        ("tool_stderr", "tool_id:s call_id:s chunk:s"),
        ("tool_ended", "tool_id:s call_id:s exit_code:i duration_ms:n artifacts:o|null"),
        ("tool_failed", "tool_id:s call_id:s error:s"),
        ("provider_event", "provider:s status:s event_name:s|null data:o|null raw:s|null errors:a response_errors:a"),
        ("checkpoint_created", "checkpoint_id:s label:s created_at_ms:n files:a auto:b tool_name:s|null"),
        ("checkpoint_rewound", "checkpoint_id:s label:s files:a"),
        ("checkpoint_failed", "action:s error:s"),
        ("tool_task_spawned", "task_id:s tool_name:s args:o|s cwd:s|null title:s|null execution_mode:s"),
        (
            "tool_task_status",
            "task_id:s status:s exit_code:i|null started_at_ms:n|null ended_at_ms:n|null error:s|null",
        ),
        ("tool_task_cancel_requested", "task_id:s reason:s"),
        ("tool_task_cancelled", "task_id:s reason:s wall_time_ms:n|null"),
        ("tool_task_output_delta", "task_id:s stream:s chunk:s"),
        ("tool_task_stdin_written", "task_id:s chunk_b64:s"),
        ("tool_task_resized", "task_id:s rows:n cols:n"),
        ("tool_task_signalled", "task_id:s signal:s"),
        ("artifact_written", "artifact_id:s kind:s bytes:n digest:s preview:s|null"),
        ("skill_catalog_updated", "count:n roots:a"),
        ("skill_loaded", "name:s path:s digest:s frontmatter:o"),
        ("skill_invoked", "name:s mode:s"),
        ("skill_warning", "name:s|null kind:s detail:s"),
        ("turn_started", "turn_index:n model:s|null"),
        ("turn_ended", "turn_index:n stop_reason:s|null duration_ms:n|null"),
        ("tool_call_proposed", "tool_id:s call_id:s name:s kind:s args:o|s"),
        ("user_message", "message_id:s text:s attachments:a"),
        ("output_text_completed", "message_id:s block_index:n text:s"),
        ("reasoning_delta", "message_id:s block_index:n delta:s"),
        ("reasoning_completed", "message_id:s block_index:n text:s"),
        ("tool_input_delta", "tool_id:s name:s delta:s"),
        ("file_changed", "tool_id:s|null path:s kind:s diff:s|null artifact_id:s|null"),
        (
            "usage_reported",
            "scope:s model:s|null input_tokens:n output_tokens:n cache_read_tokens:n|null \
             cache_creation_tokens:n|null reasoning_tokens:n|null cost_usd:f|null",
        ),
        ("approval_requested", "approval_id:s tool_id:s|null tool_name:s args:o|s reason:s|null"),
        ("approval_resolved", "approval_id:s decision:s by:s|null reason:s|null scope:s|null"),
        ("plan_updated", "entries:a"),
        ("status_changed", "old_status:s new_status:s reason:s|null"),
        ("log_emitted", "level:s message:s"),
        (
            "error_reported",
            "scope:s code:s message:s retryable:b attempt:n|null max_attempts:n|null http_status:n|null",
        ),
        ("subagent_started", "subagent_id:s tool_id:s|null agent:s|null task:s|null depth:n"),
        ("subagent_ended", "subagent_id:s status:s summary:s|null"),
        ("history_compacted", "trigger:s|null tokens_before:n|null tokens_after:n|null summary:s|null"),
        ("gap_detected", "first_seq:n|null last_seq:n|null reason:s"),
    ],
};

/// `spec/sse-v1.md`, "Event Envelope (required)" and "Event Types".
pub const SSE_V1: Table = Table {
    contract: "sse.v1",
    optional: &[],
    is_by_example: false,
    null_is_absent: false,
    body: "/payload",
    type_key: "type",
    envelope: "event_id:s session_id:s run_id:s ts:s payload:o",
    kinds: &[
        ("run_started", "status:s"),
        ("assistant_delta", "text:s"),
        ("tool_call_proposed", "approval_id:s tool_name:s args:o"),
        ("tool_call_approved", "approval_id:s"),
        ("tool_call_rejected", "approval_id:s reason:s"),
        ("tool_result", "tool_name:s success:b result:s"),
        ("run_interrupted", "status:s"),
        ("run_completed", "status:s final_text:s"),
        ("run_failed", "status:s error_code:s message:s"),
    ],
};

/// `spec/agent-manager.md`, "Event Structure" and the payload tables with their "Required" column.
pub const AGENT_MANAGER_V1: Table = Table {
    contract: "agent-manager.v1",
    optional: &[],
    is_by_example: false,
    null_is_absent: false,
    body: "/data",
    type_key: "eventType",
    envelope: "id:s runId:s sequence:n timestamp:s data:o",
    kinds: &[
        ("tool_call", "toolName:s input:o"),
        ("tool_result", "toolName:s toolCallId?:s output?:s error?:s success:b"),
        ("message", "role:s content:s"),
        ("metric", "inputTokens:n outputTokens:n cacheReadTokens?:n cacheCreationTokens?:n totalCostUsd:f model?:s"),
        ("status", "oldStatus:s newStatus:s reason?:s"),
        ("log", "level:s message:s"),
        ("error", "code:s message:s retryable:b"),
    ],
};

/// `spec/pixir.md`: the envelope, and each type's `data` as described in the text. `seq` is a number on canonical events.
pub const PIXIR_V1: Table = Table {
    contract: "pixir.v1",
    optional: &[],
    is_by_example: true,
    null_is_absent: false,
    body: "/data",
    type_key: "type",
    envelope: "id:s session_id:s ts:s data:o",
    kinds: &[
        ("user_message", "text:s resources?:a"),
        ("assistant_message", "text:s"),
        ("reasoning", "item:o model:s"),
        ("tool_call", "call_id:s name:s args:o"),
        ("tool_result", "call_id:s ok:b error?:o"),
        ("permission_decision", "call_id:s decision:s"),
        ("provider_usage", "model?:s call_index?:n usage_summary?:o"),
        ("subagent_event", "subagent_id:s event:s status:s agent?:s task?:s depth?:n summary?:s"),
        ("text_delta", "chunk:s"),
        ("reasoning_delta", "chunk:s"),
        ("status", "status:s"),
        ("plan", "entries:a"),
        ("context_pressure", "tier:s message?:s"),
        ("history_compaction", ""),
        ("session_fork", ""),
        ("branch_summary", ""),
        ("skill_activation", ""),
    ],
};

/// `spec/hecate-v1.md`: the table of the envelope and the shapes in the text. Values that a runner may not know (figures,
/// paths, reasons) may be absent. The text calls `result_artifact_id` and `scope` optional, and says that events carry no
/// payload if there is none.
pub const HECATE_V1: Table = Table {
    contract: "hecate.v1",
    optional: &[],
    is_by_example: true,
    null_is_absent: false,
    body: "/data",
    type_key: "type",
    envelope: "schema_version:s event_id:s run_id:s task_id?:s session_id?:s sequence:n occurred_at:s data:o",
    kinds: &[
        ("run.queued", "kind:s model:s provider:s"),
        ("run.started", "worker_id:s lease_until:s"),
        ("run.finished", "final_status:s turns?:n cost_micros_usd?:n duration_ms:n"),
        ("run.failed", "code:s message:s retriable:b turns?:n"),
        ("run.cancelled", "by:s reason:s"),
        ("run.resumed_from_event", "from_run_id:s from_sequence:n prior_cost_micros_usd?:n"),
        ("run.checkpoint_saved", "checkpoint_id:s"),
        ("turn.started", "turn_index:n model?:s provider?:s input_tokens_estimate?:n"),
        (
            "turn.completed",
            "turn_index:n input_tokens?:n output_tokens?:n cached_input_tokens?:n cost_micros_usd?:n duration_ms?:n \
             tool_calls?:n stop_reason?:s",
        ),
        ("turn.failed", "turn_index:n code:s message:s will_retry:b"),
        ("assistant.text_delta", "turn_index:n block_index:n delta:s"),
        ("assistant.text_complete", "turn_index:n block_index:n text:s"),
        ("assistant.thinking_delta", "turn_index:n block_index:n delta:s"),
        ("assistant.thinking_complete", "turn_index:n block_index:n text:s"),
        ("assistant.tool_call_proposed", "turn_index:n tool_call_id:s tool_name:s input:o"),
        ("assistant.final_answer", "turn_index:n summary:s"),
        ("user.message", "turn_index:n text:s"),
        ("user.attachment", "turn_index:n kind:s mime?:s artifact_id?:s"),
        ("tool.invoked", "tool_call_id:s tool_name:s kind:s turn_index?:n"),
        ("tool.started", "tool_call_id:s tool_name:s"),
        ("tool.completed", "tool_call_id:s tool_name:s kind:s duration_ms?:n summary?:s result_artifact_id?:s"),
        ("tool.failed", "tool_call_id:s tool_name:s"),
        ("tool.cancelled", "tool_call_id:s tool_name:s"),
        ("tool.timed_out", "tool_call_id:s tool_name:s"),
        ("tool.shell.command", "tool_call_id:s argv:a cwd?:s env_keys?:a sandbox_layer?:s"),
        ("tool.shell.output_chunk", "tool_call_id:s stream:s data:s byte_offset:n"),
        (
            "tool.shell.exited",
            "tool_call_id:s exit_code:i|null signal?:s|null stdout_bytes?:n stderr_bytes?:n truncated?:b",
        ),
        ("tool.edit.proposed", "tool_call_id:s path:s patch_artifact_id:s summary?:s auto_apply?:b"),
        ("tool.edit.applied", "tool_call_id:s patch_artifact_id:s applied_at:s"),
        ("tool.edit.reverted", "patch_artifact_id:s reverted_by?:s reason?:s"),
        ("tool.multi_edit.proposed", "tool_call_id:s patch_artifact_ids:a"),
        ("tool.multi_edit.applied", "tool_call_id:s patch_artifact_ids:a"),
        ("tool.multi_edit.reverted", "patch_artifact_ids:a"),
        ("tool.file_write.proposed", "tool_call_id:s path:s patch_artifact_id?:s summary?:s auto_apply?:b"),
        ("tool.glob.completed", "tool_call_id:s pattern:s matches?:a match_count?:n truncated?:b"),
        ("tool.grep.completed", "tool_call_id:s pattern:s files_searched?:n matches?:a match_count?:n truncated?:b"),
        ("tool.file_read.completed", "tool_call_id:s path:s size_bytes?:n lines?:n snippet_artifact_id?:s"),
        ("tool.todo_write.updated", "tool_call_id:s todos:a"),
        ("tool.http.requested", "tool_call_id:s method?:s url:s header_keys?:a"),
        ("tool.http.response", "tool_call_id:s status?:n duration_ms?:n body_truncated?:b"),
        ("tool.web_fetch.requested", "tool_call_id:s url:s"),
        ("tool.web_fetch.response", "tool_call_id:s"),
        ("tool.web_search.requested", "tool_call_id:s"),
        ("tool.web_search.response", "tool_call_id:s"),
        ("approval.requested", "approval_id:s tool_call_id:s kind:s summary:s policy_reason?:s"),
        ("approval.resolved", "approval_id:s decision:s by?:s comment?:s scope?:s"),
        ("approval.timed_out", "approval_id:s after_seconds?:n"),
        ("artifact.created", "artifact_id:s kind:s size_bytes?:n summary?:s"),
        ("artifact.referenced", "artifact_id:s relation?:s"),
        ("artifact.updated", "artifact_id:s field:s"),
        (
            "cost.tick",
            "cumulative_input_tokens?:n cumulative_output_tokens?:n cumulative_cost_micros_usd?:n \
             task_budget_micros_usd?:n",
        ),
        ("cost.budget_warning", "threshold_pct:f cumulative_cost_micros_usd:n task_budget_micros_usd:n"),
        ("cost.budget_exceeded", "cumulative_cost_micros_usd:n task_budget_micros_usd:n action:s"),
        ("policy.tool_blocked", "tool_call_id?:s tool_name:s reason:s policy_id?:s"),
        ("policy.model_rewrote", "from_model:s to_model:s reason?:s"),
        ("error.tool_unavailable", "tool_name:s reason:s"),
        ("error.model_capability_missing", "model:s missing_capability:s fallback_strategy?:s"),
        ("error.upstream", "provider:s status?:n message:s retriable:b attempt?:n max_attempts?:n"),
        ("gap.events_pruned", "first_pruned_sequence:n last_pruned_sequence:n pruned_at?:s reason:s"),
        ("gap.run_disconnected", "since_sequence?:n since_at?:s reason:s"),
        ("tool.file.patch", ""),
        ("tool.file.applied", ""),
        ("tool.file.reverted", ""),
    ],
};

pub const ALL: &[&Table] = &[&FRAMES_V1, &FRAMES_V2, &SSE_V1, &AGENT_MANAGER_V1, &PIXIR_V1, &HECATE_V1];
