//! Frames to events: the meaning of each frame.
//!
//! [`super::blocks`] has text and reasoning, [`super::tools`] calls, [`super::subagents`] subagents, [`super::custom`] everything
//! else, [`super::ending`] the end of a run.

use super::blocks::{BlockKind, Blocks, Thread, whole};
use super::calls::Calls;
use super::data::{AboutStep, AboutStepEnd, RunStarted, Source, Step};
use super::output::Piece;
use super::subagents::{Start, Subagents};
use super::task::TaskRun;
use super::tools::ToolEnd;
use super::usage::Spent;
use super::writer::Writer;
use crate::contracts::wire::EmittedTexts;
use crate::encode::{Encoder, EncoderOptions, Events, StreamEncoder, Word, encoder};
use crate::frame::{BlockDelta, Body, Frame, Stream, StreamKind, UserMessage};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// The version of the protocol.
pub(super) const PROTOCOL_VERSION: Word = Word("1.0");

pub(super) fn new(stream: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    match stream.kind {
        StreamKind::Session => Some(encoder(AgUiRun::new(stream))),
        StreamKind::Task => Some(encoder(TaskRun::new(stream))),
        StreamKind::Thread | StreamKind::Artifact => None,
    }
}

/// Emits the start of a run. `parent` is the run that started it.
pub(super) fn start(stream: &Stream, parent: Option<Uuid>, writer: &mut Writer, out: &mut Events) {
    let data = RunStarted {
        thread_id: &stream.session.id,
        run_id: &stream.id,
        protocol_version: PROTOCOL_VERSION,
        parent_run_id: parent,
    };
    writer.event_with("RUN_STARTED", &data, &Source { runner: stream.provider.name }, out);
}

/// The encoder of one run.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgUiRun {
    pub(super) writer: Writer,
    pub(super) blocks: Blocks,
    pub(super) calls: Calls,
    pub(super) subagents: Subagents,
    pub(super) spent: Spent,
    /// The main thread's latest texts.
    pub(super) answered: EmittedTexts,
    /// The index of the open turn.
    turn: Option<u32>,
    /// The assistant has said or done something, so that a user's message is not the prompt.
    pub(super) has_content: bool,
    /// The main thread's last message, until the next turn or result: the calls that follow belong to it.
    pub(super) last_message: Option<Uuid>,
}

impl StreamEncoder for AgUiRun {
    const STATE: &[u32] = &[1];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        self.show_due(frame.timestamp_ms, out);
        self.writer.at(frame.timestamp_ms);
        self.takes(frame, out);
    }

    fn paused(&self, until_ms: u64, out: &mut Events) -> Option<Self> {
        if !self.calls.due.is_due(until_ms) {
            return None;
        }
        let mut after = self.clone();
        after.show_due(until_ms, out);
        Some(after)
    }

    fn held_bytes(&self) -> usize {
        self.calls.held_bytes()
    }

    fn resumed(&self, state: Self) -> Self {
        Self { writer: state.writer.named_as(&self.writer), ..state }
    }
}

impl AgUiRun {
    fn new(stream: &Stream) -> Self {
        Self {
            writer: Writer::new(&stream.id),
            blocks: Blocks::default(),
            calls: Calls::default(),
            subagents: Subagents::default(),
            spent: Spent::default(),
            answered: EmittedTexts::default(),
            turn: None,
            has_content: false,
            last_message: None,
        }
    }

