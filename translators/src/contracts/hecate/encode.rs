//! Frames to `hecate.v1` events: passes each frame to its event group, and emits the beginning and the end of a run.

use super::approvals::Approvals;
use super::blocks::{Blocks, Channel};
use super::budget::Meter;
use super::edits::{self, Edit};
use super::envelope::{EventSequence, EventSink};
use super::errors;
use super::ids;
use super::tools::{Outcome, Tools};
use super::turns::Turns;
use crate::artifacts::OutputRef;
use crate::contracts::wire::{as_object, rfc3339_millis};
use crate::encode::{Encoder, EncoderOptions, Events, Pruned, StreamEncoder, Time, Word, data, encoder};
use crate::frame::{
    Body, EndReason, Frame, RawJson, SessionEnded, Stream, StreamKind, UserMessage, is_interrupted_by_person,
};
use crate::normalizer::{PROXY_LOST, PROXY_RESTARTED, STREAM_ENDED};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;

/// Duration of the nominal worker lease in milliseconds. The vocabulary has no event that renews it.
const LEASE_MS: u64 = 30_000;

pub(super) fn new(stream: &Arc<Stream>, options: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    if stream.kind != StreamKind::Session {
        return None;
    }
    Some(encoder(Hecate {
        outlet: EventSequence::new(stream),
        provider: stream.provider.name,
        thinking: options.experimental || options.thinking,
        user_messages: options.user_messages,
        artifacts: options.experimental || options.artifacts,
        began_ms: 0,
        last_error: None,
        changes: 0,
        patch: None,
        turns: Turns::default(),
        blocks: Blocks::default(),
        tools: Tools::default(),
        approvals: Approvals::default(),
        meter: Meter::new(options.task_budget_micros_usd),
    }))
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hecate {
    outlet: EventSequence,
    #[serde(skip)]
    provider: &'static str,
    #[serde(skip)]
    thinking: bool,
    #[serde(skip)]
    artifacts: bool,
    #[serde(skip)]
    user_messages: bool,
    began_ms: u64,
    /// The last error's code, and whether a retry may help.
    last_error: Option<(crate::frame::SharedStr, bool)>,
    changes: u64,
    /// The latest stored patch; the change that refers to it follows.
    patch: Option<(crate::frame::SharedStr, u64)>,
    turns: Turns,
    blocks: Blocks,
    tools: Tools,
    approvals: Approvals,
    meter: Meter,
}

data! {
    struct Gap<'a> {
        first_pruned_sequence: u64,
        last_pruned_sequence: u64,
        pruned_at: Time,
        reason: &'a str,
    }

    struct Started<'a> {
        worker_id: &'a str,
        lease_until: Time,
    }

    struct Finished<'a> {
        final_status: Word,
        turns: u32,
        cost_micros_usd: Option<u64>,
        duration_ms: u64,
        code: Option<&'a str>,
        message: Option<&'a str>,
    }

    struct Failed<'a> {
        code: &'a str,
        message: &'a str,
        retriable: bool,
        turns: u32,
    }

    struct Cancelled<'a> {
        by: Word,
        reason: &'a str,
    }

    struct Checkpoint {
        checkpoint_id: String,
    }

    struct FinalAnswer<'a> {
        turn_index: u32,
        summary: &'a str,
    }

    struct Message<'a> {
        turn_index: u32,
        text: &'a str,
    }

    struct Attached<'a> {
        turn_index: u32,
        kind: &'a str,
        mime: Option<&'a str>,
        artifact_id: Option<String>,
        name: Option<&'a str>,
    }

    struct ToolCallProposed<'a> {
        turn_index: u32,
        tool_call_id: &'a str,
        tool_name: &'a str,
        input: &'a RawValue,
    }
}

