//! Subagents: their start and end.
//!
//! Input: the calls that start them, their own records, the runner's notices and the results of the calls. A subagent works in the
//! background unless its call says otherwise. Its texts are never shown; the last one of a subagent in the foreground is the result
//! of its call. Output: one start and one end for each subagent. Never: an end for a subagent that goes on after its call returned.

use super::super::called_agent::CalledAgent;
use super::calls::Call;
use super::decoder::Qwen;
use super::outcome::{Outcome, Verdict};
use crate::frame::{SharedStr, Tool};
use crate::json::Object;
use crate::normalizer::{Normalizer, Target};
use crate::sequence::StreamKey;

/// How the result of a call begins that left its subagent in the background.
const LAUNCHED: &str = "Background agent launched";

impl Qwen {
    /// Registers a subagent when the model calls it.
    pub(super) fn agent_called(&mut self, target: Target, tool: &Tool, args: &Object<'_>) {
        let Some(run) = self.runs.run(target.stream) else { return };
        let agent = CalledAgent::new(target, tool, args, "subagent_type", run.agents.values());
        run.agents.insert(tool.call_id.clone(), agent);
    }

    /// The own id of the call that started a subagent, given the runner's.
    pub(super) fn agent_call(&mut self, stream: StreamKey, id: &str) -> SharedStr {
        let own = self.runs.run(stream).and_then(|run| run.call_ids.agent(id));
        own.unwrap_or_else(|| SharedStr::from(id))
    }

    /// Starts a subagent at its first sign of life. Does nothing if it has already started.
    pub(super) fn agent_begins(
        &mut self,
        stream: StreamKey,
        call_id: &str,
        id: Option<&str>,
        normalizer: &mut Normalizer,
    ) {
        let known = self.runs.run(stream).map(|run| (run.agents.contains_key(call_id), run.agents.len()));
        if let Some((false, agents)) = known {
            if agents >= normalizer.most_open() {
                return;
            }
            // The call was never seen, but a subagent that works must have been called.
            let tool = self.tool(normalizer, stream, SharedStr::from(call_id));
            if normalizer.tool_known(stream, &tool) && !normalizer.tool_runs(stream, &tool) {
                return;
            }
            self.agent_called(Target::main(stream), &tool, &Object::default());
        }
        let agent = self.runs.run(stream).and_then(|run| run.agents.get_mut(call_id));
        let Some(agent) = agent.filter(|agent| agent.id.is_none()) else { return };
        agent.begin(SharedStr::from(id.filter(|id| !id.is_empty()).unwrap_or(call_id)), normalizer);
    }

    /// Notes that a subagent goes on after its call returned.
    pub(super) fn agent_outlives(&mut self, stream: StreamKey, call_id: &str, normalizer: &mut Normalizer) {
        if let Some(agent) = self.runs.run(stream).and_then(|run| run.agents.get_mut(call_id)) {
            agent.is_background = true;
            if let Some(id) = &agent.id {
                normalizer.subagent_outlives(stream, id);
            }
        }
    }

    /// Ends a subagent.
    pub(super) fn agent_ends(
        &mut self,
        stream: StreamKey,
        call_id: &str,
        status: &str,
        summary: Option<String>,
        normalizer: &mut Normalizer,
    ) {
        let Some(agent) = self.runs.run(stream).and_then(|run| run.agents.remove(call_id)) else { return };
        let child = Target { stream, parent: Some(agent.tool.id) };
        self.leave(child, super::reply::Fate::Complete, normalizer);
        if let Some(id) = &agent.id {
            normalizer.subagent_ended(stream, id, status, summary);
        }
    }

    /// Handles the result of a call. A subagent in the foreground ends with it.
    pub(super) fn agent_returned(
        &mut self,
        target: Target,
        call_id: &str,
        call: Option<&Call>,
        outcome: &Outcome,
        normalizer: &mut Normalizer,
    ) {
        let stream = target.stream;
        if !self.runs.run(stream).is_some_and(|run| run.agents.contains_key(call_id)) {
            return;
        }
        let went_well = outcome.verdict == Verdict::Ended(0);
        if went_well {
            self.agent_begins(stream, call_id, None, normalizer);
        }
        if went_well && outcome.text.starts_with(LAUNCHED) {
            return self.agent_outlives(stream, call_id, normalizer);
        }
        let is_background = self.runs.run(stream).and_then(|run| run.agents.get(call_id));
        if call.is_none() && is_background.is_some_and(|agent| agent.is_background) {
            return;
        }
        let status = match outcome.verdict {
            Verdict::Ended(0) => "completed",
            Verdict::Ended(_) | Verdict::Refused => "failed",
            Verdict::Cancelled => "cancelled",
        };
        let summary = Some(outcome.text.clone()).filter(|text| !text.is_empty());
        self.agent_ends(stream, call_id, status, summary, normalizer);
    }

    /// The place of the only subagent in the foreground; `None` if there is none, or more than one.
    pub(super) fn only_agent_at_work(&mut self, stream: StreamKey) -> Option<Target> {
        let run = self.runs.run(stream)?;
        let mut at_work = run.agents.iter().filter(|(id, agent)| !agent.is_background && run.calls.contains_key(*id));
        let (_, agent) = at_work.next()?;
        at_work.next().is_none().then_some(Target { stream, parent: Some(agent.tool.id) })
    }
}
