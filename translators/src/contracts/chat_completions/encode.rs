//! Frames to `chat-completions.v1` events.
//!
//! All text blocks of the main thread are one answer; an empty line separates them. The field for reasoning has the reasoning, and a line
//! for each tool, question and decision. The first chunk has the role. The last ones have
//! the `finish_reason` and then the usage, or the usage and then an error.

use super::progress;
use super::usage::Total;
use super::{CHUNK, ERROR};
use crate::contracts::wire::EmittedTexts;
use crate::encode::{
    Data, Encoder, EncoderOptions, EventId, Events, Null, ObjectWriter, PreparedFields, StreamEncoder, Value, Word,
    data, encoder, key,
};
use crate::frame::{
    BlockDelta, Body, CONTENT_FILTER, CONTEXT_WINDOW_EXCEEDED, EndReason, Figures, Frame, MAX_OUTPUT_TOKENS,
    SessionEnded, SharedStr, Stream, StreamKind, UsageScope,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;
use uuid::Uuid;

/// What separates two blocks of text.
const BREAK: &str = "\n\n";

pub(super) fn new(stream: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    (stream.kind == StreamKind::Session).then(|| {
        encoder(Chat {
            run: stream.id,
            runner: stream.provider.name,
            shared: PreparedFields::new(|_| {}),
            next: 0,
            created: None,
            model: None,
            text: None,
            reasoning: None,
            answered: EmittedTexts::default(),
            usage: None,
        })
    })
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chat {
    #[serde(skip)]
    run: Uuid,
    /// The model if the runner does not name one.
    #[serde(skip)]
    runner: &'static str,
    /// The constant fields of all chunks, once the first one was written.
    #[serde(skip)]
    shared: PreparedFields,
    next: u64,
    /// When the run began, in Unix epoch seconds.
    created: Option<u64>,
    /// The model that all chunks name; `None` before the first one.
    model: Option<SharedStr>,
    /// The last block of text and of reasoning: the message and the index in it. A line about the runner's work has no message.
    text: Option<(SharedStr, u32)>,
    reasoning: Option<(SharedStr, u32)>,
    answered: EmittedTexts,
    /// The run's total, which comes once, before the end.
    usage: Option<Figures>,
}

/// What a chunk adds to the answer.
pub(super) enum Delta<'a> {
    Role,
    Content(&'a str),
    Reasoning(&'a str),
    /// A message of framegate, in the field for reasoning, which is not part of the answer.
    Notice {
        text: &'a str,
        is_first: bool,
    },
    /// The answer is complete.
    Nothing,
}

impl Data for Delta<'_> {
    fn fields(&self, map: &mut ObjectWriter<'_>) {
        match self {
            Self::Role => {
                map.word(key!("role"), "assistant");
                map.word(key!("content"), "");
            }
            Self::Content(text) => map.text(key!("content"), text),
            Self::Reasoning(text) => map.text(key!("reasoning_content"), text),
            Self::Notice { text, is_first } => {
                if *is_first {
                    Self::Role.fields(map);
                }
                map.text(key!("reasoning_content"), text);
            }
            Self::Nothing => {}
        }
    }
}

data! {
    struct ErrorData<'a> {
        message: &'a str,
        error_type: Word => "type",
        param: Null,
        code: &'a str,
    }
}

/// The id of a run's answer.
fn completion_id(run: &Uuid) -> String {
    format!("chatcmpl-{}", run.simple())
}

/// Writes a chunk with one choice.
pub(super) fn write_delta(
    number: u64,
    shared: &PreparedFields,
    delta: &Delta<'_>,
    finish: Option<&'static str>,
    out: &mut Events,
) {
    out.object(CHUNK, EventId::Number(number), |map| {
        map.prepared(shared);
        map.list(key!("choices"), &[delta], |map, delta| {
            map.entry(key!("index"), &0_u64);
            map.object(key!("delta"), |map| delta.fields(map));
            match finish {
                Some(finish) => map.word(key!("finish_reason"), finish),
                None => map.raw(key!("finish_reason"), "null"),
            }
        });
    });
}

/// Writes an error, the last event of a run that has not completed.
pub(super) fn write_error(number: u64, run: &Uuid, code: &str, message: &str, out: &mut Events) {
    out.object(ERROR, EventId::Number(number), |map| {
        map.text(key!("id"), &completion_id(run));
        map.word(key!("object"), ERROR);
        let error = ErrorData { message, error_type: Word("run_error"), param: Null, code };
        error.field(key!("error"), map);
    });
}

/// The fields that all chunks of a run share.
pub(super) fn shared_fields(run: &Uuid, created: u64, model: &str) -> PreparedFields {
    PreparedFields::new(|map| {
        map.text(key!("id"), &completion_id(run));
        map.word(key!("object"), CHUNK);
        map.entry(key!("created"), &created);
        map.text(key!("model"), model);
    })
}

impl StreamEncoder for Chat {
    const STATE: &[u32] = &[1];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        self.created.get_or_insert(frame.timestamp_ms / 1000);
        match &frame.body {
            Body::TurnStarted { model, .. } if !frame.is_subagent() => self.begin(model.as_ref(), out),
            Body::OutputTextDelta(block) if !frame.is_subagent() && !block.delta.is_empty() => {
                let is_new = begins(&mut self.text, block);
                self.content(&block.delta, is_new, out);
            }
            Body::OutputTextCompleted(block) if !frame.is_subagent() => self.answered.add(&block.text),
            Body::ReasoningDelta(block) if !frame.is_subagent() && !block.delta.is_empty() => {
                let is_new = begins(&mut self.reasoning, block);
                self.begin(None, out);
                self.delta(&Delta::Reasoning(&separated(&block.delta, is_new)), None, out);
            }
            Body::ToolStarted { call, .. } if !frame.is_subagent() => self.progress(&progress::tool(call), out),
            Body::ApprovalRequested(asked) => self.progress(&progress::question(asked), out),
            Body::ApprovalResolved(resolved) => self.progress(&progress::decision(resolved), out),
            Body::UsageReported(usage) if usage.scope == UsageScope::Run => self.usage = Some(usage.figures()),
            Body::SessionEnded(end) => self.end(end, out),
            _ => {}
        }
    }

    fn resumed(&self, state: Self) -> Self {
        let mut resumed = Self { run: self.run, runner: self.runner, ..state };
        if let Some(model) = &resumed.model {
            resumed.shared = shared_fields(&resumed.run, resumed.created.unwrap_or_default(), model);
        }
        resumed
    }
}

