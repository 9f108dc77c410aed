//! Frames to `agent-manager.v1` events.
//!
//! Metrics add up to the run's total, including subagents. A turn with a known cost is emitted at once, and the total emits the
//! remainder. If no message contained the answer, it is emitted as a message before the end. If the answer is incomplete, the
//! reason is emitted as an error before the end.

use crate::contracts::tool_output::ToolOutputs;
use crate::contracts::wire::{EmittedTexts, Times, as_object};
use crate::derived::numbered;
use crate::encode::{Encoder, EncoderOptions, EventId, Events, Pruned, StreamEncoder, Value, Word, data, encoder, key};
use crate::frame::{
    Body, EndReason, Figures, Frame, LogLevel, SessionEnded, SharedStr, Stream, StreamKind, ToolCall, Usage, UsageScope,
};
use crate::hash::HashSet;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
use uuid::Uuid;

/// The beginning of the log message that replaces all events that are no longer kept.
pub(super) const PRUNED: &str = "events are missing: 0 to ";

pub(super) fn new(stream: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    let manager = AgentManager {
        runner: stream.provider.title,
        times: Times::MILLIS,
        next: 0,
        status: SharedStr::from("running"),
        called: HashSet::default(),
        outputs: ToolOutputs::default(),
        answered: EmittedTexts::default(),
        last_error: None,
        turns: Figures::default(),
        model: None,
        told: Figures::default(),
    };
    (stream.kind == StreamKind::Session).then(|| encoder(manager))
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentManager {
    /// The runner's name in status reasons. It is restored from the stream.
    #[serde(skip)]
    runner: &'static str,
    #[serde(skip)]
    times: Times,
    next: u64,
    /// The run's status according to the emitted events.
    status: SharedStr,
    /// Calls that were proposed but not started; both together are one `tool_call`.
    called: HashSet<Uuid>,
    outputs: ToolOutputs,
    /// The main thread's latest messages.
    #[serde(default)]
    answered: EmittedTexts,
    /// The code of the last error.
    #[serde(default)]
    last_error: Option<SharedStr>,
    /// The turns' usage that no metric has reported yet, and the last turn's model.
    turns: Figures,
    model: Option<SharedStr>,
    /// The sum of the emitted metrics.
    told: Figures,
}

data! {
    struct Call<'a> {
        tool_name: &'a str => "toolName",
        input: &'a RawValue,
    }

    struct CallResult<'a> {
        tool_name: &'a str => "toolName",
        tool_call_id: Option<&'a str> => "toolCallId",
        output: Option<&'a str>,
        error: Option<&'a str>,
        success: bool,
    }

    struct Message<'a> {
        role: Word,
        content: &'a str,
    }

    struct Metric<'a> {
        input_tokens: u64 => "inputTokens",
        output_tokens: u64 => "outputTokens",
        cache_read_tokens: Option<u64> => "cacheReadTokens",
        cache_creation_tokens: Option<u64> => "cacheCreationTokens",
        total_cost_usd: f64 => "totalCostUsd",
        model: Option<&'a str>,
    }

    struct Status<'a> {
        old_status: &'a str => "oldStatus",
        new_status: &'a str => "newStatus",
        reason: Option<&'a str>,
    }

    struct Log<'a> {
        level: Word,
        message: &'a str,
    }

    struct ErrorData<'a> {
        code: &'a str,
        message: &'a str,
        retryable: bool,
    }
}

/// Writes an event.
pub(super) fn write(
    run: &Uuid,
    sequence: u64,
    event_type: &'static str,
    time: &str,
    data: &impl Value,
    out: &mut Events,
) {
    out.object(event_type, EventId::Number(sequence), |map| {
        map.id(key!("id"), &event_id(run, sequence));
        map.id(key!("runId"), run);
        map.entry(key!("sequence"), &sequence);
        map.word(key!("eventType"), event_type);
        map.time(key!("timestamp"), time);
        data.field(key!("data"), map);
    });
}

