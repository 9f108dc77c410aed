//! Turns frames into spans, by the semantic conventions for generative AI.
//!
//! Input: the frames of all runs, in order for each run. Output: a span for each run (`invoke_agent`), turn (`chat`), tool
//! (`execute_tool`) and subagent (`invoke_agent`) that ended, with the times of the frames. Never: a clock; randomness; a
//! payload. A trace is a run and has the run's id. A span's id is derived from its subject.

use framegate_translators::frame::{
    Body, EndReason, ErrorReported, Frame, Provider, SessionEnded, SharedStr, StreamKind, ToolCall, Usage, UsageScope,
};
use framegate_translators::runners::{name_of, of_provider};
use opentelemetry::trace::{Event, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// The longest name taken from a runner, in characters; longer names are truncated.
const NAME_CHARS: usize = 200;
/// How many errors are recorded for one run.
const EVENTS: usize = 64;

/// The open spans of all runs.
pub(super) struct Open {
    runs: HashMap<Uuid, Run>,
    spans: usize,
    most: usize,
    refused: u64,
}

/// The subject of a span within a run.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Part {
    Turn(u32),
    Tool(Uuid),
    Agent(SharedStr),
}

struct Run {
    span: Span,
    parts: HashMap<Part, Span>,
    /// The runner's own total. Without it, the run's span has the sum of the turns.
    total: Option<Tokens>,
    sum: Option<Tokens>,
    errors: SpanEvents,
}

/// An open span.
struct Span {
    name: String,
    kind: SpanKind,
    id: SpanId,
    parent: SpanId,
    started_ms: u64,
    /// The tool call that started the subagent to which this span belongs.
    within: Option<Uuid>,
    attributes: Vec<KeyValue>,
    /// The tokens used so far, and the model that answered.
    tokens: Option<Tokens>,
    model: Option<SharedStr>,
}

#[derive(Clone, Copy)]
struct Tokens {
    input: u64,
    output: u64,
    cache_read: Option<u64>,
    cache_creation: Option<u64>,
    reasoning: Option<u64>,
}

/// Whether a frame begins, ends or changes a span.
pub(super) fn matters(frame: &Frame) -> bool {
    frame.stream.kind == StreamKind::Session
        && matches!(
            frame.body,
            Body::SessionStarted { .. }
                | Body::SessionEnded(_)
                | Body::TurnStarted { .. }
                | Body::TurnEnded { .. }
                | Body::ToolStarted { .. }
                | Body::ToolEnded { .. }
                | Body::ToolFailed { .. }
                | Body::SubagentStarted { .. }
                | Body::SubagentEnded { .. }
                | Body::UsageReported(_)
                | Body::ErrorReported(_)
        )
}

impl Open {
    pub(super) fn new(most: usize) -> Self {
        Self { runs: HashMap::new(), spans: 0, most, refused: 0 }
    }

    /// How many spans were not opened since the last call because too many were open.
    pub(super) fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.refused)
    }

    /// Handles the next frame of its run and pushes ended spans to `done`. A run whose beginning was not seen has no spans.
    pub(super) fn frame(&mut self, frame: &Frame, done: &mut Vec<SpanData>) {
        if !matters(frame) {
            return;
        }
        let (id, now_ms) = (frame.stream.id, frame.timestamp_ms);
        if let Body::SessionStarted { .. } = frame.body {
            if self.may_open() {
                self.runs.insert(id, Run::new(frame));
            }
            return;
        }
        if let Body::SessionEnded(end) = &frame.body {
            if let Some(run) = self.runs.remove(&id) {
                self.spans = self.spans.saturating_sub(1 + run.parts.len());
                run.end(id, end, now_ms, done);
            }
            return;
        }
        let opened = self.runs.get(&id).and_then(|run| run.opened(frame));
        if let Some((part, span)) = opened {
            if self.may_open()
                && let Some(run) = self.runs.get_mut(&id)
                && run.parts.insert(part, span).is_some()
            {
                // The part began again before it ended: its earlier span is discarded.
                self.spans -= 1;
            }
            return;
        }
        if let Some(run) = self.runs.get_mut(&id) {
            let before = run.parts.len();
            run.apply(frame, done);
            self.spans = self.spans.saturating_sub(before - run.parts.len());
        }
    }

    fn may_open(&mut self) -> bool {
        let may = self.spans < self.most;
        if may {
            self.spans += 1;
        } else {
            self.refused += 1;
        }
        may
    }
}

