//! Every frame type, with its fields (`spec/frames.md`, and the extension types that the other contracts need).
//!
//! `Option` means that the runner may not say; `None` is written as null or left out, as the contract has it, and never
//! as 0 or "".

use super::{Faults, stored};
use crate::drift::DriftKind;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
use uuid::Uuid;

/// A short text that many frames share: a message's id, a call's id, a tool's name.
pub type Name = Arc<str>;

/// JSON text that passes through as it came.
pub type RawJson = Arc<RawValue>;

/// The error of a `tool_failed` that nobody but the end of its run gave rise to: the tool had no result yet.
pub const RUN_ENDED_FIRST: &str = "the run ended before the tool did";

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

/// A tool call, by both its names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// UUIDv5 of `call_id`.
    pub id: Uuid,
    /// The runner's own id of the call.
    pub call_id: Name,
}

/// A tool call with its arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The call.
    pub tool: Tool,
    /// The tool's name, the runner's own; "" where the runner gave none.
    pub name: Name,
    /// How the tool is drawn.
    pub kind: ToolKind,
    /// A JSON object; a JSON string where the model's arguments were not a JSON object.
    pub args: RawJson,
}

/// How a tool is drawn, whatever the runner calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the words speak for themselves")]
pub enum ToolKind {
    Shell,
    Read,
    Write,
    Edit,
    Search,
    Fetch,
    Mcp,
    Plan,
    Subagent,
    Other,
}

impl ToolKind {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Read => "read",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Search => "search",
            Self::Fetch => "fetch",
            Self::Mcp => "mcp",
            Self::Plan => "plan",
            Self::Subagent => "subagent",
            Self::Other => "other",
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionEnded {
    /// The verdict.
    pub reason: EndReason,
    /// The main thread's last whole text.
    pub final_text: Option<String>,
    /// A stable code where the run failed.
    pub error_code: Option<Name>,
    /// What a person is told where the run failed.
    pub message: Option<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EndReason {
    /// The runner says that it went well.
    Completed,
    /// The runner says that it went badly.
    Failed,
    /// Somebody stopped it, or the stream ended without the runner's word.
    Interrupted,
}

impl EndReason {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What a person said.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserMessage {
    /// The message's id, derived where the runner has none.
    pub message_id: Name,
    /// Its text.
    pub text: String,
    /// References to stored objects; never base64.
    pub attachments: Vec<Attachment>,
}

/// Something attached to a message, by reference.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// `image`, `file`, or the runner's own word.
    pub kind: Name,
    /// The media type.
    pub mime: Option<Name>,
    /// `sha256:` and the lower-case hex digest of the content, where the content was there.
    pub artifact_id: Option<Name>,
    /// A file name or path.
    pub name: Option<String>,
    /// Size of the content in bytes.
    pub bytes: Option<u64>,
}

/// A piece of a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockDelta {
    /// The message that the block belongs to.
    pub message_id: Name,
    /// The block's place in the message.
    pub block_index: u32,
    /// The piece.
    pub delta: String,
}

/// The whole of a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockText {
    /// The message that the block belongs to.
    pub message_id: Name,
    /// The block's place in the message.
    pub block_index: u32,
    /// The text.
    pub text: String,
}

/// One upstream record.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderEvent {
    /// What the record was.
    pub status: ProviderStatus,
    /// The SSE `event:` value; `None` where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_name: Option<Name>,
    /// The record's JSON object, as it came, on one line.
    // Written by the codec, so that text that was parsed once is not parsed again.
    #[serde(default, skip_serializing, deserialize_with = "stored::json_text")]
    pub data: Option<Box<str>>,
    /// The record's text, only where `data` alone cannot give it back.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stored::bytes")]
    pub raw: Option<Box<[u8]>>,
    /// The SSE block as it came, only where `event_name` and the text cannot give it back. Not on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stored::bytes")]
    pub block: Option<Box<[u8]>>,
    /// Whether the record was an SSE event. Not on the wire.
    pub sse: bool,
    /// What is wrong with the record.
    #[serde(default, skip_serializing_if = "Faults::is_empty")]
    pub errors: Faults,
    /// What is wrong with the response object in the record.
    #[serde(default, skip_serializing_if = "Faults::is_empty")]
    pub response_errors: Faults,
    /// How the record differs from what is known of the runner, where that is looked at. Not on the wire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<DriftKind>,
    /// Where something was redacted: JSON pointers into the frame, to fields of `data` or to `raw`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted_paths: Vec<String>,
}

/// What an upstream record was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ProviderStatus {
    /// JSON.
    Event,
    /// The end marker `[DONE]`.
    Done,
    /// Not JSON.
    InvalidJson,
}

impl ProviderStatus {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Done => "done",
            Self::InvalidJson => "invalid_json",
        }
    }
}

/// What was tried with a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the words speak for themselves")]
pub enum CheckpointAction {
    Create,
    Rewind,
}

impl CheckpointAction {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Rewind => "rewind",
        }
    }
}

/// A file of the workspace changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileChanged {
    /// The call that did it.
    pub tool_id: Option<Uuid>,
    /// The path, in the runner's spelling.
    pub path: String,
    /// What happened to it.
    pub kind: FileChangeKind,
    /// A unified diff.
    pub diff: Option<String>,
    /// The stored diff.
    pub artifact_id: Option<Name>,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the words speak for themselves")]
pub enum FileChangeKind {
    Add,
    Modify,
    Delete,
    Move,
}

impl FileChangeKind {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Modify => "modify",
            Self::Delete => "delete",
            Self::Move => "move",
        }
    }
}

