"""The events of frames.v1, from its JSON Schemas."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from .._compat import NotRequired


class CheckpointCreatedEvent(TypedDict):
    """A checkpoint of the workspace was made."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["checkpoint_created"]
    """The event's type."""
    checkpoint_id: str
    """The checkpoint."""
    label: str
    """Its label."""
    created_at_ms: int
    """Unix epoch milliseconds."""
    files: list[str]
    """Relative paths."""
    auto: bool
    """Whether the runner made it by itself."""
    tool_name: NotRequired[str | None]
    """The tool before which it was made."""


class CheckpointFailedEvent(TypedDict):
    """A checkpoint could not be made or restored."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["checkpoint_failed"]
    """The event's type."""
    action: Literal["create", "rewind"]
    """What was tried."""
    error: str
    """What went wrong."""


class CheckpointRewoundEvent(TypedDict):
    """The workspace went back to a checkpoint."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["checkpoint_rewound"]
    """The event's type."""
    checkpoint_id: str
    """The checkpoint."""
    label: str
    """Its label."""
    files: list[str]
    """Relative paths."""


class OutputTextDeltaEvent(TypedDict):
    """A piece of the assistant's text."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["output_text_delta"]
    """The event's type."""
    delta: str
    """The piece."""


class ProviderEvent(TypedDict):
    """One upstream record, as it came."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["provider_event"]
    """The event's type."""
    provider: str
    """The runner, or the API it speaks."""
    status: Literal["event", "done", "invalid_json"]
    """What the record was."""
    event_name: NotRequired[str | None]
    """The SSE `event:` value."""
    data: NotRequired[dict[str, Any] | None]
    """The record's JSON object, as it came."""
    raw: NotRequired[str | None]
    """The record's text, only where `data` alone cannot give it back."""
    errors: list[str]
    """What is wrong with the record."""
    response_errors: list[str]
    """What is wrong with the response object in the record."""


class SessionEndedEvent(TypedDict):
    """A run is over. The last frame of its stream."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["session_ended"]
    """The event's type."""
    reason: str
    """How it ended: `completed`, `failed`, `interrupted`, or another writer's own word."""


class SessionStartedEvent(TypedDict):
    """A run begins. The first frame of its stream."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["session_started"]
    """The event's type."""
    input: str
    """The prompt if the runner reports it or the proxy sent it, otherwise empty."""


class ToolEndedEvent(TypedDict):
    """A tool ran to its end, well or badly."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_ended"]
    """The event's type."""
    tool_id: str
    """UUIDv5 of the runner's own call id."""
    exit_code: int
    """The process's exit code; where there is none, 0 for success and 1 for a reported failure."""
    duration_ms: int
    """Milliseconds."""
    artifacts: NotRequired[dict[str, Any] | None]
    """References to stored objects."""


class ToolFailedEvent(TypedDict):
    """A tool never ran, was refused, or was cut off."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_failed"]
    """The event's type."""
    tool_id: str
    """UUIDv5 of the runner's own call id."""
    error: str
    """What the runner says of it."""


class ToolStartedEvent(TypedDict):
    """A tool runs."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_started"]
    """The event's type."""
    tool_id: str
    """UUIDv5 of the runner's own call id."""
    name: str
    """The tool's name, the runner's own; empty where the runner gave none."""
    args: dict[str, Any]
    """The arguments; ones that are no JSON object stand under `raw`."""
    timeout_ms: NotRequired[int | None]
    """The runner's own limit in milliseconds."""


class ToolStderrEvent(TypedDict):
    """A piece of a tool's standard error."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_stderr"]
    """The event's type."""
    tool_id: str
    """UUIDv5 of the runner's own call id."""
    chunk: str
    """The piece; empty where it says only that nothing followed the pieces before for a while."""


class ToolStdoutEvent(TypedDict):
    """A piece of a tool's standard output, or of its result where it has no streams."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_stdout"]
    """The event's type."""
    tool_id: str
    """UUIDv5 of the runner's own call id."""
    chunk: str
    """The piece; empty where it says only that nothing followed the pieces before for a while."""


