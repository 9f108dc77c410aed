//! The event types: what each one is about.
//!
//! In: the `type` of an event. Out: its meaning, as far as translation needs it. Never: a look at the event's fields.
//!
//! Three sets: the published one, the wider one that OpenAI and others send, and `slug:name` extensions, which anybody
//! may add and nobody need understand.

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
    /// An item begins.
    ItemAdded,
    /// An item is whole.
    ItemDone,
    /// A part of an item begins.
    PartAdded(Sort),
    /// A part of an item is whole.
    PartDone(Sort),
    /// A piece of a part's text.
    Delta(Text),
    /// A part's text is whole; it stands in this field.
    Done(Text, &'static str),
    /// A piece of a call's input.
    InputDelta(ItemKind),
    /// A call's input is whole; it stands in this field.
    InputDone(ItemKind, &'static str),
    /// A piece of a command's output, or all of it.
    CommandOutput,
    /// A hosted tool goes from one stage to the next.
    Stage(ItemKind, Stage),
    /// Something went wrong.
    Error,
    /// Known, and nothing follows from it.
    Silent,
    /// `slug:name`.
    Extension,
    /// Nobody has announced it.
    Unknown,
    /// The event does not say its type.
    Untyped,
}

/// The two lists of parts that an item has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    /// `content`.
    Content,
    /// `summary`, of reasoning alone.
    Summary,
}

/// Whose text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// What the assistant says, refusals among it.
    Said,
    /// The model's reasoning.
    Reasoning,
    /// A summary of it.
    Summary,
}

/// How far a hosted tool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It works.
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
            // The published name, and the one that OpenAI, OpenRouter, LM Studio, DeepSeek and others send.
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
            // These say again what the item says, or carry images, sound and sources, which frames have no words for.
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
            "in_progress" => Some(Self::Stage(tool, Stage::Runs)),
            "completed" => Some(Self::Stage(tool, Stage::Completed)),
            "failed" if runs == "failed" => Some(Self::Stage(tool, Stage::Failed)),
            _ if stage == runs => Some(Self::Stage(tool, Stage::Runs)),
            _ => None,
        }
    }

    /// Whether the event speaks of a response, so that one that begins a stream begins a run.
    pub(super) fn is_of_a_response(self) -> bool {
        !matches!(self, Self::Silent | Self::Extension | Self::Unknown | Self::Untyped)
    }
}

impl Text {
    /// The list that its part is in.
    pub(super) fn sort(self) -> Sort {
        if self == Self::Summary { Sort::Summary } else { Sort::Content }
    }
}
