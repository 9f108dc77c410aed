"""The events of claude-code.v1, from its JSON Schemas."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from .._compat import NotRequired


class AssistantEventMessageContentItem(TypedDict):
    """A content block."""

    type: Literal["text", "thinking", "redacted_thinking", "tool_use"]
    """The kind of block."""
    text: NotRequired[str]
    """Of a text: the text."""
    thinking: NotRequired[str]
    """Of thinking: the text."""
    signature: NotRequired[str]
    """Of thinking: the provider's signature; empty if there is none."""
    data: NotRequired[str]
    """Of redacted thinking: the provider's encrypted item."""
    id: NotRequired[str]
    """Of a call: the runner's own id."""
    name: NotRequired[str]
    """Of a call: the tool's name as the runner spells it; empty if the runner gave none."""
    input: NotRequired[dict[str, Any]]
    """Of a call: the arguments. Text that is no object is in `__unparsedToolInput`."""


class AssistantEventMessageUsageOutputTokensDetails(TypedDict):
    """Absent if unknown."""

    thinking_tokens: int
    """The part of output_tokens that was reasoning."""


class AssistantEventMessageUsage(TypedDict):
    """Always 0: the figures come later, in message_delta and in the result."""

    input_tokens: int
    """Tokens read, without cached ones."""
    cache_creation_input_tokens: int
    """Tokens written to the cache; 0 if unknown."""
    cache_read_input_tokens: int
    """Tokens read from the cache; 0 if unknown."""
    output_tokens: int
    """Tokens written, including reasoning."""
    output_tokens_details: NotRequired[AssistantEventMessageUsageOutputTokensDetails]
    """Absent if unknown."""


class AssistantEventMessage(TypedDict):
    """The model message with this block."""

    id: str
    """The model message. All its blocks have the same."""
    type: Literal["message"]
    """Always `message`."""
    role: Literal["assistant"]
    """Always the assistant."""
    model: str
    """The model, or the runner if the model is unknown; `<synthetic>` if the runner wrote the message."""
    content: list[AssistantEventMessageContentItem]
    """The block."""
    stop_reason: Literal["stop_sequence", None]
    """Null: message_delta and the result have the reason. `stop_sequence` for an error."""
    stop_sequence: None
    """Always null."""
    usage: AssistantEventMessageUsage
    """Always 0: the figures come later, in message_delta and in the result."""


class AssistantEvent(TypedDict):
    """A finished block of a model message, or an error in the model's place."""

    type: Literal["assistant"]
    """The message's type."""
    message: AssistantEventMessage
    """The model message with this block."""
    error: NotRequired[Literal["authentication_failed", "billing_error", "rate_limit", "overloaded", "invalid_request", "model_not_found", "server_error", "max_output_tokens", "unknown"]]
    """The kind of error that the text describes. Absent if the model wrote it."""
    is_api_error_message: NotRequired[bool]
    """True if the text describes an error. Absent otherwise."""
    api_error_status: NotRequired[int]
    """The HTTP status of the error. Absent if unknown."""
    resume_reason: NotRequired[str]
    """Which message was withheld, and why. Absent otherwise."""
    parent_tool_use_id: str | None
    """The call that started the subagent; null for the main thread."""
    session_id: str
    """The session."""
    uuid: str
    """The message's id, derived from the run and the message's number, so that it is the same in a replay."""
    timestamp: str
    """When it happened."""


class ControlCancelRequestEvent(TypedDict):
    """A question was decided, or its run is over."""

    type: Literal["control_cancel_request"]
    """The message's type."""
    request_id: str
    """The approval's id."""


class ControlRequestEventRequest(TypedDict):
    """The question."""

    subtype: Literal["can_use_tool"]
    """Always `can_use_tool`."""
    tool_name: str
    """The tool."""
    input: dict[str, Any]
    """The arguments to approve."""
    tool_use_id: str
    """The call; the approval's id if the question is about no call."""
    decision_reason: NotRequired[str]
    """Why the runner asks. Absent if unknown."""
    agent_id: NotRequired[str]
    """The call that started the subagent which asks. Absent for the main thread."""


class ControlRequestEvent(TypedDict):
    """A question about a call. framegate's own endpoints take the decision, under the request's id."""

    type: Literal["control_request"]
    """The message's type."""
    request_id: str
    """The approval's id."""
    request: ControlRequestEventRequest
    """The question."""


class ResultEventUsageOutputTokensDetails(TypedDict):
    """Absent if unknown."""

    thinking_tokens: int
    """The part of output_tokens that was reasoning."""


