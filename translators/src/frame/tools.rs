//! Tool calls and their output streams.

use super::{RawJson, SharedStr};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The error of a `tool_failed` that was caused only by the end of its run: the tool had no result yet.
pub const RUN_ENDED_FIRST: &str = "the run ended before the tool did";

/// The same error if a person interrupted the run.
pub const RUN_INTERRUPTED_FIRST: &str = "the run was interrupted before the tool ended";

/// Whether the error of a `tool_failed` was caused only by the end of its run.
pub fn is_left_by_run(error: &str) -> bool {
    matches!(error, RUN_ENDED_FIRST | RUN_INTERRUPTED_FIRST)
}

/// The exit code of a command that ran out of time, as the program `timeout` has it.
pub const TIMED_OUT: i32 = 124;

/// The two ids of a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// UUIDv5 of `call_id`.
    pub id: Uuid,
    /// The runner's own id for the call.
    pub call_id: SharedStr,
}

/// A tool call with its arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The call.
    pub tool: Tool,
    /// The tool's name as the runner spells it; "" if the runner gave none.
    pub name: SharedStr,
    /// How a UI displays the tool.
    pub kind: ToolKind,
    /// A JSON object, or a JSON string if the model's arguments were not a JSON object.
    pub args: RawJson,
}

/// How a UI displays a tool, whatever the runner calls it.
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
    /// The value in the wire form.
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

/// Whether a failed call's exit code tells something. A frame has 1 if the runner gives no code; only commands really exit
/// with 1.
pub fn is_own_exit_code(kind: ToolKind, exit_code: i32) -> bool {
    kind == ToolKind::Shell || exit_code != 1
}

/// The stream that a task's output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the document's own words")]
pub enum OutputStream {
    Stdout,
    Stderr,
    Pty,
}

impl OutputStream {
    /// The value in the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Pty => "pty",
        }
    }
}