impl Run {
    fn new(frame: &Frame) -> Self {
        let (id, session) = (frame.stream.id, &frame.stream.session);
        let runner = name_of(frame.stream.provider.name);
        let conversation = if session.name.is_empty() { session.id.to_string() } else { bounded(&session.name) };
        let span = Span {
            name: format!("invoke_agent {runner}"),
            kind: SpanKind::Internal,
            id: span_id(id, "run", ""),
            parent: SpanId::INVALID,
            started_ms: frame.timestamp_ms,
            within: None,
            attributes: vec![
                KeyValue::new("gen_ai.operation.name", "invoke_agent"),
                KeyValue::new("gen_ai.provider.name", genai_provider(frame.stream.provider)),
                KeyValue::new("gen_ai.agent.name", runner),
                KeyValue::new("gen_ai.conversation.id", conversation),
                KeyValue::new("framegate.run.id", id.to_string()),
            ],
            tokens: None,
            model: None,
        };
        let (parts, errors) = (HashMap::new(), SpanEvents::default());
        Self { span, parts, total: None, sum: None, errors }
    }

    /// The span that a frame begins within the run; `None` if it begins none.
    fn opened(&self, frame: &Frame) -> Option<(Part, Span)> {
        let (part, operation, what, kind) = match &frame.body {
            Body::TurnStarted { turn_index, model } => {
                (Part::Turn(*turn_index), "chat", model.as_deref().unwrap_or_default(), SpanKind::Client)
            }
            Body::ToolStarted { call, .. } => {
                (Part::Tool(call.tool.id), "execute_tool", &*call.name, SpanKind::Internal)
            }
            Body::SubagentStarted { subagent_id, agent, .. } => {
                let name = agent.as_deref().unwrap_or_default();
                (Part::Agent(subagent_id.clone()), "invoke_agent", name, SpanKind::Internal)
            }
            _ => return None,
        };
        let run = frame.stream.id;
        let what = bounded(what);
        let mut attributes = vec![
            KeyValue::new("gen_ai.operation.name", operation),
            KeyValue::new("gen_ai.provider.name", genai_provider(frame.stream.provider)),
        ];
        // A subagent is a child of the tool that started it. So is everything that the subagent does.
        let mut within = frame.parent_tool_id;
        match &frame.body {
            Body::TurnStarted { .. } if !what.is_empty() => {
                attributes.push(KeyValue::new("gen_ai.request.model", what.clone()));
            }
            Body::ToolStarted { call, .. } => attributes.extend(of_tool(call, &what)),
            Body::SubagentStarted { subagent_id, tool_id, .. } => {
                within = tool_id.or(within);
                attributes.push(KeyValue::new("gen_ai.agent.id", bounded(subagent_id)));
                if !what.is_empty() {
                    attributes.push(KeyValue::new("gen_ai.agent.name", what.clone()));
                }
            }
            _ => {}
        }
        let span = Span {
            name: if what.is_empty() { operation.to_owned() } else { format!("{operation} {what}") },
            kind,
            id: part.id(run),
            parent: within.map_or(self.span.id, |tool| Part::Tool(tool).id(run)),
            started_ms: frame.timestamp_ms,
            within,
            attributes,
            tokens: None,
            model: None,
        };
        Some((part, span))
    }