class ResultEventUsage(TypedDict):
    """The usage of the main thread; of the whole run if the runner does not tell them apart."""

    input_tokens: int
    """Tokens read, without cached ones."""
    cache_creation_input_tokens: int
    """Tokens written to the cache; 0 if unknown."""
    cache_read_input_tokens: int
    """Tokens read from the cache; 0 if unknown."""
    output_tokens: int
    """Tokens written, including reasoning."""
    output_tokens_details: NotRequired[ResultEventUsageOutputTokensDetails]
    """Absent if unknown."""


class ResultEventPermissionDenialsItem(TypedDict):
    """A call."""

    tool_name: str
    """The tool."""
    tool_use_id: str
    """The call."""
    tool_input: dict[str, Any]
    """The arguments; empty beyond 1 MiB of all arguments."""


class ResultEvent(TypedDict):
    """The end of a run."""

    type: Literal["result"]
    """The message's type."""
    subtype: Literal["success", "error_during_execution", "error_max_turns", "error_max_budget_usd", "error_max_structured_output_retries"]
    """How it ended. A failed run has `success` and `is_error`, unless it reached a limit."""
    is_error: bool
    """Whether the run failed or was interrupted."""
    result: NotRequired[str]
    """Of success: the last text, or the error."""
    errors: NotRequired[list[str]]
    """Of other subtypes: what went wrong."""
    duration_ms: int
    """Milliseconds from the first frame to the last."""
    duration_api_ms: int
    """Always 0, because frames do not know it."""
    num_turns: int
    """One more than the main thread's `user` messages with results."""
    stop_reason: Literal["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal", "model_context_window_exceeded", None]
    """Why the model stopped last; null if unknown."""
    total_cost_usd: float
    """US dollars; 0 if unknown."""
    usage: ResultEventUsage
    """The usage of the main thread; of the whole run if the runner does not tell them apart."""
    modelUsage: dict[str, Any]
    """All models of the run, subagents too: `inputTokens`, `outputTokens`, `cacheReadInputTokens`, `cacheCreationInputTokens`, `costUSD` and, if known, `thinkingTokens` by model. The other fields are 0, because frames do not know them."""
    model_usage_since_last_result: NotRequired[dict[str, Any]]
    """The same figures: they are those of this run. Absent if there are none."""
    permission_denials: list[ResultEventPermissionDenialsItem]
    """The calls that were refused, up to 100."""
    terminal_reason: NotRequired[Literal["completed", "api_error", "max_turns", "budget_exhausted", "structured_output_retry_exhausted", "model_error", "aborted_streaming", "aborted_tools"]]
    """Why the run ended. Absent for a run that is no longer kept."""
    api_error_type: NotRequired[str]
    """The run's own error code. Absent if it has none."""
    session_id: str
    """The session."""
    uuid: str
    """The message's id, derived from the run and the message's number, so that it is the same in a replay."""


class StreamEventEventMessageUsageOutputTokensDetails(TypedDict):
    """Absent if unknown."""

    thinking_tokens: int
    """The part of output_tokens that was reasoning."""


class StreamEventEventMessageUsage(TypedDict):
    """Always 0: message_delta has the figures."""

    input_tokens: int
    """Tokens read, without cached ones."""
    cache_creation_input_tokens: int
    """Tokens written to the cache; 0 if unknown."""
    cache_read_input_tokens: int
    """Tokens read from the cache; 0 if unknown."""
    output_tokens: int
    """Tokens written, including reasoning."""
    output_tokens_details: NotRequired[StreamEventEventMessageUsageOutputTokensDetails]
    """Absent if unknown."""


class StreamEventEventMessage(TypedDict):
    """Of message_start: the message without its blocks."""

    id: str
    """The model message."""
    type: Literal["message"]
    """Always `message`."""
    role: Literal["assistant"]
    """Always the assistant."""
    model: str
    """The model, or the runner if the model is unknown."""
    content: list[Any]
    """Always empty."""
    stop_reason: None
    """Always null."""
    stop_sequence: None
    """Always null."""
    usage: StreamEventEventMessageUsage
    """Always 0: message_delta has the figures."""


class StreamEventEventContentBlock(TypedDict):
    """Of content_block_start: the block, still empty. Redacted thinking is whole."""

    type: Literal["text", "thinking", "redacted_thinking", "tool_use"]
    """The kind of block."""
    text: NotRequired[str]
    """Of a text: the text."""
    thinking: NotRequired[str]
    """Of thinking: the text."""
    signature: NotRequired[str]
    """Of thinking: the provider's signature; empty if there is none."""
    data: NotRequired[str]
    """Of redacted thinking: the provider's encrypted item."""
    id: NotRequired[str]
    """Of a call: the runner's own id."""
    name: NotRequired[str]
    """Of a call: the tool's name as the runner spells it; empty if the runner gave none."""
    input: NotRequired[dict[str, Any]]
    """Of a call: the arguments. Text that is no object is in `__unparsedToolInput`."""