impl StreamEncoder for Hecate {
    const STATE: &[u32] = &[3];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        let mut sink = EventSink::new(&mut self.outlet, out, frame);
        let sink = &mut sink;
        sink.flush_due();
        let is_main = !frame.is_subagent();
        match &frame.body {
            Body::SessionStarted { .. } => {
                self.began_ms = frame.timestamp_ms;
                let lease_until = Time(rfc3339_millis(frame.timestamp_ms.saturating_add(LEASE_MS)));
                sink.emit("run.started", &Started { worker_id: self.provider, lease_until });
            }
            Body::SessionEnded(end) => {
                self.turns.close(end, sink);
                let ending = Ending {
                    duration_ms: frame.timestamp_ms.saturating_sub(self.began_ms),
                    turns: &self.turns,
                    last_error: self.last_error.as_ref().map(|(code, retryable)| (&**code, *retryable)),
                };
                self.meter.tick(false, sink);
                ending.emit(end, self.meter.total().cost_micros_usd, sink);
            }
            Body::TurnStarted { turn_index, model } if is_main => {
                self.blocks.begin_turn(*turn_index);
                self.turns.begin(*turn_index, model.as_deref(), self.provider, sink);
            }
            Body::TurnEnded { turn_index, stop_reason, duration_ms } if is_main => {
                // The run's duration must not span two clocks either.
                self.began_ms += self.turns.end(*turn_index, stop_reason.as_deref(), *duration_ms, sink);
                self.meter.tick(true, sink);
            }
            Body::UsageReported(usage) => {
                self.meter.take(usage);
                if is_main {
                    self.turns.usage(usage);
                }
            }
            Body::UserMessage(message) if is_main => {
                self.turns.new_input();
                if self.user_messages {
                    user(message, self.turns.index_of_input(), sink);
                }
            }
            Body::OutputTextDelta(block) if is_main => self.blocks.delta(Channel::Text, block, true, sink),
            Body::OutputTextCompleted(block) if is_main => self.blocks.complete(Channel::Text, block, true, sink),
            Body::ReasoningDelta(block) if is_main => {
                self.blocks.delta(Channel::Thinking, block, self.thinking, sink);
            }
            Body::ReasoningCompleted { block, .. } if is_main => {
                self.blocks.complete(Channel::Thinking, block, self.thinking && !block.text.is_empty(), sink);
            }
            Body::ToolCallProposed(call) => {
                let is_new = self.tools.propose(&call.tool, is_main);
                if is_main {
                    self.turns.count_call();
                }
                if let Some(tool_call_id) = is_new.filter(|_| is_main) {
                    propose(&tool_call_id, &call.name, &call.args, self.turns.index(), sink);
                }
            }
            Body::ToolStarted { call, timeout_ms } => {
                self.tools.start(call, timeout_ms.is_some(), self.turns.index(), sink);
            }
            Body::ToolStdout { tool, chunk } | Body::ToolStdoutTail { tool, chunk } => {
                self.tools.output(tool, "stdout", chunk, false, sink);
            }
            Body::ToolStdoutFront { tool, chunk } => self.tools.output(tool, "stdout", chunk, true, sink),
            Body::ToolStderr { tool, chunk } => self.tools.output(tool, "stderr", chunk, false, sink),
            Body::ToolEnded { tool, exit_code, duration_ms, artifacts } => {
                if let Some(stored) = OutputRef::of(artifacts.as_ref()) {
                    self.tools.stored(tool, &stored, self.artifacts);
                }
                self.tools.end(tool, Outcome::Exited(*exit_code), Some(*duration_ms), sink);
            }
            Body::ToolFailed { tool, error } => self.tools.end(tool, Outcome::Failed(error), None, sink),
            Body::FileChanged(change) if self.artifacts => {
                self.changes += 1;
                let stored = self.patch.take().filter(|(id, _)| Some(id) == change.artifact_id.as_ref());
                let edit = Edit::new(change, self.changes, stored.map(|(_, bytes)| bytes));
                if let Some(edit) = self.tools.edited(change.tool_id, edit) {
                    edits::created(&edit, sink);
                }
            }
            // A patch is emitted together with its change.
            Body::ArtifactWritten(artifact) if self.artifacts && &*artifact.kind == "patch" => {
                self.patch = Some((artifact.artifact_id.clone(), artifact.bytes));
            }
            Body::ArtifactWritten(artifact) if self.artifacts => edits::written(artifact, sink),
            Body::PlanUpdated { entries } if is_main => self.tools.plan(entries, self.turns.index(), sink),
            Body::ApprovalRequested(request) => {
                self.approvals.ask(request, &mut self.tools, self.turns.index(), sink);
            }
            Body::ApprovalResolved(answer) => self.approvals.answer(answer, &mut self.tools, sink),
            Body::CheckpointCreated { checkpoint_id, .. } => {
                sink.emit("run.checkpoint_saved", &Checkpoint { checkpoint_id: ids::checkpoint_id(*checkpoint_id) });
            }
            Body::ErrorReported(error) => {
                self.last_error = Some((error.code.clone(), error.retryable));
                if !(is_main && self.turns.error(error, sink)) {
                    errors::upstream(error, self.provider, sink);
                }
            }
            Body::GapDetected { reason, .. } => errors::disconnected(reason, sink),
            _ => {}
        }
    }

    fn paused(&self, until_ms: u64, out: &mut Events) -> Option<Self> {
        if !self.outlet.held.is_due(until_ms) {
            return None;
        }
        let mut after = self.clone();
        after.outlet.flush(out);
        Some(after)
    }

    fn held_bytes(&self) -> usize {
        self.tools.held_bytes()
    }

    fn uses_options(&self) -> bool {
        true
    }

    fn resumed(&self, state: Self) -> Self {
        Self {
            outlet: state.outlet.named_as(&self.outlet),
            provider: self.provider,
            thinking: self.thinking,
            artifacts: self.artifacts,
            user_messages: self.user_messages,
            meter: state.meter.budgeted_as(&self.meter),
            ..state
        }
    }

    fn pruned(&self, pruned: &Pruned<'_>, out: &mut Events) {
        let Some((last_pruned_sequence, mut outlet)) = self.outlet.before_last() else { return };
        let pruned_at = Time(rfc3339_millis(pruned.pruned_ms));
        let gap = Gap { first_pruned_sequence: 0, last_pruned_sequence, pruned_at, reason: Pruned::REASON };
        outlet.write_again("gap.events_pruned", &gap, out);
    }
}

