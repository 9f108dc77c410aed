//! Frames to `pixir.v1` events.

use super::calls::{Call, Calls};
use super::data::{
    AssistantMessage, Chunk, ContextPressure, Entry, HistoryCompaction, Metadata, PermissionDecision, Plan,
    ProviderUsage, Reasoning, Resource, RunError, SkillActivation, Status, SubagentEvent, ToolCall as CallData,
    ToolError, ToolErrorDetails, ToolResult, UserMessage,
};
use super::is_terminal;
use super::message::Said;
use super::subagents::{Subagent, Subagents, child_session_id};
use super::usage::Told;
use super::writer::Writer;
use crate::contracts::tool_output::ToolOutput;
use crate::contracts::wire::as_object;
use crate::encode::{Encoder, EncoderOptions, Events};
use crate::frame::{
    ApprovalResolved, BlockDelta, Body, Decision, EndReason, Frame, Name, RUN_ENDED_FIRST, RawJson, SessionEnded,
    SkillEvent, Stream, StreamKind, ToolCall, Usage, UsageScope,
};
use serde::Serialize;
use std::sync::Arc;

pub(super) fn new(stream: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    (stream.kind == StreamKind::Session).then(|| Box::new(Pixir::default()) as Box<dyn Encoder>)
}

/// The encoder of one run.
#[derive(Default)]
struct Pixir {
    writer: Writer,
    /// The prompt that the run's start told: a message of its own may follow and repeat it.
    prompt: Option<String>,
    /// The last `status` word.
    status: Option<Name>,
    said: Said,
    /// Whether the main thread has said anything in the whole run.
    answered: bool,
    /// The model that is called.
    model: Option<Name>,
    calls: Calls,
    subagents: Subagents,
    usage: Told,
}

impl Encoder for Pixir {
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
}

