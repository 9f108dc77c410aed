"""The events of agent-manager.v1, from its JSON Schemas."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from .._compat import NotRequired


class ErrorEventData(TypedDict):
    """What the type says."""

    code: str
    """Machine-readable code."""
    message: str
    """What a person is told."""
    retryable: bool
    """Whether trying again may help."""


class ErrorEvent(TypedDict):
    """Something went wrong."""

    id: str
    """Unique event identifier."""
    runId: str
    """The run."""
    sequence: int
    """Order within the run, from 0."""
    eventType: Literal["error"]
    """The event's type."""
    timestamp: str
    """When it happened."""
    data: ErrorEventData
    """What the type says."""


class LogEventData(TypedDict):
    """What the type says."""

    level: Literal["debug", "info", "warn", "error"]
    """How loud."""
    message: str
    """The text."""


class LogEvent(TypedDict):
    """An informational message."""

    id: str
    """Unique event identifier."""
    runId: str
    """The run."""
    sequence: int
    """Order within the run, from 0."""
    eventType: Literal["log"]
    """The event's type."""
    timestamp: str
    """When it happened."""
    data: LogEventData
    """What the type says."""


class MessageEventData(TypedDict):
    """What the type says."""

    role: Literal["user", "assistant", "system"]
    """Who speaks."""
    content: str
    """The text."""


class MessageEvent(TypedDict):
    """A message of the conversation."""

    id: str
    """Unique event identifier."""
    runId: str
    """The run."""
    sequence: int
    """Order within the run, from 0."""
    eventType: Literal["message"]
    """The event's type."""
    timestamp: str
    """When it happened."""
    data: MessageEventData
    """What the type says."""


class MetricEventData(TypedDict):
    """What the type says."""

    inputTokens: int
    """Input tokens."""
    outputTokens: int
    """Output tokens."""
    cacheReadTokens: NotRequired[int]
    """Tokens read from the cache."""
    cacheCreationTokens: NotRequired[int]
    """Tokens written to the cache."""
    totalCostUsd: float
    """US dollars; 0 where the runner does not say."""
    model: NotRequired[str]
    """The model."""


class MetricEvent(TypedDict):
    """Tokens and money."""

    id: str
    """Unique event identifier."""
    runId: str
    """The run."""
    sequence: int
    """Order within the run, from 0."""
    eventType: Literal["metric"]
    """The event's type."""
    timestamp: str
    """When it happened."""
    data: MetricEventData
    """What the type says."""


class StatusEventData(TypedDict):
    """What the type says."""

    oldStatus: str
    """Before."""
    newStatus: str
    """After."""
    reason: NotRequired[str]
    """Why."""


class StatusEvent(TypedDict):
    """The run's status changed."""

    id: str
    """Unique event identifier."""
    runId: str
    """The run."""
    sequence: int
    """Order within the run, from 0."""
    eventType: Literal["status"]
    """The event's type."""
    timestamp: str
    """When it happened."""
    data: StatusEventData
    """What the type says."""


class ToolCallEventData(TypedDict):
    """What the type says."""

    toolName: str
    """Name of the tool."""
    input: dict[str, Any]
    """The arguments."""


class ToolCallEvent(TypedDict):
    """An agent invokes a tool."""

    id: str
    """Unique event identifier."""
    runId: str
    """The run."""
    sequence: int
    """Order within the run, from 0."""
    eventType: Literal["tool_call"]
    """The event's type."""
    timestamp: str
    """When it happened."""
    data: ToolCallEventData
    """What the type says."""


class ToolResultEventData(TypedDict):
    """What the type says."""

    toolName: str
    """Name of the tool."""
    toolCallId: NotRequired[str]
    """The call's id."""
    output: NotRequired[str]
    """What it gave."""
    error: NotRequired[str]
    """What went wrong."""
    success: bool
    """Whether it went well."""


class ToolResultEvent(TypedDict):
    """A tool call is over."""

    id: str
    """Unique event identifier."""
    runId: str
    """The run."""
    sequence: int
    """Order within the run, from 0."""
    eventType: Literal["tool_result"]
    """The event's type."""
    timestamp: str
    """When it happened."""
    data: ToolResultEventData
    """What the type says."""


AgentManagerV1Event: TypeAlias = (
    ErrorEvent
    | LogEvent
    | MessageEvent
    | MetricEvent
    | StatusEvent
    | ToolCallEvent
    | ToolResultEvent
)
"""Any event of agent-manager.v1."""