/// Emits the proposal of a tool call.
pub(super) fn propose(tool_call_id: &str, tool_name: &str, args: &RawJson, turn_index: u32, sink: &mut EventSink<'_>) {
    let proposed = ToolCallProposed { turn_index, tool_call_id, tool_name, input: &as_object(args) };
    sink.emit("assistant.tool_call_proposed", &proposed);
}

/// Emits a person's message and its attachments.
fn user(message: &UserMessage, turn_index: u32, sink: &mut EventSink<'_>) {
    if !message.text.is_empty() || message.attachments.is_empty() {
        sink.emit("user.message", &Message { turn_index, text: &message.text });
    }
    for attachment in &message.attachments {
        let attached = Attached {
            turn_index,
            // The kind is required; if the runner gives none, it is a file.
            kind: if attachment.kind.is_empty() { "file" } else { &attachment.kind },
            mime: attachment.mime.as_deref(),
            artifact_id: attachment.artifact_id.as_deref().map(ids::artifact_id),
            name: attachment.name.as_deref(),
        };
        sink.emit("user.attachment", &attached);
    }
}

/// The data for the end of a run.
struct Ending<'a> {
    duration_ms: u64,
    turns: &'a Turns,
    last_error: Option<(&'a str, bool)>,
}

impl Ending<'_> {
    fn emit(&self, end: &SessionEnded, cost_micros_usd: Option<u64>, sink: &mut EventSink<'_>) {
        let code = errors::code_of(end.error_code.as_deref().unwrap_or_default());
        let message = end.message.as_deref().filter(|message| !message.is_empty()).unwrap_or(code);
        let turns = self.turns.count();
        match end.reason {
            EndReason::Completed => {
                if let Some(summary) = &end.final_text {
                    let turn_index = self.turns.index();
                    sink.emit("assistant.final_answer", &FinalAnswer { turn_index, summary });
                }
                let limit = end.error_code.as_deref().filter(|code| !code.is_empty());
                let finished = Finished {
                    final_status: Word("completed"),
                    turns,
                    cost_micros_usd,
                    duration_ms: self.duration_ms,
                    code: limit,
                    message: limit.map(|_| message),
                };
                sink.emit("run.finished", &finished);
            }
            EndReason::Failed => {
                // The run's end does not say whether a retry may help, but the error that caused it does.
                let retriable = self.last_error.is_some_and(|(last, retryable)| last == code && retryable);
                sink.emit("run.failed", &Failed { code, message, retriable, turns });
            }
            EndReason::Interrupted => {
                if matches!(code, STREAM_ENDED | PROXY_RESTARTED | PROXY_LOST) {
                    errors::disconnected(code, sink);
                }
                let canceller = if is_interrupted_by_person(code) { "operator" } else { "runtime" };
                // An interruption that nothing explains is no error.
                let is_explained = end.message.is_some() || end.error_code.is_some();
                let reason = if is_explained { message } else { end.reason.as_str() };
                sink.emit("run.cancelled", &Cancelled { by: Word(canceller), reason });
            }
        }
    }
}
