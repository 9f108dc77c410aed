//! A subagent that the model called, for runners whose calls start them.
//!
//! Input: the call, and the first sign of life. Output: the start of the subagent, once. Never: two starts of one subagent.

use crate::frame::{SharedStr, Tool};
use crate::json::Object;
use crate::normalizer::{Normalizer, Target};

/// A subagent, and the call that starts it.
#[derive(Debug)]
pub(super) struct CalledAgent {
    /// The caller.
    pub(super) target: Target,
    pub(super) tool: Tool,
    /// Its id, once it has started.
    pub(super) id: Option<SharedStr>,
    pub(super) kind: Option<SharedStr>,
    task: Option<String>,
    depth: u32,
    /// Whether it goes on after its call returned.
    pub(super) is_background: bool,
}

impl CalledAgent {
    /// A call with these arguments. `others` are the subagents of the same run; the argument `kind` names the kind of subagent.
    pub(super) fn new<'a>(
        target: Target,
        tool: &Tool,
        args: &Object<'_>,
        kind: &str,
        mut others: impl Iterator<Item = &'a Self>,
    ) -> Self {
        let outer = target.parent.map(|parent| others.find(|agent| agent.tool.id == parent));
        let depth = match outer {
            None => 1,
            Some(outer) => outer.map_or(2, |outer| outer.depth.saturating_add(1)),
        };
        Self {
            target,
            tool: tool.clone(),
            id: None,
            kind: args.str(kind).map(|kind| SharedStr::from(&*kind)),
            task: args.str("prompt").or_else(|| args.str("description")).map(|task| task.into_owned()),
            depth,
            is_background: false,
        }
    }

    /// Starts it, unless it has already started.
    pub(super) fn begin(&mut self, id: SharedStr, normalizer: &mut Normalizer) {
        if self.id.is_some() {
            return;
        }
        let (kind, task) = (self.kind.clone(), self.task.clone());
        normalizer.subagent_started(self.target, &id, Some(self.tool.id), kind, task, self.depth);
        self.id = Some(id);
    }
}
