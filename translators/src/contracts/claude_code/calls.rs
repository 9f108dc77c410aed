//! The calls of a run that have no result, and the subagents that they started.
//!
//! Input: calls, output, subagents. Output: what a message needs to know about a call. Never: a call that is over, unless its
//! subagent works.

use crate::artifacts::OutputRef;
use crate::frame::{Frame, RawJson, SharedStr, Tool, ToolKind};
use crate::hash::HashMap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Maximum bytes that are held of each of a tool's streams; the rest is only counted.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// The open calls of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calls {
    open: HashMap<Uuid, Call>,
    /// The ids in messages of open calls, and of calls whose input is being streamed.
    ids: HashMap<Uuid, SharedStr>,
    /// The calls that have the runner's own ids.
    holders: HashMap<SharedStr, Uuid>,
    /// The calls that started the working subagents; such a call may be over before its subagent.
    parents: HashMap<Uuid, Parent>,
    /// The working subagents, and the call that started each of them.
    subagents: HashMap<SharedStr, Uuid>,
}

/// A call without a result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    /// The call's id in messages.
    pub(super) id: SharedStr,
    pub(super) name: SharedStr,
    pub(super) kind: ToolKind,
    /// The call that started the subagent which made this one.
    pub(super) parent: Option<SharedStr>,
    /// The call was refused.
    pub(super) refused: bool,
    stdout: String,
    stderr: String,
    omitted_bytes: u64,
}

/// A call that started subagents.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parent {
    id: SharedStr,
    /// The number of its subagents that work.
    working: u32,
}

/// A piece of output.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'a> {
    Stdout(&'a str),
    /// Before the standard output so far.
    Front(&'a str),
    Stderr(&'a str),
}

impl Call {
    fn add(&mut self, piece: Piece<'_>) {
        self.omitted_bytes += match piece {
            Piece::Stdout(text) => append(&mut self.stdout, text),
            Piece::Stderr(text) => append(&mut self.stderr, text),
            Piece::Front(text) => {
                let rest = std::mem::take(&mut self.stdout);
                append(&mut self.stdout, text) + append(&mut self.stdout, &rest)
            }
        };
    }

    /// The output as one text: the standard output, the standard error, and a note about what is left out.
    pub(super) fn output(&mut self, artifacts: Option<&RawJson>) -> String {
        let mut output = std::mem::take(&mut self.stdout);
        if !self.stderr.is_empty() {
            if !output.is_empty() && !output.ends_with('\n') {
                output.push('\n');
            }
            output.push_str(&self.stderr);
        }
        if let Some(stored) = OutputRef::of(artifacts) {
            let more = (stored.stdout_bytes + stored.stderr_bytes).saturating_sub(output.len() as u64);
            output.push_str(&format!("\n[{more} more bytes in artifact {}]", stored.artifact_id));
        } else if self.omitted_bytes > 0 {
            output.push_str(&format!("\n[{} more bytes]", self.omitted_bytes));
        }
        output
    }
}

/// Appends as many whole characters as there is room for; returns the number of omitted bytes.
fn append(held: &mut String, text: &str) -> u64 {
    let room = MAX_BYTES.saturating_sub(held.len());
    let (kept, rest) = text.split_at(text.floor_char_boundary(room.min(text.len())));
    held.push_str(kept);
    rest.len() as u64
}

impl Calls {
    /// The number of bytes of output held.
    pub(super) fn held_bytes(&self) -> usize {
        self.open.values().map(|call| call.stdout.len() + call.stderr.len()).sum()
    }

    /// Whether a call has no result.
    pub(super) fn is_working(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether a call is open.
    pub(super) fn is_open(&self, tool: &Uuid) -> bool {
        self.open.contains_key(tool)
    }

    /// The id of a call in messages: the runner's own id, unless it has none, or another open call has it.
    pub(super) fn name(&mut self, tool: &Tool) -> SharedStr {
        if let Some(id) = self.ids.get(&tool.id) {
            return id.clone();
        }
        let id = if tool.call_id.is_empty() || self.holders.contains_key(&tool.call_id) {
            SharedStr::from(tool.id.to_string())
        } else {
            self.holders.insert(tool.call_id.clone(), tool.id);
            tool.call_id.clone()
        };
        self.ids.insert(tool.id, id.clone());
        id
    }

    fn release(&mut self, tool: &Uuid) {
        let Some(id) = self.ids.remove(tool) else { return };
        if self.holders.get(&id) == Some(tool) {
            self.holders.remove(&id);
        }
    }

    /// Releases the ids of calls whose input was not completed.
    pub(super) fn forget_inputs(&mut self) {
        let left: Vec<Uuid> = self.ids.keys().filter(|tool| !self.open.contains_key(*tool)).copied().collect();
        left.iter().for_each(|tool| self.release(tool));
    }

    /// Opens a call.
    pub(super) fn begin(&mut self, tool: &Tool, name: &SharedStr, kind: ToolKind, parent: Option<SharedStr>) {
        let call = Call {
            id: self.name(tool),
            name: name.clone(),
            kind,
            parent,
            refused: false,
            stdout: String::new(),
            stderr: String::new(),
            omitted_bytes: 0,
        };
        self.open.insert(tool.id, call);
    }

    pub(super) fn get_mut(&mut self, tool: &Uuid) -> Option<&mut Call> {
        self.open.get_mut(tool)
    }

    /// Adds to a call's output.
    pub(super) fn add_output(&mut self, tool: &Uuid, piece: Piece<'_>) {
        if let Some(call) = self.open.get_mut(tool) {
            call.add(piece);
        }
    }

    /// A call is over.
    pub(super) fn end(&mut self, tool: &Uuid) -> Option<Call> {
        self.release(tool);
        self.open.remove(tool)
    }

    /// The id of an open call, or of one whose subagent works.
    pub(super) fn id(&self, tool: &Uuid) -> Option<&SharedStr> {
        self.open.get(tool).map(|call| &call.id).or_else(|| self.parents.get(tool).map(|parent| &parent.id))
    }

    /// The id of the call that started the subagent which caused a frame; `None` for the main thread.
    pub(super) fn parent_of(&self, frame: &Frame) -> Option<SharedStr> {
        let parent = frame.parent_tool_id?;
        Some(self.id(&parent).cloned().unwrap_or_else(|| SharedStr::from(parent.to_string())))
    }

    /// A subagent starts; returns the id of the call that started it.
    pub(super) fn subagent_started(&mut self, subagent_id: &SharedStr, tool: Option<Uuid>) -> Option<SharedStr> {
        let tool = tool?;
        let id = self.id(&tool).cloned()?;
        if self.subagents.insert(subagent_id.clone(), tool).is_none() {
            self.parents.entry(tool).or_insert_with(|| Parent { id: id.clone(), working: 0 }).working += 1;
        }
        Some(id)
    }

    /// A subagent is done; returns the id of the call that started it.
    pub(super) fn subagent_ended(&mut self, subagent_id: &SharedStr) -> Option<SharedStr> {
        let tool = self.subagents.remove(subagent_id)?;
        let parent = self.parents.get_mut(&tool)?;
        let id = parent.id.clone();
        parent.working = parent.working.saturating_sub(1);
        if parent.working == 0 {
            self.parents.remove(&tool);
        }
        Some(id)
    }
}
