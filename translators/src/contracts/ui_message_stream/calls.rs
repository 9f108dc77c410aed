//! The open calls of a run, and the questions about them.
//!
//! Input: calls, questions and answers. Output: the state of each call that is not over. Never: a call that is over.

use crate::contracts::live_output::{Due, Output, Piece};
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, Frame, SharedStr, Tool};
use crate::hash::{HashMap, HashSet};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The open calls of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calls {
    open: HashMap<Uuid, Call>,
    /// The calls that started the working subagents; such a call may be over before its subagent.
    parents: HashMap<Uuid, Parent>,
    /// The working subagents, and the call that started each of them.
    subagents: HashMap<SharedStr, Uuid>,
    /// The unanswered questions.
    asked: HashMap<SharedStr, Question>,
    /// How many calls of the main thread have an input that is not complete.
    streaming: u64,
    opened: u64,
    pub(super) due: Due,
}

/// A call without a result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    /// The call's id in chunks.
    pub(super) id: SharedStr,
    /// The input is still being streamed.
    is_streaming: bool,
    /// The call was refused.
    pub(super) refused: bool,
    /// A question about the call is unanswered.
    is_asked: bool,
    pub(super) output: Output,
    order: u64,
}

/// A call that started subagents.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parent {
    id: SharedStr,
    /// The number of its subagents that work.
    working: u32,
}

/// The subject of an unanswered question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Question {
    /// A call.
    Call(Uuid),
    /// A call of the question's own, with the place of its start.
    Own(u64),
}

/// What is left open at the end of a run.
#[derive(Clone, Debug)]
pub(super) struct Left {
    pub(super) id: SharedStr,
    pub(super) refused: bool,
    order: u64,
}

/// The id of a call in chunks: the runner's own id, if it has one.
fn id_of(tool: &Tool) -> SharedStr {
    if tool.call_id.is_empty() { SharedStr::from(tool.id.to_string()) } else { tool.call_id.clone() }
}

/// The id of a question's own call.
pub(super) fn own_id(approval_id: &str) -> SharedStr {
    SharedStr::from(format!("question-{approval_id}"))
}

impl Calls {
    /// The number of bytes of output held.
    pub(super) fn held_bytes(&self) -> usize {
        self.open.values().map(|call| call.output.held_bytes()).sum()
    }

    /// Whether a call of the main thread has an input that is not complete.
    pub(super) fn is_streaming(&self) -> bool {
        self.streaming > 0
    }

    fn begin(&mut self, tool: &Tool, is_streaming: bool) {
        let call = Call {
            id: id_of(tool),
            is_streaming,
            refused: false,
            is_asked: false,
            output: Output::default(),
            order: self.opened,
        };
        self.opened += 1;
        self.open.insert(tool.id, call);
    }

    /// A piece of a call's input; returns the call's id and whether the call is new. `None` if its input is complete.
    pub(super) fn input_delta(&mut self, tool: &Tool) -> Option<(SharedStr, bool)> {
        if let Some(call) = self.open.get(&tool.id) {
            return call.is_streaming.then(|| (call.id.clone(), false));
        }
        self.begin(tool, true);
        self.streaming += 1;
        Some((id_of(tool), true))
    }

    /// The whole input of a call; returns the call's id, `None` if its input was complete before.
    pub(super) fn input(&mut self, tool: &Tool) -> Option<SharedStr> {
        if let Some(call) = self.open.get_mut(&tool.id) {
            if !std::mem::take(&mut call.is_streaming) {
                return None;
            }
            self.streaming = self.streaming.saturating_sub(1);
            return Some(call.id.clone());
        }
        self.begin(tool, false);
        Some(id_of(tool))
    }

    /// An open call.
    pub(super) fn get_mut(&mut self, tool: &Uuid) -> Option<&mut Call> {
        self.open.get_mut(tool)
    }

    /// Adds to a call's output; the result so far may become due.
    pub(super) fn add_output(&mut self, tool: &Uuid, piece: Piece<'_>, now_ms: u64) {
        if let Some(call) = self.open.get_mut(tool) {
            call.output.add(piece);
            self.due.add(*tool, &mut call.output, now_ms);
        }
    }

    /// A call is over.
    pub(super) fn end(&mut self, tool: &Uuid) -> Option<Call> {
        let call = self.open.remove(tool)?;
        self.due.remove(&call.output);
        if call.is_streaming {
            self.streaming = self.streaming.saturating_sub(1);
        }
        Some(call)
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

    /// A subagent starts.
    pub(super) fn subagent_started(&mut self, subagent_id: &SharedStr, tool: Option<Uuid>) {
        let Some(tool) = tool else { return };
        let Some(id) = self.id(&tool).cloned() else { return };
        if self.subagents.insert(subagent_id.clone(), tool).is_none() {
            self.parents.entry(tool).or_insert(Parent { id, working: 0 }).working += 1;
        }
    }

    /// A subagent is done.
    pub(super) fn subagent_ended(&mut self, subagent_id: &SharedStr) {
        let Some(tool) = self.subagents.remove(subagent_id) else { return };
        let Some(parent) = self.parents.get_mut(&tool) else { return };
        parent.working = parent.working.saturating_sub(1);
        if parent.working == 0 {
            self.parents.remove(&tool);
        }
    }

    /// Registers a question; returns the id of the call that it is about, `None` if it needs a call of its own.
    pub(super) fn ask(&mut self, request: &ApprovalRequested) -> Option<SharedStr> {
        let call = request.tool_id.and_then(|tool| Some((tool, self.open.get_mut(&tool)?)));
        match call.filter(|(_, call)| !call.is_asked && !call.is_streaming) {
            Some((tool, call)) => {
                call.is_asked = true;
                self.asked.insert(request.approval_id.clone(), Question::Call(tool));
                Some(call.id.clone())
            }
            None => {
                self.asked.insert(request.approval_id.clone(), Question::Own(self.opened));
                self.opened += 1;
                None
            }
        }
    }

    /// Resolves a question; returns what it was about, `None` if it is not open or its call is over.
    pub(super) fn answer(&mut self, answer: &ApprovalResolved) -> Option<Question> {
        let question = self.asked.remove(&answer.approval_id)?;
        if let Question::Call(tool) = question {
            let call = self.open.get_mut(&tool)?;
            call.is_asked = false;
            call.refused = answer.decision != Decision::Approved;
        }
        Some(question)
    }

    /// Takes what is left, in the order of its beginning.
    pub(super) fn take_all(&mut self) -> Vec<Left> {
        let calls = self.open.drain().map(|(_, Call { id, refused, order, .. })| Left { id, refused, order });
        let own = self.asked.drain().filter_map(|(approval_id, question)| match question {
            Question::Own(order) => Some(Left { id: own_id(&approval_id), refused: false, order }),
            Question::Call(_) => None,
        });
        let mut left: Vec<Left> = calls.chain(own).collect();
        left.sort_unstable_by_key(|left| left.order);
        // A runner may give one id to two calls. The client has them as one.
        let mut seen = HashSet::default();
        left.retain(|left| seen.insert(left.id.clone()));
        self.streaming = 0;
        self.due = Due::default();
        left
    }
}
