//! What the messages consist of.

use super::line::{Raw, Text};
use crate::encode::{Data, Key, Null, ObjectWriter, Value, Word, data, key};
use crate::frame::Figures;

data! {
    /// Tokens as the API counts them. The document requires every figure, so an unknown one is 0.
    pub(super) struct Tokens {
        input_tokens: u64,
        cache_creation_input_tokens: u64,
        cache_read_input_tokens: u64,
        output_tokens: u64,
        output_tokens_details: Option<OutputDetails>,
    }

    struct OutputDetails {
        thinking_tokens: u64,
    }

    /// A model message without its content.
    pub(super) struct Head<'a> {
        pub(super) id: Text<'a>,
        pub(super) kind: Word => "type",
        pub(super) role: Word,
        pub(super) model: Text<'a>,
    }

    /// A result of a call.
    pub(super) struct ToolResult<'a> {
        pub(super) kind: Word => "type",
        pub(super) tool_use_id: Text<'a>,
        pub(super) content: Text<'a>,
        pub(super) is_error: Option<bool>,
    }

    /// Why a call never ran.
    pub(super) struct ToolResultMeta<'a> {
        pub(super) id: Text<'a>,
        pub(super) non_execution_kind: Word,
    }
}

impl Tokens {
    pub(super) fn of(figures: &Figures) -> Self {
        Self {
            input_tokens: figures.input_tokens,
            cache_creation_input_tokens: figures.cache_creation_tokens.unwrap_or_default(),
            cache_read_input_tokens: figures.cache_read_tokens.unwrap_or_default(),
            output_tokens: figures.output_tokens,
            output_tokens_details: figures.reasoning_tokens.map(|thinking_tokens| OutputDetails { thinking_tokens }),
        }
    }
}

impl<'a> Head<'a> {
    pub(super) fn new(id: &'a str, model: &'a str) -> Self {
        Self { id: Text(id), kind: Word("message"), role: Word("assistant"), model: Text(model) }
    }
}

/// One content block of an `assistant` message, or of a `content_block_start`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content<'a> {
    Text(&'a str),
    Thinking { thinking: &'a str, signature: &'a str },
    RedactedThinking { data: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: Raw<'a> },
}

impl Data for Content<'_> {
    fn fields(&self, map: &mut ObjectWriter<'_>) {
        match self {
            Self::Text(text) => {
                map.word(key!("type"), "text");
                Text(text).field(key!("text"), map);
            }
            Self::Thinking { thinking, signature } => {
                map.word(key!("type"), "thinking");
                Text(thinking).field(key!("thinking"), map);
                Text(signature).field(key!("signature"), map);
            }
            Self::RedactedThinking { data } => {
                map.word(key!("type"), "redacted_thinking");
                Text(data).field(key!("data"), map);
            }
            Self::ToolUse { id, name, input } => {
                map.word(key!("type"), "tool_use");
                Text(id).field(key!("id"), map);
                Text(name).field(key!("name"), map);
                input.field(key!("input"), map);
            }
        }
    }
}

/// An `assistant` message of one block.
#[derive(Debug)]
pub(super) struct AssistantMessage<'a> {
    pub(super) id: &'a str,
    pub(super) model: &'a str,
    pub(super) content: Content<'a>,
    pub(super) stop_reason: Option<&'static str>,
}

impl Data for AssistantMessage<'_> {
    fn fields(&self, map: &mut ObjectWriter<'_>) {
        Head::new(self.id, self.model).fields(map);
        map.list(key!("content"), &[self.content], |map, content| content.fields(map));
        match self.stop_reason {
            Some(reason) => map.word(key!("stop_reason"), reason),
            None => Null.field(key!("stop_reason"), map),
        }
        Null.field(key!("stop_sequence"), map);
        Tokens::of(&Figures::default()).field(key!("usage"), map);
    }
}

impl Value for AssistantMessage<'_> {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        map.object(key, |map| self.fields(map));
    }
}

/// A piece of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Delta<'a> {
    Text(&'a str),
    Thinking(&'a str),
    Signature(&'a str),
    Input(&'a str),
}

impl Data for Delta<'_> {
    fn fields(&self, map: &mut ObjectWriter<'_>) {
        let (kind, key, text) = match self {
            Self::Text(text) => ("text_delta", key!("text"), text),
            Self::Thinking(text) => ("thinking_delta", key!("thinking"), text),
            Self::Signature(text) => ("signature_delta", key!("signature"), text),
            Self::Input(text) => ("input_json_delta", key!("partial_json"), text),
        };
        map.word(key!("type"), kind);
        Text(text).field(key, map);
    }
}

/// The event of a `stream_event`.
#[derive(Clone, Copy, Debug)]
pub(super) enum StreamEvent<'a> {
    MessageStart { id: &'a str, model: &'a str },
    BlockStart { index: u32, content: Content<'a> },
    BlockDelta { index: u32, delta: Delta<'a> },
    BlockStop { index: u32 },
    MessageDelta { stop_reason: &'static str, figures: &'a Figures },
    MessageStop,
}

impl Data for StreamEvent<'_> {
    fn fields(&self, map: &mut ObjectWriter<'_>) {
        match self {
            Self::MessageStart { id, model } => {
                map.word(key!("type"), "message_start");
                map.object(key!("message"), |map| {
                    Head::new(id, model).fields(map);
                    map.raw(key!("content"), "[]");
                    Null.field(key!("stop_reason"), map);
                    Null.field(key!("stop_sequence"), map);
                    Tokens::of(&Figures::default()).field(key!("usage"), map);
                });
            }
            Self::BlockStart { index, content } => {
                map.word(key!("type"), "content_block_start");
                map.entry(key!("index"), index);
                map.object(key!("content_block"), |map| content.fields(map));
            }
            Self::BlockDelta { index, delta } => {
                map.word(key!("type"), "content_block_delta");
                map.entry(key!("index"), index);
                map.object(key!("delta"), |map| delta.fields(map));
            }
            Self::BlockStop { index } => {
                map.word(key!("type"), "content_block_stop");
                map.entry(key!("index"), index);
            }
            Self::MessageDelta { stop_reason, figures } => {
                map.word(key!("type"), "message_delta");
                map.object(key!("delta"), |map| {
                    map.word(key!("stop_reason"), stop_reason);
                    Null.field(key!("stop_sequence"), map);
                });
                Tokens::of(figures).field(key!("usage"), map);
            }
            Self::MessageStop => map.word(key!("type"), "message_stop"),
        }
    }
}
