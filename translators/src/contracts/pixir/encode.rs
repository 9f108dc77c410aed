//! Frames to `pixir.v1` events: the meaning of each frame, and the text of the conversation.
//!
//! [`super::work`] handles tools, approvals, usage and subagents; [`super::ending`] handles the end of a run.

use super::calls::Calls;
use super::data::{
    AssistantMessage, Chunk, ContextPressure, Entry, HistoryCompaction, Metadata, Plan, Reasoning, Resource, RunError,
    SkillActivation, Status, UserMessage,
};
use super::is_terminal;
use super::message::PendingText;
use super::subagents::{Subagent, Subagents};
use super::usage::ReportedUsage;
use super::writer::Writer;
use crate::contracts::wire::{EmittedTexts, as_object};
use crate::encode::{Encoder, EncoderOptions, Events, Flat, Pruned, StreamEncoder, Value, Word, encoder};
use crate::frame::{BlockDelta, Body, Frame, RawJson, SharedStr, SkillEvent, Stream, StreamKind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The model of an item if the runner does not report it. A replay keeps only the items of its own model, so it leaves this one
/// out.
const UNKNOWN_MODEL: &str = "unknown";

pub(super) fn new(stream: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    (stream.kind == StreamKind::Session).then(|| encoder(Pixir::new(stream)))
}

/// The encoder of one run.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pixir {
    pub(super) writer: Writer,
    /// The prompt from the run's start; a user message that repeats it may follow.
    prompt: Option<String>,
    /// The last `status`.
    status: Option<SharedStr>,
    pub(super) said: PendingText,
    /// The main thread's texts.
    #[serde(default)]
    pub(super) answered: EmittedTexts,
    /// The current model.
    model: Option<SharedStr>,
    pub(super) calls: Calls,
    pub(super) subagents: Subagents,
    pub(super) usage: ReportedUsage,
}

impl StreamEncoder for Pixir {
    const STATE: &[u32] = &[2];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        if !matches!(frame.body, Body::ProviderEvent(_)) {
            self.open_turn(frame, out);
        }
        if frame.is_subagent() {
            self.shared(frame, out);
        } else {
            self.main(frame, out);
        }
    }

    fn held_bytes(&self) -> usize {
        self.said.held_bytes() + self.calls.held_bytes()
    }

    fn resumed(&self, state: Self) -> Self {
        Self { writer: state.writer.named_as(&self.writer), ..state }
    }

    fn pruned(&self, pruned: &Pruned<'_>, out: &mut Events) {
        let reason = format!("events that came before are not kept any more ({})", Pruned::REASON);
        let status = Status { status: "gap", reason: Some(&reason), error: Flat(RunError::default()) };
        let frame = pruned.frame(Body::SessionStarted { input: String::new() });
        if let Some(mut writer) = self.writer.before_last() {
            writer.event(&frame, "status", &status, out);
        }
    }
}

impl Pixir {
    fn new(stream: &Stream) -> Self {
        Self {
            writer: Writer::new(stream),
            prompt: None,
            status: None,
            said: PendingText::default(),
            answered: EmittedTexts::default(),
            model: None,
            calls: Calls::default(),
            subagents: Subagents::default(),
            usage: ReportedUsage::default(),
        }
    }

