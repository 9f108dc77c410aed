//! Turns frames into spans, by the semantic conventions for generative AI.
//!
//! Input: the frames of all runs, in order for each run. Output: a span for each run (`invoke_agent`), turn (`chat`), tool
//! (`execute_tool`) and subagent (`invoke_agent`) that ended, with the times of the frames. Never: a clock; randomness; content,
//! unless the bounds have room for it. A trace is a run and has the run's id. A span's id is derived from its subject.

mod span;
mod tokens;

use super::attributes::{bounded, number, text, texts, truth};
use super::content::{self, Content};
use crate::config::{Otlp, SpanContent};
use framegate_translators::frame::{
    Body, EndReason, ErrorReported, Frame, Provider, SessionEnded, SharedStr, StreamKind, ToolCall, Usage, UsageScope,
};
use framegate_translators::runners::{name_of, of_provider};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::{Event, SpanKind};
use span::{OpenSpan, SpanId, nanos, span_id};
use std::collections::HashMap;
use tokens::Tokens;
use uuid::Uuid;

/// How many errors are recorded for one run.
const EVENTS: usize = 64;
/// A million: the denominator of `sampled_per_million`.
const MILLION: u64 = 1_000_000;

/// What is turned into spans, and how much may be open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The most open spans of all runs.
    pub(crate) spans: usize,
    /// How many of a million runs have spans.
    pub(crate) sampled_per_million: u64,
    /// The bounds of content; `None` if spans have none.
    pub(crate) content: Option<ContentBounds>,
}

/// How much content spans may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentBounds {
    /// The most bytes of text in one attribute.
    pub(crate) attribute_bytes: usize,
    /// The most bytes that the open spans of all runs hold.
    pub(crate) all_bytes: usize,
}

/// The open spans of all runs.
pub(crate) struct Open {
    runs: HashMap<Uuid, Run>,
    bounds: Bounds,
    spans: usize,
    /// The bytes of content of all runs.
    held: usize,
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
    span: OpenSpan,
    parts: HashMap<Part, OpenSpan>,
    content: Option<Content>,
    /// The runner's id of the conversation.
    conversation: String,
    /// The runner's own total. Without it, the run's span has the sum of the turns.
    total: Option<Tokens>,
    sum: Option<Tokens>,
    errors: Vec<Event>,
    dropped_errors: u32,
}

impl Bounds {
    /// The bounds of the settings.
    pub(crate) fn of(settings: &Otlp) -> Self {
        let content = (settings.content == SpanContent::Messages).then_some(ContentBounds {
            attribute_bytes: settings.content_bytes,
            all_bytes: settings.max_content_bytes,
        });
        Self { spans: settings.max_open_spans, sampled_per_million: settings.sampled_per_million, content }
    }

    /// Whether a frame begins, ends or changes a span.
    pub(crate) fn matters(&self, frame: &Frame) -> bool {
        let of_span = matches!(
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
        );
        frame.stream.kind == StreamKind::Session
            && (of_span || (self.content.is_some() && content::matters(&frame.body)))
    }

    /// Whether a run has spans. Its id decides: the last 7 bytes, which are random in all kinds of ids of runs and traces.
    fn samples(&self, run: Uuid) -> bool {
        let [_, _, _, _, _, _, _, _, _, random @ ..] = *run.as_bytes();
        let random = random.iter().fold(0_u64, |value, byte| (value << 8) | u64::from(*byte));
        u128::from(random) * u128::from(MILLION) < (1_u128 << 56) * u128::from(self.sampled_per_million)
    }
}

