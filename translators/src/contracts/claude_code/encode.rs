//! Frames to messages: the meaning of each frame.
//!
//! [`super::turns`] writes model messages, [`super::blocks`] text and thinking, [`super::tools`] calls and results,
//! [`super::approvals`] questions, [`super::system`] notices, [`super::ending`] the end of a run.

use super::approvals::Approvals;
use super::calls::{Calls, Piece};
use super::task::TaskMessages;
use super::turns::Message;
use super::usage::Reported;
use super::words::StopReason;
use super::writer::Writer;
use crate::encode::{Encoder, EncoderOptions, Events, StreamEncoder, encoder};
use crate::frame::{Body, Frame, SharedStr, Stream, StreamKind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(super) fn new(stream: &Arc<Stream>, options: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    match stream.kind {
        StreamKind::Session => Some(encoder(ClaudeCode::new(stream, options))),
        StreamKind::Task => Some(encoder(TaskMessages::new(stream))),
        StreamKind::Thread | StreamKind::Artifact => None,
    }
}

/// The encoder of one run.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaudeCode {
    /// Whether model messages are also streamed.
    #[serde(skip)]
    pub(super) partial: bool,
    /// Whether the user's messages are repeated.
    #[serde(skip)]
    pub(super) user_messages: bool,
    /// The model if the runner does not name one.
    #[serde(skip)]
    pub(super) runner: &'static str,
    pub(super) writer: Writer,
    /// When the run began, in Unix epoch milliseconds.
    pub(super) began_ms: u64,
    /// `init` was written.
    pub(super) has_init: bool,
    /// The model of the last turn.
    pub(super) model: Option<SharedStr>,
    pub(super) message: Option<Message>,
    /// The number of model messages so far.
    pub(super) messages: u64,
    /// The number of `user` messages of the main thread.
    pub(super) user_count: u64,
    pub(super) stop_reason: Option<StopReason>,
    pub(super) calls: Calls,
    pub(super) approvals: Approvals,
    pub(super) usage: Reported,
}

impl StreamEncoder for ClaudeCode {
    const STATE: &[u32] = &[1];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        if frame.is_subagent() {
            self.subagent(frame, out);
        } else {
            self.main(frame, out);
        }
    }

    fn held_bytes(&self) -> usize {
        self.calls.held_bytes() + self.approvals.held_bytes()
    }

    fn uses_options(&self) -> bool {
        true
    }

    fn resumed(&self, state: Self) -> Self {
        Self {
            partial: self.partial,
            user_messages: self.user_messages,
            runner: self.runner,
            writer: state.writer.named_as(&self.writer),
            ..state
        }
    }
}

impl ClaudeCode {
    fn new(stream: &Stream, options: &EncoderOptions) -> Self {
        Self {
            partial: options.experimental,
            user_messages: options.user_messages,
            runner: stream.provider.name,
            writer: Writer::new(stream),
            began_ms: 0,
            has_init: false,
            model: None,
            message: None,
            messages: 0,
            user_count: 0,
            stop_reason: None,
            calls: Calls::default(),
            approvals: Approvals::default(),
            usage: Reported::default(),
        }
    }

    /// The model that messages name.
    pub(super) fn model(&self) -> SharedStr {
        self.model.clone().unwrap_or_else(|| SharedStr::from(self.runner))
    }

    /// Handles a frame of the main thread.
    fn main(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::SessionStarted { .. } => self.began_ms = frame.timestamp_ms,
            Body::SessionEnded(end) => self.end(end, frame, out),
            Body::TurnStarted { model, .. } => self.turn_started(model.as_ref(), out),
            Body::TurnEnded { stop_reason, .. } => self.turn_ended(stop_reason.as_deref(), out),
            Body::UserMessage(message) if self.user_messages => self.replay(message, frame, out),
            Body::OutputTextDelta(delta) => self.text_delta(delta, out),
            Body::ReasoningDelta(delta) => self.thinking_delta(delta, out),
            Body::OutputTextCompleted(block) => self.text(block, frame, out),
            Body::ReasoningCompleted { block, opaque } => self.thinking(block, opaque.as_ref(), frame, out),
            Body::ToolInputDelta { tool, name, delta } => self.input_delta(tool, name, delta, out),
            Body::StatusChanged { old_status, new_status, reason } => {
                self.status(old_status, new_status, reason.as_deref(), out);
            }
            Body::HistoryCompacted { trigger, tokens_before, tokens_after, summary } => {
                self.compacted(trigger.as_deref(), *tokens_before, *tokens_after, out);
                self.summary(summary.as_deref(), frame, out);
            }
            _ => self.shared(frame, out),
        }
    }

    /// Handles a frame of a subagent, whose messages are not streamed.
    fn subagent(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::OutputTextCompleted(block) => self.whole_text(block, frame, out),
            Body::ReasoningCompleted { block, opaque } => self.whole_thinking(block, opaque.as_ref(), frame, out),
            _ => self.shared(frame, out),
        }
    }

    /// Handles a frame whose meaning does not depend on the thread. Frames without a message are ignored.
    fn shared(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::ToolCallProposed(call) | Body::ToolStarted { call, .. } => self.call(call, frame, out),
            Body::ToolStdout { tool, chunk } | Body::ToolStdoutTail { tool, chunk } => {
                self.calls.add_output(&tool.id, Piece::Stdout(chunk));
            }
            Body::ToolStdoutFront { tool, chunk } => self.calls.add_output(&tool.id, Piece::Front(chunk)),
            Body::ToolStderr { tool, chunk } => self.calls.add_output(&tool.id, Piece::Stderr(chunk)),
            Body::ToolEnded { tool, exit_code, artifacts, .. } => {
                self.tool_ended(tool, *exit_code, artifacts.as_ref(), frame, out);
            }
            Body::ToolFailed { tool, error } => self.tool_failed(tool, error, frame, out),
            Body::ApprovalRequested(request) => self.asked(request, frame, out),
            Body::ApprovalResolved(answer) => self.decided(answer, out),
            Body::UsageReported(usage) => self.usage.add(usage, frame.is_subagent(), self.model.as_ref()),
            Body::ErrorReported(error) => self.error(error, frame, out),
            _ => self.notice(frame, out),
        }
    }
}
