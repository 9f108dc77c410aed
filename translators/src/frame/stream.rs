//! Streams: the scopes within which frames are numbered.

use std::sync::Arc;
use uuid::Uuid;

/// What a stream is the stream of (the `stream_kind` of `frames.v2`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamKind {
    /// A run: one prompt up to its end. Starts with `session_started`, ends with `session_ended`.
    Session,
    /// Background work that outlives its tool call; its lifecycle is told by `tool_task_*` frames.
    Task,
    /// What a session's runner said outside any run.
    Thread,
    /// Stored objects. Reserved by the document; nothing emits it yet.
    Artifact,
}

impl StreamKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Session, Self::Task, Self::Thread, Self::Artifact];

    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Task => "task",
            Self::Thread => "thread",
            Self::Artifact => "artifact",
        }
    }
}

/// What is known of a stream from its first frame on, and never changes.
#[derive(Debug, PartialEq, Eq)]
pub struct Stream {
    /// The scope.
    pub kind: StreamKind,
    /// The stream's id: the run id, the task's id, or the session's id for its thread stream.
    pub id: Uuid,
    /// The conversation that the stream belongs to.
    pub session: Arc<Session>,
    /// The run from which a task stream came; `None` on other kinds.
    pub origin_run: Option<Uuid>,
    /// The runner that speaks: `claude-code`, `codex`, `opencode` or `openresponses`.
    pub provider: &'static str,
}

/// One conversation: the runs of one session or thread of the runner.
#[derive(Debug, PartialEq, Eq)]
pub struct Session {
    /// The session's id: the runner's own where that is a UUID, else derived from it.
    pub id: Uuid,
    /// The runner's own id, as it spells it; empty where it never told one.
    pub name: Arc<str>,
}
