//! Frames to messages: the meaning of each frame.
//!
//! [`super::tools`] handles calls, [`super::questions`] approvals, [`super::notices`] what is not part of the conversation,
//! [`super::ending`] the end of a run.

use super::blocks::{BlockKind, Blocks};
use super::calls::{Calls, Stage};
use super::data::{AboutStart, AboutUsage, Block, Chunk, SessionInfo, text};
use super::subagents::Start;
use super::task::TaskCall;
use super::tools::ToolResult;
use super::usage::Spent;
use super::writer::Writer;
use crate::contracts::live_output::Piece;
use crate::contracts::wire::{EmittedTexts, rfc3339_millis};
use crate::encode::{Encoder, EncoderOptions, Events, StreamEncoder, Time, Word, encoder};
use crate::frame::{Attachment, Body, Frame, SharedStr, Stream, StreamKind, Usage, UserMessage};
use crate::hash::HashMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

pub(super) fn new(stream: &Arc<Stream>, options: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    match stream.kind {
        StreamKind::Session => Some(encoder(AcpRun::new(stream, options))),
        StreamKind::Task => Some(encoder(TaskCall::new(stream))),
        StreamKind::Thread | StreamKind::Artifact => None,
    }
}

/// The encoder of one run.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AcpRun {
    #[serde(skip)]
    user_messages: bool,
    pub(super) writer: Writer,
    blocks: Blocks,
    pub(super) calls: Calls,
    /// The working subagents that no call started, with their own calls.
    pub(super) subagents: HashMap<SharedStr, Uuid>,
    pub(super) spent: Spent,
    pub(super) model: Option<SharedStr>,
    /// The main thread's latest texts.
    pub(super) answered: EmittedTexts,
    /// The prompt that the run's start reported; the runner may repeat it as a message until the assistant has said or done something.
    prompt: EmittedTexts,
    has_content: bool,
    /// Why the model stopped last.
    pub(super) stop_reason: Option<SharedStr>,
}

impl StreamEncoder for AcpRun {
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

    fn uses_options(&self) -> bool {
        true
    }

    fn resumed(&self, state: Self) -> Self {
        let writer = state.writer.named_as(&self.writer);
        Self { writer, user_messages: self.user_messages, ..state }
    }
}

impl AcpRun {
    fn new(stream: &Stream, options: &EncoderOptions) -> Self {
        Self {
            user_messages: options.user_messages,
            writer: Writer::new(stream),
            blocks: Blocks::default(),
            calls: Calls::default(),
            subagents: HashMap::default(),
            spent: Spent::default(),
            model: None,
            answered: EmittedTexts::default(),
            prompt: EmittedTexts::default(),
            has_content: false,
            stop_reason: None,
        }
    }

