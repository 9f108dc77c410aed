//! Every frame type with its fields (`spec/frames.md`, plus the extension types that the other contracts need).
//!
//! A field is an `Option` if the runner may not report it. `None` is written as null or left out, depending on the contract,
//! but never as 0 or "".

use super::{
    ApprovalRequested, ApprovalResolved, ArtifactWritten, BlockDelta, BlockText, CheckpointAction, ErrorReported,
    FileChanged, LogLevel, PlanEntry, ProviderEvent, RawJson, SessionEnded, SkillEvent, TaskEvent, Tool, ToolCall,
    Usage, UserMessage,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// A short string that many frames share: a message id, a call id, a tool name.
pub type SharedStr = Arc<str>;

/// What happened: one variant for each frame type.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Body {
    /// A run begins.
    SessionStarted {
        /// The prompt if the runner reports it or the proxy sent it, otherwise "".
        input: String,
    },
    /// A run ended; this is the last frame of its stream.
    SessionEnded(Box<SessionEnded>),
    /// A model call begins.
    TurnStarted {
        /// Index of the turn within the run, from 0.
        turn_index: u32,
        /// The model being called.
        model: Option<SharedStr>,
    },
    /// A model call, and the work that it asked for, is over.
    TurnEnded {
        /// The index from its `turn_started`.
        turn_index: u32,
        /// Why the model stopped, in the runner's own words.
        stop_reason: Option<SharedStr>,
        /// Milliseconds since its `turn_started`; `None` if unknown.
        duration_ms: Option<u64>,
    },
    /// A message from a person, or from a program acting for one.
    UserMessage(Box<UserMessage>),
    /// A piece of the assistant's text.
    OutputTextDelta(BlockDelta),
    /// The whole text of a block: the concatenation of its deltas.
    OutputTextCompleted(BlockText),
    /// A piece of the model's reasoning.
    ReasoningDelta(BlockDelta),
    /// The whole reasoning of a block.
    ReasoningCompleted {
        /// The block and its text.
        block: BlockText,
        /// The provider's encrypted or signed item, unchanged.
        opaque: Option<RawJson>,
    },
    /// A piece of a tool call's arguments: a fragment of JSON text.
    ToolInputDelta {
        /// The call.
        tool: Tool,
        /// The tool's name.
        name: SharedStr,
        /// The piece.
        delta: String,
    },
    /// The model wants a tool to run.
    ToolCallProposed(Box<ToolCall>),
    /// A tool started to run.
    ToolStarted {
        /// The call.
        call: Box<ToolCall>,
        /// The runner's own timeout, in milliseconds.
        timeout_ms: Option<u64>,
    },
    /// A piece of a tool's standard output, or of its result if the tool has no separate streams.
    ToolStdout {
        /// The call.
        tool: Tool,
        /// The piece.
        chunk: String,
    },
    /// A piece of live standard output from a runner that may report the beginning only at the end. On the wire it is a
    /// `tool_stdout`.
    ToolStdoutTail {
        /// The call.
        tool: Tool,
        /// The piece.
        chunk: String,
    },
    /// The beginning of a tool's standard output, reported after later pieces. It belongs before them. On the wire it is a
    /// `tool_stdout`; in v2 with `position: front`.
    ToolStdoutFront {
        /// The call.
        tool: Tool,
        /// The piece.
        chunk: String,
    },
    /// A piece of a tool's standard error.
    ToolStderr {
        /// The call.
        tool: Tool,
        /// The piece.
        chunk: String,
    },
    /// A tool ran to its end, successfully or not.
    ToolEnded {
        /// The call.
        tool: Tool,
        /// The process's exit code. If there is no exit code: 0 for success, 1 for a reported failure.
        exit_code: i32,
        /// Milliseconds: the runner's own figure, otherwise the time between the start and end frames.
        duration_ms: u64,
        /// References to stored objects, as a JSON object.
        artifacts: Option<RawJson>,
    },
    /// A tool never ran, was refused, or was interrupted.
    ToolFailed {
        /// The call.
        tool: Tool,
        /// The runner's error text.
        error: String,
    },
    /// One upstream record, exactly as it arrived.
    ProviderEvent(Box<ProviderEvent>),
    /// A checkpoint of the workspace was made.
    CheckpointCreated {
        /// Its id.
        checkpoint_id: Uuid,
        /// Its label.
        label: String,
        /// Unix epoch milliseconds.
        created_at_ms: u64,
        /// Relative paths.
        files: Vec<String>,
        /// Whether the runner made it automatically.
        auto: bool,
        /// The tool before which it was made.
        tool_name: Option<SharedStr>,
    },
    /// The workspace was restored to a checkpoint.
    CheckpointRewound {
        /// Its id.
        checkpoint_id: Uuid,
        /// Its label.
        label: String,
        /// Relative paths.
        files: Vec<String>,
    },
    /// A checkpoint could not be made or restored.
    CheckpointFailed {
        /// `create` or `rewind`.
        action: CheckpointAction,
        /// What went wrong.
        error: String,
    },
    /// A file of the workspace changed.
    FileChanged(Box<FileChanged>),
    /// Tokens and money, counted once.
    UsageReported(Box<Usage>),
    /// The runner waits for an approval decision.
    ApprovalRequested(Box<ApprovalRequested>),
    /// An approval was decided.
    ApprovalResolved(Box<ApprovalResolved>),
    /// The whole plan, sent whenever any part of it changes.
    PlanUpdated {
        /// All entries, in order.
        entries: Vec<PlanEntry>,
    },
    /// The run changed from one state to another.
    StatusChanged {
        /// The state before.
        old_status: SharedStr,
        /// The state now.
        new_status: SharedStr,
        /// Why.
        reason: Option<String>,
    },
    /// A message worth reporting that has no frame type.
    LogEmitted {
        /// Log level.
        level: LogLevel,
        /// The text.
        message: String,
    },
    /// Something went wrong; the run may go on.
    ErrorReported(Box<ErrorReported>),
    /// A subagent started.
    SubagentStarted {
        /// The subagent's id, in the runner's spelling.
        subagent_id: SharedStr,
        /// The tool call that started it.
        tool_id: Option<Uuid>,
        /// The kind of agent.
        agent: Option<SharedStr>,
        /// The task it was given.
        task: Option<String>,
        /// 1 for a child of the main thread, 2 for its child, and so on.
        depth: u32,
    },
    /// A subagent ended.
    SubagentEnded {
        /// The subagent's id.
        subagent_id: SharedStr,
        /// How it ended: `completed`, `failed`, `cancelled` or `interrupted`.
        status: SharedStr,
        /// What it reported.
        summary: Option<String>,
    },
    /// The runner replaced part of its history with a summary.
    HistoryCompacted {
        /// `manual`, `auto`, or the runner's own value.
        trigger: Option<SharedStr>,
        /// Tokens of context before the compaction.
        tokens_before: Option<u64>,
        /// Tokens of context after the compaction.
        tokens_after: Option<u64>,
        /// The summary.
        summary: Option<String>,
    },
    /// Part of the stream was lost before it reached us.
    GapDetected {
        /// The first missing sequence number; `None` if unknown.
        first_seq: Option<u64>,
        /// The last missing sequence number; `None` if unknown.
        last_seq: Option<u64>,
        /// Why.
        reason: String,
    },
    /// Something that happened to a background task (streams of kind `task`).
    Task(Box<TaskEvent>),
    /// A stored object was written.
    ArtifactWritten(Box<ArtifactWritten>),
    /// Something that happened to a skill.
    Skill(Box<SkillEvent>),
}

