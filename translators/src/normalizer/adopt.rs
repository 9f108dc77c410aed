//! Takes over frames that another framegate wrote.
//!
//! Input: one finished frame for each record, in the order of its stream. Output: the same frame, with its own number, time and
//! id. Never: a `provider_event` for a record that is a frame itself, a frame twice, a number left out (what is missing becomes
//! a `gap_detected`), or anything left open in a run that has ended.

use super::{Block, Normalizer, Target};
use crate::frame::{Body, Frame, SessionEnded, SharedStr, Stream, StreamKind, TaskEvent, Tool, is_last};
use crate::hash::{HashMap, HashSet};
use crate::json::Utf16Text;
use crate::sequence::{Numbered, StreamKey};
use std::collections::VecDeque;
use std::sync::Arc;
use uuid::Uuid;

/// How many streams that are over are remembered, so that a repeated frame does not open them again.
const REMEMBERED: usize = 1024;

/// What a missing part of a stream is reported as.
const MISSING: &str = "the input does not have these frames";

/// A frame of another proxy.
#[derive(Debug)]
pub struct Adopted {
    /// Its stream.
    pub stream: Arc<Stream>,
    /// Its number there.
    pub seq: u64,
    /// Its id; `None` if it has none, or none that is a UUID.
    pub id: Option<Uuid>,
    /// Its time in Unix epoch milliseconds.
    pub timestamp_ms: u64,
    /// The tool call of the subagent that caused it.
    pub parent_tool_id: Option<Uuid>,
    /// What happened.
    pub body: Body,
    /// Whether its form has no snapshots of texts and no final text. They are then added.
    pub lacks_texts: bool,
}

/// The streams that were taken over.
#[derive(Debug, Default)]
pub(super) struct AdoptedStreams {
    /// The number of the next frame of each open stream.
    next: HashMap<StreamKey, u64>,
    /// The open runs that have their first frame.
    begun: HashSet<StreamKey>,
    /// The call ids of the open calls of each stream, by the ids of their tools.
    calls: HashMap<StreamKey, HashMap<Uuid, SharedStr>>,
    /// The numbers after the last frames of the newest streams that are over, also in order.
    over: HashMap<(StreamKind, Uuid), u64>,
    over_in_order: VecDeque<(StreamKind, Uuid)>,
}

impl AdoptedStreams {
    /// Whether frames of this stream were adopted, and it is not over.
    pub(super) fn contains(&self, key: StreamKey) -> bool {
        self.next.contains_key(&key)
    }

    fn end(&mut self, key: StreamKey, id: (StreamKind, Uuid)) {
        let next = self.next.remove(&key).unwrap_or_default();
        self.begun.remove(&key);
        self.calls.remove(&key);
        if self.over.insert(id, next).is_none() {
            self.over_in_order.push_back(id);
        }
        if self.over_in_order.len() > REMEMBERED
            && let Some(oldest) = self.over_in_order.pop_front()
        {
            self.over.remove(&oldest);
        }
    }
}

impl Normalizer {
    /// The current record is a frame that is adopted later.
    pub fn record_is_frame(&mut self) {
        self.pending = None;
    }

    /// An open stream whose frames are adopted.
    pub fn adopted_stream(&self, id: (StreamKind, Uuid)) -> Option<Arc<Stream>> {
        let key = self.sequencer.key_of(id).filter(|key| self.adopted.next.contains_key(key))?;
        self.sequencer.stream(key).cloned()
    }

    /// An earlier record was this frame, the first one of its stream.
    pub fn adopt_first(&mut self, first: Adopted) {
        let record = self.pending.take();
        // Nothing precedes it that it could contradict.
        let _ = self.adopt(first);
        self.pending = record;
    }

