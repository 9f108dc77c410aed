//! Streams: the scopes within which frames are numbered.

use std::sync::Arc;
use uuid::Uuid;

/// The kind of a stream (the `stream_kind` of `frames.v2`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StreamKind {
    /// A run: one prompt up to its end. Starts with `session_started`, ends with `session_ended`.
    Session,
    /// Background work that outlives its tool call. `tool_task_*` frames report its lifecycle.
    Task,
    /// What a session's runner emitted outside any run.
    Thread,
    /// Stored objects. Reserved by the document; nothing emits it yet.
    Artifact,
}

impl StreamKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Session, Self::Task, Self::Thread, Self::Artifact];

    /// The value in the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Task => "task",
            Self::Thread => "thread",
            Self::Artifact => "artifact",
        }
    }
}

/// The runner of a stream, as its frames name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provider {
    /// The value in frames, stored and served.
    pub name: &'static str,
    /// The runner's name for people. It is not stored with frames.
    pub title: &'static str,
}

/// A stream's properties. They are known from the first frame on and never change.
#[derive(Debug, PartialEq, Eq)]
pub struct Stream {
    /// The kind of stream.
    pub kind: StreamKind,
    /// The stream's id: the run id, the task's id, or the session's id for its thread stream.
    pub id: Uuid,
    /// The conversation that the stream belongs to.
    pub session: Arc<Session>,
    /// The run that started a task stream; `None` for other kinds.
    pub origin_run: Option<Uuid>,
    /// The runner.
    pub provider: Provider,
}

/// One conversation: the runs of one session or thread of the runner.
#[derive(Debug, PartialEq, Eq)]
pub struct Session {
    /// The session's id: the runner's own if that is a UUID, otherwise derived from it.
    pub id: Uuid,
    /// The runner's own id, as it spells it; empty if the runner never named the session.
    pub name: Arc<str>,
}
