//! Subagents: their start and end.
//!
//! Input: the `task` calls that start them, their own events, and the results of the calls. A subagent's events name it by an id of its own, and
//! most of them also the call. A subagent in the foreground ends with its call, whose result is its last text. Output: one start and
//! one end for each subagent. Never: an end for a subagent that goes on after its call returned; a subagent's text on the main
//! thread.

use super::super::called_agent::CalledAgent;
use super::decoder::{Copilot, Event};
use crate::frame::{SharedStr, Tool};
use crate::json::Object;
use crate::normalizer::{Normalizer, Target};

impl Copilot {
    /// Registers a subagent when the model calls it.
    pub(super) fn agent_called(&mut self, target: Target, call_id: &str, tool: &Tool, args: &Object<'_>) {
        let Some(run) = self.run_of(target.stream) else { return };
        let mut agent = CalledAgent::new(target, tool, args, "agent_type", run.agents.values());
        agent.is_background = args.str("mode").as_deref() == Some("background");
        run.agents.insert(SharedStr::from(call_id), agent);
    }

    pub(super) fn agent_started(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let data = &event.data;
        let Some(call_id) = data.str("toolCallId").filter(|id| !id.is_empty()) else { return };
        self.ensure(normalizer);
        if let Some(agent) = self.run.as_mut().and_then(|run| run.agents.get_mut(&*call_id)) {
            agent.is_background |= data.str("executionMode").is_some_and(|mode| mode != "sync");
            agent.kind = data.str("agentName").map(|name| SharedStr::from(&*name)).or_else(|| agent.kind.take());
        }
        self.agent_begins(&call_id, event.agent.as_deref(), normalizer);
    }

    /// Starts a subagent at its first sign of life. Does nothing if it has already started.
    pub(super) fn agent_begins(&mut self, call_id: &str, id: Option<&str>, normalizer: &mut Normalizer) {
        let Some(run) = &self.run else { return };
        let stream = run.key;
        if !run.agents.contains_key(call_id) {
            let tool = self.tool(normalizer, stream, call_id);
            let is_over = normalizer.tool_known(stream, &tool) && !normalizer.tool_runs(stream, &tool);
            if is_over || run.agents.len() >= normalizer.most_open() {
                return;
            }
            // The call was never seen, but a subagent that works must have been called.
            self.agent_called(Target::main(stream), call_id, &tool, &Object::default());
        }
        let Some(run) = &mut self.run else { return };
        let Some(agent) = run.agents.get_mut(call_id).filter(|agent| agent.id.is_none()) else { return };
        if let Some(id) = id.filter(|_| run.agent_calls.len() < normalizer.most_open()) {
            run.agent_calls.insert(SharedStr::from(id), SharedStr::from(call_id));
        }
        let id = SharedStr::from(id.unwrap_or(call_id));
        agent.begin(id.clone(), normalizer);
        if agent.is_background {
            normalizer.subagent_outlives(stream, &id);
        }
    }

    /// Handles the runner's word that a subagent is done.
    pub(super) fn agent_is_done(&mut self, kind: &str, event: &Event<'_>, normalizer: &mut Normalizer) {
        let data = &event.data;
        let Some(call_id) = data.str("toolCallId").filter(|id| !id.is_empty()) else { return };
        let failed = kind == "subagent.failed";
        // One in the foreground ends with its call.
        let is_awaited = self.run.as_ref().is_some_and(|run| {
            run.calls.contains_key(&*call_id) && run.agents.get(&*call_id).is_some_and(|agent| !agent.is_background)
        });
        if !failed && is_awaited {
            return;
        }
        let status = if failed { "failed" } else { "completed" };
        let summary = data.str("error").map(|error| error.into_owned());
        self.agent_ends(&call_id, status, summary, normalizer);
    }

    fn agent_ends(&mut self, call_id: &str, status: &str, summary: Option<String>, normalizer: &mut Normalizer) {
        let Some(run) = &mut self.run else { return };
        let Some(agent) = run.agents.remove(call_id) else { return };
        let stream = run.key;
        if let Some(id) = &agent.id {
            run.agent_calls.remove(id);
        }
        let child = Target { stream, parent: Some(agent.tool.id) };
        self.abandon(child, normalizer);
        if let Some(run) = &mut self.run {
            run.replies.remove(&child.parent);
        }
        if let Some(id) = &agent.id {
            normalizer.subagent_ended(stream, id, status, summary);
        }
    }

    /// Handles the result of a call. A subagent in the foreground ends with it.
    pub(super) fn agent_returned(
        &mut self,
        target: Target,
        call_id: &str,
        failed: bool,
        text: &str,
        normalizer: &mut Normalizer,
    ) {
        let agent = self.run_of(target.stream).and_then(|run| run.agents.get(call_id));
        let Some(agent) = agent.filter(|agent| failed || !agent.is_background) else { return };
        if agent.id.is_none() && !failed {
            self.agent_begins(call_id, None, normalizer);
        }
        let summary = Some(text.to_owned()).filter(|text| !text.is_empty());
        self.agent_ends(call_id, if failed { "failed" } else { "completed" }, summary, normalizer);
    }
}
