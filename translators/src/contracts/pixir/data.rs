//! The `data` of each event type. Unknown fields are left out.

use crate::encode::{Flat, Word, data};
use crate::frame::{Attachment, PlanEntry};
use serde_json::value::RawValue;

data! {
    pub(super) struct UserMessage<'a> {
        pub(super) text: &'a str,
        pub(super) resources: Option<Vec<Resource<'a>>>,
    }

    /// An attachment of a message, by identity and hash.
    pub(super) struct Resource<'a> {
        kind: &'a str,
        mime: Option<&'a str>,
        name: Option<&'a str>,
        hash: Option<&'a str>,
        bytes: Option<u64>,
    }
}

impl<'a> Resource<'a> {
    pub(super) fn of(attachment: &'a Attachment) -> Self {
        Self {
            kind: &attachment.kind,
            mime: attachment.mime.as_deref(),
            // A name that is a `data:` URL holds the content itself.
            name: attachment.name.as_deref().filter(|name| !name.starts_with("data:")),
            hash: attachment.artifact_id.as_deref(),
            bytes: attachment.bytes,
        }
    }
}

data! {
    pub(super) struct AssistantMessage<'a> {
        pub(super) text: &'a str,
        pub(super) metadata: Option<Metadata<'a>>,
    }

    /// How a run ended, if not well.
    pub(super) struct Metadata<'a> {
        pub(super) partial: Option<bool>,
        pub(super) terminal_status: Word,
        pub(super) error: Flat<RunError<'a>>,
    }

    /// The error of a run.
    #[derive(Clone, Copy, Default)]
    pub(super) struct RunError<'a> {
        pub(super) error_kind: Option<&'a str>,
        pub(super) error_message: Option<&'a str>,
    }

    pub(super) struct Status<'a> {
        pub(super) status: &'a str,
        pub(super) reason: Option<&'a str>,
        pub(super) error: Flat<RunError<'a>>,
    }

    pub(super) struct Chunk<'a> {
        pub(super) chunk: &'a str,
    }

    pub(super) struct Reasoning<'a> {
        pub(super) item: &'a RawValue,
        pub(super) model: &'a str,
    }

    pub(super) struct ToolCall<'a> {
        pub(super) call_id: &'a str,
        pub(super) name: &'a str,
        pub(super) args: &'a RawValue,
        pub(super) subagent_id: Option<&'a str>,
    }

    pub(super) struct ToolResult<'a> {
        pub(super) call_id: &'a str,
        pub(super) ok: bool,
        pub(super) output: Option<&'a str>,
        pub(super) error: Option<ToolError<'a>>,
        pub(super) artifacts: Option<&'a RawValue>,
        pub(super) subagent_id: Option<&'a str>,
    }

    pub(super) struct ToolError<'a> {
        pub(super) kind: Word,
        pub(super) message: &'a str,
        pub(super) details: ToolErrorDetails<'a>,
    }

    #[derive(Default)]
    pub(super) struct ToolErrorDetails<'a> {
        pub(super) call_id: Option<&'a str>,
        pub(super) tool: Option<&'a str>,
        pub(super) reason: Option<&'a str>,
        pub(super) exit_code: Option<i32>,
        pub(super) output: Option<&'a str>,
    }

    pub(super) struct PermissionDecision<'a> {
        pub(super) call_id: &'a str,
        pub(super) decision: Word,
        pub(super) tool: Option<&'a str>,
        pub(super) approval_id: &'a str,
        pub(super) outcome: Option<Word>,
        pub(super) by: Option<&'a str>,
        pub(super) reason: Option<&'a str>,
        pub(super) scope: Option<&'a str>,
        pub(super) subagent_id: Option<&'a str>,
    }

    pub(super) struct ProviderUsage<'a> {
        pub(super) model: Option<&'a str>,
        pub(super) call_index: Option<u64>,
        pub(super) scope: Word,
        pub(super) usage_summary: UsageSummary,
        pub(super) subagent_id: Option<&'a str>,
    }

    /// Tokens and cost. `input_tokens` excludes cached ones; `reasoning_tokens` is a part of `output_tokens`.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub(super) struct UsageSummary {
        pub(super) input_tokens: Option<u64>,
        pub(super) output_tokens: Option<u64>,
        pub(super) cache_read_tokens: Option<u64>,
        pub(super) cache_creation_tokens: Option<u64>,
        pub(super) reasoning_tokens: Option<u64>,
        pub(super) cost_usd: Option<f64>,
    }

    pub(super) struct SubagentEvent<'a> {
        pub(super) subagent_id: &'a str,
        pub(super) child_session_id: &'a str,
        pub(super) event: Word,
        pub(super) status: &'a str,
        pub(super) agent: Option<&'a str>,
        pub(super) task: Option<&'a str>,
        pub(super) depth: Option<u32>,
        pub(super) summary: Option<&'a str>,
    }

    pub(super) struct HistoryCompaction<'a> {
        pub(super) summary: Option<&'a str>,
        pub(super) trigger: Option<&'a str>,
        pub(super) tokens_before: Option<u64>,
        pub(super) tokens_after: Option<u64>,
    }

    pub(super) struct ContextPressure {
        pub(super) tier: Word,
        pub(super) message: Word,
        pub(super) tokens_before: Option<u64>,
        pub(super) tokens_after: Option<u64>,
    }

    pub(super) struct SkillActivation<'a> {
        pub(super) name: &'a str,
        pub(super) args: Option<&'a RawValue>,
        pub(super) mode: Word,
        pub(super) effective_allowed_tools: Option<&'a [String]>,
    }

    pub(super) struct Plan<'a> {
        pub(super) entries: Vec<Entry<'a>>,
    }

    pub(super) struct Entry<'a> {
        content: &'a str,
        priority: Word,
        status: Word,
    }
}

impl<'a> Entry<'a> {
    /// The document has three values for each; any other value is mapped to the weakest one.
    pub(super) fn of(entry: &'a PlanEntry) -> Self {
        let priority = match entry.priority.as_deref() {
            Some("high") => Word("high"),
            Some("low") => Word("low"),
            _ => Word("medium"),
        };
        let status = match &*entry.status {
            "in_progress" => Word("in_progress"),
            // A cancelled entry needs no more work.
            "completed" | "cancelled" => Word("completed"),
            _ => Word("pending"),
        };
        Self { content: &entry.content, priority, status }
    }
}
