//! The lifecycle of a tool call.
//!
//! Input: tool frames. Output: `tool.invoked`, `tool.started`, the kind's own events, one terminal event. Never: a second
//! terminal event, a call without one, or more of a tool's output in memory than its summary needs.

use super::edits::Edit;
use super::envelope::EventSink;
use super::ids;
use super::kinds::{self, Kind, mcp_parts};
use super::results;
use super::shell::Chunk;
use crate::artifacts::OutputRef;
use crate::encode::{Flat, Word, data};
use crate::frame::{PlanEntry, RUN_INTERRUPTED_FIRST, RawJson, SharedStr, TIMED_OUT, Tool, ToolCall, ToolKind};
use crate::hash::HashMap;
use crate::json::{Json, Object};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use uuid::Uuid;

/// How much of each of a tool's streams is kept for its result, in bytes.
const KEPT_BYTES: usize = 64 << 10;

/// How many proposals are remembered by id. A client may execute calls itself, so proposals may never start here.
const REMEMBERED: usize = 1024;

/// How many calls that started subagents are remembered by id.
const AGENTS: usize = 256;

/// The running calls, and the ids of the proposed ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tools {
    open: HashMap<Uuid, RunningCall>,
    proposed: HashMap<Uuid, Proposal>,
    started: u64,
    /// The calls that started subagents, newest last, with their ids in events. A subagent may outlive its call.
    #[serde(default)]
    agents: VecDeque<(Uuid, SharedStr)>,
}

/// A call that was proposed and does not run yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Proposal {
    call_id: SharedStr,
    /// The proposal was emitted. Subagents' proposals are not, unless a person is asked about them.
    is_told: bool,
}

/// A running call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunningCall {
    pub(super) call_id: SharedStr,
    pub(super) name: SharedStr,
    pub(super) kind: Kind,
    pub(super) args: RawJson,
    parent: Option<SharedStr>,
    turn_index: u32,
    order: u64,
    pub(super) stdout: OutputPrefix,
    pub(super) stderr: OutputPrefix,
    /// A person was asked.
    is_asked: bool,
    /// A person refused it.
    is_refused: bool,
    /// The runner stops it after some time.
    is_limited: bool,
    /// Its output is incomplete.
    pub(super) is_cut: bool,
    edits: Vec<Edit>,
    /// The artifact with the whole output, if that was too large for frames.
    result_artifact_id: Option<String>,
}

/// The beginning of a stream, and the stream's length.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputPrefix {
    pub(super) text: String,
    pub(super) bytes: u64,
}

impl OutputPrefix {
    fn push(&mut self, chunk: &str, is_front: bool) {
        self.bytes += chunk.len() as u64;
        if is_front {
            self.text.insert_str(0, chunk);
            self.text.truncate(self.text.floor_char_boundary(KEPT_BYTES.min(self.text.len())));
        } else {
            let room = KEPT_BYTES.saturating_sub(self.text.len());
            self.text.push_str(chunk.get(..chunk.floor_char_boundary(room.min(chunk.len()))).unwrap_or_default());
        }
    }

    /// Whether the text is the whole stream.
    pub(super) fn is_whole(&self) -> bool {
        self.bytes == self.text.len() as u64
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome<'a> {
    /// It ran and returned an exit code.
    Exited(i32),
    /// It did not run to its end.
    Failed(&'a str),
}

data! {
    struct CallFields<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        kind: Word,
        turn_index: u32,
        parent_tool_call_id: Option<&'a str>,
        mcp_server: Option<&'a str>,
        mcp_tool: Option<&'a str>,
    }

    struct CallEnd<'a> {
        begun: Flat<CallFields<'a>>,
        duration_ms: Option<u64>,
        summary: String,
        result: Option<Word>,
        message: Option<&'a str>,
        result_artifact_id: Option<&'a str>,
    }
}

/// The id of a call in events.
pub(super) fn call_id_of(tool: &Tool) -> SharedStr {
    if tool.call_id.is_empty() { SharedStr::from(ids::tool_call_id(tool.id)) } else { tool.call_id.clone() }
}