    /// Applies a frame that ends or changes a span.
    fn apply(&mut self, frame: &Frame, done: &mut Vec<SpanData>) {
        let (run, now_ms) = (frame.stream.id, frame.timestamp_ms);
        match &frame.body {
            Body::TurnEnded { turn_index, stop_reason, .. } => {
                if let Some(mut turn) = self.parts.remove(&Part::Turn(*turn_index)) {
                    if let Some(reason) = stop_reason {
                        let reasons = Array::String(vec![StringValue::from(bounded(reason))]);
                        turn.attributes.push(KeyValue::new("gen_ai.response.finish_reasons", Value::Array(reasons)));
                    }
                    done.push(turn.end(run, now_ms, None));
                }
            }
            Body::ToolEnded { tool, exit_code, .. } => {
                if let Some(mut span) = self.parts.remove(&Part::Tool(tool.id)) {
                    span.attributes.push(KeyValue::new("framegate.tool.exit_code", i64::from(*exit_code)));
                    done.push(span.end(run, now_ms, (*exit_code != 0).then_some("exit_code")));
                }
            }
            Body::ToolFailed { tool, .. } => {
                if let Some(span) = self.parts.remove(&Part::Tool(tool.id)) {
                    done.push(span.end(run, now_ms, Some("tool_failed")));
                }
            }
            Body::SubagentEnded { subagent_id, status, .. } => {
                if let Some(span) = self.parts.remove(&Part::Agent(subagent_id.clone())) {
                    let error = (&**status != "completed").then_some(&**status);
                    done.push(span.end(run, now_ms, error));
                }
            }
            Body::UsageReported(usage) => self.used(usage, frame.parent_tool_id),
            Body::ErrorReported(error) => self.failed(error, now_ms),
            _ => {}
        }
    }

    fn used(&mut self, usage: &Usage, within: Option<Uuid>) {
        let tokens = Tokens::of(usage);
        if usage.scope == UsageScope::Run {
            self.total = Some(tokens.plus(self.total));
            return;
        }
        self.sum = Some(tokens.plus(self.sum));
        // Attributed to the open turn of the same agent; to the newest if there are several.
        let open = self.parts.iter_mut().filter_map(|(part, span)| match part {
            Part::Turn(index) if span.within == within => Some((*index, span)),
            _ => None,
        });
        if let Some((_, turn)) = open.max_by_key(|(index, _)| *index) {
            turn.tokens = Some(tokens.plus(turn.tokens));
            turn.model = usage.model.clone().or(turn.model.take());
        }
    }

    /// Records an error during the run, without its message, which may contain anything.
    fn failed(&mut self, error: &ErrorReported, now_ms: u64) {
        if self.errors.events.len() >= EVENTS {
            self.errors.dropped_count += 1;
            return;
        }
        let mut attributes = vec![
            KeyValue::new("error.type", bounded(&error.code)),
            KeyValue::new("framegate.error.retryable", error.retryable),
        ];
        if let Some(status) = error.http_status {
            attributes.push(KeyValue::new("http.response.status_code", i64::from(status)));
        }
        self.errors.events.push(Event::new("framegate.error", time(now_ms), attributes, 0));
    }

    /// Ends the run's span, and every span still open in it.
    fn end(mut self, run: Uuid, end: &SessionEnded, now_ms: u64, done: &mut Vec<SpanData>) {
        for (_, span) in self.parts.drain() {
            done.push(span.end(run, now_ms, Some("run_ended")));
        }
        let mut span = self.span;
        span.tokens = self.total.or(self.sum);
        span.attributes.push(KeyValue::new("framegate.run.end_reason", end.reason.as_str()));
        let code = end.error_code.as_deref().unwrap_or(end.reason.as_str());
        let mut data = span.end(run, now_ms, (end.reason != EndReason::Completed).then_some(code));
        data.events = self.errors;
        done.push(data);
    }
}

fn of_tool(call: &ToolCall, name: &str) -> Vec<KeyValue> {
    vec![
        KeyValue::new("gen_ai.tool.name", name.to_owned()),
        KeyValue::new("gen_ai.tool.call.id", bounded(&call.tool.call_id)),
        KeyValue::new("gen_ai.tool.type", "function"),
        KeyValue::new("framegate.tool.kind", call.kind.as_str()),
    ]
}