    /// Handles a frame of the main thread.
    fn main(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::SessionStarted { input } if input.is_empty() => self.status("thinking", None, frame, out),
            Body::SessionStarted { input } => self.prompt = Some(input.clone()),
            Body::SessionEnded(end) => self.end(frame, end, out),
            Body::TurnStarted { model, .. } => {
                self.flush(frame, out);
                self.model.clone_from(model);
                self.status("thinking", None, frame, out);
            }
            Body::UserMessage(message) => {
                self.flush(frame, out);
                let resources: Vec<_> = message.attachments.iter().map(Resource::of).collect();
                let resources = Some(resources).filter(|resources| !resources.is_empty());
                self.prompt(&UserMessage { text: &message.text, resources }, frame, out);
            }
            Body::OutputTextDelta(block) => self.text(block, frame, out),
            Body::OutputTextCompleted(block) => self.answered.add(&block.text),
            Body::ReasoningDelta(block) if !block.delta.is_empty() => {
                self.event(frame, "reasoning_delta", &Chunk { chunk: &block.delta }, out);
            }
            Body::ReasoningCompleted { opaque: Some(item), .. } => self.reasoning(item, frame, out),
            Body::PlanUpdated { entries } => {
                let entries = entries.iter().map(Entry::of).collect();
                self.event(frame, "plan", &Plan { entries }, out);
            }
            // Terminal statuses are reserved for the run's end.
            // A status without a name is none.
            Body::StatusChanged { new_status, reason, .. } if !is_terminal(new_status) && !new_status.is_empty() => {
                self.status(new_status, reason.as_deref(), frame, out);
            }
            Body::ErrorReported(error) if error.retryable && error.attempt.is_some() => {
                self.status("retrying", Some(&error.message), frame, out);
            }
            Body::HistoryCompacted { trigger, tokens_before, tokens_after, summary } => {
                self.flush(frame, out);
                let (tokens_before, tokens_after) = (*tokens_before, *tokens_after);
                if trigger.as_deref() == Some("auto") {
                    let message =
                        Word("the context was nearly full, so a part of the history was replaced by a summary");
                    let notice = ContextPressure { tier: Word("recovery"), message, tokens_before, tokens_after };
                    self.event(frame, "context_pressure", &notice, out);
                }
                let summary = summary.as_deref().filter(|summary| !summary.is_empty());
                let data = HistoryCompaction { summary, trigger: trigger.as_deref(), tokens_before, tokens_after };
                self.event(frame, "history_compaction", &data, out);
            }
            Body::Skill(skill) => {
                if let SkillEvent::Invoked { name, args, mode, effective_allowed_tools } = &**skill {
                    self.flush(frame, out);
                    let data = SkillActivation {
                        name,
                        args: args.as_deref(),
                        mode: Word(mode.as_str()),
                        effective_allowed_tools: effective_allowed_tools.as_deref(),
                    };
                    self.event(frame, "skill_activation", &data, out);
                }
            }
            Body::GapDetected { reason, .. } => self.status("gap", Some(reason), frame, out),
            _ => self.shared(frame, out),
        }
    }

    /// Handles a frame whose meaning does not depend on the thread. Frames that count only in the main thread are ignored.
    fn shared(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::ToolCallProposed(call) => self.call(call, frame, out),
            Body::ToolStarted { call, .. } => {
                self.call(call, frame, out);
                self.calls.frame(&frame.body);
            }
            Body::ApprovalRequested(request) => self.calls.ask(request),
            Body::ApprovalResolved(answer) => self.decision(answer, frame, out),
            Body::UsageReported(usage) => self.usage(usage, frame, out),
            Body::SubagentStarted { subagent_id, tool_id, agent, task, depth } => {
                let subagent = Subagent {
                    id: subagent_id.clone(),
                    tool_id: *tool_id,
                    agent: agent.clone(),
                    task: task.clone(),
                    depth: *depth,
                };
                self.subagent(Word("started"), "running", &subagent, None, frame, out);
                self.subagents.begin(subagent);
            }
            Body::SubagentEnded { subagent_id, status, summary } => {
                if let Some(subagent) = self.subagents.end(subagent_id) {
                    self.subagent(Word("ended"), status, &subagent, summary.as_deref(), frame, out);
                }
            }
            body => {
                if let Some((call, output)) = self.calls.frame(body) {
                    self.result(&call, &output, frame, out);
                }
            }
        }
    }

    /// Emits the prompt from the run's start, unless this frame is the message with the same text.
    fn open_turn(&mut self, frame: &Frame, out: &mut Events) {
        let Some(prompt) = self.prompt.take() else { return };
        let repeats = matches!(&frame.body, Body::UserMessage(message) if message.text == prompt);
        if !repeats || frame.is_subagent() {
            self.prompt(&UserMessage { text: &prompt, resources: None }, frame, out);
        }
    }

    /// A turn begins, so its status is emitted again.
    fn prompt(&mut self, message: &UserMessage<'_>, frame: &Frame, out: &mut Events) {
        self.event(frame, "user_message", message, out);
        self.status = None;
        self.status("thinking", None, frame, out);
    }

    fn text(&mut self, block: &BlockDelta, frame: &Frame, out: &mut Events) {
        if !self.said.continues_with(&block.message_id) {
            self.flush(frame, out);
        }
        if !block.delta.is_empty() {
            self.said.add(&block.message_id, &block.delta);
            self.event(frame, "text_delta", &Chunk { chunk: &block.delta }, out);
        }
    }

    /// Emits the text so far as a whole message.
    pub(super) fn flush(&mut self, frame: &Frame, out: &mut Events) {
        if let Some(text) = self.said.take() {
            self.message(&text, None, frame, out);
        }
    }

    pub(super) fn message(&mut self, text: &str, metadata: Option<Metadata<'_>>, frame: &Frame, out: &mut Events) {
        self.answered.add(text);
        self.event(frame, "assistant_message", &AssistantMessage { text, metadata }, out);
    }

    fn reasoning(&mut self, item: &RawJson, frame: &Frame, out: &mut Events) {
        self.flush(frame, out);
        let item = as_object(item);
        let model = self.model.as_deref().filter(|model| !model.is_empty()).unwrap_or(UNKNOWN_MODEL);
        self.writer.event(frame, "reasoning", &Reasoning { item: &item, model }, out);
    }

    /// Emits a status change. A status that is already current is not repeated.
    fn status(&mut self, status: &str, reason: Option<&str>, frame: &Frame, out: &mut Events) {
        if reason.is_none() && self.status.as_deref() == Some(status) {
            return;
        }
        self.status = Some(SharedStr::from(status));
        self.event(frame, "status", &Status { status, reason, error: Flat::default() }, out);
    }

    pub(super) fn event(&mut self, frame: &Frame, kind: &'static str, data: &impl Value, out: &mut Events) {
        self.writer.event(frame, kind, data, out);
    }
}
