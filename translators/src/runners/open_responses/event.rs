//! The event types and what each of them is about.
//!
//! Input: the `type` of an event. Output: its meaning, as far as translation needs it. Never: a read of the event's fields.
//!
//! There are three sets: the published one, the wider one that OpenAI and others send, and `slug:name` extensions, which anyone
//! may add and clients may ignore.

use super::item::ItemKind;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// `response.created`.
    Created,
    /// `response.queued`, `response.in_progress`.
    Progress,
    /// `response.completed`, `response.failed`, `response.incomplete`.
    Terminal,
    /// An item starts.
    ItemAdded,
    /// An item is complete.
    ItemDone,
    /// A part of an item starts.
    PartAdded(Sort),
    /// A part of an item is complete.
    PartDone(Sort),
    /// A delta of a part's text.
    Delta(Text),
    /// A part's text is complete; this field contains it.
    Done(Text, &'static str),
    /// A delta of a call's input.
    InputDelta(ItemKind),
    /// A call's input is complete; this field contains it.
    InputDone(ItemKind, &'static str),
    /// A delta of a command's output, or all of it.
    CommandOutput,
    /// A hosted tool enters another stage.
    Stage(ItemKind, ToolStage),
    Error,
    /// A known event that is only kept as a record.
    Silent,
    /// `slug:name`.
    Extension,
    /// An unknown event type.
    Unknown,
    /// An event without a type.
    Untyped,
}

/// The two lists of parts in an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    /// `content`.
    Content,
    /// `summary`, only in reasoning items.
    Summary,
}

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// The assistant's answer, including refusals.
    Said,
    /// The model's reasoning.
    Reasoning,
    /// A summary of the reasoning.
    Summary,
}

/// The progress of a hosted tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolStage {
    /// It is running.
    Runs,
    /// It is done.
    Completed,
    /// It failed.
    Failed,
}

impl Event {
    /// The meaning of an event type.
    pub(super) fn of(kind: &str) -> Self {
        match kind {
            "response.created" => Self::Created,
            "response.queued" | "response.in_progress" => Self::Progress,
            "response.completed" | "response.failed" | "response.incomplete" => Self::Terminal,
            "response.output_item.added" => Self::ItemAdded,
            "response.output_item.done" => Self::ItemDone,
            "response.content_part.added" => Self::PartAdded(Sort::Content),
            "response.content_part.done" => Self::PartDone(Sort::Content),
            "response.reasoning_summary_part.added" => Self::PartAdded(Sort::Summary),
            "response.reasoning_summary_part.done" => Self::PartDone(Sort::Summary),
            "response.output_text.delta" | "response.refusal.delta" | "response.audio.transcript.delta" => {
                Self::Delta(Text::Said)
            }
            "response.output_text.done" => Self::Done(Text::Said, "text"),
            "response.refusal.done" => Self::Done(Text::Said, "refusal"),
            "response.audio.transcript.done" => Self::Done(Text::Said, "transcript"),
            // The published name, and the name that OpenAI, OpenRouter, LM Studio, DeepSeek and others send.
            "response.reasoning.delta" | "response.reasoning_text.delta" => Self::Delta(Text::Reasoning),
            "response.reasoning.done" | "response.reasoning_text.done" => Self::Done(Text::Reasoning, "text"),
            "response.reasoning_summary_text.delta" => Self::Delta(Text::Summary),
            "response.reasoning_summary_text.done" => Self::Done(Text::Summary, "text"),
            "response.function_call_arguments.delta" => Self::InputDelta(ItemKind::Function),
            "response.function_call_arguments.done" => Self::InputDone(ItemKind::Function, "arguments"),
            "response.custom_tool_call_input.delta" => Self::InputDelta(ItemKind::Custom),
            "response.custom_tool_call_input.done" => Self::InputDone(ItemKind::Custom, "input"),
            "response.mcp_call_arguments.delta" => Self::InputDelta(ItemKind::Mcp),
            "response.mcp_call_arguments.done" => Self::InputDone(ItemKind::Mcp, "arguments"),
            "response.code_interpreter_call_code.delta" => Self::InputDelta(ItemKind::CodeInterpreter),
            "response.code_interpreter_call_code.done" => Self::InputDone(ItemKind::CodeInterpreter, "code"),
            "response.apply_patch_call_operation_diff.delta" => Self::InputDelta(ItemKind::ApplyPatch),
            "response.shell_call_command.delta" => Self::InputDelta(ItemKind::Shell),
            "response.shell_call_output_content.delta" | "response.shell_call_output_content.done" => {
                Self::CommandOutput
            }
            "error" => Self::Error,
            // These repeat the item, or carry images, audio and sources, which have no corresponding frame.
            "response.output_text.annotation.added"
            | "response.apply_patch_call_operation_diff.done"
            | "response.shell_call_command.added"
            | "response.shell_call_command.done"
            | "response.image_generation_call.partial_image"
            | "response.compaction.compacting"
            | "response.audio.delta"
            | "response.audio.done"
            | "image_generation.partial_image"
            | "image_generation.completed"
            | "image_edit.partial_image"
            | "image_edit.completed" => Self::Silent,
            _ => Self::staged(kind).unwrap_or_else(|| match kind.split_once(':') {
                Some((slug, name)) if !slug.is_empty() && !name.is_empty() => Self::Extension,
                _ => Self::Unknown,
            }),
        }
    }

    /// `response.<tool>.<stage>`.
    fn staged(kind: &str) -> Option<Self> {
        let (tool, stage) = kind.strip_prefix("response.")?.split_once('.')?;
        let (tool, runs) = match tool {
            "web_search_call" => (ItemKind::WebSearch, "searching"),
            "file_search_call" => (ItemKind::FileSearch, "searching"),
            "code_interpreter_call" => (ItemKind::CodeInterpreter, "interpreting"),
            "image_generation_call" => (ItemKind::ImageGeneration, "generating"),
            "mcp_call" => (ItemKind::Mcp, "failed"),
            "mcp_list_tools" => (ItemKind::ToolList, "failed"),
            _ => return None,
        };
        match stage {
            "in_progress" => Some(Self::Stage(tool, ToolStage::Runs)),
            "completed" => Some(Self::Stage(tool, ToolStage::Completed)),
            "failed" if runs == "failed" => Some(Self::Stage(tool, ToolStage::Failed)),
            _ if stage == runs => Some(Self::Stage(tool, ToolStage::Runs)),
            _ => None,
        }
    }

    /// Whether the event is about a response, so that it starts a run if it starts the stream.
    pub(super) fn is_of_a_response(self) -> bool {
        !matches!(self, Self::Silent | Self::Extension | Self::Unknown | Self::Untyped)
    }
}

impl Text {
    /// The list that contains the part of this text.
    pub(super) fn sort(self) -> Sort {
        if self == Self::Summary { Sort::Summary } else { Sort::Content }
    }
}
