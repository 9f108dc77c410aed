//! Frames to chunks: the meaning of each frame.
//!
//! [`super::tools`] handles calls and approvals, [`super::notices`] data parts, [`super::ending`] the end of a run.

use super::blocks::{Blocks, PartKind};
use super::calls::Calls;
use super::data::{Metadata, Start, Steering, SteeringPart};
use super::metadata::{EMPTY, MessageMetadata, Reported};
use super::task::TaskMessage;
use super::tools::ToolResult;
use super::writer::{Nothing, Writer};
use crate::contracts::live_output::Piece;
use crate::contracts::wire::EmittedTexts;
use crate::encode::{Encoder, EncoderOptions, Events, StreamEncoder, Word, encoder};
use crate::frame::{Body, Frame, SharedStr, Stream, StreamKind, Usage, UserMessage};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(super) fn new(stream: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    match stream.kind {
        StreamKind::Session => Some(encoder(UiMessage::new(stream))),
        StreamKind::Task => Some(encoder(TaskMessage::new(stream))),
        StreamKind::Thread | StreamKind::Artifact => None,
    }
}

/// The encoder of one run.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UiMessage {
    pub(super) writer: Writer,
    pub(super) blocks: Blocks,
    pub(super) calls: Calls,
    pub(super) reported: Reported,
    /// The main thread's latest texts.
    pub(super) answered: EmittedTexts,
    pub(super) in_step: bool,
    /// The assistant has said or done something, so that a user's message is not the prompt.
    has_content: bool,
    /// Why the model stopped last.
    pub(super) stop_reason: Option<SharedStr>,
}

impl StreamEncoder for UiMessage {
    const STATE: &[u32] = &[1];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        self.show_due(frame.timestamp_ms, out);
        if frame.is_subagent() {
            self.shared(frame, out);
        } else {
            self.main(frame, out);
        }
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

impl UiMessage {
    fn new(stream: &Stream) -> Self {
        Self {
            writer: Writer::new(&stream.id),
            blocks: Blocks::default(),
            calls: Calls::default(),
            reported: Reported::default(),
            answered: EmittedTexts::default(),
            in_step: false,
            has_content: false,
            stop_reason: None,
        }
    }

    /// Handles a frame of the main thread.
    fn main(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::SessionStarted { .. } => self.start(&frame.stream, out),
            Body::SessionEnded(end) => self.end(end, out),
            Body::TurnStarted { model, .. } => {
                if let Some(model) = self.reported.model(model.as_ref()) {
                    let metadata = MessageMetadata { model: Some(model), ..EMPTY };
                    self.writer.chunk("message-metadata", &Metadata { metadata }, out);
                }
                self.end_step(out);
                self.begin_step(out);
            }
            Body::TurnEnded { stop_reason, .. } => {
                self.stop_reason.clone_from(stop_reason);
                self.end_step(out);
            }
            Body::UserMessage(message) => self.steering(message, out),
            Body::OutputTextDelta(block) if !block.delta.is_empty() => {
                self.begin_part(out);
                self.blocks.delta(PartKind::Text, block, &mut self.writer, out);
            }
            Body::ReasoningDelta(block) if !block.delta.is_empty() => {
                self.begin_part(out);
                self.blocks.delta(PartKind::Reasoning, block, &mut self.writer, out);
            }
            Body::OutputTextCompleted(block) => {
                self.answered.add(&block.text);
                self.blocks.complete(PartKind::Text, &block.message_id, block.block_index, &mut self.writer, out);
            }
            Body::ReasoningCompleted { block, .. } => {
                self.blocks.complete(PartKind::Reasoning, &block.message_id, block.block_index, &mut self.writer, out);
            }
            Body::ToolInputDelta { tool, name, delta } => self.input_delta(tool, name, delta, out),
            Body::PlanUpdated { entries } => self.plan(entries, out),
            _ => self.shared(frame, out),
        }
    }

    /// Handles a frame whose meaning does not depend on the thread. Frames that count only in the main thread are ignored.
    fn shared(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::ToolCallProposed(call) | Body::ToolStarted { call, .. } => self.call(call, frame, out),
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
                let result = ToolResult { exit_code, duration_ms, artifacts: artifacts.as_ref() };
                self.tool_ended(tool, &result, out);
            }
            Body::ToolFailed { tool, error } => self.tool_failed(tool, error, out),
            Body::ApprovalRequested(request) => self.asked(request, frame, out),
            Body::ApprovalResolved(answer) => self.answered(answer, out),
            Body::SubagentStarted { subagent_id, tool_id, .. } => self.calls.subagent_started(subagent_id, *tool_id),
            Body::SubagentEnded { subagent_id, .. } => self.calls.subagent_ended(subagent_id),
            Body::UsageReported(usage) => self.usage(usage, out),
            _ => self.data_part(frame, out),
        }
    }

    fn start(&mut self, stream: &Stream, out: &mut Events) {
        let metadata = MessageMetadata {
            run_id: Some(&stream.id),
            session_id: Some(&stream.session.id),
            runner: Some(stream.provider.name),
            ..EMPTY
        };
        self.writer.chunk("start", &Start { message_id: &stream.id, metadata }, out);
    }

    fn usage(&mut self, usage: &Usage, out: &mut Events) {
        if let Some(usage) = self.reported.add(usage) {
            let metadata = MessageMetadata { usage: Some(usage), ..EMPTY };
            self.writer.chunk("message-metadata", &Metadata { metadata }, out);
        }
    }

    /// A user's message. The prompt is not part of the assistant's message.
    fn steering(&mut self, message: &UserMessage, out: &mut Events) {
        if self.has_content && !message.text.is_empty() {
            self.blocks.close(&mut self.writer, out);
            let parts = vec![SteeringPart { kind: Word("text"), text: &message.text }];
            self.writer.chunk("steering-message", &Steering { id: &message.message_id, parts }, out);
        }
    }

    /// A step begins, unless one is open.
    fn begin_step(&mut self, out: &mut Events) {
        if !self.in_step {
            self.in_step = true;
            self.writer.chunk("start-step", &Nothing, out);
        }
    }

    /// A turn is over, and so are its text and reasoning. The step goes on while a call's input is streamed: the SDK looks for the
    /// call in the current step only.
    fn end_step(&mut self, out: &mut Events) {
        self.blocks.close(&mut self.writer, out);
        if self.in_step && !self.calls.is_streaming() {
            self.finish_step(out);
        }
    }

    pub(super) fn finish_step(&mut self, out: &mut Events) {
        if std::mem::take(&mut self.in_step) {
            self.writer.chunk("finish-step", &Nothing, out);
        }
    }

    /// A piece of text or reasoning follows.
    pub(super) fn begin_part(&mut self, out: &mut Events) {
        self.has_content = true;
        self.begin_step(out);
    }

    /// A part of another kind follows, so text and reasoning end.
    pub(super) fn begin_content(&mut self, out: &mut Events) {
        self.begin_part(out);
        self.blocks.close(&mut self.writer, out);
    }
}