class ToolTaskCancelRequestedEvent(TypedDict):
    """Somebody wants background work to stop."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_cancel_requested"]
    """The event's type."""
    task_id: str
    """The task: the stream's id."""
    reason: str
    """Why."""


class ToolTaskCancelledEvent(TypedDict):
    """Background work was stopped."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_cancelled"]
    """The event's type."""
    task_id: str
    """The task: the stream's id."""
    reason: str
    """Why."""
    wall_time_ms: NotRequired[int | None]
    """Milliseconds that it ran."""


class ToolTaskOutputDeltaEvent(TypedDict):
    """A piece of a task's output."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_output_delta"]
    """The event's type."""
    task_id: str
    """The task: the stream's id."""
    stream: Literal["stdout", "stderr", "pty"]
    """Where it came from."""
    chunk: str
    """The piece."""
    artifacts: NotRequired[Any]
    """Where it is stored."""


class ToolTaskResizedEvent(TypedDict):
    """A task's terminal changed its size."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_resized"]
    """The event's type."""
    task_id: str
    """The task: the stream's id."""
    rows: int
    """Rows."""
    cols: int
    """Columns."""


class ToolTaskSignalledEvent(TypedDict):
    """A task was sent a signal."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_signalled"]
    """The event's type."""
    task_id: str
    """The task: the stream's id."""
    signal: str
    """The signal's name."""


class ToolTaskSpawnedEvent(TypedDict):
    """Background work begins."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_spawned"]
    """The event's type."""
    task_id: str
    """The task: the stream's id."""
    tool_name: str
    """The tool that started it."""
    args: Any
    """The arguments: an object, or a string where the model's arguments were not a JSON object."""
    cwd: NotRequired[str | None]
    """Its working directory."""
    title: NotRequired[str | None]
    """A title for people."""
    execution_mode: Literal["pipes", "pty"]
    """How its process is connected."""
    origin_session_id: NotRequired[str | None]
    """The run that it came from."""
    artifacts: NotRequired[Any]
    """References to its logs."""


class ToolTaskStatusEvent(TypedDict):
    """Where background work stands."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_status"]
    """The event's type."""
    task_id: str
    """The task: the stream's id."""
    status: str
    """The state: queued, running, exited, cancelled or failed in our own frames."""
    exit_code: NotRequired[int | None]
    """The process's exit code."""
    started_at_ms: NotRequired[int | None]
    """Unix epoch milliseconds."""
    ended_at_ms: NotRequired[int | None]
    """Unix epoch milliseconds."""
    artifacts: NotRequired[Any]
    """References to its logs."""
    error: NotRequired[str | None]
    """What went wrong."""


class ToolTaskStdinWrittenEvent(TypedDict):
    """Something was typed into a task's terminal."""

    id: str
    """The frame's id, a UUID in our own frames."""
    session_id: str
    """The stream's id: a run, a task, or the thread of what was said outside any run."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_stdin_written"]
    """The event's type."""
    task_id: str
    """The task: the stream's id."""
    chunk_b64: str
    """The bytes, in base64 with padding."""


FramesV1Event: TypeAlias = (
    CheckpointCreatedEvent
    | CheckpointFailedEvent
    | CheckpointRewoundEvent
    | OutputTextDeltaEvent
    | ProviderEvent
    | SessionEndedEvent
    | SessionStartedEvent
    | ToolEndedEvent
    | ToolFailedEvent
    | ToolStartedEvent
    | ToolStderrEvent
    | ToolStdoutEvent
    | ToolTaskCancelRequestedEvent
    | ToolTaskCancelledEvent
    | ToolTaskOutputDeltaEvent
    | ToolTaskResizedEvent
    | ToolTaskSignalledEvent
    | ToolTaskSpawnedEvent
    | ToolTaskStatusEvent
    | ToolTaskStdinWrittenEvent
)
"""Any event of frames.v1."""
