"""The events of pixir.v1, from its JSON Schemas."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from .._compat import NotRequired


class AssistantMessageEventDataMetadata(TypedDict):
    """How the run ended, where it did not end well."""

    partial: NotRequired[bool]
    """Whether the text was cut."""
    terminal_status: NotRequired[str]
    """The word of the terminal status."""
    error_kind: NotRequired[str]
    """A stable word for what went wrong."""
    error_message: NotRequired[str]
    """What a person is told of it."""


class AssistantMessageEventData(TypedDict):
    """What the type says."""

    text: str
    """The whole text."""
    metadata: NotRequired[AssistantMessageEventDataMetadata]
    """How the run ended, where it did not end well."""


class AssistantMessageEvent(TypedDict):
    """What the assistant said, whole: the text_delta chunks since the last one."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: int
    """Order within the session, from 0; canonical events only."""
    ts: str
    """When it happened."""
    type: Literal["assistant_message"]
    """The event's type."""
    data: AssistantMessageEventData
    """What the type says."""


class BranchSummaryEvent(TypedDict):
    """A summary of the context that was carried into a fork."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: int
    """Order within the session, from 0; canonical events only."""
    ts: str
    """When it happened."""
    type: Literal["branch_summary"]
    """The event's type."""
    data: dict[str, Any]
    """What the type says."""


class ContextPressureEventData(TypedDict):
    """What the type says."""

    tier: str
    """advisory, warning, recovery, or another word."""
    message: NotRequired[str]
    """What a person is told."""
    next_actions: NotRequired[list[Any]]
    """What can be done."""
    tokens_before: NotRequired[int]
    """Tokens of context before."""
    tokens_after: NotRequired[int]
    """Tokens of context after."""


class ContextPressureEvent(TypedDict):
    """The context is getting full."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: None
    """Ephemeral events have no number and are not logged."""
    ts: str
    """When it happened."""
    type: Literal["context_pressure"]
    """The event's type."""
    data: ContextPressureEventData
    """What the type says."""


class HistoryCompactionEventData(TypedDict):
    """What the type says."""

    summary: NotRequired[str]
    """The summary."""
    trigger: NotRequired[str]
    """manual, auto, or the runner's own word."""
    tokens_before: NotRequired[int]
    """Tokens of context before."""
    tokens_after: NotRequired[int]
    """Tokens of context after."""


class HistoryCompactionEvent(TypedDict):
    """A part of the history was replaced by a summary."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: int
    """Order within the session, from 0; canonical events only."""
    ts: str
    """When it happened."""
    type: Literal["history_compaction"]
    """The event's type."""
    data: HistoryCompactionEventData
    """What the type says."""


class PermissionDecisionEventData(TypedDict):
    """What the type says."""

    call_id: str
    """The call; the question's own id where it names no call."""
    decision: Literal["allow", "deny"]
    """What was decided."""
    tool: NotRequired[str]
    """The tool."""
    approval_id: NotRequired[str]
    """The question."""
    outcome: NotRequired[str]
    """timed_out or cancelled: nobody decided."""
    by: NotRequired[str]
    """Who decided."""
    reason: NotRequired[str]
    """Why."""
    scope: NotRequired[str]
    """How far it reaches."""
    subagent_id: NotRequired[str]
    """The subagent that did it; absent where the main thread did."""


class PermissionDecisionEvent(TypedDict):
    """It was decided whether a tool may run."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: int
    """Order within the session, from 0; canonical events only."""
    ts: str
    """When it happened."""
    type: Literal["permission_decision"]
    """The event's type."""
    data: PermissionDecisionEventData
    """What the type says."""


class PlanEventDataEntriesItem(TypedDict):
    """One entry."""

    content: str
    """What is to be done."""
    priority: Literal["high", "medium", "low"]
    """How urgent it is."""
    status: Literal["pending", "in_progress", "completed"]
    """How far it is."""


class PlanEventData(TypedDict):
    """What the type says."""

    entries: list[PlanEventDataEntriesItem]
    """All entries, in order."""


class PlanEvent(TypedDict):
    """The whole plan, whenever any of it changed."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: None
    """Ephemeral events have no number and are not logged."""
    ts: str
    """When it happened."""
    type: Literal["plan"]
    """The event's type."""
    data: PlanEventData
    """What the type says."""


