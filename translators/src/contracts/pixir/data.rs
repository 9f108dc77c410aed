//! The `data` of each event type, as it is written: what is not known is left out.

use crate::frame::{Attachment, PlanEntry};
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
pub(super) struct UserMessage<'a> {
    pub(super) text: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) resources: Vec<Resource<'a>>,
}

/// What is attached to a message, by identity and hash.
#[derive(Serialize)]
pub(super) struct Resource<'a> {
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

impl<'a> Resource<'a> {
    pub(super) fn of(attachment: &'a Attachment) -> Self {
        Self {
            kind: &attachment.kind,
            mime: attachment.mime.as_deref(),
            // A name that holds the content itself is none.
            name: attachment.name.as_deref().filter(|name| !name.starts_with("data:")),
            hash: attachment.artifact_id.as_deref(),
            bytes: attachment.bytes,
        }
    }
}

#[derive(Serialize)]
pub(super) struct AssistantMessage<'a> {
    pub(super) text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Metadata<'a>>,
}

/// How a run ended that did not end well.
#[derive(Serialize)]
pub(super) struct Metadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) partial: Option<bool>,
    pub(super) terminal_status: &'static str,
    #[serde(flatten)]
    pub(super) error: RunError<'a>,
}

/// What went wrong with a run.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct RunError<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error_kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error_message: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct Status<'a> {
    pub(super) status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    #[serde(flatten)]
    pub(super) error: RunError<'a>,
}

#[derive(Serialize)]
pub(super) struct Chunk<'a> {
    pub(super) chunk: &'a str,
}

#[derive(Serialize)]
pub(super) struct Reasoning<'a> {
    pub(super) item: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct ToolCall<'a> {
    pub(super) call_id: &'a str,
    pub(super) name: &'a str,
    pub(super) args: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subagent_id: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct ToolResult<'a> {
    pub(super) call_id: &'a str,
    pub(super) ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<ToolError<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) artifacts: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subagent_id: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct ToolError<'a> {
    pub(super) kind: &'static str,
    pub(super) message: &'a str,
    pub(super) details: ToolErrorDetails<'a>,
}

#[derive(Default, Serialize)]
pub(super) struct ToolErrorDetails<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct PermissionDecision<'a> {
    pub(super) call_id: &'a str,
    pub(super) decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<&'a str>,
    pub(super) approval_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subagent_id: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct ProviderUsage<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call_index: Option<u64>,
    pub(super) scope: &'static str,
    pub(super) usage_summary: UsageSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subagent_id: Option<&'a str>,
}

/// Tokens and money. `input_tokens` were read outside the cache; `reasoning_tokens` are a part of `output_tokens`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct UsageSummary {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_read_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_creation_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_usd: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct SubagentEvent<'a> {
    pub(super) subagent_id: &'a str,
    pub(super) child_session_id: &'a str,
    pub(super) event: &'static str,
    pub(super) status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct HistoryCompaction<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trigger: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens_before: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens_after: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct ContextPressure {
    pub(super) tier: &'static str,
    pub(super) message: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens_before: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens_after: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct SkillActivation<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) args: Option<&'a RawValue>,
    pub(super) mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effective_allowed_tools: Option<&'a [String]>,
}

#[derive(Serialize)]
pub(super) struct Plan<'a> {
    pub(super) entries: Vec<Entry<'a>>,
}

#[derive(Serialize)]
pub(super) struct Entry<'a> {
    content: &'a str,
    priority: &'static str,
    status: &'static str,
}

impl<'a> Entry<'a> {
    /// The document has three words for each; a word that is none of them becomes the one that claims least.
    pub(super) fn of(entry: &'a PlanEntry) -> Self {
        let priority = match entry.priority.as_deref() {
            Some("high") => "high",
            Some("low") => "low",
            _ => "medium",
        };
        let status = match &*entry.status {
            "in_progress" => "in_progress",
            // What was given up is not to be done any more.
            "completed" | "cancelled" => "completed",
            _ => "pending",
        };
        Self { content: &entry.content, priority, status }
    }
}
