//! Call ids that a run uses for more than one call.
//!
//! The model's provider chooses the id of a call, and some count from the beginning again in each reply. Input: the runner's ids. Output:
//! the ids of the call that is meant: the runner's for the first call of the run, and `id#2`, `id#3` and so on for further ones. Never: a
//! number for an id that is used once; more than [`MOST`] ids in memory.

use super::{Normalizer, Target};
use crate::frame::Tool;
use crate::hash::HashMap;
use crate::sequence::StreamKey;
use uuid::Uuid;

/// The maximum number of ids of a run that are used again. Calls that reuse further ids are taken for repetitions of the first ones.
const MOST: usize = 4096;

/// How often ids are used, by the tool id of the first call. Ids that are used once are left out.
pub(super) type ReusedIds = HashMap<Uuid, u32>;

impl Normalizer {
    /// Both ids of the newest call of a run with the runner's id `call_id`. `scope` is that of [`Normalizer::tool`].
    pub fn newest_tool(&self, stream: StreamKey, scope: Uuid, call_id: &str) -> Tool {
        let first = self.tool(scope, call_id);
        let reused = self.open.get(&stream).map(|open| &open.reused_ids).filter(|reused| !reused.is_empty());
        match reused.and_then(|reused| reused.get(&first.id)) {
            Some(count) => self.tool(scope, &numbered(call_id, *count)),
            None => first,
        }
    }

    /// As [`Normalizer::newest_tool`], for a record that can only begin a call. The call is a new one if an earlier call with the id is
    /// over, or belongs to another scope.
    pub fn tool_of_new_call(&mut self, target: Target, scope: Uuid, call_id: &str) -> Tool {
        let stream = target.stream;
        let mut tool = self.newest_tool(stream, scope, call_id);
        let is_taken = |normalizer: &Self, tool: &Tool| match normalizer.open.get(&stream) {
            Some(open) if open.tool_runs(tool) => open.is_of_other_tool(tool),
            _ => normalizer.tool_known(stream, tool),
        };
        if !is_taken(self, &tool) {
            return tool;
        }
        let first = self.tool(scope, call_id).id;
        let reused = &self.book(stream).reused_ids;
        let mut count = match reused.get(&first) {
            Some(count) => *count,
            None if reused.len() >= MOST => return tool,
            None => 1,
        };
        while is_taken(self, &tool) && count < u32::MAX {
            count += 1;
            tool = self.tool(scope, &numbered(call_id, count));
        }
        self.book(stream).reused_ids.insert(first, count);
        tool
    }
}

fn numbered(call_id: &str, count: u32) -> String {
    format!("{call_id}#{count}")
}