impl Body {
    /// The frame type: the `type` of the wire form.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::SessionStarted { .. } => "session_started",
            Self::SessionEnded(_) => "session_ended",
            Self::TurnStarted { .. } => "turn_started",
            Self::TurnEnded { .. } => "turn_ended",
            Self::UserMessage(_) => "user_message",
            Self::OutputTextDelta(_) => "output_text_delta",
            Self::OutputTextCompleted(_) => "output_text_completed",
            Self::ReasoningDelta(_) => "reasoning_delta",
            Self::ReasoningCompleted { .. } => "reasoning_completed",
            Self::ToolInputDelta { .. } => "tool_input_delta",
            Self::ToolCallProposed(_) => "tool_call_proposed",
            Self::ToolStarted { .. } => "tool_started",
            Self::ToolStdout { .. } | Self::ToolStdoutTail { .. } | Self::ToolStdoutFront { .. } => "tool_stdout",
            Self::ToolStderr { .. } => "tool_stderr",
            Self::ToolEnded { .. } => "tool_ended",
            Self::ToolFailed { .. } => "tool_failed",
            Self::ProviderEvent(_) => "provider_event",
            Self::CheckpointCreated { .. } => "checkpoint_created",
            Self::CheckpointRewound { .. } => "checkpoint_rewound",
            Self::CheckpointFailed { .. } => "checkpoint_failed",
            Self::FileChanged(_) => "file_changed",
            Self::UsageReported(_) => "usage_reported",
            Self::ApprovalRequested(_) => "approval_requested",
            Self::ApprovalResolved(_) => "approval_resolved",
            Self::PlanUpdated { .. } => "plan_updated",
            Self::StatusChanged { .. } => "status_changed",
            Self::LogEmitted { .. } => "log_emitted",
            Self::ErrorReported(_) => "error_reported",
            Self::SubagentStarted { .. } => "subagent_started",
            Self::SubagentEnded { .. } => "subagent_ended",
            Self::HistoryCompacted { .. } => "history_compacted",
            Self::GapDetected { .. } => "gap_detected",
            Self::Task(event) => match **event {
                TaskEvent::Spawned { .. } => "tool_task_spawned",
                TaskEvent::Status { .. } => "tool_task_status",
                TaskEvent::CancelRequested { .. } => "tool_task_cancel_requested",
                TaskEvent::Cancelled { .. } => "tool_task_cancelled",
                TaskEvent::OutputDelta { .. } => "tool_task_output_delta",
                TaskEvent::StdinWritten { .. } => "tool_task_stdin_written",
                TaskEvent::Resized { .. } => "tool_task_resized",
                TaskEvent::Signalled { .. } => "tool_task_signalled",
            },
            Self::ArtifactWritten(_) => "artifact_written",
            Self::Skill(event) => match **event {
                SkillEvent::CatalogUpdated { .. } => "skill_catalog_updated",
                SkillEvent::Loaded { .. } => "skill_loaded",
                SkillEvent::Invoked { .. } => "skill_invoked",
                SkillEvent::Warning { .. } => "skill_warning",
            },
        }
    }
}