impl Open {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { runs: HashMap::new(), bounds, spans: 0, held: 0, refused: 0 }
    }

    /// How many spans were not opened since the last call because too many were open.
    pub(crate) fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.refused)
    }

    /// Handles the next frame of its run and pushes ended spans to `done`. A run whose beginning was not seen has no spans.
    pub(crate) fn frame(&mut self, frame: &Frame, done: &mut Vec<Span>) {
        if !self.bounds.matters(frame) {
            return;
        }
        let (id, now_ms) = (frame.stream.id, frame.timestamp_ms);
        if let Body::SessionStarted { .. } = frame.body {
            if self.bounds.samples(id) && self.may_open() {
                self.runs.insert(id, Run::new(frame, self.bounds.content));
                self.take_content(frame);
            }
            return;
        }
        self.take_content(frame);
        if let Body::SessionEnded(end) = &frame.body {
            if let Some(run) = self.runs.remove(&id) {
                self.held = self.held.saturating_sub(run.held());
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
            let (before, held) = (run.parts.len(), run.held());
            run.apply(frame, done);
            self.spans = self.spans.saturating_sub(before - run.parts.len());
            self.held = self.held.saturating_sub(held - run.held());
        }
    }

    /// Whether spans are open.
    pub(crate) fn has_open(&self) -> bool {
        !self.runs.is_empty()
    }

    fn take_content(&mut self, frame: &Frame) {
        let Some(bounds) = self.bounds.content else { return };
        if let Some(content) = self.runs.get_mut(&frame.stream.id).and_then(|run| run.content.as_mut()) {
            let before = content.held();
            content.take(frame, bounds.all_bytes.saturating_sub(self.held));
            self.held = (self.held + content.held()).saturating_sub(before);
        }
    }

    fn may_open(&mut self) -> bool {
        let may = self.spans < self.bounds.spans;
        if may {
            self.spans += 1;
        } else {
            self.refused += 1;
        }
        may
    }
}

impl Run {
    fn new(frame: &Frame, content: Option<ContentBounds>) -> Self {
        let (id, session) = (frame.stream.id, &frame.stream.session);
        let runner = name_of(frame.stream.provider.name);
        let conversation = if session.name.is_empty() { session.id.to_string() } else { bounded(&session.name) };
        let span = OpenSpan {
            name: format!("invoke_agent {runner}"),
            kind: SpanKind::Internal,
            id: span_id(id, "run", ""),
            parent: None,
            started_ms: frame.timestamp_ms,
            within: None,
            attributes: vec![
                text("gen_ai.operation.name", "invoke_agent"),
                text("gen_ai.provider.name", genai_provider(frame.stream.provider)),
                text("gen_ai.agent.name", runner),
                text("gen_ai.conversation.id", &*conversation),
                text("session.id", &*conversation),
                text("framegate.run.id", id.to_string()),
            ],
            tokens: None,
            model: None,
        };
        Self {
            span,
            parts: HashMap::new(),
            content: content.map(|bounds| Content::new(bounds.attribute_bytes)),
            conversation,
            total: None,
            sum: None,
            errors: Vec::new(),
            dropped_errors: 0,
        }
    }

    /// How many bytes of content it holds.
    fn held(&self) -> usize {
        self.content.as_ref().map_or(0, Content::held)
    }

