//! Every frame type, with its fields (`spec/frames.md`, and the extension types that the other contracts need).
//!
//! `Option` means that the runner may not say; `None` is written as null or left out, as the contract has it, and never
//! as 0 or "".

use super::{
    ApprovalRequested, ApprovalResolved, ArtifactWritten, BlockDelta, BlockText, CheckpointAction, ErrorReported,
    FileChanged, LogLevel, PlanEntry, ProviderEvent, SessionEnded, SkillEvent, TaskEvent, Tool, ToolCall, Usage,
    UserMessage,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
use uuid::Uuid;

/// A short text that many frames share: a message's id, a call's id, a tool's name.
pub type Name = Arc<str>;

/// JSON text that passes through as it came.
pub type RawJson = Arc<RawValue>;

/// What happened: one variant for each frame type.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Body {
    /// A run begins.
    SessionStarted {
        /// The prompt where the runner tells it, else "".
        input: String,
    },
    /// A run is over; the last frame of its stream.
    SessionEnded(Box<SessionEnded>),
    /// A model call begins.
    TurnStarted {
        /// Counts the run's turns from 0.
        turn_index: u32,
        /// The model that is called.
        model: Option<Name>,
    },
    /// A model call, and what it asked for, is over.
    TurnEnded {
        /// The index that its `turn_started` had.
        turn_index: u32,
        /// Why the model stopped, in the runner's words.
        stop_reason: Option<Name>,
        /// Milliseconds since its `turn_started`, where they can be told.
        duration_ms: Option<u64>,
    },
    /// A person (or a program in a person's place) said something.
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
        /// The provider's encrypted or signed item, untouched.
        opaque: Option<RawJson>,
    },
    /// A piece of a tool call's arguments, as JSON text under construction.
    ToolInputDelta {
        /// The call.
        tool: Tool,
        /// The tool's name.
        name: Name,
        /// The piece.
        delta: String,
    },
    /// The model wants a tool to run.
    ToolCallProposed(Box<ToolCall>),
    /// A tool runs.
    ToolStarted {
        /// The call.
        call: Box<ToolCall>,
        /// The runner's own limit, in milliseconds.
        timeout_ms: Option<u64>,
    },
    /// A piece of a tool's standard output, or of its result where it has no streams.
    ToolStdout {
        /// The call.
        tool: Tool,
        /// The piece.
        chunk: String,
    },
    /// The beginning of a tool's standard output, told after pieces of what follows it: it belongs before them. On the
    /// wire a `tool_stdout`, on v2 with `position: front`.
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
    /// A tool ran to its end, well or badly.
    ToolEnded {
        /// The call.
        tool: Tool,
        /// The process's exit code; where there is none, 0 for success and 1 for a reported failure.
        exit_code: i32,
        /// Milliseconds: the runner's own figure, else the time between the two frames.
        duration_ms: u64,
        /// References to stored objects, as a JSON object.
        artifacts: Option<RawJson>,
    },
    /// A tool never ran, was refused, or was cut off.
    ToolFailed {
        /// The call.
        tool: Tool,
        /// What the runner says of it.
        error: String,
    },
    /// One upstream record, as it came.
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
        /// Whether the runner made it by itself.
        auto: bool,
        /// The tool before which it was made.
        tool_name: Option<Name>,
    },
    /// The workspace went back to a checkpoint.
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
    /// The runner waits for a decision.
    ApprovalRequested(Box<ApprovalRequested>),
    /// The decision fell.
    ApprovalResolved(Box<ApprovalResolved>),
    /// The whole plan, whenever any of it changed.
    PlanUpdated {
        /// All entries, in order.
        entries: Vec<PlanEntry>,
    },
    /// The run went from one state to another.
    StatusChanged {
        /// The state before.
        old_status: Name,
        /// The state now.
        new_status: Name,
        /// Why.
        reason: Option<String>,
    },
    /// Something worth telling that has no word of its own.
    LogEmitted {
        /// How loud.
        level: LogLevel,
        /// The text.
        message: String,
    },
    /// Something went wrong; the run may go on.
    ErrorReported(Box<ErrorReported>),
    /// A subagent began its work.
    SubagentStarted {
        /// The subagent's id, in the runner's spelling.
        subagent_id: Name,
        /// The tool call that started it.
        tool_id: Option<Uuid>,
        /// The kind of agent.
        agent: Option<Name>,
        /// What it was told to do.
        task: Option<String>,
        /// 1 for a child of the main thread, 2 for its child, and so on.
        depth: u32,
    },
    /// A subagent is done.
    SubagentEnded {
        /// The subagent's id.
        subagent_id: Name,
        /// How it ended: `completed`, `failed`, `cancelled` or `interrupted`.
        status: Name,
        /// What it reported.
        summary: Option<String>,
    },
    /// The runner replaced a part of its history by a summary.
    HistoryCompacted {
        /// `manual`, `auto`, or the runner's own word.
        trigger: Option<Name>,
        /// Tokens of context before.
        tokens_before: Option<u64>,
        /// Tokens of context after.
        tokens_after: Option<u64>,
        /// The summary.
        summary: Option<String>,
    },
    /// A part of the stream is lost to us.
    GapDetected {
        /// The first sequence that is missing.
        first_seq: Option<u64>,
        /// The last sequence that is missing.
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
            Self::ToolStdout { .. } | Self::ToolStdoutFront { .. } => "tool_stdout",
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
