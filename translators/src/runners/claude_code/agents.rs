//! Subagents: their start and end, derived from the call that starts them.
//!
//! Input: the call, the subagent's own records, the runner's task records and the call's result; any of them may be missing.
//! Output: one start and one end for each subagent, with its nesting depth. Never: an end for a subagent that continues in the
//! background after its call returned.

use super::decoder::Claude;
use super::tools::Call;
use crate::frame::{SharedStr, Tool};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, Target};

/// A subagent that was called.
#[derive(Debug)]
pub(super) struct Agent {
    /// The stream and speaker of the call.
    pub(super) target: Target,
    /// The call.
    pub(super) tool: Tool,
    /// Whether the subagent continues after its call returned.
    pub(super) background: bool,
    /// The subagent's id, once it has started.
    pub(super) id: Option<SharedStr>,
    kind: Option<SharedStr>,
    pub(super) task: Option<String>,
    pub(super) depth: u32,
    /// The sequence number of the call among all subagent calls.
    pub(super) order: u64,
    /// The last record of its side chain in a transcript.
    pub(super) last_record: Option<SharedStr>,
}

/// What a record says about a subagent.
#[derive(Default)]
pub(super) struct AgentInfo<'r> {
    pub(super) id: Option<&'r str>,
    pub(super) kind: Option<&'r str>,
    pub(super) task: Option<&'r str>,
    pub(super) depth: Option<u64>,
}

impl Claude {
    /// Registers a subagent when the model calls it.
    pub(super) fn agent_called(&mut self, key: SharedStr, target: Target, tool: &Tool, args: &Object<'_>) {
        let depth = match target.parent {
            None => 1,
            Some(parent) => {
                let outer = self.agents.values().find(|agent| agent.tool.id == parent);
                outer.map_or(2, |outer| outer.depth.saturating_add(1))
            }
        };
        let agent = Agent {
            target,
            tool: tool.clone(),
            background: false,
            id: None,
            kind: args.str("subagent_type").map(|kind| SharedStr::from(&*kind)),
            task: args.str("prompt").or_else(|| args.str("description")).map(|task| task.into_owned()),
            depth,
            order: self.agents_called,
            last_record: None,
        };
        self.agents_called += 1;
        self.agents.insert(key, agent);
    }

    /// Starts a subagent at its first sign of life. Does nothing if it has already started.
    pub(super) fn agent_begins(&mut self, call_id: &str, info: &AgentInfo<'_>, normalizer: &mut Normalizer) {
        let key = self.key(call_id, normalizer);
        if !self.agents.contains_key(&*key) {
            // The call was never seen, but an active subagent must have been called: register it now.
            let target = Target::main(self.runs.stream(normalizer));
            if self.runs.run(target.stream).is_none() {
                return;
            }
            let tool = self.tool(normalizer, target, call_id);
            self.agent_called(SharedStr::from(&*key), target, &tool, &Object::default());
        }
        let Some(agent) = self.agents.get_mut(&*key).filter(|agent| agent.id.is_none()) else { return };
        let id = SharedStr::from(info.id.filter(|id| !id.is_empty()).unwrap_or(call_id));
        agent.id = Some(id.clone());
        let kind = info.kind.map(SharedStr::from).or_else(|| agent.kind.clone());
        let task = agent.task.clone().or_else(|| info.task.map(str::to_owned));
        let depth = info.depth.and_then(|depth| u32::try_from(depth).ok()).unwrap_or(agent.depth);
        agent.depth = depth;
        normalizer.subagent_started(agent.target, &id, Some(agent.tool.id), kind, task, depth);
    }

    /// Handles a record written by the subagent itself.
    pub(super) fn child_spoke(&mut self, call_id: &str, fields: &Object<'_>, normalizer: &mut Normalizer) {
        // Streams and transcripts spell these fields differently.
        let id = fields.str("agent_id").or_else(|| fields.str("agentId"));
        let kind = fields.str("subagent_type").or_else(|| fields.str("attributionAgent"));
        let task = fields.str("task_description");
        let info = AgentInfo { id: id.as_deref(), kind: kind.as_deref(), task: task.as_deref(), depth: None };
        self.agent_begins(call_id, &info, normalizer);
    }

    /// Ends a subagent when the runner's task record reports it done.
    pub(super) fn agent_ends(
        &mut self,
        call_id: &str,
        status: &str,
        summary: Option<String>,
        normalizer: &mut Normalizer,
    ) {
        let key = self.key(call_id, normalizer);
        let Some(agent) = self.agents.remove(&*key) else { return };
        let child = Target { stream: agent.target.stream, parent: Some(agent.tool.id) };
        self.runs.leave(normalizer, child);
        if let Some(id) = &agent.id {
            normalizer.subagent_ended(agent.target.stream, id, status, summary);
        }
        // Its late records still belong to the run that called it.
        if self.runs.run(agent.target.stream).is_some() {
            self.agents.insert(SharedStr::from(&*key), Agent { background: false, ..agent });
        }
    }

    /// Handles the result of the call. A foreground subagent ends with it.
    pub(super) fn agent_returned(
        &mut self,
        key: &str,
        tool: &Tool,
        call: Option<&Call>,
        went_well: bool,
        result: Option<Json<'_>>,
        normalizer: &mut Normalizer,
    ) {
        if !self.agents.contains_key(key) {
            return;
        }
        let result = result.and_then(Json::object).unwrap_or_default();
        let id = result.str("agentId");
        let in_background = result.bool("isAsync") == Some(true)
            || matches!(result.str("status").as_deref(), Some("async_launched" | "remote_launched"));
        if went_well {
            self.agent_begins(&tool.call_id, &AgentInfo { id: id.as_deref(), ..AgentInfo::default() }, normalizer);
        }
        if in_background {
            if let Some(agent) = self.agents.get_mut(key) {
                agent.background = true;
            }
            if let Some(run) = self.runs.current(normalizer) {
                run.background = true;
            }
            if let Some(id) = id {
                self.task_begins(&id, call, None, normalizer);
            }
            return;
        }
        // The report is the last text; notes of the runner precede it.
        let report = result.items("content").into_iter().rev().filter_map(Json::object);
        let summary = report.into_iter().find_map(|part| part.str("text").map(|text| text.into_owned()));
        self.agent_ends(&tool.call_id, if went_well { "completed" } else { "failed" }, summary, normalizer);
        if let Some(agent) = self.agents.remove(key) {
            self.side_chains.returned(agent);
        }
    }
}
