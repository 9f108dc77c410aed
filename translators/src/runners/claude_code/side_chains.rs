//! Side chains: the lines of a transcript that a subagent wrote.
//!
//! Input: a line with `isSidechain`. Older versions write such lines between those of the main thread; newer ones write a file for each
//! subagent, whose lines may be merged with the session's by their times. Output: the subagent whose line it is. Never: text of a
//! side chain reported as the main thread's, except in a file that has nothing else, which is read as a conversation of its own.

use super::agents::Agent;
use super::decoder::Claude;
use crate::frame::{SharedStr, Tool};
use crate::json::Object;
use crate::normalizer::{Normalizer, Target};
use crate::sequence::StreamKey;
use std::collections::VecDeque;

/// How many subagents that have returned are remembered for their late lines.
const RETURNED: usize = 64;

/// The subagents whose calls have returned, with their ids.
#[derive(Debug, Default)]
pub(super) struct SideChains {
    returned: VecDeque<(SharedStr, Target)>,
}

impl SideChains {
    /// Remembers a subagent whose call has returned.
    pub(super) fn returned(&mut self, agent: Agent) {
        let Some(id) = agent.id else { return };
        if self.returned.len() == RETURNED {
            self.returned.pop_front();
        }
        self.returned.push_back((id, Target { stream: agent.target.stream, parent: Some(agent.tool.id) }));
    }

    fn of(&self, id: &str, stream: StreamKey) -> Option<Target> {
        let newest = self.returned.iter().rev();
        newest.filter(|(known, target)| &**known == id && target.stream == stream).map(|(_, target)| *target).next()
    }
}

/// Whether a line belongs to a side chain.
pub(super) fn is_side_chain(fields: &Object<'_>) -> bool {
    fields.bool("isSidechain") == Some(true)
}

impl Claude {
    /// The place for a line's frames.
    pub(super) fn entry_target(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) -> Target {
        let main = Target::main(self.runs.stream(normalizer));
        if !is_side_chain(fields) {
            return main;
        }
        let id = fields.str("agentId").filter(|id| !id.is_empty());
        let tool = match (self.side_chain(fields, id.as_deref(), main.stream), &id) {
            (Some(tool), _) => tool,
            (None, Some(id)) if self.runs.run(main.stream).is_some_and(|run| !run.is_side_chain) => {
                if let Some(target) = self.side_chains.of(id, main.stream) {
                    return target;
                }
                // The runner itself started it, for example to summarise, or its call is not in the transcript.
                self.tool(normalizer, main, id)
            }
            (None, _) => return main,
        };
        self.child_spoke(&tool.call_id, fields, normalizer);
        Target { stream: main.stream, parent: Some(tool.id) }
    }

    /// The call of the subagent whose line it is. Lines do not name the call. They match a subagent by its id, by following its last
    /// line, or by starting with its prompt. Otherwise they belong to the innermost subagent that has no lines yet.
    fn side_chain(&mut self, fields: &Object<'_>, id: Option<&str>, stream: StreamKey) -> Option<Tool> {
        let before = fields.str("parentUuid");
        let prompt = fields.object("message").and_then(|message| message.str("content"));
        let fit = |agent: &Agent| {
            if id.is_some() && agent.id.is_some() {
                return if agent.id.as_deref() == id { 4 } else { 0 };
            }
            let is_first = agent.last_record.is_none();
            if before.is_some() && agent.last_record.as_deref() == before.as_deref() {
                3
            } else if is_first && prompt.is_some() && agent.task.as_deref() == prompt.as_deref() {
                2
            } else {
                u8::from(is_first)
            }
        };
        // The lines of a background subagent are only in a file of its own, which has its id.
        let here = self.agents.values_mut().filter(|agent| agent.target.stream == stream);
        let candidates = here.filter(|agent| id.is_some() || !agent.background).map(|agent| (fit(agent), agent));
        let candidates = candidates.filter(|(fit, _)| id.is_none() || *fit > 0);
        let (_, agent) = candidates.max_by_key(|(fit, agent)| (*fit, agent.depth, agent.order))?;
        agent.last_record = fields.str("uuid").map(|uuid| SharedStr::from(&*uuid)).or_else(|| agent.last_record.take());
        Some(agent.tool.clone())
    }
}
