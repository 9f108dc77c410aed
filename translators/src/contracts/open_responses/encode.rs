//! Frames to events: the meaning of each frame.
//!
//! [`super::texts`] handles text and reasoning, [`super::calls`] tools, [`super::approvals`] questions, [`super::ending`] the end of
//! a run.

use super::approvals::Questions;
use super::calls::Calls;
use super::items::{Item, Items, Shown};
use super::response::{Resource, Status};
use super::texts::{PartKind, Texts};
use super::writer::Writer;
use crate::contracts::wire::EmittedTexts;
use crate::encode::{Data, Encoder, EncoderOptions, Events, StreamEncoder, encoder, key};
use crate::frame::{Body, Figures, Frame, SharedStr, Stream, StreamKind, UsageScope};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

pub(super) fn new(stream: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    (stream.kind == StreamKind::Session).then(|| encoder(Response::new(stream)))
}

/// The constant properties of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Names {
    pub(super) run: Uuid,
    pub(super) session: Uuid,
    pub(super) runner: &'static str,
}

/// The encoder of one run.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Response {
    #[serde(skip)]
    pub(super) names: Names,
    pub(super) writer: Writer,
    pub(super) items: Items,
    pub(super) texts: Texts,
    pub(super) calls: Calls,
    pub(super) questions: Questions,
    /// When the run began, in Unix epoch seconds.
    pub(super) created_at: Option<u64>,
    /// The model that all events name; `None` before the first one.
    pub(super) model: Option<SharedStr>,
    /// The main thread's latest texts.
    pub(super) answered: EmittedTexts,
    /// The run's total, which comes once, before the end.
    pub(super) usage: Option<Figures>,
}

impl StreamEncoder for Response {
    const STATE: &[u32] = &[2];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        self.created_at.get_or_insert(frame.timestamp_ms / 1000);
        if frame.is_subagent() {
            self.shared(frame, out);
        } else {
            self.main(frame, out);
        }
    }

    fn held_bytes(&self) -> usize {
        self.items.held_bytes() + self.calls.held_bytes()
    }

    fn resumed(&self, state: Self) -> Self {
        let names = self.names;
        let writer = state.writer.named_as(&self.writer);
        Self { names, writer, texts: state.texts.resumed(&names.run), ..state }
    }
}

impl Response {
    fn new(stream: &Stream) -> Self {
        Self {
            names: Names { run: stream.id, session: stream.session.id, runner: stream.provider.name },
            writer: Writer::new(&stream.id, 0),
            items: Items::default(),
            texts: Texts::default(),
            calls: Calls::default(),
            questions: Questions::default(),
            created_at: None,
            model: None,
            answered: EmittedTexts::default(),
            usage: None,
        }
    }

    /// Handles a frame of the main thread.
    fn main(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::TurnStarted { model, .. } => self.begin(model.as_ref(), out),
            Body::OutputTextDelta(block) => self.text_delta(PartKind::Text, block, out),
            Body::ReasoningDelta(block) => self.text_delta(PartKind::Reasoning, block, out),
            Body::OutputTextCompleted(block) => {
                self.answered.add(&block.text);
                self.text_completed(PartKind::Text, block, out);
            }
            Body::ReasoningCompleted { block, .. } => self.text_completed(PartKind::Reasoning, block, out),
            Body::ToolInputDelta { tool, name, delta } => self.input_delta(tool, name, delta, out),
            Body::SessionEnded(end) => self.end(end, frame.timestamp_ms / 1000, out),
            _ => self.shared(frame, out),
        }
    }

    /// Handles a frame whose meaning does not depend on the thread. Frames that count only in the main thread are ignored.
    fn shared(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::ToolCallProposed(call) | Body::ToolStarted { call, .. } => {
                self.call(call, frame.parent_tool_id, out);
                self.calls.add_output(&frame.body);
            }
            Body::ToolStdout { .. }
            | Body::ToolStdoutTail { .. }
            | Body::ToolStdoutFront { .. }
            | Body::ToolStderr { .. } => self.calls.add_output(&frame.body),
            Body::ToolEnded { tool, exit_code, .. } => self.tool_ended(tool, *exit_code, &frame.body, out),
            Body::ToolFailed { tool, error } => self.tool_failed(tool, error, &frame.body, out),
            Body::ApprovalRequested(request) => self.asked(request, frame.parent_tool_id, out),
            Body::ApprovalResolved(answer) => self.answered(answer, out),
            Body::SubagentStarted { subagent_id, tool_id, .. } => self.calls.subagent_started(subagent_id, *tool_id),
            Body::SubagentEnded { subagent_id, .. } => self.calls.subagent_ended(subagent_id),
            Body::UsageReported(usage) if usage.scope == UsageScope::Run => self.usage = Some(usage.figures()),
            _ => {}
        }
    }

    /// Writes the first two events, unless they were written.
    pub(super) fn begin(&mut self, model: Option<&SharedStr>, out: &mut Events) {
        if self.model.is_some() {
            return;
        }
        let known = model.filter(|model| !model.is_empty()).cloned();
        self.model = Some(known.unwrap_or_else(|| SharedStr::from(self.names.runner)));
        for kind in ["response.created", "response.in_progress"] {
            self.lifecycle(kind, &Status::IN_PROGRESS, out);
        }
    }

    /// Writes an event with the whole response.
    pub(super) fn lifecycle(&mut self, kind: &'static str, status: &Status<'_>, out: &mut Events) {
        let resource = Resource {
            names: &self.names,
            created_at: self.created_at.unwrap_or_default(),
            model: self.model.as_deref().unwrap_or(self.names.runner),
            status,
            items: &self.items,
            usage: self.usage.as_ref(),
        };
        self.writer.event(kind, out, |map| map.object(key!("response"), |map| resource.fields(map)));
    }

    /// Adds an item; returns its index.
    pub(super) fn add(&mut self, item: Item, out: &mut Events) -> u64 {
        self.begin(None, out);
        let index = self.items.next();
        self.item_event("response.output_item.added", index, &item, out);
        self.items.push(item);
        index
    }

    /// Adds an item that is complete at once; returns its index.
    pub(super) fn add_whole(&mut self, item: Item, out: &mut Events) -> u64 {
        self.begin(None, out);
        let index = self.items.next();
        for kind in ["response.output_item.added", "response.output_item.done"] {
            self.item_event(kind, index, &item, out);
        }
        self.items.push(item.kept());
        index
    }

    /// Writes an event about an item as it is now.
    pub(super) fn item_event(&mut self, kind: &'static str, index: u64, item: &Item, out: &mut Events) {
        let Names { run, runner, .. } = self.names;
        self.writer.event(kind, out, |map| {
            map.entry(key!("output_index"), &index);
            map.object(key!("item"), |map| Shown { run: &run, runner, index, item }.fields(map));
        });
    }
}
