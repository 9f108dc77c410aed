"""The events of sse.v1, from its JSON Schemas."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from .._compat import NotRequired


class AssistantDeltaEventPayload(TypedDict):
    """What the type says."""

    text: str
    """The piece."""


class AssistantDeltaEvent(TypedDict):
    """A piece of the assistant's text."""

    event_id: str
    """Opaque; sorts as a string within a run."""
    session_id: str
    """The same for the whole stream."""
    run_id: str
    """The same for the whole stream."""
    type: Literal["assistant_delta"]
    """The event's type."""
    ts: str
    """UTC."""
    payload: AssistantDeltaEventPayload
    """What the type says."""


class RunCompletedEventPayload(TypedDict):
    """What the type says."""

    status: Literal["completed"]
    """The run's status."""
    final_text: str
    """The final answer."""
    error_code: NotRequired[str]
    """Why the answer is not whole, where it is not: max_output_tokens, or another word."""
    message: NotRequired[str]
    """What a person is told of it."""


class RunCompletedEvent(TypedDict):
    """The run went well. The last event."""

    event_id: str
    """Opaque; sorts as a string within a run."""
    session_id: str
    """The same for the whole stream."""
    run_id: str
    """The same for the whole stream."""
    type: Literal["run_completed"]
    """The event's type."""
    ts: str
    """UTC."""
    payload: RunCompletedEventPayload
    """What the type says."""


class RunFailedEventPayload(TypedDict):
    """What the type says."""

    status: Literal["failed"]
    """The run's status."""
    error_code: str
    """A stable code."""
    message: str
    """What a person is told."""


class RunFailedEvent(TypedDict):
    """The run failed. The last event."""

    event_id: str
    """Opaque; sorts as a string within a run."""
    session_id: str
    """The same for the whole stream."""
    run_id: str
    """The same for the whole stream."""
    type: Literal["run_failed"]
    """The event's type."""
    ts: str
    """UTC."""
    payload: RunFailedEventPayload
    """What the type says."""


class RunInterruptedEventPayload(TypedDict):
    """What the type says."""

    status: Literal["interrupted"]
    """The run's status."""


class RunInterruptedEvent(TypedDict):
    """The run was stopped. The last event."""

    event_id: str
    """Opaque; sorts as a string within a run."""
    session_id: str
    """The same for the whole stream."""
    run_id: str
    """The same for the whole stream."""
    type: Literal["run_interrupted"]
    """The event's type."""
    ts: str
    """UTC."""
    payload: RunInterruptedEventPayload
    """What the type says."""


class RunStartedEventPayload(TypedDict):
    """What the type says."""

    status: Literal["running"]
    """The run's status."""


class RunStartedEvent(TypedDict):
    """A run begins. The first event."""

    event_id: str
    """Opaque; sorts as a string within a run."""
    session_id: str
    """The same for the whole stream."""
    run_id: str
    """The same for the whole stream."""
    type: Literal["run_started"]
    """The event's type."""
    ts: str
    """UTC."""
    payload: RunStartedEventPayload
    """What the type says."""


class ToolCallApprovedEventPayload(TypedDict):
    """What the type says."""

    approval_id: str
    """The question's id."""


class ToolCallApprovedEvent(TypedDict):
    """The tool call may run."""

    event_id: str
    """Opaque; sorts as a string within a run."""
    session_id: str
    """The same for the whole stream."""
    run_id: str
    """The same for the whole stream."""
    type: Literal["tool_call_approved"]
    """The event's type."""
    ts: str
    """UTC."""
    payload: ToolCallApprovedEventPayload
    """What the type says."""


class ToolCallProposedEventPayload(TypedDict):
    """What the type says."""

    approval_id: str
    """The question's id."""
    tool_name: str
    """The tool's name."""
    args: dict[str, Any]
    """Its arguments."""


class ToolCallProposedEvent(TypedDict):
    """A tool call waits for a decision."""

    event_id: str
    """Opaque; sorts as a string within a run."""
    session_id: str
    """The same for the whole stream."""
    run_id: str
    """The same for the whole stream."""
    type: Literal["tool_call_proposed"]
    """The event's type."""
    ts: str
    """UTC."""
    payload: ToolCallProposedEventPayload
    """What the type says."""


class ToolCallRejectedEventPayload(TypedDict):
    """What the type says."""

    approval_id: str
    """The question's id."""
    reason: str
    """Why."""


class ToolCallRejectedEvent(TypedDict):
    """The tool call may not run."""

    event_id: str
    """Opaque; sorts as a string within a run."""
    session_id: str
    """The same for the whole stream."""
    run_id: str
    """The same for the whole stream."""
    type: Literal["tool_call_rejected"]
    """The event's type."""
    ts: str
    """UTC."""
    payload: ToolCallRejectedEventPayload
    """What the type says."""


class ToolResultEventPayload(TypedDict):
    """What the type says."""

    tool_name: str
    """The tool's name."""
    success: bool
    """Whether it went well."""
    result: str
    """What it gave, or what went wrong."""


class ToolResultEvent(TypedDict):
    """A tool ran."""

    event_id: str
    """Opaque; sorts as a string within a run."""
    session_id: str
    """The same for the whole stream."""
    run_id: str
    """The same for the whole stream."""
    type: Literal["tool_result"]
    """The event's type."""
    ts: str
    """UTC."""
    payload: ToolResultEventPayload
    """What the type says."""


SseV1Event: TypeAlias = (
    AssistantDeltaEvent
    | RunCompletedEvent
    | RunFailedEvent
    | RunInterruptedEvent
    | RunStartedEvent
    | ToolCallApprovedEvent
    | ToolCallProposedEvent
    | ToolCallRejectedEvent
    | ToolResultEvent
)
"""Any event of sse.v1."""