impl RunningCall {
    fn begun(&self) -> CallFields<'_> {
        let mcp = mcp_parts(&self.name).filter(|_| self.kind == Kind::Mcp);
        CallFields {
            tool_call_id: &self.call_id,
            tool_name: &self.name,
            kind: Word(self.kind.as_str()),
            turn_index: self.turn_index,
            parent_tool_call_id: self.parent.as_deref(),
            mcp_server: mcp.map(|(server, _)| server),
            mcp_tool: mcp.map(|(_, tool)| tool),
        }
    }

    pub(super) fn args(&self) -> Object<'_> {
        Json::new(&self.args).object().unwrap_or_default()
    }

    fn over<'a>(&'a self, outcome: Outcome<'a>, duration_ms: Option<u64>, sink: &mut EventSink<'_>) {
        let (event, message) = match outcome {
            Outcome::Exited(0) => ("tool.completed", None),
            Outcome::Exited(TIMED_OUT) if self.is_limited => ("tool.timed_out", results::complaint(self)),
            Outcome::Exited(_) => ("tool.failed", results::complaint(self)),
            Outcome::Failed(error) if self.is_refused || error == RUN_INTERRUPTED_FIRST => {
                ("tool.cancelled", Some(error))
            }
            Outcome::Failed(error) if is_timeout(error) => ("tool.timed_out", Some(error)),
            Outcome::Failed(error) => ("tool.failed", Some(error)),
        };
        let is_dispatched = self.kind == Kind::Mcp && event == "tool.completed";
        let over = CallEnd {
            begun: Flat(self.begun()),
            duration_ms,
            summary: results::summary(self, outcome),
            result: is_dispatched.then_some(Word("dispatched")),
            message: message.filter(|message| !message.is_empty()),
            result_artifact_id: self.result_artifact_id.as_deref(),
        };
        sink.emit(event, &over);
    }
}

/// Whether a runner's error text reports a timeout.
fn is_timeout(error: &str) -> bool {
    let error = error.to_ascii_lowercase();
    error == "timeout" || error.contains("timed out") || error.contains("took too long")
}