class ProviderUsageEventDataUsageSummary(TypedDict):
    """Tokens and money; what is not known is absent."""

    input_tokens: NotRequired[int]
    """Read outside the cache."""
    output_tokens: NotRequired[int]
    """Written, reasoning included."""
    cache_read_tokens: NotRequired[int]
    """Read from the cache."""
    cache_creation_tokens: NotRequired[int]
    """Written to the cache."""
    reasoning_tokens: NotRequired[int]
    """The part of output_tokens that was reasoning."""
    cost_usd: NotRequired[float]
    """US dollars."""


class ProviderUsageEventData(TypedDict):
    """What the type says."""

    model: NotRequired[str]
    """The model."""
    call_index: NotRequired[int]
    """Counts the run's model calls from 0; absent on a total."""
    scope: NotRequired[str]
    """turn for one model call, run for a total."""
    usage_summary: NotRequired[ProviderUsageEventDataUsageSummary]
    """Tokens and money; what is not known is absent."""
    subagent_id: NotRequired[str]
    """The subagent that did it; absent where the main thread did."""


class ProviderUsageEvent(TypedDict):
    """What one model call used, or what a runner's own total adds to its calls."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: int
    """Order within the session, from 0; canonical events only."""
    ts: str
    """When it happened."""
    type: Literal["provider_usage"]
    """The event's type."""
    data: ProviderUsageEventData
    """What the type says."""


class ReasoningEventData(TypedDict):
    """What the type says."""

    item: dict[str, Any]
    """The provider's own object, untouched."""
    model: str
    """The model that made it; unknown where the runner does not tell."""


class ReasoningEvent(TypedDict):
    """An item of the model's reasoning that only its provider can read; it goes back to the provider as it is."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: int
    """Order within the session, from 0; canonical events only."""
    ts: str
    """When it happened."""
    type: Literal["reasoning"]
    """The event's type."""
    data: ReasoningEventData
    """What the type says."""


class ReasoningDeltaEventData(TypedDict):
    """What the type says."""

    chunk: str
    """The piece."""


class ReasoningDeltaEvent(TypedDict):
    """A piece of the model's reasoning."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: None
    """Ephemeral events have no number and are not logged."""
    ts: str
    """When it happened."""
    type: Literal["reasoning_delta"]
    """The event's type."""
    data: ReasoningDeltaEventData
    """What the type says."""


class SessionForkEvent(TypedDict):
    """The session was forked from another one: its lineage, which is no part of the conversation."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: int
    """Order within the session, from 0; canonical events only."""
    ts: str
    """When it happened."""
    type: Literal["session_fork"]
    """The event's type."""
    data: dict[str, Any]
    """What the type says."""


class SkillActivationEventData(TypedDict):
    """What the type says."""

    name: str
    """The skill."""
    args: NotRequired[Any]
    """What it was given."""
    mode: NotRequired[str]
    """manual or auto: who chose."""
    effective_allowed_tools: NotRequired[list[str]]
    """The tools that it may use."""
    source: NotRequired[str]
    """Where it comes from."""
    scope: NotRequired[str]
    """How far it reaches."""
    path: NotRequired[str]
    """Where it lies."""
    hash: NotRequired[str]
    """The hash of its content."""
    content: NotRequired[str]
    """Its text."""


class SkillActivationEvent(TypedDict):
    """A skill was chosen for the turn."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: int
    """Order within the session, from 0; canonical events only."""
    ts: str
    """When it happened."""
    type: Literal["skill_activation"]
    """The event's type."""
    data: SkillActivationEventData
    """What the type says."""


class StatusEventData(TypedDict):
    """What the type says."""

    status: str
    """thinking, done, error, interrupted, or another word."""
    reason: NotRequired[str]
    """Why."""
    error_kind: NotRequired[str]
    """A stable word for what went wrong."""
    error_message: NotRequired[str]
    """What a person is told of it."""


class StatusEvent(TypedDict):
    """The session went from one state to another. done, error and interrupted end the turn."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: None
    """Ephemeral events have no number and are not logged."""
    ts: str
    """When it happened."""
    type: Literal["status"]
    """The event's type."""
    data: StatusEventData
    """What the type says."""


