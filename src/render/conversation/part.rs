//! The parts of a conversation, in the order in which a reader sees them.

use super::totals::Totals;
use crate::render::blocks::Segment;
use crate::render::console::Console;
use crate::render::describe::{Change, Question};
use framegate_translators::frame::{
    ApprovalResolved, Attachment, ErrorReported, LogLevel, PlanEntry, SessionEnded, SharedStr, ToolKind,
};

/// The agent that a part comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Speaker {
    /// 0 for the main thread, 1 for its subagents, and so on.
    pub(crate) depth: u32,
    /// The name of a subagent; empty for the main thread.
    pub(crate) name: SharedStr,
}

/// One part. Text in it is as it came: it may contain any character.
#[derive(Debug)]
pub(crate) enum Part<'p> {
    /// A message to the agent.
    Prompt { text: &'p str, attachments: &'p [Attachment] },
    /// A segment of a text. Segments of different blocks may alternate.
    Prose { block: u64, segment: Segment },
    /// Reasoning that is over.
    Thought { text: &'p str, chars: u64 },
    /// A call that is over, or never began.
    Call(Box<Call>),
    /// A change of a file outside of a call.
    Changed(Change),
    /// The whole plan.
    Plan(&'p [PlanEntry]),
    /// The runner waits for a decision.
    Asked(&'p Question),
    /// A question was decided; `None` if the question was not seen.
    Decided { question: Option<Question>, answer: &'p ApprovalResolved },
    /// Something went wrong.
    Error(&'p ErrorReported),
    /// Something that a reader should know.
    Notice { level: LogLevel, text: String },
    /// A part of the run is missing.
    Gap(String),
    /// The speaker began to work.
    SubagentStarted { task: Option<&'p str> },
    /// The speaker is done.
    SubagentEnded { status: &'p str, summary: Option<&'p str> },
    /// The run is over.
    Ended { end: &'p SessionEnded, totals: &'p Totals },
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The tool's name, in the runner's spelling; empty if it is unknown.
    pub(crate) name: SharedStr,
    /// How it is drawn.
    pub(crate) kind: ToolKind,
    /// What it is about; empty if that is unknown.
    pub(crate) subject: String,
    /// The end of its output.
    pub(crate) output: Console,
    /// What it changed.
    pub(crate) changes: Vec<Change>,
    /// How many more changes were left out.
    pub(crate) more_changes: u64,
    /// The bytes of output that are stored outside of the run; `None` if all of it is in the run.
    pub(crate) stored_bytes: Option<u64>,
    /// How it ended.
    pub(crate) outcome: Outcome,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It ran.
    Ended { exit_code: i32, duration_ms: u64 },
    /// It did not run to its end, for this reason.
    Failed(String),
    /// It was proposed, and did not run here.
    Proposed,
    /// Its end was not seen.
    Open,
}

impl Outcome {
    /// Whether the call had no success.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Ended { exit_code: 1.. | ..=-1, .. } | Self::Failed(_))
    }
}