    fn takes(&mut self, frame: &Frame, out: &mut Events) {
        let thread = self.subagents.thread(frame);
        match &frame.body {
            Body::SessionStarted { .. } => start(&frame.stream, None, &mut self.writer, out),
            Body::SessionEnded(end) => self.end(end, &frame.stream, out),
            Body::TurnStarted { turn_index, model } => self.begin_turn(*turn_index, model.as_deref(), out),
            Body::TurnEnded { stop_reason, duration_ms, .. } => {
                self.end_turn(stop_reason.as_deref(), *duration_ms, out);
            }
            Body::UserMessage(message) if thread.call.is_none() => self.user_message(message, out),
            Body::OutputTextDelta(piece) => self.piece(BlockKind::Text, thread, piece, out),
            Body::ReasoningDelta(piece) => self.piece(BlockKind::Reasoning, thread, piece, out),
            Body::OutputTextCompleted(block) => {
                if thread.call.is_none() {
                    self.answered.add(&block.text);
                }
                self.blocks.complete(BlockKind::Text, thread, block, None, &mut self.writer, out);
            }
            Body::ReasoningCompleted { block, opaque } => {
                let kind = BlockKind::Reasoning;
                self.blocks.complete(kind, thread, block, opaque.as_ref(), &mut self.writer, out);
            }
            Body::ToolInputDelta { tool, name, delta } => self.input_delta(tool, name, delta, thread, out),
            Body::ToolCallProposed(call) | Body::ToolStarted { call, .. } => self.call(call, thread, out),
            Body::ToolStdout { tool, chunk } | Body::ToolStdoutTail { tool, chunk } => {
                self.calls.add_output(&tool.id, Piece::Stdout(chunk), frame.timestamp_ms);
            }
            Body::ToolStdoutFront { tool, chunk } => {
                self.calls.add_output(&tool.id, Piece::Front(chunk), frame.timestamp_ms);
            }
            Body::ToolStderr { tool, chunk } => {
                self.calls.add_output(&tool.id, Piece::Stderr(chunk), frame.timestamp_ms);
            }
            Body::ToolEnded { tool, exit_code, duration_ms, artifacts } => {
                let (exit_code, duration_ms) = (*exit_code, *duration_ms);
                self.tool_ended(tool, &ToolEnd { exit_code, duration_ms, artifacts: artifacts.as_ref() }, out);
            }
            Body::ToolFailed { tool, error } => self.tool_failed(tool, error, out),
            Body::SubagentStarted { subagent_id, tool_id, agent, task, .. } => {
                let (agent, task) = (agent.as_deref(), task.as_deref());
                let start = Start { runner_id: subagent_id, call: *tool_id, agent, task };
                self.subagent_started(&start, frame, out);
            }
            Body::SubagentEnded { subagent_id, status, summary } => {
                self.subagent_ended(subagent_id, status, summary.as_deref(), out);
            }
            Body::ApprovalRequested(request) => self.asked(request, frame, out),
            Body::ApprovalResolved(answer) => self.answered(answer, frame, out),
            Body::PlanUpdated { entries } => self.plan(entries, frame, out),
            Body::UsageReported(usage) => self.usage(usage, out),
            _ => self.other(frame, out),
        }
    }

    fn piece(&mut self, kind: BlockKind, thread: Thread, piece: &BlockDelta, out: &mut Events) {
        if piece.delta.is_empty() {
            return;
        }
        self.has_content = true;
        let new = self.blocks.delta(kind, thread, piece, &mut self.writer, out);
        if kind == BlockKind::Text && thread.call.is_none() {
            self.last_message = new.or(self.last_message);
        }
    }

    fn begin_turn(&mut self, turn_index: u32, model: Option<&str>, out: &mut Events) {
        self.end_turn(None, None, out);
        self.last_message = None;
        self.turn = Some(turn_index);
        let model = model.filter(|model| !model.is_empty());
        let data = Step { step_name: &step_name(turn_index) };
        self.writer.event_with("STEP_STARTED", &data, &AboutStep { model }, out);
    }

    /// A turn is over, if one is open.
    pub(super) fn end_turn(&mut self, stop_reason: Option<&str>, duration_ms: Option<u64>, out: &mut Events) {
        if let Some(turn_index) = self.turn.take() {
            let data = Step { step_name: &step_name(turn_index) };
            self.writer.event_with("STEP_FINISHED", &data, &AboutStepEnd { stop_reason, duration_ms }, out);
        }
    }

    /// A user's message. The client that sent the prompt has it already.
    fn user_message(&mut self, message: &UserMessage, out: &mut Events) {
        if self.has_content && !message.text.is_empty() {
            self.last_message = None;
            whole("user", &message.text, &mut self.writer, out);
        }
    }
}

fn step_name(turn_index: u32) -> String {
    format!("turn-{turn_index}")
}