class SubagentEventData(TypedDict):
    """What the type says."""

    subagent_id: str
    """The subagent."""
    child_session_id: NotRequired[str]
    """The session that it has for itself."""
    event: str
    """started, ended, or another word."""
    status: str
    """running, completed, failed, cancelled, interrupted, or another word."""
    agent: NotRequired[str]
    """The kind of agent."""
    task: NotRequired[str]
    """What it was told to do."""
    depth: NotRequired[int]
    """1 for a child of the main thread."""
    workspace: NotRequired[Any]
    """Where it works."""
    summary: NotRequired[str]
    """What it reported."""


class SubagentEvent(TypedDict):
    """Something in a subagent's life that its parent sees."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: int
    """Order within the session, from 0; canonical events only."""
    ts: str
    """When it happened."""
    type: Literal["subagent_event"]
    """The event's type."""
    data: SubagentEventData
    """What the type says."""


class TextDeltaEventData(TypedDict):
    """What the type says."""

    chunk: str
    """The piece."""


class TextDeltaEvent(TypedDict):
    """A piece of the assistant's text."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: None
    """Ephemeral events have no number and are not logged."""
    ts: str
    """When it happened."""
    type: Literal["text_delta"]
    """The event's type."""
    data: TextDeltaEventData
    """What the type says."""


class ToolCallEventData(TypedDict):
    """What the type says."""

    call_id: str
    """The call."""
    name: str
    """The tool."""
    args: dict[str, Any]
    """The model's arguments."""
    subagent_id: NotRequired[str]
    """The subagent that did it; absent where the main thread did."""


class ToolCallEvent(TypedDict):
    """The model asked for a tool to run."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: int
    """Order within the session, from 0; canonical events only."""
    ts: str
    """When it happened."""
    type: Literal["tool_call"]
    """The event's type."""
    data: ToolCallEventData
    """What the type says."""


class ToolResultEventDataError(TypedDict):
    """What went wrong."""

    kind: str
    """tool_error, tool_failed, permission_denied, orphan_tool_call, or another stable word."""
    message: str
    """What a person is told."""
    details: NotRequired[dict[str, Any]]
    """More of it, such as exit_code and output."""


class ToolResultEventData(TypedDict):
    """What the type says."""

    call_id: str
    """The call."""
    ok: bool
    """Whether it went well."""
    output: NotRequired[Any]
    """What it gave, where it went well."""
    error: NotRequired[ToolResultEventDataError]
    """What went wrong."""
    artifacts: NotRequired[dict[str, Any]]
    """References to stored objects."""
    subagent_id: NotRequired[str]
    """The subagent that did it; absent where the main thread did."""


class ToolResultEvent(TypedDict):
    """What came of a tool call."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: int
    """Order within the session, from 0; canonical events only."""
    ts: str
    """When it happened."""
    type: Literal["tool_result"]
    """The event's type."""
    data: ToolResultEventData
    """What the type says."""


class UserMessageEventDataResourcesItem(TypedDict):
    """One resource."""

    kind: NotRequired[str]
    """image, file, or the runner's own word."""
    mime: NotRequired[str]
    """The media type."""
    name: NotRequired[str]
    """A file name or path."""
    hash: NotRequired[str]
    """sha256: and the digest in hexadecimal digits."""
    bytes: NotRequired[int]
    """Size of the content."""


class UserMessageEventData(TypedDict):
    """What the type says."""

    text: str
    """What was said."""
    resources: NotRequired[list[UserMessageEventDataResourcesItem]]
    """What is attached, by identity and hash; never its content."""


class UserMessageEvent(TypedDict):
    """A person said something; it opens a turn."""

    id: str
    """Unique event identifier."""
    session_id: str
    """The session."""
    seq: int
    """Order within the session, from 0; canonical events only."""
    ts: str
    """When it happened."""
    type: Literal["user_message"]
    """The event's type."""
    data: UserMessageEventData
    """What the type says."""


PixirV1Event: TypeAlias = (
    AssistantMessageEvent
    | BranchSummaryEvent
    | ContextPressureEvent
    | HistoryCompactionEvent
    | PermissionDecisionEvent
    | PlanEvent
    | ProviderUsageEvent
    | ReasoningEvent
    | ReasoningDeltaEvent
    | SessionForkEvent
    | SkillActivationEvent
    | StatusEvent
    | SubagentEvent
    | TextDeltaEvent
    | ToolCallEvent
    | ToolResultEvent
    | UserMessageEvent
)
"""Any event of pixir.v1."""