impl Span {
    fn end(mut self, run: Uuid, now_ms: u64, error: Option<&str>) -> SpanData {
        let status = match error {
            None => Status::Unset,
            Some(error) => {
                let error = bounded(error);
                self.attributes.push(KeyValue::new("error.type", error.clone()));
                Status::Error { description: Cow::Owned(error) }
            }
        };
        if let Some(tokens) = self.tokens {
            tokens.add_to(&mut self.attributes);
        }
        if let Some(model) = &self.model {
            self.attributes.push(KeyValue::new("gen_ai.response.model", bounded(model)));
        }
        let trace = TraceId::from_bytes(*run.as_bytes());
        SpanData {
            span_context: SpanContext::new(trace, self.id, TraceFlags::SAMPLED, false, TraceState::NONE),
            parent_span_id: self.parent,
            parent_span_is_remote: false,
            span_kind: self.kind,
            name: Cow::Owned(self.name),
            start_time: time(self.started_ms),
            end_time: time(now_ms.max(self.started_ms)),
            attributes: self.attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status,
            instrumentation_scope: InstrumentationScope::builder("framegate")
                .with_version(env!("CARGO_PKG_VERSION"))
                .build(),
        }
    }
}

impl Part {
    fn id(&self, run: Uuid) -> SpanId {
        match self {
            Self::Turn(index) => span_id(run, "turn", &index.to_string()),
            Self::Tool(tool) => span_id(run, "tool", &tool.to_string()),
            Self::Agent(name) => span_id(run, "agent", name),
        }
    }
}

impl Tokens {
    fn of(usage: &Usage) -> Self {
        Self {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_tokens,
            cache_creation: usage.cache_creation_tokens,
            reasoning: usage.reasoning_tokens,
        }
    }

    fn plus(self, more: Option<Self>) -> Self {
        let Some(more) = more else { return self };
        let both = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        Self {
            input: self.input.saturating_add(more.input),
            output: self.output.saturating_add(more.output),
            cache_read: both(self.cache_read, more.cache_read),
            cache_creation: both(self.cache_creation, more.cache_creation),
            reasoning: both(self.reasoning, more.reasoning),
        }
    }

    /// Adds the known counts. The conventions count cached tokens as input.
    fn add_to(self, attributes: &mut Vec<KeyValue>) {
        let cached = self.cache_read.unwrap_or_default().saturating_add(self.cache_creation.unwrap_or_default());
        let input = self.input.saturating_add(cached);
        for (key, tokens) in [
            ("gen_ai.usage.input_tokens", Some(input)),
            ("gen_ai.usage.output_tokens", Some(self.output)),
            ("gen_ai.usage.cache_read.input_tokens", self.cache_read),
            ("gen_ai.usage.cache_creation.input_tokens", self.cache_creation),
            ("gen_ai.usage.reasoning.output_tokens", self.reasoning),
        ] {
            if let Some(tokens) = tokens {
                attributes.push(KeyValue::new(key, i64::try_from(tokens).unwrap_or(i64::MAX)));
            }
        }
    }
}

fn genai_provider(provider: Provider) -> &'static str {
    of_provider(provider.name).map_or(provider.name, |runner| runner.genai_provider)
}

fn bounded(name: &str) -> String {
    name.chars().take(NAME_CHARS).collect()
}

fn time(ms: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_millis(ms)).unwrap_or(UNIX_EPOCH)
}

/// A deterministic id, the same in a replay. A span id must not be all zeros.
fn span_id(run: Uuid, kind: &str, what: &str) -> SpanId {
    let digest = Sha256::new().chain_update(run.as_bytes()).chain_update(kind).chain_update([0]).chain_update(what);
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(digest.finalize()) {
        *to = from;
    }
    if bytes == [0; 8] {
        bytes = [1; 8];
    }
    SpanId::from_bytes(bytes)
}

#[cfg(test)]
mod tests;
