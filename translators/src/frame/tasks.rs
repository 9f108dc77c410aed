//! Background tasks (`tool_task_*`).

use super::{OutputStream, RawJson, SharedStr};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Something that happened to a background task (planned v2 types of the document).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the document's own fields, under its names")]
pub enum TaskEvent {
    Spawned {
        task_id: Uuid,
        tool_name: SharedStr,
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

impl TaskEvent {
    /// The task's id, which is also that of its stream.
    pub fn task_id(&self) -> Uuid {
        match self {
            Self::Spawned { task_id, .. }
            | Self::Status { task_id, .. }
            | Self::CancelRequested { task_id, .. }
            | Self::Cancelled { task_id, .. }
            | Self::OutputDelta { task_id, .. }
            | Self::StdinWritten { task_id, .. }
            | Self::Resized { task_id, .. }
            | Self::Signalled { task_id, .. } => *task_id,
        }
    }

    /// The run that started the task, if this is the task's first event and names it.
    pub fn origin(&self) -> Option<Uuid> {
        match self {
            Self::Spawned { origin_session_id, .. } => *origin_session_id,
            _ => None,
        }
    }
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
    /// The value in the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pipes => "pipes",
            Self::Pty => "pty",
        }
    }
}

/// The state of a task.
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
    /// The value in the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Exited => "exited",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Whether this is a final state.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Exited | Self::Cancelled | Self::Failed)
    }
}