/// Whether a piece begins another block after the last one, which it replaces.
fn begins(last: &mut Option<(SharedStr, u32)>, block: &BlockDelta) -> bool {
    if last.as_ref().is_some_and(|(id, index)| *id == block.message_id && *index == block.block_index) {
        return false;
    }
    last.replace((block.message_id.clone(), block.block_index)).is_some()
}

/// A piece, after a separator if it begins another block.
fn separated(text: &str, is_new: bool) -> Cow<'_, str> {
    if is_new { Cow::Owned([BREAK, text].concat()) } else { Cow::Borrowed(text) }
}

impl Chat {
    /// Writes the first chunk, unless it was written.
    fn begin(&mut self, model: Option<&SharedStr>, out: &mut Events) {
        if self.model.is_none() {
            let model = self.model.insert(
                model.filter(|model| !model.is_empty()).cloned().unwrap_or_else(|| SharedStr::from(self.runner)),
            );
            self.shared = shared_fields(&self.run, self.created.unwrap_or_default(), model);
            self.delta(&Delta::Role, None, out);
        }
    }

    /// Writes a line about what the runner does, as a block of reasoning.
    fn progress(&mut self, line: &str, out: &mut Events) {
        self.begin(None, out);
        let is_new = self.reasoning.replace((SharedStr::default(), u32::MAX)).is_some();
        self.delta(&Delta::Reasoning(&separated(line, is_new)), None, out);
    }

    fn content(&mut self, text: &str, is_new: bool, out: &mut Events) {
        self.begin(None, out);
        self.delta(&Delta::Content(&separated(text, is_new)), None, out);
    }

    fn end(&mut self, end: &SessionEnded, out: &mut Events) {
        self.begin(None, out);
        let missing = end.final_text.as_deref().filter(|text| !text.is_empty() && !self.answered.contains(text));
        if let Some(text) = missing {
            let has_text = self.text.is_some();
            self.content(text, has_text, out);
        }
        let code = end.error_code.as_deref().unwrap_or_default();
        let finish = match (end.reason, code) {
            (EndReason::Completed, MAX_OUTPUT_TOKENS | CONTEXT_WINDOW_EXCEEDED) => Some("length"),
            (EndReason::Completed, _) => Some("stop"),
            (_, CONTENT_FILTER) => Some("content_filter"),
            _ => None,
        };
        if finish.is_some() {
            self.delta(&Delta::Nothing, finish, out);
        }
        if let Some(figures) = self.usage.take() {
            self.total(&Total::of(&figures), out);
        }
        if finish.is_none() {
            let is_failed = end.reason == EndReason::Failed;
            let code = if code.is_empty() { if is_failed { "run_failed" } else { "interrupted" } } else { code };
            let default = if is_failed { "the run failed" } else { "the run was interrupted" };
            let message = end.message.as_deref().filter(|message| !message.is_empty()).unwrap_or(default);
            write_error(self.number(), &self.run, code, message, out);
        }
    }

    fn total(&mut self, total: &Total, out: &mut Events) {
        let number = self.number();
        out.object(CHUNK, EventId::Number(number), |map| {
            map.prepared(&self.shared);
            map.raw(key!("choices"), "[]");
            total.field(key!("usage"), map);
        });
    }

    fn delta(&mut self, delta: &Delta<'_>, finish: Option<&'static str>, out: &mut Events) {
        let number = self.number();
        write_delta(number, &self.shared, delta, finish, out);
    }

    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }
}