impl StreamEncoder for AgentManager {
    const STATE: &[u32] = &[2];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::SessionStarted { .. } => {
                let reason = format!("{} execution started", self.runner);
                let status = Status { old_status: "starting", new_status: "running", reason: Some(&reason) };
                self.event(frame, "status", &status, out);
            }
            Body::SessionEnded(end) => self.end(frame, end, out),
            Body::UserMessage(message) if !frame.is_subagent() => {
                self.event(frame, "message", &Message { role: Word("user"), content: &message.text }, out);
            }
            Body::OutputTextCompleted(block) if !frame.is_subagent() => {
                self.answered.add(&block.text);
                self.event(frame, "message", &Message { role: Word("assistant"), content: &block.text }, out);
            }
            Body::ReasoningCompleted { block, .. } if !block.text.is_empty() => {
                self.log(frame, LogLevel::Debug, &format!("Reasoning: {}", block.text), out);
            }
            Body::ToolCallProposed(call) => {
                self.called.insert(call.tool.id);
                self.call(frame, call, out);
            }
            Body::ToolStarted { call, .. } => {
                self.outputs.frame(&frame.body);
                if !self.called.remove(&call.tool.id) {
                    self.call(frame, call, out);
                }
            }
            Body::UsageReported(usage) => self.usage(frame, usage, out),
            // Final statuses are reserved for the run's end.
            // A status without a name is none, and the same one again no change.
            Body::StatusChanged { new_status, reason, .. }
                if !is_final(new_status) && !new_status.is_empty() && *new_status != self.status =>
            {
                let old_status = std::mem::replace(&mut self.status, new_status.clone());
                let status = Status { old_status: &old_status, new_status, reason: reason.as_deref() };
                self.event(frame, "status", &status, out);
            }
            Body::LogEmitted { level, message } => self.log(frame, *level, message, out),
            Body::ErrorReported(error) => {
                let code = if error.code.is_empty() { "execution_error" } else { &error.code };
                self.last_error = Some(error.code.clone());
                let error_data = ErrorData { code, message: &error.message, retryable: error.retryable };
                self.event(frame, "error", &error_data, out);
            }
            Body::ApprovalRequested(request) => {
                self.log(frame, LogLevel::Info, &format!("approval requested: {}", request.tool_name), out);
            }
            Body::ApprovalResolved(answer) => {
                self.log(frame, LogLevel::Info, &format!("approval {}", answer.decision.as_str()), out);
            }
            Body::SubagentStarted { subagent_id, agent, .. } => {
                let name = agent.as_deref().unwrap_or(subagent_id);
                self.log(frame, LogLevel::Info, &format!("subagent started: {name}"), out);
            }
            Body::SubagentEnded { subagent_id, status, .. } => {
                self.log(frame, LogLevel::Info, &format!("subagent {status}: {subagent_id}"), out);
            }
            Body::HistoryCompacted { trigger, .. } => {
                let trigger = trigger.as_deref().unwrap_or("unknown trigger");
                self.log(frame, LogLevel::Info, &format!("history compacted ({trigger})"), out);
            }
            Body::GapDetected { reason, .. } => {
                self.log(frame, LogLevel::Warn, &format!("events are missing: {reason}"), out);
            }
            body => {
                if let Some(result) = self.outputs.frame(body) {
                    let data = CallResult {
                        tool_name: &result.name,
                        tool_call_id: self.call_id(&result.call_id),
                        output: (result.success || !result.output.is_empty()).then_some(&*result.output),
                        error: result.error.as_deref().filter(|error| !error.is_empty()),
                        success: result.success,
                    };
                    self.event(frame, "tool_result", &data, out);
                }
            }
        }
    }

    fn held_bytes(&self) -> usize {
        self.outputs.held_bytes()
    }

    fn resumed(&self, state: Self) -> Self {
        Self { runner: self.runner, times: self.times.clone(), ..state }
    }

    fn pruned(&self, pruned: &Pruned<'_>, out: &mut Events) {
        let Some(last) = self.next.checked_sub(1) else { return };
        let message = format!("{PRUNED}{last} are not kept any more ({})", Pruned::REASON);
        let log = Log { level: Word(LogLevel::Warn.as_str()), message: &message };
        let frame = pruned.frame(Body::SessionStarted { input: String::new() });
        Self { next: last, ..self.clone() }.event(&frame, "log", &log, out);
    }
}

pub(super) fn is_final(status: &str) -> bool {
    matches!(status, "complete" | "failed" | "cancelled")
}

