//! What a tool call is, and what it says while it runs.

use super::{Name, RawJson};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The error of a `tool_failed` that nobody but the end of its run gave rise to: the tool had no result yet.
pub const RUN_ENDED_FIRST: &str = "the run ended before the tool did";

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