class StreamEventEventUsageOutputTokensDetails(TypedDict):
    """Absent if unknown."""

    thinking_tokens: int
    """The part of output_tokens that was reasoning."""


class StreamEventEventUsage(TypedDict):
    """Of message_delta: the usage of the calls that were reported since the last one; 0 if unknown."""

    input_tokens: int
    """Tokens read, without cached ones."""
    cache_creation_input_tokens: int
    """Tokens written to the cache; 0 if unknown."""
    cache_read_input_tokens: int
    """Tokens read from the cache; 0 if unknown."""
    output_tokens: int
    """Tokens written, including reasoning."""
    output_tokens_details: NotRequired[StreamEventEventUsageOutputTokensDetails]
    """Absent if unknown."""


class StreamEventEvent(TypedDict):
    """The event of the API."""

    type: Literal["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"]
    """What happens."""
    message: NotRequired[StreamEventEventMessage]
    """Of message_start: the message without its blocks."""
    index: NotRequired[int]
    """Of a block: its place in the message, from 0 without gaps."""
    content_block: NotRequired[StreamEventEventContentBlock]
    """Of content_block_start: the block, still empty. Redacted thinking is whole."""
    delta: NotRequired[dict[str, Any]]
    """Of content_block_delta: the piece. Of message_delta: why the model stopped."""
    usage: NotRequired[StreamEventEventUsage]
    """Of message_delta: the usage of the calls that were reported since the last one; 0 if unknown."""


class StreamEvent(TypedDict):
    """A piece of a model message of the main thread, as the Messages API streams it. Experimental: on request only."""

    type: Literal["stream_event"]
    """The message's type."""
    event: StreamEventEvent
    """The event of the API."""
    api_message_id: str
    """The model message."""
    resume_reason: NotRequired[str]
    """Which message was withheld, and why. Absent otherwise."""
    parent_tool_use_id: None
    """Always null: subagents are not streamed."""
    session_id: str
    """The session."""
    uuid: str
    """The message's id, derived from the run and the message's number, so that it is the same in a replay."""


class SystemEventPluginErrorsItem(TypedDict):
    """A message of framegate."""

    plugin: Literal["framegate"]
    """Always `framegate`."""
    type: Literal["event_withheld"]
    """Always `event_withheld`."""
    message: str
    """Which message was withheld, and why."""


class SystemEventCompactMetadata(TypedDict):
    """Of compact_boundary: what is known about the compaction."""

    trigger: Literal["manual", "auto"]
    """Who asked for it."""
    pre_tokens: int
    """Tokens of context before; 0 if unknown."""
    post_tokens: NotRequired[int]
    """Tokens of context after. Absent if unknown."""


class SystemEventPatch(TypedDict):
    """Of task_updated: what changed."""

    status: Literal["completed", "failed", "killed"]
    """How the task ended."""
    end_time: int
    """When it ended, in Unix epoch milliseconds."""
    error: NotRequired[str]
    """What went wrong. Absent if nothing did."""