    /// Handles a frame of the main thread.
    fn main(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::SessionStarted { input } => self.start(input, frame, out),
            Body::SessionEnded(end) => self.end(end, out),
            Body::TurnStarted { model, .. } => {
                self.blocks.close();
                if let Some(model) = model {
                    self.model(model, out);
                }
            }
            Body::TurnEnded { stop_reason, .. } => {
                self.blocks.close();
                self.stop_reason.clone_from(stop_reason);
            }
            Body::UserMessage(message) => self.user_message(message, out),
            Body::OutputTextDelta(block) if !block.delta.is_empty() => {
                self.begin_content();
                self.blocks.delta(BlockKind::Text, block, &mut self.writer, out);
            }
            Body::ReasoningDelta(block) if !block.delta.is_empty() => {
                self.begin_content();
                self.blocks.delta(BlockKind::Reasoning, block, &mut self.writer, out);
            }
            Body::OutputTextCompleted(block) => {
                self.answered.add(&block.text);
                self.blocks.complete(BlockKind::Text, &block.message_id, block.block_index);
            }
            Body::ReasoningCompleted { block, .. } => {
                self.blocks.complete(BlockKind::Reasoning, &block.message_id, block.block_index);
            }
            Body::ToolInputDelta { tool, name, .. } => self.input(tool, name, out),
            Body::PlanUpdated { entries } => self.plan(entries, out),
            _ => self.shared(frame, out),
        }
    }

    /// Handles a frame whose meaning does not depend on the thread. Frames that count only in the main thread are ignored.
    fn shared(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::ToolCallProposed(call) => self.call(call, Stage::Proposed, frame, out),
            Body::ToolStarted { call, .. } => self.call(call, Stage::Running, frame, out),
            Body::ToolStdout { tool, chunk } | Body::ToolStdoutTail { tool, chunk } => {
                self.output(tool, Piece::Stdout(chunk), frame);
            }
            Body::ToolStdoutFront { tool, chunk } => self.output(tool, Piece::Front(chunk), frame),
            Body::ToolStderr { tool, chunk } => self.output(tool, Piece::Stderr(chunk), frame),
            Body::ToolEnded { tool, exit_code, duration_ms, artifacts } => {
                let (exit_code, duration_ms) = (*exit_code, *duration_ms);
                let result = ToolResult { exit_code, duration_ms, artifacts: artifacts.as_ref() };
                self.tool_ended(tool, &result, out);
            }
            Body::ToolFailed { tool, error } => self.tool_failed(tool, error, out),
            Body::FileChanged(change) => self.file_changed(change, frame, out),
            Body::ApprovalRequested(request) => self.asked(request, frame, out),
            Body::ApprovalResolved(answer) => self.answered(answer, out),
            Body::SubagentStarted { subagent_id, tool_id, agent, task, .. } => {
                let (agent, task) = (agent.as_deref(), task.as_deref());
                self.subagent_started(&Start { runner_id: subagent_id, call: *tool_id, agent, task }, frame, out);
            }
            Body::SubagentEnded { subagent_id, status, summary } => {
                self.subagent_ended(subagent_id, status, summary.as_deref(), out);
            }
            Body::UsageReported(usage) => self.usage(usage, out),
            _ => self.own_data(frame, out),
        }
    }

    fn start(&mut self, input: &str, frame: &Frame, out: &mut Events) {
        let updated_at = Time(rfc3339_millis(frame.timestamp_ms));
        let about = AboutStart { runner: frame.stream.provider.name };
        self.writer.update_about("session_info_update", &SessionInfo { updated_at }, &about, out);
        if self.user_messages && !input.is_empty() {
            self.prompt.add(input);
            let message_id = self.writer.fresh_id();
            self.writer.update("user_message_chunk", &Chunk { content: text(input), message_id }, out);
        }
    }

    /// A user's message, unless it repeats the prompt.
    fn user_message(&mut self, message: &UserMessage, out: &mut Events) {
        self.blocks.close();
        if !self.user_messages {
            return;
        }
        let message_id = self.writer.fresh_id();
        let repeats = !self.has_content && self.prompt.contains(&message.text);
        if !repeats && !message.text.is_empty() {
            self.writer.update("user_message_chunk", &Chunk { content: text(&message.text), message_id }, out);
        }
        for file in &message.attachments {
            if let Some(content) = link(file) {
                self.writer.update("user_message_chunk", &Chunk { content, message_id }, out);
            }
        }
    }

    fn usage(&mut self, usage: &Usage, out: &mut Events) {
        if self.spent.add(usage)
            && let Some((usage, cost_usd)) = self.spent.so_far()
        {
            self.writer.own(&AboutUsage { usage, cost_usd }, out);
        }
    }

    /// The assistant says or does something.
    pub(super) fn begin_content(&mut self) {
        self.has_content = true;
    }
}

/// A file that belongs to a message, if it has an address: its digest.
fn link(file: &Attachment) -> Option<Block<'_>> {
    let uri = file.artifact_id.as_deref()?;
    let name = file.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(&file.kind);
    let mime_type = file.mime.as_deref();
    Some(Block {
        kind: Word("resource_link"),
        text: None,
        uri: Some(uri),
        name: Some(name),
        mime_type,
        size: file.bytes,
    })
}
