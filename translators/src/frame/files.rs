//! Changed files, checkpoints and stored artifacts.

use super::SharedStr;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The checkpoint operation that was attempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the words speak for themselves")]
pub enum CheckpointAction {
    Create,
    Rewind,
}

impl CheckpointAction {
    /// The value in the wire form.
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
    /// The call that changed it.
    pub tool_id: Option<Uuid>,
    /// The path, in the runner's spelling.
    pub path: String,
    /// What happened to it.
    pub kind: FileChangeKind,
    /// A unified diff.
    pub diff: Option<String>,
    /// The artifact that holds the diff.
    pub artifact_id: Option<SharedStr>,
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
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Add, Self::Modify, Self::Delete, Self::Move];

    /// The value in the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Modify => "modify",
            Self::Delete => "delete",
            Self::Move => "move",
        }
    }
}

/// A stored object was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactWritten {
    /// Its id.
    pub artifact_id: SharedStr,
    /// `command_output`, `image`, `patch`, …
    pub kind: SharedStr,
    /// Size in bytes.
    pub bytes: u64,
    /// `sha256:` and the lower-case hex digest.
    pub digest: SharedStr,
    /// The beginning of the content, bounded.
    pub preview: Option<String>,
}
