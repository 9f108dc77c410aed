//! Approval questions that a runner asks before a tool runs, and the decisions on them.

use super::{RawJson, SharedStr};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The runner asks for approval.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRequested {
    /// The question's id, as the runner spells it.
    pub approval_id: SharedStr,
    /// The call that waits for the decision.
    pub tool_id: Option<Uuid>,
    /// The tool's name.
    pub tool_name: SharedStr,
    /// The arguments to approve.
    pub args: RawJson,
    /// Why the runner asks.
    pub reason: Option<String>,
}

/// The answer to an approval question.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalResolved {
    /// The question's id.
    pub approval_id: SharedStr,
    /// What was decided.
    pub decision: Decision,
    /// Who decided.
    pub by: Option<SharedStr>,
    /// Why.
    pub reason: Option<String>,
    /// How far the decision reaches: `once`, `session`, `always`, or the runner's own value.
    pub scope: Option<SharedStr>,
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
    /// The value in the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
        }
    }
}
