//! The schemas of frames: the contracts write what they describe, and the runner `frames` reads it.
//!
//! One list for each version. A type is added here and in `schemas/frames/`.

use crate::schema::{SchemaFile, schemas};

/// The types of v1.
pub(crate) static V1: &[SchemaFile] = schemas!("frames/v1":
    "session_started", "output_text_delta", "session_ended", "tool_started", "tool_stdout", "tool_stderr",
    "tool_ended", "tool_failed", "provider_event", "checkpoint_created", "checkpoint_rewound", "checkpoint_failed",
    "tool_task_spawned", "tool_task_status", "tool_task_cancel_requested", "tool_task_cancelled",
    "tool_task_output_delta", "tool_task_stdin_written", "tool_task_resized", "tool_task_signalled",
);

/// The types of v2.
pub(crate) static V2: &[SchemaFile] = schemas!("frames/v2":
    "session_started", "session_ended", "turn_started", "turn_ended", "user_message", "output_text_delta",
    "output_text_completed", "reasoning_delta", "reasoning_completed", "tool_input_delta", "tool_call_proposed",
    "tool_started", "tool_stdout", "tool_stderr", "tool_ended", "tool_failed", "provider_event",
    "checkpoint_created", "checkpoint_rewound", "checkpoint_failed", "file_changed", "usage_reported",
    "approval_requested", "approval_resolved", "plan_updated", "status_changed", "log_emitted", "error_reported",
    "subagent_started", "subagent_ended", "history_compacted", "gap_detected", "tool_task_spawned",
    "tool_task_status", "tool_task_cancel_requested", "tool_task_cancelled", "tool_task_output_delta",
    "tool_task_stdin_written", "tool_task_resized", "tool_task_signalled", "artifact_written",
    "skill_catalog_updated", "skill_loaded", "skill_invoked", "skill_warning",
);
