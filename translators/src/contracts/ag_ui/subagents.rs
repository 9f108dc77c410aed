//! The working subagents, and which of them a frame belongs to.
//!
//! Input: starts and ends of subagents and of the calls that started them. Output: the id in events of each invocation. Never: an id of
//! an earlier invocation: the client refuses it, although a runner may start the same subagent again.

use super::blocks::Thread;
use super::data::{AboutSubagent, AboutSubagentEnd, Outcome, SubagentError, SubagentFinished, SubagentStarted};
use super::encode::AgUiRun;
use crate::encode::{Events, Word};
use crate::frame::{Frame, SharedStr};
use crate::hash::HashMap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The name of a subagent whose kind the runner does not report.
const UNNAMED: &str = "subagent";

/// The working subagents of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subagents {
    /// By the runner's id.
    working: HashMap<SharedStr, Working>,
    /// The latest invocation that each call started. Kept while the call or the subagent goes on.
    by_call: HashMap<Uuid, Uuid>,
    started: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Working {
    id: Uuid,
    call: Option<Uuid>,
    order: u64,
}

impl Subagents {
    /// The thread of a frame.
    pub(super) fn thread(&self, frame: &Frame) -> Thread {
        let call = frame.parent_tool_id;
        Thread { call, subagent: call.map(|call| self.by_call.get(&call).copied().unwrap_or(call)) }
    }

    /// A call is over. Its subagent may go on.
    pub(super) fn call_ended(&mut self, call: &Uuid) {
        if self.by_call.contains_key(call) && !self.working.values().any(|working| working.call == Some(*call)) {
            self.by_call.remove(call);
        }
    }
}

/// What a runner says when a subagent starts.
pub(super) struct Start<'f> {
    pub(super) runner_id: &'f SharedStr,
    pub(super) call: Option<Uuid>,
    pub(super) agent: Option<&'f str>,
    pub(super) task: Option<&'f str>,
}

impl AgUiRun {
    pub(super) fn subagent_started(&mut self, start: &Start<'_>, frame: &Frame, out: &mut Events) {
        if self.subagents.working.contains_key(start.runner_id) {
            return;
        }
        // The client knows only announced subagents as parents.
        let parent_subagent = frame.parent_tool_id.and_then(|call| self.subagents.by_call.get(&call).copied());
        let id = self.writer.fresh_id();
        let working = Working { id, call: start.call, order: self.subagents.started };
        self.subagents.started += 1;
        self.subagents.working.insert(start.runner_id.clone(), working);
        if let Some(call) = start.call {
            self.subagents.by_call.insert(call, id);
        }
        let data = SubagentStarted {
            subagent: id,
            name: start.agent.filter(|agent| !agent.is_empty()).unwrap_or(UNNAMED),
            description: start.task,
            parent_subagent,
            parent_tool_call_id: start.call,
        };
        self.writer.event_with("SUBAGENT_STARTED", &data, &AboutSubagent { subagent_id: start.runner_id }, out);
    }

    pub(super) fn subagent_ended(&mut self, runner_id: &str, status: &str, summary: Option<&str>, out: &mut Events) {
        let Some(Working { id, call, .. }) = self.subagents.working.remove(runner_id) else { return };
        if let Some(call) = call.filter(|call| !self.calls.is_open(call)) {
            self.subagents.call_ended(&call);
        }
        self.close_subagent(id, status, summary, out);
    }

    fn close_subagent(&mut self, subagent: Uuid, status: &str, summary: Option<&str>, out: &mut Events) {
        let about = AboutSubagentEnd { status };
        if matches!(status, "failed" | "cancelled" | "interrupted") {
            let message = summary.filter(|summary| !summary.is_empty()).unwrap_or(status);
            let data = SubagentError { subagent, message, code: status };
            return self.writer.event_with("SUBAGENT_ERROR", &data, &about, out);
        }
        let outcome = Outcome { kind: Word("success"), pending: None };
        let data = SubagentFinished { subagent, result: summary, outcome };
        self.writer.event_with("SUBAGENT_FINISHED", &data, &about, out);
    }

    /// The run is over, and so are its subagents.
    pub(super) fn close_subagents(&mut self, out: &mut Events) {
        let mut left: Vec<Working> = self.subagents.working.drain().map(|(_, working)| working).collect();
        left.sort_unstable_by_key(|working| working.order);
        self.subagents.by_call.clear();
        for working in left {
            self.close_subagent(working.id, "interrupted", None, out);
        }
    }
}