class SystemEvent(TypedDict):
    """What happens besides messages of the model and the user. `subtype` decides which fields it has."""

    type: Literal["system"]
    """The message's type."""
    subtype: Literal["init", "informational", "api_retry", "status", "compact_boundary", "task_started", "task_updated", "task_notification"]
    """What happened."""
    cwd: NotRequired[str]
    """Of init: empty, because frames do not know it."""
    model: NotRequired[str]
    """Of init: the model of the first turn, or the runner if it is unknown."""
    permissionMode: NotRequired[Literal["default"]]
    """Of init: always `default`."""
    apiKeySource: NotRequired[Literal["none"]]
    """Of init: always `none`."""
    claude_code_version: NotRequired[str]
    """Of init: the release of Claude Code whose messages these are."""
    output_style: NotRequired[Literal["default"]]
    """Of init: always `default`."""
    tools: NotRequired[list[Any]]
    """Of init: always empty, because frames do not know them."""
    mcp_servers: NotRequired[list[Any]]
    """Of init: always empty, because frames do not know them."""
    slash_commands: NotRequired[list[Any]]
    """Of init: always empty, because frames do not know them."""
    agents: NotRequired[list[Any]]
    """Of init: always empty, because frames do not know them."""
    skills: NotRequired[list[Any]]
    """Of init: always empty, because frames do not know them."""
    plugins: NotRequired[list[Any]]
    """Of init: always empty, because frames do not know them."""
    plugin_errors: NotRequired[list[SystemEventPluginErrorsItem]]
    """Of init: why its content is missing. Absent otherwise."""
    content: NotRequired[str]
    """Of informational: the text."""
    level: NotRequired[Literal["info", "warning"]]
    """Of informational: how severe it is."""
    tag: NotRequired[Literal["event_withheld"]]
    """Of informational: the line replaces a withheld message. Absent otherwise."""
    attempt: NotRequired[int]
    """Of api_retry: which attempt failed, from 1."""
    max_retries: NotRequired[int]
    """Of api_retry: the maximum number of attempts."""
    retry_delay_ms: NotRequired[int]
    """Of api_retry: always 0, because frames do not know it."""
    error_status: NotRequired[int | None]
    """Of api_retry: the HTTP status; null if unknown."""
    error: NotRequired[Literal["authentication_failed", "billing_error", "rate_limit", "overloaded", "invalid_request", "model_not_found", "server_error", "max_output_tokens", "unknown"]]
    """Of api_retry: what went wrong."""
    status: NotRequired[Literal["compacting", "completed", "failed", "stopped", None]]
    """Of status: what the runner does; null if it works as usual again. Of task_notification: how the task ended: `completed`, `failed`, `stopped`."""
    compact_result: NotRequired[Literal["success", "failed"]]
    """Of status: how the compaction ended."""
    compact_error: NotRequired[str]
    """Of status: why it failed. Absent if it did not."""
    compact_metadata: NotRequired[SystemEventCompactMetadata]
    """Of compact_boundary: what is known about the compaction."""
    logical_parent_uuid: NotRequired[None]
    """Of compact_boundary: always null."""
    task_id: NotRequired[str]
    """Of tasks: the subagent's or the background task's id."""
    tool_use_id: NotRequired[str]
    """Of tasks: the call that started the subagent. Absent if unknown."""
    description: NotRequired[str]
    """Of task_started: the beginning of the subagent's task, or the task's title."""
    task_type: NotRequired[Literal["local_agent", "background"]]
    """Of task_started: a subagent, or a background task."""
    is_backgrounded: NotRequired[bool]
    """Of task_started: true for a background task. Absent for a subagent."""
    subagent_type: NotRequired[str]
    """Of task_started: the kind of agent. Absent if unknown."""
    spawn_depth: NotRequired[int]
    """Of task_started: 1 for a subagent of the main thread, 2 for its subagent."""
    prompt: NotRequired[str]
    """Of task_started: the subagent's task. Absent if unknown."""
    patch: NotRequired[SystemEventPatch]
    """Of task_updated: what changed."""
    output_file: NotRequired[str]
    """Of task_notification: always empty."""
    summary: NotRequired[str]
    """Of task_notification: what the subagent reported, or how the task ended."""
    session_id: str
    """The session."""
    uuid: str
    """The message's id, derived from the run and the message's number, so that it is the same in a replay."""


class UserEventMessageContentItem(TypedDict):
    """A result or a text."""

    type: Literal["tool_result", "text"]
    """The kind of block."""
    tool_use_id: NotRequired[str]
    """Of a result: the call."""
    content: NotRequired[str]
    """Of a result: the output, then the standard error, up to 1 MiB of each; or why the tool did not run."""
    is_error: NotRequired[bool]
    """Of a result: true if the tool failed or did not run. Absent otherwise."""
    text: NotRequired[str]
    """Of a text: the text."""


class UserEventMessage(TypedDict):
    """The message."""

    role: Literal["user"]
    """Always the user."""
    content: list[UserEventMessageContentItem]
    """One block."""


class UserEventToolResultMetaItem(TypedDict):
    """The call."""

    id: str
    """The call."""
    non_execution_kind: Literal["user-rejected", "interrupted", "cancelled"]
    """Why it did not run."""


class UserEvent(TypedDict):
    """The result of a call; or a message of the user, or the summary of a compaction."""

    type: Literal["user"]
    """The message's type."""
    message: UserEventMessage
    """The message."""
    tool_result_meta: NotRequired[list[UserEventToolResultMetaItem]]
    """Why the tool did not run. Absent if it did."""
    isReplay: NotRequired[bool]
    """True for a message of the user. Absent otherwise."""
    isSynthetic: NotRequired[bool]
    """True for a summary. Absent otherwise."""
    parent_tool_use_id: str | None
    """The call that started the subagent; null for the main thread."""
    session_id: str
    """The session."""
    uuid: str
    """The message's id, derived from the run and the message's number, so that it is the same in a replay."""
    timestamp: str
    """When it happened."""


ClaudeCodeV1Event: TypeAlias = (
    AssistantEvent
    | ControlCancelRequestEvent
    | ControlRequestEvent
    | ResultEvent
    | StreamEvent
    | SystemEvent
    | UserEvent
)
"""Any event of claude-code.v1."""