    /// The span that a frame begins within the run; `None` if it begins none.
    fn opened(&self, frame: &Frame) -> Option<(Part, OpenSpan)> {
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
            text("gen_ai.operation.name", operation),
            text("gen_ai.provider.name", genai_provider(frame.stream.provider)),
            text("gen_ai.conversation.id", &*self.conversation),
            text("session.id", &*self.conversation),
        ];
        // A subagent is a child of the tool that started it. So is everything that the subagent does.
        let mut within = frame.parent_tool_id;
        match &frame.body {
            Body::TurnStarted { .. } if !what.is_empty() => {
                attributes.push(text("gen_ai.request.model", what.clone()));
            }
            Body::ToolStarted { call, .. } => attributes.extend(of_tool(call, &what)),
            Body::SubagentStarted { subagent_id, tool_id, .. } => {
                within = tool_id.or(within);
                attributes.push(text("gen_ai.agent.id", bounded(subagent_id)));
                if !what.is_empty() {
                    attributes.push(text("gen_ai.agent.name", what.clone()));
                }
            }
            _ => {}
        }
        let span = OpenSpan {
            name: if what.is_empty() { operation.to_owned() } else { format!("{operation} {what}") },
            kind,
            id: part.id(run),
            parent: Some(within.map_or(self.span.id, |tool| Part::Tool(tool).id(run))),
            started_ms: frame.timestamp_ms,
            within,
            attributes,
            tokens: None,
            model: None,
        };
        Some((part, span))
    }

    /// Applies a frame that ends or changes a span.
    fn apply(&mut self, frame: &Frame, done: &mut Vec<Span>) {
        let (run, now_ms) = (frame.stream.id, frame.timestamp_ms);
        match &frame.body {
            Body::TurnEnded { turn_index, stop_reason, .. } => {
                let content = self.content.as_mut().map(|all| all.of_turn(*turn_index, stop_reason.as_deref(), true));
                if let Some(mut turn) = self.parts.remove(&Part::Turn(*turn_index)) {
                    if let Some(reason) = stop_reason {
                        turn.attributes.push(texts("gen_ai.response.finish_reasons", [bounded(reason)]));
                    }
                    turn.attributes.extend(content.unwrap_or_default());
                    done.push(turn.end(run, now_ms, None));
                }
            }
            Body::ToolEnded { tool, exit_code, .. } => {
                let content = self.content.as_mut().map(|all| all.of_tool(tool.id));
                if let Some(mut span) = self.parts.remove(&Part::Tool(tool.id)) {
                    span.attributes.push(number("framegate.tool.exit_code", i64::from(*exit_code)));
                    span.attributes.extend(content.unwrap_or_default());
                    done.push(span.end(run, now_ms, (*exit_code != 0).then_some("exit_code")));
                }
            }
            Body::ToolFailed { tool, .. } => {
                let content = self.content.as_mut().map(|all| all.of_tool(tool.id));
                if let Some(mut span) = self.parts.remove(&Part::Tool(tool.id)) {
                    span.attributes.extend(content.unwrap_or_default());
                    done.push(span.end(run, now_ms, Some("tool_failed")));
                }
            }
            Body::SubagentEnded { subagent_id, status, summary } => {
                let is_whole = &**status == "completed";
                let content = self.content.as_mut();
                let content = content.map(|all| all.of_agent(subagent_id, summary.as_deref(), is_whole));
                if let Some(mut span) = self.parts.remove(&Part::Agent(subagent_id.clone())) {
                    span.attributes.extend(content.unwrap_or_default());
                    done.push(span.end(run, now_ms, (!is_whole).then_some(&**status)));
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
        if self.errors.len() >= EVENTS {
            self.dropped_errors += 1;
            return;
        }
        let mut attributes =
            vec![text("error.type", bounded(&error.code)), truth("framegate.error.retryable", error.retryable)];
        if let Some(status) = error.http_status {
            attributes.push(number("http.response.status_code", i64::from(status)));
        }
        let (time_unix_nano, name) = (nanos(now_ms), "framegate.error".to_owned());
        self.errors.push(Event { time_unix_nano, name, attributes, dropped_attributes_count: 0 });
    }

    /// Ends the run's span, and every span still open in it.
    fn end(mut self, run: Uuid, end: &SessionEnded, now_ms: u64, done: &mut Vec<Span>) {
        let mut content = self.content.take();
        for (part, mut span) in self.parts.drain() {
            if let Some(content) = &mut content {
                span.attributes.extend(match &part {
                    Part::Turn(index) => content.of_turn(*index, None, false),
                    Part::Tool(tool) => content.of_tool(*tool),
                    Part::Agent(id) => content.of_agent(id, None, false),
                });
            }
            done.push(span.end(run, now_ms, Some("run_ended")));
        }
        let mut span = self.span;
        span.tokens = self.total.or(self.sum);
        span.attributes.push(text("framegate.run.end_reason", end.reason.as_str()));
        span.attributes.extend(content.into_iter().flat_map(|content| content.of_run(end)));
        let code = end.error_code.as_deref().unwrap_or(end.reason.as_str());
        let mut ended = span.end(run, now_ms, (end.reason != EndReason::Completed).then_some(code));
        (ended.events, ended.dropped_events_count) = (self.errors, self.dropped_errors);
        done.push(ended);
    }
}

fn of_tool(call: &ToolCall, name: &str) -> Vec<KeyValue> {
    vec![
        text("gen_ai.tool.name", name.to_owned()),
        text("gen_ai.tool.call.id", bounded(&call.tool.call_id)),
        text("gen_ai.tool.type", "function"),
        text("framegate.tool.kind", call.kind.as_str()),
    ]
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

fn genai_provider(provider: Provider) -> &'static str {
    of_provider(provider.name).map_or(provider.name, |runner| runner.genai_provider)
}

#[cfg(test)]
mod tests;
