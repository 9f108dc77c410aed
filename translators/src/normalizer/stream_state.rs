//! What is open in one stream, except its blocks: turn, tools, approvals and subagents.

use super::blocks::Blocks;
use crate::frame::{Body, Decision, SharedStr, Tool, ToolCall};
use crate::hash::{HashMap, HashSet, hasher};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use uuid::Uuid;

/// How many finished calls are remembered, so that a repeated result is not mistaken for a new call.
const REMEMBERED: usize = 1024;

/// How many refused questions are remembered, so that the end of their calls is read correctly.
const REFUSED: usize = 256;

/// Prefix of generated ids for questions without one.
const UNNAMED: &str = "unnamed-";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamState {
    pub(super) blocks: Blocks,
    /// The main thread's last complete text.
    pub(super) final_text: Option<String>,
    /// The main thread's last cut-off text, unless a complete one followed it.
    #[serde(default)]
    pub(super) cut_text: Option<String>,
    #[serde(default)]
    pub(super) spent: super::usage::Spent,
    turn: Option<(u32, u64)>,
    turns: u32,
    #[serde(default)]
    order: u64,
    tools: HashMap<SharedStr, OpenTool>,
    /// The newest finished calls, also in order.
    over: HashSet<SharedStr>,
    over_in_order: VecDeque<SharedStr>,
    /// Calls that were given up, by the hash of their id.
    #[serde(skip)]
    given_up: HashSet<u64>,
    /// No call of a stream that broke off continues, so it is not saved.
    #[serde(skip)]
    pub(super) reused_ids: super::reused_ids::ReusedIds,
    approvals: Ordered,
    /// The newest questions that were answered with anything but an approval, oldest first.
    #[serde(default)]
    refused: VecDeque<SharedStr>,
    /// Questions with generated ids, oldest first.
    #[serde(default)]
    unnamed: VecDeque<SharedStr>,
    /// The number of questions without an id.
    #[serde(default)]
    unnamed_asked: u64,
    subagents: Ordered,
    /// The subagents that keep working when the run ends.
    #[serde(skip)]
    alive: HashSet<SharedStr>,
}

/// Open items by name, each with its parent, in the order of opening.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<(SharedStr, Option<Uuid>)>", into = "Vec<(SharedStr, Option<Uuid>)>")]
pub(super) struct Ordered {
    by_name: HashMap<SharedStr, (u64, Option<Uuid>)>,
    order: BTreeMap<u64, SharedStr>,
    next: u64,
}

impl Ordered {
    /// Opens an item; `false` if it is already open.
    fn insert(&mut self, name: &SharedStr, parent: Option<Uuid>) -> bool {
        if self.by_name.contains_key(name) {
            return false;
        }
        self.next += 1;
        self.by_name.insert(name.clone(), (self.next, parent));
        self.order.insert(self.next, name.clone());
        true
    }

    fn remove(&mut self, name: &str) -> Option<(SharedStr, Option<Uuid>)> {
        let (name, (at, parent)) = self.by_name.remove_entry(name)?;
        self.order.remove(&at);
        Some((name, parent))
    }

    fn remove_oldest(&mut self) -> Option<(SharedStr, Option<Uuid>)> {
        let (_, name) = self.order.pop_first()?;
        self.by_name.remove(&name).map(|(_, parent)| (name, parent))
    }

    fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    fn len(&self) -> usize {
        self.by_name.len()
    }
}

impl From<Vec<(SharedStr, Option<Uuid>)>> for Ordered {
    fn from(list: Vec<(SharedStr, Option<Uuid>)>) -> Self {
        let mut all = Self::default();
        for (name, parent) in list {
            all.insert(&name, parent);
        }
        all
    }
}

impl From<Ordered> for Vec<(SharedStr, Option<Uuid>)> {
    fn from(mut all: Ordered) -> Self {
        let mut list = Self::with_capacity(all.len());
        while let Some(one) = all.remove_oldest() {
            list.push(one);
        }
        list
    }
}

