//! Subagents that no call started: each is a call of its own. Those of a call are part of it.

use super::calls::Stage;
use super::data::{self, AboutCall};
use super::describe;
use super::encode::AcpRun;
use crate::encode::{Events, Word};
use crate::frame::{Frame, SharedStr};
use uuid::Uuid;

/// The title of a subagent of which nothing is known.
const UNNAMED: &str = "subagent";

/// What a runner says when a subagent starts.
pub(super) struct Start<'f> {
    pub(super) runner_id: &'f SharedStr,
    pub(super) call: Option<Uuid>,
    pub(super) agent: Option<&'f str>,
    pub(super) task: Option<&'f str>,
}

impl AcpRun {
    pub(super) fn subagent_started(&mut self, start: &Start<'_>, frame: &Frame, out: &mut Events) {
        if start.call.is_some() || self.subagents.contains_key(start.runner_id) {
            return;
        }
        if !frame.is_subagent() {
            self.begin_content();
        }
        let id = self.writer.fresh_id();
        self.subagents.insert(start.runner_id.clone(), id);
        self.calls.begin(id, Stage::Running);
        let texts = [start.task, start.agent].into_iter().flatten().map(describe::line);
        let title = texts.into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| UNNAMED.to_owned());
        let data = data::Call {
            title: Some(&title),
            name: start.agent.filter(|agent| !agent.is_empty()),
            kind: Some(Word("think")),
            status: Some(Word("in_progress")),
            ..data::call(id)
        };
        let call_id = Some(&**start.runner_id).filter(|id| !id.is_empty());
        let about = AboutCall { call_id, parent_tool_call_id: frame.parent_tool_id };
        self.writer.update_about("tool_call", &data, &about, out);
    }

    pub(super) fn subagent_ended(&mut self, runner_id: &str, status: &str, summary: Option<&str>, out: &mut Events) {
        let Some(id) = self.subagents.remove(runner_id) else { return };
        let failed = matches!(status, "failed" | "cancelled" | "interrupted");
        self.finish(&id, !failed, summary.or(failed.then_some(status)), out);
    }
}