impl Tools {
    /// How much output is kept, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.open.values().map(|running| running.stdout.text.len() + running.stderr.text.len()).sum()
    }

    /// The event id of a proposed or running call.
    pub(super) fn call_id(&self, tool_id: Uuid) -> Option<SharedStr> {
        self.open
            .get(&tool_id)
            .map(|running| &running.call_id)
            .or_else(|| self.proposed.get(&tool_id).map(|proposal| &proposal.call_id))
            .or_else(|| self.agents.iter().rev().find(|(agent, _)| *agent == tool_id).map(|(_, call_id)| call_id))
            .cloned()
    }

    /// A person is asked about a call. Returns the call's id in events, and whether an event already mentioned it. A call that
    /// was not proposed yet gets an id that its proposal keeps.
    pub(super) fn asked_about(&mut self, tool_id: Uuid) -> (SharedStr, bool) {
        if let Some(running) = self.open.get_mut(&tool_id) {
            running.is_asked = true;
            return (running.call_id.clone(), true);
        }
        let proposal = self.proposal(tool_id, || SharedStr::from(ids::tool_call_id(tool_id)));
        let was_told = std::mem::replace(&mut proposal.is_told, true);
        (proposal.call_id.clone(), was_told)
    }

    fn proposal(&mut self, tool_id: Uuid, call_id: impl FnOnce() -> SharedStr) -> &mut Proposal {
        if self.proposed.len() >= REMEMBERED && !self.proposed.contains_key(&tool_id) {
            self.proposed.clear();
        }
        self.proposed.entry(tool_id).or_insert_with(|| Proposal { call_id: call_id(), is_told: false })
    }

    /// A person refused a call.
    pub(super) fn refuse(&mut self, tool_id: Uuid) {
        if let Some(running) = self.open.get_mut(&tool_id) {
            running.is_refused = true;
        }
    }

    /// Registers a proposal; returns its id if no event mentioned it before. `is_told` is whether an event does now.
    pub(super) fn propose(&mut self, tool: &Tool, is_told: bool) -> Option<SharedStr> {
        let proposal = self.proposal(tool.id, || call_id_of(tool));
        let was_told = proposal.is_told;
        proposal.is_told |= is_told;
        (!was_told).then(|| proposal.call_id.clone())
    }

    /// A call starts. `is_limited` is whether the runner stops it after some time.
    pub(super) fn start(&mut self, call: &ToolCall, is_limited: bool, turn_index: u32, sink: &mut EventSink<'_>) {
        let proposal = self.proposed.remove(&call.tool.id);
        self.started += 1;
        let running = RunningCall {
            call_id: proposal.map_or_else(|| call_id_of(&call.tool), |proposal| proposal.call_id),
            name: call.name.clone(),
            kind: Kind::of(call, &Json::new(&call.args).object().unwrap_or_default()),
            args: call.args.clone(),
            parent: sink.parent.and_then(|parent| self.call_id(parent)),
            turn_index,
            order: self.started,
            stdout: OutputPrefix::default(),
            stderr: OutputPrefix::default(),
            is_asked: false,
            is_refused: false,
            is_limited,
            is_cut: false,
            edits: Vec::new(),
            result_artifact_id: None,
        };
        if call.kind == ToolKind::Subagent {
            if self.agents.len() >= AGENTS {
                self.agents.pop_front();
            }
            self.agents.push_back((call.tool.id, running.call_id.clone()));
        }
        sink.emit("tool.invoked", &running.begun());
        sink.emit("tool.started", &running.begun());
        kinds::begin(running.kind, &running.call_id, &running.name, &running.args(), sink);
        self.open.insert(call.tool.id, running);
    }

    pub(super) fn output(
        &mut self,
        tool: &Tool,
        stream: &'static str,
        chunk: &str,
        is_front: bool,
        sink: &mut EventSink<'_>,
    ) {
        // Logs of earlier versions have an empty piece where output paused.
        if chunk.is_empty() {
            return sink.flush();
        }
        let Some(running) = self.open.get_mut(&tool.id) else { return };
        let kept = if stream == "stderr" { &mut running.stderr } else { &mut running.stdout };
        // The front begins at the start of the stream, whatever was emitted before it.
        let byte_offset = if is_front { 0 } else { kept.bytes };
        kept.push(chunk, is_front);
        if running.kind == Kind::Shell {
            sink.output(Chunk {
                tool_call_id: running.call_id.clone(),
                tool_name: running.name.clone(),
                stream,
                data: chunk.to_owned(),
                byte_offset,
                is_front,
            });
        }
    }

    /// A call is over.
    pub(super) fn end(
        &mut self,
        tool: &Tool,
        outcome: Outcome<'_>,
        duration_ms: Option<u64>,
        sink: &mut EventSink<'_>,
    ) {
        let Some(running) = self.open.remove(&tool.id) else { return };
        super::edits::emit(&running.edits, &running.call_id, &running.name, !running.is_asked, sink);
        results::emit(&running, outcome, duration_ms, sink);
        running.over(outcome, duration_ms, sink);
    }

    /// A call's output was too large for frames, so that only its beginning was received.
    pub(super) fn stored(&mut self, tool: &Tool, stored: &OutputRef, is_told: bool) {
        if let Some(running) = self.open.get_mut(&tool.id) {
            running.stdout.bytes = stored.stdout_bytes;
            running.stderr.bytes = stored.stderr_bytes;
            running.is_cut = true;
            running.result_artifact_id = is_told.then(|| ids::artifact_id(&stored.artifact_id));
        }
    }

    /// A call changed a file. The change is emitted at the call's end, because several files form one batch. Returns the edit
    /// if no running call made it.
    pub(super) fn edited(&mut self, tool_id: Option<Uuid>, edit: Edit) -> Option<Edit> {
        match tool_id.and_then(|tool_id| self.open.get_mut(&tool_id)) {
            Some(running) => {
                running.edits.push(edit);
                None
            }
            None => Some(edit),
        }
    }

    /// The plan changed: attributed to the running plan call, otherwise to a separate call.
    pub(super) fn plan(&mut self, entries: &[PlanEntry], turn_index: u32, sink: &mut EventSink<'_>) {
        let planning = self.open.values().filter(|running| running.kind == Kind::TodoWrite);
        if let Some(running) = planning.max_by_key(|running| running.order) {
            return results::todos(&running.call_id, &running.name, entries, sink);
        }
        let name = SharedStr::from(Kind::TodoWrite.as_str());
        let tool = Tool { id: Uuid::nil(), call_id: SharedStr::from(sink.new_call_id()) };
        let call = ToolCall {
            tool: tool.clone(),
            name: name.clone(),
            kind: crate::frame::ToolKind::Plan,
            args: crate::json::empty_object(),
        };
        self.start(&call, false, turn_index, sink);
        results::todos(&tool.call_id, &name, entries, sink);
        self.end(&tool, Outcome::Exited(0), None, sink);
    }
}
