//! Frames to `agent-manager.v1` events.
//!
//! Metrics add up to the run's usage: the runner's own total where it gives one, else the sum of its turns; a turn that
//! says its cost is told at once, since then no total follows.

use crate::contracts::tool_output::ToolOutputs;
use crate::contracts::wire::{Times, as_object};
use crate::derived::numbered;
use crate::encode::{Encoder, EncoderOptions, EventId, Events, Pruned, Value, Word, data, key, state};
use crate::frame::{
    Body, EndReason, Frame, LogLevel, Name, SessionEnded, Stream, StreamKind, ToolCall, Usage, UsageScope,
};
use crate::hash::HashSet;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
use uuid::Uuid;

/// How the log message begins that stands for all events that are not kept any more.
pub(super) const PRUNED: &str = "events are missing: 0 to ";

/// The version of the state.
const STATE: u32 = 1;

pub(super) fn new(stream: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    let runner = match stream.provider {
        "claude-code" => "Claude Code",
        "codex" => "Codex",
        "opencode" => "OpenCode",
        "openresponses" => "Open Responses",
        other => other,
    };
    let encoder = AgentManager {
        runner,
        times: Times::MILLIS,
        next: 0,
        status: Name::from("running"),
        called: HashSet::default(),
        outputs: ToolOutputs::default(),
        turns: Usage::default(),
        turns_untold: false,
        turn_told: false,
        run_told: false,
    };
    (stream.kind == StreamKind::Session).then(|| Box::new(encoder) as Box<dyn Encoder>)
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentManager {
    /// The runner's name in status reasons: the stream has it.
    #[serde(skip)]
    runner: &'static str,
    #[serde(skip)]
    times: Times,
    next: u64,
    /// The run's status, as the events have told it.
    status: Name,
    /// Calls that were proposed and not yet started: both are one `tool_call`.
    called: HashSet<Uuid>,
    outputs: ToolOutputs,
    /// The sum of the turns that no metric told.
    turns: Usage,
    turns_untold: bool,
    turn_told: bool,
    run_told: bool,
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

    struct Fault<'a> {
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

impl Encoder for AgentManager {
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
            // The words that end a run are for its end alone.
            Body::StatusChanged { new_status, reason, .. } if !is_final(new_status) => {
                let old_status = std::mem::replace(&mut self.status, new_status.clone());
                let status = Status { old_status: &old_status, new_status, reason: reason.as_deref() };
                self.event(frame, "status", &status, out);
            }
            Body::LogEmitted { level, message } => self.log(frame, *level, message, out),
            Body::ErrorReported(error) => {
                let code = if error.code.is_empty() { "execution_error" } else { &error.code };
                let fault = Fault { code, message: &error.message, retryable: error.retryable };
                self.event(frame, "error", &fault, out);
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
                        error: result.error.as_deref(),
                        success: result.success,
                    };
                    self.event(frame, "tool_result", &data, out);
                }
            }
        }
    }

    fn fork(&self) -> Box<dyn Encoder> {
        Box::new(self.clone())
    }

    fn held_bytes(&self) -> usize {
        self.outputs.held_bytes()
    }

    fn save(&self) -> Option<Vec<u8>> {
        state::save(STATE, self)
    }

    fn restore(&mut self, saved: &[u8]) -> bool {
        let Some(state) = state::restore::<Self>(STATE, saved) else { return false };
        *self = Self { runner: self.runner, times: self.times.clone(), ..state };
        true
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
    /// The document says that Codex has none.
    fn call_id<'a>(&self, call_id: &'a Name) -> Option<&'a str> {
        (self.runner != "Codex" && !call_id.is_empty()).then_some(&**call_id)
    }

    fn call(&mut self, frame: &Frame, call: &ToolCall, out: &mut Events) {
        let input = as_object(&call.args);
        self.event(frame, "tool_call", &Call { tool_name: &call.name, input: &input }, out);
    }

    fn usage(&mut self, frame: &Frame, usage: &Usage, out: &mut Events) {
        match usage.scope {
            UsageScope::Run => {
                self.turns_untold = false;
                if !self.turn_told {
                    self.run_told = true;
                    self.metric(frame, usage, out);
                }
            }
            UsageScope::Turn if usage.cost_usd.is_some() => {
                self.turn_told = true;
                self.metric(frame, usage, out);
            }
            UsageScope::Turn => {
                self.turns_untold = true;
                self.turns.input_tokens += usage.input_tokens;
                self.turns.output_tokens += usage.output_tokens;
                add(&mut self.turns.cache_read_tokens, usage.cache_read_tokens);
                add(&mut self.turns.cache_creation_tokens, usage.cache_creation_tokens);
                self.turns.model = usage.model.clone();
            }
        }
    }

    fn metric(&mut self, frame: &Frame, usage: &Usage, out: &mut Events) {
        let metric = Metric {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_creation_tokens: usage.cache_creation_tokens,
            total_cost_usd: usage.cost_usd.unwrap_or_default(),
            model: usage.model.as_deref(),
        };
        self.event(frame, "metric", &metric, out);
    }

    fn end(&mut self, frame: &Frame, end: &SessionEnded, out: &mut Events) {
        if self.turns_untold && !self.run_told {
            let turns = std::mem::take(&mut self.turns);
            self.metric(frame, &turns, out);
        }
        let (new_status, reason) = match end.reason {
            EndReason::Completed => ("complete", format!("{} execution completed", self.runner)),
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

/// The same on every replay.
fn event_id(run: &Uuid, sequence: u64) -> Uuid {
    numbered(run, "agent-manager/", sequence)
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or_default() + more);
    }
}
