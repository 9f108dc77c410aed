//! Takes over frames that another framegate wrote.
//!
//! Input: one finished frame for each record, in the order of its stream. Output: the same frame, with its own time and id; its
//! number is the next one of its stream. Never: a `provider_event` for a record that is a frame itself, a frame twice, a number
//! left out (what is missing becomes a `gap_detected`), or anything left open in a run that has ended.
//!
//! A frame is taken over if it fits what was taken over before:
//!
//! - Its stream is not over, and its `stream_id` is not that of a stream of another kind: v1 identifies streams by their id alone.
//! - Its number is above those of the earlier frames of its stream, and no other frame has its id ([`given_ids`](super::given_ids)).
//! - It opens what is not open and closes what is, and its text and calls are those that its stream has.
//!
//! A frame that was taken before, which its number and its id show, is ignored. Any other frame is refused: it is kept as a
//! record with the reason, on the thread of this ingest. What an adopted stream lacks is added if it can be known: the start of
//! a run or of a call, the rest of a text, the end of what a lost frame closed. What is remembered of streams that are over, of
//! ids and of finished calls is bounded; a repetition from further back is not recognised.

use super::given_ids::GivenIds;
use super::known_calls::KnownCalls;
use super::streams::why_left;
use super::{Block, Normalizer, Target};
use crate::frame::{
    Body, Frame, RUN_ENDED_FIRST, SessionEnded, Stream, StreamKind, TaskEvent, Tool, ToolCall, ToolKind, is_last,
};
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
    /// Its id.
    pub id: Uuid,
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
    pub(super) ids: GivenIds,
    /// The kinds of the open streams, and of those whose first frame is held back.
    kinds: HashMap<Uuid, StreamKind>,
    /// The number of the next frame of each open stream.
    next: HashMap<StreamKey, u64>,
    /// The open runs that have their first frame.
    begun: HashSet<StreamKey>,
    calls: KnownCalls,
    /// The numbers after the last frames of the newest streams that are over, also in order.
    over: HashMap<(StreamKind, Uuid), u64>,
    over_in_order: VecDeque<(StreamKind, Uuid)>,
}

impl AdoptedStreams {
    /// A stream is over, if it was taken over.
    fn end(&mut self, key: StreamKey, id: (StreamKind, Uuid)) {
        let Some(next) = self.next.remove(&key) else { return };
        self.kinds.remove(&id.1);
        self.begun.remove(&key);
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
    /// An open stream whose frames are adopted.
    pub fn adopted_stream(&self, id: (StreamKind, Uuid)) -> Option<Arc<Stream>> {
        let key = self.sequencer.key_of(id).filter(|key| self.adopted.next.contains_key(key))?;
        self.sequencer.stream(key).cloned()
    }

    /// The current record is the first frame of its stream, which [`Normalizer::adopt_first`] takes over later. Returns `false` if
    /// it was taken before and is ignored.
    ///
    /// # Errors
    /// Why the frame does not fit the earlier ones. The record is kept as it is.
    pub fn reserve(&mut self, first: &Adopted) -> Result<bool, &'static str> {
        let is_new = self.is_new(first)?;
        self.pending = None;
        Ok(is_new)
    }

    /// An earlier record was this frame, which was reserved.
    pub fn adopt_first(&mut self, first: Adopted) {
        let record = self.pending.take();
        // It is the first frame of its stream, so it contradicts none.
        let _ = self.adopt_new(first);
        self.pending = record;
    }