/// Tokens and money of a model call or of a whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// What the figures cover.
    pub scope: UsageScope,
    /// The model, where the figures are of one.
    pub model: Option<Name>,
    /// Tokens read outside the cache.
    pub input_tokens: u64,
    /// Tokens written, reasoning among them.
    pub output_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the cache.
    pub cache_creation_tokens: Option<u64>,
    /// The part of `output_tokens` that was reasoning.
    pub reasoning_tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

/// What a usage figure covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum UsageScope {
    /// One model call.
    #[default]
    Turn,
    /// The runner's own total of the run.
    Run,
}

impl UsageScope {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Run => "run",
        }
    }
}

/// The runner asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRequested {
    /// The question's id, the runner's own.
    pub approval_id: Name,
    /// The call that waits.
    pub tool_id: Option<Uuid>,
    /// The tool's name.
    pub tool_name: Name,
    /// The arguments that are asked about.
    pub args: RawJson,
    /// Why it is asked.
    pub reason: Option<String>,
}

/// The answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalResolved {
    /// The question's id.
    pub approval_id: Name,
    /// What was decided.
    pub decision: Decision,
    /// Who decided.
    pub by: Option<Name>,
    /// Why.
    pub reason: Option<String>,
    /// How far it reaches: `once`, `session`, `always`, or the runner's own word.
    pub scope: Option<Name>,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the words speak for themselves")]
pub enum Decision {
    Approved,
    Rejected,
    TimedOut,
    Cancelled,
}

impl Decision {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
        }
    }
}

/// One entry of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// `pending`, `in_progress`, `completed`, or the runner's own word.
    pub status: Name,
    /// `high`, `medium`, `low`, or the runner's own word.
    pub priority: Option<Name>,
}

/// How loud a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the words speak for themselves")]
pub enum LogLevel {
    Debug,
    Info,
    Warn,
    Error,
}

impl LogLevel {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Something went wrong.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorReported {
    /// How far it reaches.
    pub scope: ErrorScope,
    /// A stable, machine-readable word: `rate_limit`, `overloaded`, `authentication_failed`, …
    pub code: Name,
    /// What a person is told.
    pub message: String,
    /// Whether trying again may help.
    pub retryable: bool,
    /// Which attempt failed, from 1.
    pub attempt: Option<u32>,
    /// How many attempts there will be.
    pub max_attempts: Option<u32>,
    /// The provider's HTTP status.
    pub http_status: Option<u16>,
}

/// How far an error reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the words speak for themselves")]
pub enum ErrorScope {
    Run,
    Turn,
    Provider,
}

impl ErrorScope {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Turn => "turn",
            Self::Provider => "provider",
        }
    }
}

/// Something that happened to a background task (planned v2 types of the document).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the document's own fields, under its names")]
pub enum TaskEvent {
    Spawned {
        task_id: Uuid,
        tool_name: Name,
        args: RawJson,
        cwd: Option<String>,
        title: Option<String>,
        execution_mode: ExecutionMode,
        origin_session_id: Option<Uuid>,
        artifacts: Option<RawJson>,
    },
    Status {
        task_id: Uuid,
        status: TaskStatus,
        exit_code: Option<i32>,
        started_at_ms: Option<u64>,
        ended_at_ms: Option<u64>,
        artifacts: Option<RawJson>,
        error: Option<String>,
    },
    CancelRequested {
        task_id: Uuid,
        reason: String,
    },
    Cancelled {
        task_id: Uuid,
        reason: String,
        wall_time_ms: Option<u64>,
    },
    OutputDelta {
        task_id: Uuid,
        stream: OutputStream,
        chunk: String,
        artifacts: Option<RawJson>,
    },
    StdinWritten {
        task_id: Uuid,
        chunk_b64: String,
    },
    Resized {
        task_id: Uuid,
        rows: u16,
        cols: u16,
    },
    Signalled {
        task_id: Uuid,
        signal: String,
    },
}

/// How a task's process is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the document's own words")]
pub enum ExecutionMode {
    Pipes,
    Pty,
}

impl ExecutionMode {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pipes => "pipes",
            Self::Pty => "pty",
        }
    }
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the document's own words")]
pub enum TaskStatus {
    Queued,
    Running,
    Exited,
    Cancelled,
    Failed,
}

impl TaskStatus {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Exited => "exited",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Whether nothing follows it.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Exited | Self::Cancelled | Self::Failed)
    }
}

/// Where a task's output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the document's own words")]
pub enum OutputStream {
    Stdout,
    Stderr,
    Pty,
}

impl OutputStream {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Pty => "pty",
        }
    }
}

/// A stored object was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactWritten {
    /// Its id.
    pub artifact_id: Name,
    /// `command_output`, `image`, `patch`, …
    pub kind: Name,
    /// Size in bytes.
    pub bytes: u64,
    /// `sha256:` and the lower-case hex digest.
    pub digest: Name,
    /// The beginning of the content, bounded.
    pub preview: Option<String>,
}

/// Something that happened to a skill (planned v2 types of the document).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the document's own fields, under its names")]
pub enum SkillEvent {
    CatalogUpdated { count: u64, roots: Vec<String>, collisions: Option<RawJson> },
    Loaded { name: Name, path: String, digest: String, frontmatter: RawJson, warnings: Option<Vec<String>> },
    Invoked { name: Name, args: Option<RawJson>, mode: SkillMode, effective_allowed_tools: Option<Vec<String>> },
    Warning { name: Option<Name>, kind: Name, detail: String },
}

/// Who asked for a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the document's own words")]
pub enum SkillMode {
    Manual,
    Auto,
}

impl SkillMode {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
        }
    }
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
