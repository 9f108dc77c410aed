//! Text and thinking.
//!
//! Input: the pieces and the ends of blocks. Output: the pieces as stream events, and an `assistant` message when a block is
//! complete. Never: a text that is held while its block is open (the frame that completes the block has it).

use super::data::{AssistantMessage, Content, Delta, StreamEvent};
use super::encode::ClaudeCode;
use super::line::Raw;
use super::turns::message_id;
use super::writer::Envelope;
use crate::derived::uuid_v5;
use crate::encode::{Events, Value, key};
use crate::frame::{BlockDelta, BlockText, Frame, RawJson, SharedStr, Tool};
use crate::json::{Json, Object};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use uuid::Uuid;

/// The maximum number of open blocks that are streamed. One more is streamed as a whole when it is complete.
const MAX_OPEN: usize = 16;

/// A block that is being streamed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenBlock {
    source: Source,
    pub(super) index: u32,
}

/// What a block shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Source {
    Text(SharedStr, u32),
    Thinking(SharedStr, u32),
    Input(Uuid),
}

/// A provider's item of reasoning, if it has the API's form.
enum Sealed<'a> {
    Signed(Cow<'a, str>),
    Redacted(Cow<'a, str>),
}

fn sealed(opaque: Option<&RawJson>) -> Option<Sealed<'_>> {
    let item = Object::parse(opaque?.get())?;
    match &*item.str("type")? {
        "thinking" => Some(Sealed::Signed(item.str("signature")?)),
        "redacted_thinking" => Some(Sealed::Redacted(item.str("data")?)),
        _ => None,
    }
}

/// A call's arguments as the API has them: an object. Other JSON is wrapped as the CLI does.
pub(super) fn input_of(args: &RawJson) -> Cow<'_, RawValue> {
    if args.get().starts_with('{') {
        return Cow::Borrowed(args);
    }
    #[derive(Serialize)]
    struct Wrapped<'a> {
        #[serde(rename = "__unparsedToolInput")]
        unparsed: Unparsed<'a>,
    }
    #[derive(Serialize)]
    struct Unparsed<'a> {
        raw: Cow<'a, str>,
        len: usize,
    }
    let raw = Json::new(args).str().unwrap_or_else(|| Cow::Borrowed(args.get()));
    let len = raw.encode_utf16().count();
    let wrapped = Wrapped { unparsed: Unparsed { raw, len } };
    serde_json::value::to_raw_value(&wrapped).map_or(Cow::Borrowed(args), Cow::Owned)
}

impl ClaudeCode {
    pub(super) fn text_delta(&mut self, block: &BlockDelta, out: &mut Events) {
        let source = Source::Text(block.message_id.clone(), block.block_index);
        self.delta(source, Content::Text(""), Delta::Text(&block.delta), out);
    }

    pub(super) fn thinking_delta(&mut self, block: &BlockDelta, out: &mut Events) {
        let source = Source::Thinking(block.message_id.clone(), block.block_index);
        let start = Content::Thinking { thinking: "", signature: "" };
        self.delta(source, start, Delta::Thinking(&block.delta), out);
    }

    /// A piece of a call's input.
    pub(super) fn input_delta(&mut self, tool: &Tool, name: &str, delta: &str, out: &mut Events) {
        if self.partial && !self.calls.is_open(&tool.id) {
            let id = self.calls.name(tool);
            let start = Content::ToolUse { id: &id, name, input: Raw(empty_object()) };
            self.delta(Source::Input(tool.id), start, Delta::Input(delta), out);
        }
    }

    /// Streams a piece of a block, which may be new.
    fn delta(&mut self, source: Source, start: Content<'_>, delta: Delta<'_>, out: &mut Events) {
        if !self.partial || matches!(delta, Delta::Text("") | Delta::Thinking("")) {
            return;
        }
        let known = self.message.iter().flat_map(|message| &message.open).find(|open| open.source == source);
        let index = match known {
            Some(open) => open.index,
            None => {
                if self.message.as_ref().is_some_and(|message| message.open.len() >= MAX_OPEN) {
                    return;
                }
                self.begin_message(out);
                let index = self.next_index();
                if let Some(message) = &mut self.message {
                    message.open.push_back(OpenBlock { source, index });
                }
                self.stream_event(&StreamEvent::BlockStart { index, content: start }, out);
                index
            }
        };
        self.stream_event(&StreamEvent::BlockDelta { index, delta }, out);
    }

    /// Takes an open block; returns its index.
    fn take(&mut self, source: &Source) -> Option<u32> {
        let open = &mut self.message.as_mut()?.open;
        let at = open.iter().position(|block| block.source == *source)?;
        open.remove(at).map(|block| block.index)
    }

    /// Ends the blocks of calls whose input is incomplete. They get no `assistant` message.
    pub(super) fn abandon_inputs(&mut self, out: &mut Events) {
        let Some(message) = &mut self.message else { return };
        let is_input = |block: &OpenBlock| matches!(block.source, Source::Input(_));
        let left: Vec<u32> = message.open.iter().filter(|block| is_input(block)).map(|block| block.index).collect();
        message.open.retain(|block| !is_input(block));
        self.calls.forget_inputs();
        for index in left {
            self.stream_event(&StreamEvent::BlockStop { index }, out);
        }
    }

