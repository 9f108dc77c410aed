//! Calls of tools that have no end yet.
//!
//! Input: frames about tools. Output: each call when it is over. Never: more than [`CALLS`] calls held: the oldest is shown as open
//! beyond that.

use super::part::{Call, Outcome};
use crate::render::console::Console;
use crate::render::describe::{self, Change};
use framegate_translators::frame::{FileChanged, RawJson, SharedStr, ToolCall, ToolKind};
use framegate_translators::json::{Json, Object};
use uuid::Uuid;

/// How many calls are held.
const CALLS: usize = 256;

/// How many changes of a call are shown.
const CHANGES: usize = 50;

/// A call and where it belongs.
#[derive(Debug)]
pub(super) struct Open {
    id: Uuid,
    /// The subagent that made it; `None` for the main thread.
    pub(super) parent: Option<Uuid>,
    /// The tool began to run.
    pub(super) is_started: bool,
    front: Option<Console>,
    /// What the arguments say about the change, if the runner reports none.
    proposed: Option<Change>,
    /// The call as far as it is known.
    pub(super) call: Call,
}

/// The calls without an end, and one that has ended and may still get its change.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Vec<Open>,
    waiting: Option<Open>,
}

impl Open {
    fn new(id: Uuid, parent: Option<Uuid>) -> Self {
        let call = Call {
            name: SharedStr::from(""),
            kind: ToolKind::Other,
            subject: String::new(),
            output: Console::default(),
            changes: Vec::new(),
            more_changes: 0,
            stored_bytes: None,
            outcome: Outcome::Open,
        };
        Self { id, parent, is_started: false, front: None, proposed: None, call }
    }

    fn describe(&mut self, call: &ToolCall) {
        self.call.name = call.name.clone();
        self.call.kind = call.kind;
        self.call.subject = describe::subject(Some(call.kind), &call.args);
        self.proposed = describe::change(call.kind, &call.args);
    }

    fn change(&mut self, change: Change) {
        if self.call.changes.len() < CHANGES {
            self.call.changes.push(change);
        } else {
            self.call.more_changes += 1;
        }
    }

    /// The id of the call.
    pub(super) fn id(&self) -> Uuid {
        self.id
    }

    /// The call as it is shown.
    pub(super) fn into_call(mut self) -> Call {
        if let Some(front) = self.front {
            self.call.output.put_before(front);
        }
        let has_effect = !self.call.outcome.is_failure() && self.call.outcome != Outcome::Proposed;
        if self.call.changes.is_empty() && has_effect {
            self.call.changes.extend(self.proposed);
        }
        if self.call.outcome == Outcome::Open && !self.is_started {
            self.call.outcome = Outcome::Proposed;
        }
        self.call
    }
}

impl Calls {
    /// A call was proposed or started. Returns a call that had to be given up for it.
    pub(super) fn begin(&mut self, call: &ToolCall, parent: Option<Uuid>, is_started: bool) -> Option<Open> {
        let known = self.open.iter_mut().rfind(|open| open.id == call.tool.id);
        if let Some(open) = known {
            open.is_started |= is_started;
            if is_started {
                open.describe(call);
            }
            return None;
        }
        let given_up = if self.open.len() >= CALLS { Some(self.open.remove(0)) } else { None };
        let mut open = Open { is_started, ..Open::new(call.tool.id, parent) };
        open.describe(call);
        self.open.push(open);
        given_up
    }

    /// A piece of output.
    pub(super) fn output(&mut self, id: Uuid, piece: &str, is_front: bool) {
        let Some(open) = self.open.iter_mut().rfind(|open| open.id == id) else { return };
        let console = if is_front { open.front.get_or_insert_default() } else { &mut open.call.output };
        console.feed(piece);
    }

    /// A file changed. Returns the change if it belongs to no call, or the call that waited for it.
    pub(super) fn changed(&mut self, change: &FileChanged) -> Result<Option<Open>, Change> {
        let shown = Change::new(&change.path, change.kind, change.diff.as_deref());
        let is_its = |open: &Open| Some(open.id) == change.tool_id;
        if let Some(mut waiting) = self.waiting.take_if(|open| is_its(open)) {
            waiting.change(shown);
            return Ok(Some(waiting));
        }
        match self.open.iter_mut().rfind(|open| is_its(open)) {
            Some(open) => {
                open.change(shown);
                Ok(None)
            }
            None => Err(shown),
        }
    }

    /// The call is over. Returns it, unless its change may still come.
    pub(super) fn end(
        &mut self,
        id: Uuid,
        outcome: Outcome,
        artifacts: Option<&RawJson>,
        parent: Option<Uuid>,
    ) -> Option<Open> {
        let mut open = match self.open.iter().rposition(|open| open.id == id) {
            Some(at) => self.open.remove(at),
            None => Open::new(id, parent),
        };
        open.is_started = true;
        open.call.stored_bytes = artifacts.and_then(stored_bytes);
        open.call.outcome = outcome;
        let is_edit = matches!(open.call.kind, ToolKind::Edit | ToolKind::Write);
        if is_edit && open.call.changes.is_empty() && !open.call.outcome.is_failure() {
            self.waiting = Some(open);
            return None;
        }
        Some(open)
    }

    /// The call whose change did not come.
    pub(super) fn take_waiting(&mut self) -> Option<Open> {
        self.waiting.take()
    }

    /// All calls without an end.
    pub(super) fn take_open(&mut self) -> Vec<Open> {
        std::mem::take(&mut self.open)
    }

    /// The call that began last and runs.
    pub(super) fn running(&self) -> Option<&Call> {
        self.open.iter().rfind(|open| open.is_started).map(|open| &open.call)
    }
}

/// The bytes of a tool's output that are stored outside of the run.
fn stored_bytes(artifacts: &RawJson) -> Option<u64> {
    let all = Json::new(artifacts).object()?;
    let all = all.items("artifact_refs").into_iter().filter_map(Json::object);
    all.filter_map(|entry: Object<'_>| Some(entry.u64("stdout_bytes")? + entry.u64("stderr_bytes")?)).next()
}
