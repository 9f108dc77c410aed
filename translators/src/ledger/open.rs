//! What is open in one stream besides its blocks: the turn, tools, approvals, subagents.

use super::blocks::Blocks;
use crate::frame::{Body, Name, Tool, ToolCall};
use crate::hash::{HashMap, HashSet};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use uuid::Uuid;

/// How many calls that are over are remembered, so that a repeated result is not taken for a new call.
const REMEMBERED: usize = 1024;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Open {
    pub(super) blocks: Blocks,
    /// The main thread's last whole text.
    pub(super) final_text: Option<String>,
    turn: Option<(u32, u64)>,
    turns: u32,
    order: u64,
    tools: HashMap<Name, OpenTool>,
    /// Calls that are over: the newest ones, and in their order.
    over: HashSet<Name>,
    over_in_order: VecDeque<Name>,
    approvals: Vec<(Name, Option<Uuid>)>,
    subagents: Vec<(Name, Option<Uuid>)>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenTool {
    tool: Tool,
    name: Name,
    parent: Option<Uuid>,
    started_ms: u64,
    order: u64,
}

type Closing =
    (Vec<(Option<Uuid>, Vec<Body>)>, Vec<(Name, Option<Uuid>)>, Vec<(Tool, Option<Uuid>)>, Vec<(Name, Option<Uuid>)>);

impl Open {
    pub(super) fn begin_turn(&mut self, time_ms: u64) -> u32 {
        let index = self.turns;
        self.turns += 1;
        self.turn = Some((index, time_ms));
        index
    }

    /// A turn that began with this index.
    pub(super) fn resume_turn(&mut self, index: u32, since_ms: u64) {
        self.turns = index.saturating_add(1);
        self.turn = Some((index, since_ms));
    }

    pub(super) fn in_turn(&self) -> bool {
        self.turn.is_some()
    }

    pub(super) fn end_turn(&mut self, time_ms: u64) -> Option<(u32, u64)> {
        self.turn.take().map(|(index, since)| (index, time_ms.saturating_sub(since)))
    }

    /// Moves the starts of what is open.
    pub(super) fn shift(&mut self, by_ms: i64) {
        if let Some((_, since)) = &mut self.turn {
            *since = since.saturating_add_signed(by_ms);
        }
        for tool in self.tools.values_mut() {
            tool.started_ms = tool.started_ms.saturating_add_signed(by_ms);
        }
    }

    pub(super) fn start_tool(&mut self, call: &ToolCall, parent: Option<Uuid>, started_ms: u64) -> bool {
        let id = &call.tool.call_id;
        if self.tools.contains_key(id) || self.over.contains(id) {
            return false;
        }
        self.order += 1;
        let tool = OpenTool { tool: call.tool.clone(), name: call.name.clone(), parent, started_ms, order: self.order };
        self.tools.insert(id.clone(), tool);
        true
    }

    pub(super) fn tool_runs(&self, tool: &Tool) -> bool {
        self.tools.contains_key(&tool.call_id)
    }

    pub(super) fn tool_name(&self, tool: &Tool) -> Option<Name> {
        self.tools.get(&tool.call_id).map(|open| open.name.clone())
    }

    pub(super) fn tool_parent(&self, tool: &Tool) -> Option<Option<Uuid>> {
        self.tools.get(&tool.call_id).map(|open| open.parent)
    }

    pub(super) fn tool_is_over(&self, tool: &Tool) -> bool {
        self.over.contains(&tool.call_id)
    }

    /// Milliseconds since the start.
    pub(super) fn end_tool(&mut self, tool: &Tool, time_ms: u64) -> u64 {
        if self.over.insert(tool.call_id.clone()) {
            self.over_in_order.push_back(tool.call_id.clone());
        }
        if self.over_in_order.len() > REMEMBERED
            && let Some(oldest) = self.over_in_order.pop_front()
        {
            self.over.remove(&oldest);
        }
        self.tools.remove(&tool.call_id).map_or(0, |open| time_ms.saturating_sub(open.started_ms))
    }

    pub(super) fn ask(&mut self, approval_id: &Name, parent: Option<Uuid>) -> bool {
        let new = !self.asks(approval_id);
        if new {
            self.approvals.push((approval_id.clone(), parent));
        }
        new
    }

    pub(super) fn asks(&self, approval_id: &str) -> bool {
        self.approvals.iter().any(|(open, _)| **open == *approval_id)
    }

    pub(super) fn answer(&mut self, approval_id: &str) -> Option<Option<Uuid>> {
        let at = self.approvals.iter().position(|(open, _)| **open == *approval_id)?;
        Some(self.approvals.remove(at).1)
    }

    pub(super) fn begin_subagent(&mut self, subagent_id: &Name, parent: Option<Uuid>) -> bool {
        let new = self.subagents.iter().all(|(open, _)| open != subagent_id);
        if new {
            self.subagents.push((subagent_id.clone(), parent));
        }
        new
    }

    pub(super) fn end_subagent(&mut self, subagent_id: &str) -> Option<(Name, Option<Uuid>)> {
        let at = self.subagents.iter().position(|(open, _)| **open == *subagent_id)?;
        Some(self.subagents.remove(at))
    }

    /// Everything that is open, in the order in which it was opened. The turn stays.
    pub(super) fn take_all(&mut self) -> Closing {
        let mut tools: Vec<_> = std::mem::take(&mut self.tools).into_values().collect();
        tools.sort_unstable_by_key(|open| open.order);
        let tools = tools.into_iter().map(|open| (open.tool, open.parent)).collect();
        (self.blocks.take_all(), std::mem::take(&mut self.approvals), tools, std::mem::take(&mut self.subagents))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corrected_clock_moves_the_starts() {
        let mut open = Open::default();
        open.begin_turn(1_000);
        open.shift(500);
        assert_eq!(open.end_turn(1_750), Some((0, 250)));
        open.begin_turn(1_000);
        open.shift(-2_000);
        assert_eq!(open.end_turn(100), Some((1, 100)), "never before the epoch");
    }
}