impl AgentManager {
    /// According to the document, Codex has no call ids.
    fn call_id<'a>(&self, call_id: &'a SharedStr) -> Option<&'a str> {
        (self.runner != "Codex" && !call_id.is_empty()).then_some(&**call_id)
    }

    fn call(&mut self, frame: &Frame, call: &ToolCall, out: &mut Events) {
        let input = as_object(&call.args);
        self.event(frame, "tool_call", &Call { tool_name: &call.name, input: &input }, out);
    }

    fn usage(&mut self, frame: &Frame, usage: &Usage, out: &mut Events) {
        match usage.scope {
            UsageScope::Run => {
                let whole = usage.figures();
                let mut rest = whole.clone();
                rest.subtract(&self.told);
                // Sums of the same costs in another order may differ by a rounding error.
                rest.cost_usd = rest.cost_usd.filter(|cost| *cost > 1e-9);
                let is_first = self.told == Figures::default();
                if is_first || [rest.input_tokens, rest.output_tokens] != [0; 2] || rest.cost_usd.is_some() {
                    self.metric(frame, if is_first { &whole } else { &rest }, usage.model.as_deref(), out);
                }
                self.turns = Figures::default();
            }
            UsageScope::Turn if usage.cost_usd.is_some() => {
                self.metric(frame, &usage.figures(), usage.model.as_deref(), out);
            }
            UsageScope::Turn => {
                self.turns.add(&usage.figures());
                self.model.clone_from(&usage.model);
            }
        }
    }

    fn metric(&mut self, frame: &Frame, figures: &Figures, model: Option<&str>, out: &mut Events) {
        self.told.add(figures);
        let metric = Metric {
            input_tokens: figures.input_tokens,
            output_tokens: figures.output_tokens,
            cache_read_tokens: figures.cache_read_tokens,
            cache_creation_tokens: figures.cache_creation_tokens,
            total_cost_usd: figures.cost_usd.unwrap_or_default(),
            model,
        };
        self.event(frame, "metric", &metric, out);
    }

    /// Emits what is known only at the end: an answer that was not in a message, and why the answer is incomplete.
    fn unsaid(&mut self, frame: &Frame, end: &SessionEnded, out: &mut Events) {
        let unsaid = end.final_text.as_deref().filter(|text| !text.is_empty() && !self.answered.contains(text));
        if let Some(text) = unsaid {
            self.event(frame, "message", &Message { role: Word("assistant"), content: text }, out);
        }
        let code = end.error_code.as_ref().filter(|code| !code.is_empty() && end.reason != EndReason::Interrupted);
        if let Some(code) = code.filter(|code| self.last_error.as_ref() != Some(code)) {
            let message = end.message.as_deref().unwrap_or(code);
            self.event(frame, "error", &ErrorData { code, message, retryable: false }, out);
        }
    }

    fn end(&mut self, frame: &Frame, end: &SessionEnded, out: &mut Events) {
        if self.turns != Figures::default() && self.told == Figures::default() {
            let (turns, model) = (std::mem::take(&mut self.turns), self.model.take());
            self.metric(frame, &turns, model.as_deref(), out);
        }
        self.unsaid(frame, end, out);
        let (new_status, reason) = match end.reason {
            EndReason::Completed => {
                let limit = end.message.as_deref().filter(|_| end.error_code.is_some());
                let limit = limit.map(|limit| format!(": {limit}")).unwrap_or_default();
                ("complete", format!("{} execution completed{limit}", self.runner))
            }
            EndReason::Failed => {
                ("failed", end.message.clone().unwrap_or_else(|| format!("{} execution failed", self.runner)))
            }
            EndReason::Interrupted => {
                ("cancelled", end.message.clone().unwrap_or_else(|| format!("{} execution interrupted", self.runner)))
            }
        };
        let old_status = self.status.clone();
        self.event(frame, "status", &Status { old_status: &old_status, new_status, reason: Some(&reason) }, out);
    }

    fn log(&mut self, frame: &Frame, level: LogLevel, message: &str, out: &mut Events) {
        self.event(frame, "log", &Log { level: Word(level.as_str()), message }, out);
    }

    fn event(&mut self, frame: &Frame, event_type: &'static str, data: &impl Value, out: &mut Events) {
        let sequence = self.next;
        self.next += 1;
        write(&frame.stream.id, sequence, event_type, self.times.text(frame.timestamp_ms), data, out);
    }
}

/// The same id on every replay.
fn event_id(run: &Uuid, sequence: u64) -> Uuid {
    numbered(run, "agent-manager/", sequence)
}