    /// The current record is this frame. A frame that was taken before is ignored.
    ///
    /// # Errors
    /// Why the frame cannot follow the earlier ones of its stream. The record is kept as it is.
    pub fn adopt(&mut self, adopted: Adopted) -> Result<(), &'static str> {
        let id = (adopted.stream.kind, adopted.stream.id);
        if let Some(&next) = self.adopted.over.get(&id) {
            if adopted.seq >= next {
                return Err("its stream is over");
            }
            self.pending = None;
            return Ok(());
        }
        self.set_time(adopted.timestamp_ms);
        let key = match self.sequencer.key_of(id).filter(|key| self.adopted.next.contains_key(key)) {
            Some(key) => key,
            None => self.open_adopted(&adopted),
        };
        let expected = self.adopted.next.get(&key).copied().unwrap_or_default();
        if adopted.seq < expected {
            self.pending = None;
            return Ok(());
        }
        let record = self.pending.take();
        // Nothing precedes the beginning of a run, and a gap says itself what is missing.
        let explains_itself = matches!(adopted.body, Body::GapDetected { .. } | Body::SessionStarted { .. });
        if adopted.seq > expected && !explains_itself {
            let (first_seq, last_seq) = (Some(expected), Some(adopted.seq - 1));
            self.number(Target::main(key), Body::GapDetected { first_seq, last_seq, reason: MISSING.to_owned() });
        }
        self.adopted.next.insert(key, adopted.seq.saturating_add(1));
        let target = Target { stream: key, parent: adopted.parent_tool_id };
        if let Err(reason) = self.make_room(target, id, &adopted.body) {
            self.pending = record;
            return Err(reason);
        }
        self.take_over(key, id, adopted);
        Ok(())
    }

    /// Opens and closes what must be open or closed before this frame, if an earlier one is missing.
    fn make_room(&mut self, target: Target, id: (StreamKind, Uuid), body: &Body) -> Result<(), &'static str> {
        let open = self.open.entry(target.stream).or_default();
        if let Some(tool) = tool_of(body) {
            let calls = self.adopted.calls.get(&target.stream);
            let call_id = calls.and_then(|calls| calls.get(&tool.id)).filter(|call_id| open.call_runs(call_id));
            if open.is_of_other_tool(tool) || call_id.is_some_and(|call_id| *call_id != tool.call_id) {
                return Err("its call_id and its tool_id belong to different calls");
            }
        }
        match body {
            Body::SessionStarted { .. } | Body::SessionEnded(_) if id.0 != StreamKind::Session => {
                return Err("only a run begins and ends");
            }
            Body::SessionStarted { .. } if self.adopted.begun.contains(&target.stream) => {
                return Err("the run has already begun");
            }
            Body::TurnStarted { .. } if open.in_turn() => self.turn_ended(target.stream, None),
            Body::TurnEnded { turn_index, .. } if open.turn_index() != Some(*turn_index) => {
                return Err("no turn with this index is open");
            }
            Body::OutputTextCompleted(whole) => {
                let block = Block::text(&whole.message_id, whole.block_index);
                return self.make_whole(target, block, &whole.text);
            }
            Body::ReasoningCompleted { block: whole, .. } => {
                let block = Block::reasoning(&whole.message_id, whole.block_index);
                return self.make_whole(target, block, &whole.text);
            }
            Body::ToolStarted { call, .. } => {
                if open.tool_runs(&call.tool) || open.tool_is_over(&call.tool) || open.was_given_up(&call.tool.call_id)
                {
                    return Err("the call has already started");
                }
                if self.is_crowded(target) {
                    self.give_up_oldest_call();
                }
            }
            Body::ToolStdout { tool, .. }
            | Body::ToolStdoutTail { tool, .. }
            | Body::ToolStdoutFront { tool, .. }
            | Body::ToolStderr { tool, .. }
            | Body::ToolEnded { tool, .. }
            | Body::ToolFailed { tool, .. } => {
                self.for_output(target, tool).ok_or("the call is already over")?;
            }
            Body::ApprovalRequested(request) if open.asks(&request.approval_id) => {
                return Err("the question is already open");
            }
            Body::ApprovalResolved(answer) if !open.asks(&answer.approval_id) => {
                return Err("no open question has this id");
            }
            Body::SubagentStarted { subagent_id, .. } if open.has_subagent(subagent_id) => {
                return Err("the subagent has already started");
            }
            Body::SubagentEnded { subagent_id, .. } if !open.has_subagent(subagent_id) => {
                return Err("no subagent with this id works");
            }
            Body::Task(event) if id != (StreamKind::Task, event.task_id()) => {
                return Err("a task has a stream of its own, with its id");
            }
            Body::Task(event) if matches!(**event, TaskEvent::Spawned { .. }) => {
                if !self.adopted.begun.insert(target.stream) {
                    return Err("the task has already started");
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Emits the end of a text, if pieces of it are missing. If it contradicts its pieces, they stand: the block is closed.
    fn make_whole(&mut self, target: Target, block: Block<'_>, text: &str) -> Result<(), &'static str> {
        let so_far = self.text_so_far(target, block).unwrap_or_default();
        match text.strip_prefix(so_far) {
            Some("") => Ok(()),
            Some(rest) => {
                let rest = Utf16Text { low: None, text: rest.to_owned(), high: None };
                self.delta(target, block, rest);
                Ok(())
            }
            None => {
                self.complete(target, block, None, None);
                Err("the text differs from its pieces, which stand")
            }
        }
    }

    /// Opens the stream of its first frame.
    fn open_adopted(&mut self, first: &Adopted) -> StreamKey {
        let key = self.sequencer.adopt(first.stream.clone());
        self.adopted.next.insert(key, 0);
        match first.stream.kind {
            StreamKind::Session => {
                self.runs.insert(key);
                *self.open_of.entry(first.stream.session.id).or_default() += 1;
                if !matches!(first.body, Body::SessionStarted { .. }) {
                    self.number(Target::main(key), Body::SessionStarted { input: String::new() });
                    self.adopted.begun.insert(key);
                }
            }
            StreamKind::Task => {
                self.tasks.insert(key);
            }
            StreamKind::Thread | StreamKind::Artifact => {}
        }
        key
    }

    fn take_over(&mut self, key: StreamKey, id: (StreamKind, Uuid), adopted: Adopted) {
        let Adopted { id: given, parent_tool_id, mut body, lacks_texts, timestamp_ms, .. } = adopted;
        let ends_run = matches!(body, Body::SessionEnded(_)) && id.0 == StreamKind::Session;
        if ends_run {
            // Nothing is open if the other proxy closed it.
            self.close_work(key);
            self.turn_ended(key, None);
            if lacks_texts && let Body::SessionEnded(end) = &mut body {
                let SessionEnded { final_text, .. } = &mut **end;
                *final_text =
                    self.open.get(&key).and_then(|open| open.cut_text.clone().or_else(|| open.final_text.clone()));
            }
        }
        let Some(Numbered { stream, seq, timestamp_ms }) = self.sequencer.next(key, timestamp_ms, true) else { return };
        let mut frame = Frame { stream, seq, timestamp_ms, parent_tool_id, given_id: None, body };
        frame.given_id = given.filter(|given| *given != frame.derived_id());
        self.follow(key, &frame);
        let is_over = is_last(&frame);
        let session = frame.stream.session.id;
        self.frames.push(frame);
        if !is_over {
            return;
        }
        if ends_run {
            self.runs.remove(&key);
            self.one_less_of(session);
        }
        self.close_task(key);
        self.adopted.end(key, id);
    }

    /// Notes what the frame opens or closes, within the same bounds as for a runner.
    fn follow(&mut self, key: StreamKey, frame: &Frame) {
        let open = self.open.entry(key).or_default();
        match &frame.body {
            Body::SessionStarted { .. } => {
                self.adopted.begun.insert(key);
            }
            Body::ToolStarted { call, .. } => {
                let order = self.calls.next();
                open.start_tool(call, frame.parent_tool_id, frame.timestamp_ms, order);
                self.calls.insert(order, key, call.tool.call_id.clone());
                self.adopted.calls.entry(key).or_default().insert(call.tool.id, call.tool.call_id.clone());
            }
            Body::ToolEnded { tool, .. } | Body::ToolFailed { tool, .. } => {
                if let (_, Some(order)) = open.end_tool(tool, frame.timestamp_ms) {
                    self.calls.remove(order);
                }
                if let Some(calls) = self.adopted.calls.get_mut(&key) {
                    calls.remove(&tool.id);
                }
            }
            _ => {
                open.note(frame);
                self.bound_questions(key);
                self.bound_subagents(key);
                self.bound_blocks(key);
            }
        }
    }
}

/// The call of a frame that is part of one that runs.
fn tool_of(body: &Body) -> Option<&Tool> {
    match body {
        Body::ToolStarted { call, .. } => Some(&call.tool),
        Body::ToolStdout { tool, .. }
        | Body::ToolStdoutTail { tool, .. }
        | Body::ToolStdoutFront { tool, .. }
        | Body::ToolStderr { tool, .. }
        | Body::ToolEnded { tool, .. }
        | Body::ToolFailed { tool, .. } => Some(tool),
        _ => None,
    }
}
