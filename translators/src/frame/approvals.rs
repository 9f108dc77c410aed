//! What somebody is asked before a tool runs, and how that was decided.

use super::{Name, RawJson};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

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