impl Clone for Ordered {
    fn clone(&self) -> Self {
        Self { by_name: self.by_name.clone(), order: self.order.clone(), next: self.next }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenTool {
    tool: Tool,
    name: SharedStr,
    parent: Option<Uuid>,
    started_ms: u64,
    order: u64,
}

fn hash(text: &str) -> u64 {
    let mut hasher = hasher();
    text.hash(&mut hasher);
    hasher.finish()
}

type Closing = (
    Vec<(Option<Uuid>, Vec<Body>)>,
    Vec<(SharedStr, Option<Uuid>)>,
    Vec<(Tool, Option<Uuid>, u64)>,
    Vec<(SharedStr, Option<Uuid>)>,
);

impl StreamState {
    pub(super) fn begin_turn(&mut self, time_ms: u64) -> u32 {
        let index = self.turns;
        self.turns += 1;
        self.turn = Some((index, time_ms));
        index
    }

    /// Restores a turn that began with this index.
    pub(super) fn resume_turn(&mut self, index: u32, since_ms: u64) {
        self.turns = index.saturating_add(1);
        self.turn = Some((index, since_ms));
    }

    pub(super) fn in_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// The index of the open turn.
    pub(super) fn turn_index(&self) -> Option<u32> {
        self.turn.map(|(index, _)| index)
    }

    pub(super) fn end_turn(&mut self, time_ms: u64) -> Option<(u32, u64)> {
        self.turn.take().map(|(index, since)| (index, time_ms.saturating_sub(since)))
    }

    /// Shifts the start times of what is open.
    pub(super) fn shift(&mut self, by_ms: i64) {
        if let Some((_, since)) = &mut self.turn {
            *since = since.saturating_add_signed(by_ms);
        }
        for tool in self.tools.values_mut() {
            tool.started_ms = tool.started_ms.saturating_add_signed(by_ms);
        }
    }

    pub(super) fn start_tool(&mut self, call: &ToolCall, parent: Option<Uuid>, started_ms: u64, order: u64) -> bool {
        let id = &call.tool.call_id;
        if self.tools.contains_key(id) || self.over.contains(id) || self.was_given_up(id) {
            return false;
        }
        let tool = OpenTool { tool: call.tool.clone(), name: call.name.clone(), parent, started_ms, order };
        self.tools.insert(id.clone(), tool);
        true
    }

    pub(super) fn tool_runs(&self, tool: &Tool) -> bool {
        self.tools.contains_key(&tool.call_id)
    }

    /// Whether an open call with this call id is another tool's.
    pub(super) fn is_of_other_tool(&self, tool: &Tool) -> bool {
        self.tools.get(&tool.call_id).is_some_and(|open| open.tool.id != tool.id)
    }

    pub(super) fn tool_name(&self, tool: &Tool) -> Option<SharedStr> {
        self.tools.get(&tool.call_id).map(|open| open.name.clone())
    }

    pub(super) fn tool_parent(&self, tool: &Tool) -> Option<Option<Uuid>> {
        self.tools.get(&tool.call_id).map(|open| open.parent)
    }

    pub(super) fn tool_is_over(&self, tool: &Tool) -> bool {
        self.over.contains(&tool.call_id)
    }

    /// Ends a call; returns the milliseconds since its start and its position among all open calls.
    pub(super) fn end_tool(&mut self, tool: &Tool, time_ms: u64) -> (u64, Option<u64>) {
        if self.over.insert(tool.call_id.clone()) {
            self.over_in_order.push_back(tool.call_id.clone());
        }
        if self.over_in_order.len() > REMEMBERED
            && let Some(oldest) = self.over_in_order.pop_front()
        {
            self.over.remove(&oldest);
        }
        let open = self.tools.remove(&tool.call_id);
        open.map_or((0, None), |open| (time_ms.saturating_sub(open.started_ms), Some(open.order)))
    }

    /// Whether a subagent works.
    pub(super) fn has_subagent(&self, subagent_id: &str) -> bool {
        self.subagents.contains(subagent_id)
    }

    /// Generates an id for a question without one.
    pub(super) fn name_question(&mut self) -> SharedStr {
        self.unnamed_asked += 1;
        let id = SharedStr::from(format!("{UNNAMED}{}", self.unnamed_asked));
        self.unnamed.push_back(id.clone());
        id
    }

    /// Takes the oldest open question with a generated id.
    pub(super) fn unnamed_question(&mut self) -> Option<SharedStr> {
        while let Some(id) = self.unnamed.pop_front() {
            if self.approvals.contains(&id) {
                return Some(id);
            }
        }
        None
    }

    pub(super) fn ask(&mut self, approval_id: &SharedStr, parent: Option<Uuid>) -> bool {
        self.refused.retain(|id| id != approval_id);
        self.approvals.insert(approval_id, parent)
    }

    pub(super) fn asks(&self, approval_id: &str) -> bool {
        self.approvals.contains(approval_id)
    }

    /// Answers a question; returns its parent, or `None` if it is not open.
    pub(super) fn answer(&mut self, approval_id: &str, decision: Decision) -> Option<Option<Uuid>> {
        let (id, parent) = self.approvals.remove(approval_id)?;
        if decision != Decision::Approved {
            if self.refused.len() == REFUSED {
                self.refused.pop_front();
            }
            self.refused.push_back(id);
        }
        Some(parent)
    }

    /// Whether a question was answered with anything but an approval.
    pub(super) fn was_refused(&self, approval_id: &str) -> bool {
        self.refused.iter().any(|id| **id == *approval_id)
    }

    /// Removes and returns the oldest question if more than `most` are open.
    pub(super) fn question_too_many(&mut self, most: usize) -> Option<(SharedStr, Option<Uuid>)> {
        (self.approvals.len() > most).then(|| self.approvals.remove_oldest())?
    }

    pub(super) fn begin_subagent(&mut self, subagent_id: &SharedStr, parent: Option<Uuid>) -> bool {
        self.subagents.insert(subagent_id, parent)
    }

    pub(super) fn end_subagent(&mut self, subagent_id: &str) -> Option<(SharedStr, Option<Uuid>)> {
        self.subagents.remove(subagent_id)
    }

    /// Marks a subagent that keeps working when the run ends.
    pub(super) fn keep_after_run(&mut self, subagent_id: &str) {
        if self.subagents.contains(subagent_id) {
            self.alive.insert(SharedStr::from(subagent_id));
        }
    }

    /// The subagents that are still working.
    pub(super) fn alive(&self) -> Vec<(SharedStr, Option<Uuid>)> {
        self.subagents.clone().into()
    }

    /// Removes and returns the oldest subagent if more than `most` are open.
    pub(super) fn subagent_too_many(&mut self, most: usize) -> Option<(SharedStr, Option<Uuid>)> {
        (self.subagents.len() > most).then(|| self.subagents.remove_oldest())?
    }

    /// Gives up a call. Its end, or a second start, is then ignored.
    pub(super) fn give_up_tool(&mut self, call_id: &str) -> Option<(Tool, Option<Uuid>)> {
        let open = self.tools.remove(call_id)?;
        self.given_up.insert(hash(call_id));
        Some((open.tool, open.parent))
    }

    /// Whether a call was given up.
    pub(super) fn was_given_up(&self, call_id: &str) -> bool {
        !self.given_up.is_empty() && self.given_up.contains(&hash(call_id))
    }

    /// Remembers the text of main-thread blocks that were closed before they were complete.
    pub(super) fn note_cut(&mut self, bodies: &[Body]) {
        if let Some(Body::OutputTextCompleted(block)) = bodies.last()
            && !block.text.is_empty()
        {
            self.cut_text = Some(block.text.clone());
        }
    }

    /// Takes everything that is open, in the order of opening, except the turn.
    pub(super) fn take_all(&mut self) -> Closing {
        let mut tools: Vec<_> = std::mem::take(&mut self.tools).into_values().collect();
        tools.sort_unstable_by_key(|open| open.order);
        let tools = tools.into_iter().map(|open| (open.tool, open.parent, open.order)).collect();
        let blocks = self.blocks.take_all();
        for (parent, bodies) in &blocks {
            if parent.is_none() {
                self.note_cut(bodies);
            }
        }
        let subagents: Vec<(SharedStr, Option<Uuid>)> = std::mem::take(&mut self.subagents).into();
        let (alive, subagents): (Vec<_>, _) = subagents.into_iter().partition(|(id, _)| self.alive.contains(id));
        self.subagents = alive.into();
        (blocks, std::mem::take(&mut self.approvals).into(), tools, subagents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corrected_clock_shifts_the_start_times() {
        let mut open = StreamState::default();
        open.begin_turn(1_000);
        open.shift(500);
        assert_eq!(open.end_turn(1_750), Some((0, 250)));
        open.begin_turn(1_000);
        open.shift(-2_000);
        assert_eq!(open.end_turn(100), Some((1, 100)), "never before the epoch");
    }
}