impl Pixir {
    /// A frame of the main thread.
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
                let resources = message.attachments.iter().map(Resource::of).collect();
                self.event(frame, "user_message", &UserMessage { text: &message.text, resources }, out);
                self.status("thinking", None, frame, out);
            }
            Body::OutputTextDelta(block) => self.text(block, frame, out),
            Body::ReasoningDelta(block) if !block.delta.is_empty() => {
                self.event(frame, "reasoning_delta", &Chunk { chunk: &block.delta }, out);
            }
            Body::ReasoningCompleted { opaque: Some(item), .. } => self.reasoning(item, frame, out),
            Body::PlanUpdated { entries } => {
                let entries = entries.iter().map(Entry::of).collect();
                self.event(frame, "plan", &Plan { entries }, out);
            }
            // The words that end a run are for its end alone.
            Body::StatusChanged { new_status, reason, .. } if !is_terminal(new_status) => {
                self.status(new_status, reason.as_deref(), frame, out);
            }
            Body::ErrorReported(error) if error.retryable && error.attempt.is_some() => {
                self.status("retrying", Some(&error.message), frame, out);
            }
            Body::HistoryCompacted { trigger, tokens_before, tokens_after, summary } => {
                self.flush(frame, out);
                let (tokens_before, tokens_after) = (*tokens_before, *tokens_after);
                if trigger.as_deref() == Some("auto") {
                    let message = "the context was nearly full, so a part of the history was replaced by a summary";
                    let notice = ContextPressure { tier: "recovery", message, tokens_before, tokens_after };
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
                        mode: mode.as_str(),
                        effective_allowed_tools: effective_allowed_tools.as_deref(),
                    };
                    self.event(frame, "skill_activation", &data, out);
                }
            }
            Body::GapDetected { reason, .. } => self.status("gap", Some(reason), frame, out),
            _ => self.shared(frame, out),
        }
    }

    /// A frame that means the same whoever caused it. What is only the main thread's to say is left out.
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
                self.subagent("started", "running", &subagent, None, frame, out);
                self.subagents.begin(subagent);
            }
            Body::SubagentEnded { subagent_id, status, summary } => {
                if let Some(subagent) = self.subagents.end(subagent_id) {
                    self.subagent("ended", status, &subagent, summary.as_deref(), frame, out);
                }
            }
            body => {
                if let Some((call, output)) = self.calls.frame(body) {
                    self.result(&call, &output, frame, out);
                }
            }
        }
    }

    /// Says the prompt that the run's start told, unless this frame is the message that holds it.
    fn open_turn(&mut self, frame: &Frame, out: &mut Events) {
        let Some(prompt) = self.prompt.take() else { return };
        let repeats = matches!(&frame.body, Body::UserMessage(message) if message.text == prompt);
        if !repeats || frame.is_subagent() {
            self.event(frame, "user_message", &UserMessage { text: &prompt, resources: Vec::new() }, out);
            self.status("thinking", None, frame, out);
        }
    }

    fn text(&mut self, block: &BlockDelta, frame: &Frame, out: &mut Events) {
        if !self.said.goes_on(&block.message_id) {
            self.flush(frame, out);
        }
        if !block.delta.is_empty() {
            self.said.add(&block.message_id, &block.delta);
            self.event(frame, "text_delta", &Chunk { chunk: &block.delta }, out);
        }
    }

    /// What was said so far is a whole message.
    fn flush(&mut self, frame: &Frame, out: &mut Events) {
        if let Some(text) = self.said.take() {
            self.message(&text, None, frame, out);
        }
    }

    fn message(&mut self, text: &str, metadata: Option<Metadata<'_>>, frame: &Frame, out: &mut Events) {
        self.answered = true;
        self.event(frame, "assistant_message", &AssistantMessage { text, metadata }, out);
    }

    fn reasoning(&mut self, item: &RawJson, frame: &Frame, out: &mut Events) {
        self.flush(frame, out);
        let item = as_object(item);
        self.writer.event(frame, "reasoning", &Reasoning { item: &item, model: self.model.as_deref() }, out);
    }

    fn call(&mut self, call: &ToolCall, frame: &Frame, out: &mut Events) {
        let subagent_id = self.subagents.behind(frame);
        if !self.calls.begin(call, subagent_id.clone()) {
            return;
        }
        if subagent_id.is_none() {
            self.flush(frame, out);
        }
        let args = as_object(&call.args);
        let subagent_id = subagent_id.as_deref();
        let data = CallData { call_id: &call.tool.call_id, name: &call.name, args: &args, subagent_id };
        self.event(frame, "tool_call", &data, out);
    }

    fn result(&mut self, call: &Call, output: &ToolOutput, frame: &Frame, out: &mut Events) {
        let error = output.error.as_deref().unwrap_or_default();
        let mut details = ToolErrorDetails {
            output: Some(&*output.output).filter(|output| !output.is_empty() && *output != error),
            ..ToolErrorDetails::default()
        };
        let (mut kind, mut artifacts) = ("tool_failed", None);
        match &frame.body {
            Body::ToolEnded { exit_code, artifacts: stored, .. } => {
                kind = "tool_error";
                details.exit_code = Some(*exit_code);
                artifacts = stored.as_deref();
            }
            _ if call.denied => kind = "permission_denied",
            _ if error == RUN_ENDED_FIRST => (kind, details) = ("orphan_tool_call", orphan(call, details)),
            _ => {}
        }
        let data = ToolResult {
            call_id: &call.call_id,
            ok: output.success,
            output: output.success.then_some(&*output.output),
            error: (!output.success).then_some(ToolError { kind, message: error, details }),
            artifacts,
            subagent_id: call.subagent_id.as_deref(),
        };
        self.event(frame, "tool_result", &data, out);
    }

    fn decision(&mut self, answer: &ApprovalResolved, frame: &Frame, out: &mut Events) {
        let about = self.calls.answer(answer);
        let subagent_id = self.subagents.behind(frame);
        let data = PermissionDecision {
            call_id: about.call_id.as_deref().unwrap_or(&answer.approval_id),
            decision: if answer.decision == Decision::Approved { "allow" } else { "deny" },
            tool: about.tool_name.as_deref(),
            approval_id: &answer.approval_id,
            outcome: match answer.decision {
                Decision::Approved | Decision::Rejected => None,
                nobody => Some(nobody.as_str()),
            },
            by: answer.by.as_deref(),
            reason: answer.reason.as_deref(),
            scope: answer.scope.as_deref(),
            subagent_id: subagent_id.as_deref(),
        };
        self.event(frame, "permission_decision", &data, out);
    }

    fn usage(&mut self, usage: &Usage, frame: &Frame, out: &mut Events) {
        let (call_index, usage_summary) = match usage.scope {
            UsageScope::Turn => {
                let (index, summary) = self.usage.call(usage);
                (Some(index), summary)
            }
            UsageScope::Run => match self.usage.total(usage) {
                Some(summary) => (None, summary),
                None => return,
            },
        };
        let subagent_id = self.subagents.behind(frame);
        let data = ProviderUsage {
            model: usage.model.as_deref(),
            call_index,
            scope: usage.scope.as_str(),
            usage_summary,
            subagent_id: subagent_id.as_deref(),
        };
        self.event(frame, "provider_usage", &data, out);
    }

    fn subagent(
        &mut self,
        event: &'static str,
        status: &str,
        subagent: &Subagent,
        summary: Option<&str>,
        frame: &Frame,
        out: &mut Events,
    ) {
        let data = SubagentEvent {
            subagent_id: &subagent.id,
            child_session_id: &child_session_id(&subagent.id),
            event,
            status,
            agent: subagent.agent.as_deref(),
            task: subagent.task.as_deref(),
            depth: Some(subagent.depth),
            summary,
        };
        self.event(frame, "subagent_event", &data, out);
    }

    /// Everything is closed, then the terminal marker.
    fn end(&mut self, frame: &Frame, end: &SessionEnded, out: &mut Events) {
        for call in self.calls.take_all() {
            let error = ToolError {
                kind: "orphan_tool_call",
                message: "the run ended before the call had a result",
                details: orphan(&call, ToolErrorDetails::default()),
            };
            let data = ToolResult {
                call_id: &call.call_id,
                ok: false,
                output: None,
                error: Some(error),
                artifacts: None,
                subagent_id: call.subagent_id.as_deref(),
            };
            self.event(frame, "tool_result", &data, out);
        }
        let error = RunError { error_kind: end.error_code.as_deref(), error_message: end.message.as_deref() };
        match end.reason {
            EndReason::Completed => {
                self.flush(frame, out);
                // A result that was never said as text, such as one that follows a schema.
                let final_text = end.final_text.as_deref().filter(|text| !text.is_empty() && !self.answered);
                if let Some(text) = final_text {
                    self.message(text, None, frame, out);
                }
                self.terminal("done", RunError::default(), frame, out);
            }
            EndReason::Failed => self.broken("error", error, true, frame, out),
            EndReason::Interrupted => self.broken("interrupted", error, false, frame, out),
        }
    }

    /// The run did not end well: its last message says so, for the log has no terminal marker.
    fn broken(&mut self, status: &'static str, error: RunError<'_>, always: bool, frame: &Frame, out: &mut Events) {
        let text = self.said.take();
        if text.is_some() || always {
            let partial = text.is_some().then_some(true);
            let metadata = Metadata { partial, terminal_status: status, error };
            self.message(text.as_deref().unwrap_or_default(), Some(metadata), frame, out);
        }
        self.terminal(status, error, frame, out);
    }

    fn terminal(&mut self, status: &'static str, error: RunError<'_>, frame: &Frame, out: &mut Events) {
        self.event(frame, "status", &Status { status, reason: None, error }, out);
    }

    /// A transition; a status that holds already is not told again.
    fn status(&mut self, status: &str, reason: Option<&str>, frame: &Frame, out: &mut Events) {
        if reason.is_none() && self.status.as_deref() == Some(status) {
            return;
        }
        self.status = Some(Name::from(status));
        self.event(frame, "status", &Status { status, reason, error: RunError::default() }, out);
    }

    fn event<D: Serialize>(&mut self, frame: &Frame, kind: &'static str, data: &D, out: &mut Events) {
        self.writer.event(frame, kind, data, out);
    }
}

fn orphan<'a>(call: &'a Call, details: ToolErrorDetails<'a>) -> ToolErrorDetails<'a> {
    ToolErrorDetails { call_id: Some(&call.call_id), tool: Some(&call.name), reason: Some("run_ended"), ..details }
}