    /// A text of the main thread is complete.
    pub(super) fn text(&mut self, block: &BlockText, frame: &Frame, out: &mut Events) {
        let source = Source::Text(block.message_id.clone(), block.block_index);
        let started = self.take(&source);
        if block.text.is_empty() && started.is_none() {
            return;
        }
        let index = started.unwrap_or_else(|| {
            self.begin_message(out);
            self.stream_whole(Content::Text(""), &[Delta::Text(&block.text)], out)
        });
        self.assistant(Content::Text(&block.text), frame, out);
        self.stream_event(&StreamEvent::BlockStop { index }, out);
    }

    /// The thinking of the main thread is complete.
    pub(super) fn thinking(&mut self, block: &BlockText, opaque: Option<&RawJson>, frame: &Frame, out: &mut Events) {
        let thinking = block.text.as_str();
        let sealed = sealed(opaque);
        let started = self.take(&Source::Thinking(block.message_id.clone(), block.block_index));
        let signature = match &sealed {
            Some(Sealed::Redacted(data)) if thinking.is_empty() && started.is_none() => {
                self.begin_message(out);
                let content = Content::RedactedThinking { data };
                let index = self.stream_whole(content, &[], out);
                self.assistant(content, frame, out);
                return self.stream_event(&StreamEvent::BlockStop { index }, out);
            }
            Some(Sealed::Signed(signature)) => &**signature,
            _ => "",
        };
        if thinking.is_empty() && signature.is_empty() && started.is_none() {
            return;
        }
        let index = started.unwrap_or_else(|| {
            self.begin_message(out);
            let start = Content::Thinking { thinking: "", signature: "" };
            let delta = Delta::Thinking(thinking);
            self.stream_whole(start, if thinking.is_empty() { &[] } else { std::slice::from_ref(&delta) }, out)
        });
        if !signature.is_empty() {
            self.stream_event(&StreamEvent::BlockDelta { index, delta: Delta::Signature(signature) }, out);
        }
        self.assistant(Content::Thinking { thinking, signature }, frame, out);
        self.stream_event(&StreamEvent::BlockStop { index }, out);
    }

    /// A call of the main thread is complete.
    pub(super) fn tool_use(&mut self, tool: &Tool, name: &str, args: &RawJson, frame: &Frame, out: &mut Events) {
        let id = self.calls.name(tool);
        let input = input_of(args);
        let index = self.take(&Source::Input(tool.id)).unwrap_or_else(|| {
            self.begin_message(out);
            let start = Content::ToolUse { id: &id, name, input: Raw(empty_object()) };
            self.stream_whole(start, &[Delta::Input(input.get())], out)
        });
        if let Some(message) = &mut self.message {
            message.has_calls = true;
        }
        self.assistant(Content::ToolUse { id: &id, name, input: Raw(&input) }, frame, out);
        self.stream_event(&StreamEvent::BlockStop { index }, out);
    }

    /// Writes a block of the open model message.
    fn assistant(&mut self, content: Content<'_>, frame: &Frame, out: &mut Events) {
        let Some(message) = &self.message else { return };
        let data = AssistantMessage { id: &message.id, model: &message.model, content, stop_reason: None };
        self.writer.message("assistant", Envelope::Timed(None, frame.timestamp_ms), out, |map| {
            data.field(key!("message"), map);
        });
    }

    /// A text of a subagent is complete.
    pub(super) fn whole_text(&mut self, block: &BlockText, frame: &Frame, out: &mut Events) {
        if !block.text.is_empty() {
            self.of_subagent(&block.message_id, Content::Text(&block.text), frame, out);
        }
    }

    /// The thinking of a subagent is complete.
    pub(super) fn whole_thinking(
        &mut self,
        block: &BlockText,
        opaque: Option<&RawJson>,
        frame: &Frame,
        out: &mut Events,
    ) {
        let sealed = sealed(opaque);
        let content = match &sealed {
            Some(Sealed::Redacted(data)) if block.text.is_empty() => Content::RedactedThinking { data },
            Some(Sealed::Signed(signature)) => Content::Thinking { thinking: &block.text, signature },
            _ if block.text.is_empty() => return,
            _ => Content::Thinking { thinking: &block.text, signature: "" },
        };
        self.of_subagent(&block.message_id, content, frame, out);
    }

    /// Writes a block of a subagent. `message` is what the runner calls its model message.
    pub(super) fn of_subagent(&mut self, message: &str, content: Content<'_>, frame: &Frame, out: &mut Events) {
        self.begin_session(out);
        let parent = self.calls.parent_of(frame);
        let scope = frame.parent_tool_id.unwrap_or(frame.stream.id);
        let id = message_id(&uuid_v5(&scope, message.as_bytes()));
        let model = self.model();
        let data = AssistantMessage { id: &id, model: &model, content, stop_reason: None };
        self.writer.message("assistant", Envelope::Timed(parent.as_deref(), frame.timestamp_ms), out, |map| {
            data.field(key!("message"), map);
        });
    }
}

/// The input of a call that has begun.
fn empty_object() -> &'static RawValue {
    use std::sync::LazyLock;
    static EMPTY: LazyLock<RawJson> = LazyLock::new(crate::json::empty_object);
    &EMPTY
}