    /// The current record is this frame. A frame that was taken before is ignored.
    ///
    /// # Errors
    /// Why the frame does not fit the earlier ones. The record is kept as it is.
    pub fn adopt(&mut self, adopted: Adopted) -> Result<(), &'static str> {
        if self.is_new(&adopted)? {
            return self.adopt_new(adopted);
        }
        self.pending = None;
        Ok(())
    }

    /// The current record says that frames of any stream may be missing: every open run reports a gap. The record is kept.
    pub fn adopted_break(&mut self, reason: &str) {
        let record = self.pending.take();
        self.gap(reason);
        self.pending = record;
    }

    /// Whether the frame is not one of the earlier ones, by its stream, number and id, which are then taken.
    fn is_new(&mut self, frame: &Adopted) -> Result<bool, &'static str> {
        let id = (frame.stream.kind, frame.stream.id);
        let expected = match self.adopted.over.get(&id).copied() {
            Some(next) if frame.seq >= next => return Err("its stream is over"),
            Some(next) => next,
            None if self.is_of_other_kind(id) => return Err("its stream_id is that of a stream of another kind"),
            None => {
                let key = self.sequencer.key_of(id);
                key.and_then(|key| self.adopted.next.get(&key)).copied().unwrap_or_default()
            }
        };
        let ids = &mut self.adopted.ids;
        if frame.seq < expected {
            let is_repeated = ids.knows(frame.id) || ids.has_forgotten();
            return if is_repeated { Ok(false) } else { Err("a later frame of its stream came before it") };
        }
        if !ids.note(frame.id) {
            return Err("another frame has its id");
        }
        self.adopted.kinds.insert(id.1, id.0);
        Ok(true)
    }

    /// Whether a stream of another kind has this id.
    fn is_of_other_kind(&self, (kind, id): (StreamKind, Uuid)) -> bool {
        if let Some(open) = self.adopted.kinds.get(&id) {
            return *open != kind;
        }
        // Records that are refused go to the thread of this ingest, even if none was refused yet.
        (kind != StreamKind::Thread && self.sequencer.home_id() == id)
            || StreamKind::ALL.iter().any(|other| *other != kind && self.adopted.over.contains_key(&(*other, id)))
    }

    /// A stream is over, if it was taken over: no more of its frames are.
    pub(super) fn adopted_is_over(&mut self, key: StreamKey) {
        if let Some(stream) = self.sequencer.stream(key) {
            self.adopted.end(key, (stream.kind, stream.id));
        }
    }

    fn adopt_new(&mut self, adopted: Adopted) -> Result<(), &'static str> {
        let id = (adopted.stream.kind, adopted.stream.id);
        self.set_time(adopted.timestamp_ms);
        let key = match self.sequencer.key_of(id).filter(|key| self.adopted.next.contains_key(key)) {
            Some(key) => key,
            None => self.open_adopted(&adopted),
        };
        let expected = self.adopted.next.get(&key).copied().unwrap_or_default();
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
        self.take_over(key, adopted);
        Ok(())
    }

    /// Opens and closes what must be open or closed before this frame, if an earlier one is missing.
    fn make_room(&mut self, target: Target, id: (StreamKind, Uuid), body: &Body) -> Result<(), &'static str> {
        let open = self.open.entry(target.stream).or_default();
        if let Some(tool) = tool_of(body)
            && (open.is_of_other_tool(tool) || !self.adopted.calls.fits(target.stream, tool))
        {
            return Err("its call_id and its tool_id belong to different calls");
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
                let proposed = self.adopted.calls.proposed_name(target.stream, &call.tool);
                if proposed.is_some_and(|name| *name != call.name) {
                    return Err("the call was proposed with another name");
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
                if let Some(name) = self.adopted.calls.proposed_name(target.stream, tool).cloned()
                    && !self.tool_known(target.stream, tool)
                {
                    let args = crate::json::empty_object();
                    self.tool_started(target, ToolCall { tool: tool.clone(), name, kind: ToolKind::Other, args }, None);
                }
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
            Body::Task(event)
                if matches!(**event, TaskEvent::Spawned { .. }) && !self.adopted.begun.insert(target.stream) =>
            {
                return Err("the task has already started");
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

    /// Emits the frame.
    fn take_over(&mut self, key: StreamKey, adopted: Adopted) {
        let Adopted { stream, id, parent_tool_id, body, lacks_texts, timestamp_ms, .. } = adopted;
        let mut frame = Frame { stream, seq: adopted.seq, timestamp_ms, parent_tool_id, given_id: Some(id), body };
        let is_over = is_last(&frame);
        if is_over {
            // Nothing is open if the other proxy closed it.
            let why = match &frame.body {
                Body::SessionEnded(end) => why_left(end.reason, end.error_code.as_deref()),
                _ => RUN_ENDED_FIRST,
            };
            self.close_all(key, why);
            if lacks_texts && let Body::SessionEnded(end) = &mut frame.body {
                let SessionEnded { final_text, .. } = &mut **end;
                *final_text =
                    self.open.get(&key).and_then(|open| open.cut_text.clone().or_else(|| open.final_text.clone()));
            }
        }
        let Some(Numbered { stream, seq, timestamp_ms }) = self.sequencer.next(key, timestamp_ms, true) else { return };
        frame = Frame { stream, seq, timestamp_ms, ..frame };
        self.follow(key, &frame);
        let session = frame.stream.session.id;
        self.frames.push(frame);
        if !is_over {
            return;
        }
        if self.runs.remove(&key) {
            self.one_less_of(session);
        }
        self.close_task(key);
    }

    /// Notes what the frame opens or closes, within the same bounds as for a runner.
    fn follow(&mut self, key: StreamKey, frame: &Frame) {
        if let Some(tool) = tool_of(&frame.body) {
            let name = match &frame.body {
                Body::ToolCallProposed(call) => Some(&call.name),
                _ => None,
            };
            self.adopted.calls.note(key, tool, name);
        }
        let open = self.open.entry(key).or_default();
        match &frame.body {
            Body::SessionStarted { .. } => {
                self.adopted.begun.insert(key);
            }
            Body::ToolStarted { call, .. } => {
                let order = self.calls.next();
                open.start_tool(call, frame.parent_tool_id, frame.timestamp_ms, order);
                self.calls.insert(order, key, call.tool.call_id.clone());
            }
            Body::ToolEnded { tool, .. } | Body::ToolFailed { tool, .. } => {
                if let (_, Some(order)) = open.end_tool(tool, frame.timestamp_ms) {
                    self.calls.remove(order);
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

/// The call that a frame is part of.
fn tool_of(body: &Body) -> Option<&Tool> {
    match body {
        Body::ToolCallProposed(call) => Some(&call.tool),
        Body::ToolStarted { call, .. } => Some(&call.tool),
        Body::ToolInputDelta { tool, .. }
        | Body::ToolStdout { tool, .. }
        | Body::ToolStdoutTail { tool, .. }
        | Body::ToolStdoutFront { tool, .. }
        | Body::ToolStderr { tool, .. }
        | Body::ToolEnded { tool, .. }
        | Body::ToolFailed { tool, .. } => Some(tool),
        _ => None,
    }
}
