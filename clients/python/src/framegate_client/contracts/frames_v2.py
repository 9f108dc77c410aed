"""The events of frames.v2, from its JSON Schemas."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from .._compat import NotRequired


class ApprovalRequestedEvent(TypedDict):
    """The runner waits for a decision."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["approval_requested"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    approval_id: str
    """The question's id."""
    tool_id: str | None
    """The call that waits."""
    tool_name: str
    """The tool's name."""
    args: dict[str, Any] | str
    """The arguments: an object, or a string where the model's arguments were not a JSON object."""
    reason: str | None
    """Why it is asked."""


class ApprovalResolvedEvent(TypedDict):
    """The decision fell."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["approval_resolved"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    approval_id: str
    """The question's id."""
    decision: Literal["approved", "rejected", "timed_out", "cancelled"]
    """What was decided."""
    by: str | None
    """Who decided."""
    reason: str | None
    """Why."""
    scope: str | None
    """How far it reaches."""


class ArtifactWrittenEvent(TypedDict):
    """A stored object was written."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["artifact_written"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    artifact_id: str
    """Its id."""
    kind: str
    """What it is."""
    bytes: int
    """Its size."""
    digest: str
    """`sha256:` and the lower-case hex digest."""
    preview: str | None
    """The beginning of the content, bounded."""


class CheckpointCreatedEvent(TypedDict):
    """A checkpoint of the workspace was made."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["checkpoint_created"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
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
    tool_name: str | None
    """The tool before which it was made."""


class CheckpointFailedEvent(TypedDict):
    """A checkpoint could not be made or restored."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["checkpoint_failed"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    action: Literal["create", "rewind"]
    """What was tried."""
    error: str
    """What went wrong."""


class CheckpointRewoundEvent(TypedDict):
    """The workspace went back to a checkpoint."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["checkpoint_rewound"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    checkpoint_id: str
    """The checkpoint."""
    label: str
    """Its label."""
    files: list[str]
    """Relative paths."""


class ErrorReportedEvent(TypedDict):
    """Something went wrong; the run may go on."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["error_reported"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    scope: Literal["run", "turn", "provider"]
    """How far it reaches."""
    code: str
    """A stable, machine-readable word."""
    message: str
    """What a person is told."""
    retryable: bool
    """Whether trying again may help."""
    attempt: int | None
    """Which attempt failed, from 1."""
    max_attempts: int | None
    """How many attempts there will be."""
    http_status: int | None
    """The provider's HTTP status."""


class FileChangedEvent(TypedDict):
    """A file of the workspace changed."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["file_changed"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    tool_id: str | None
    """The call that did it."""
    path: str
    """The path, in the runner's spelling."""
    kind: Literal["add", "modify", "delete", "move"]
    """What happened to it."""
    diff: str | None
    """A unified diff."""
    artifact_id: str | None
    """The stored diff."""


class GapDetectedEvent(TypedDict):
    """A part of the stream is lost."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["gap_detected"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    first_seq: int | None
    """The first sequence that is missing."""
    last_seq: int | None
    """The last sequence that is missing."""
    reason: str
    """Why."""


class HistoryCompactedEvent(TypedDict):
    """The runner replaced a part of its history by a summary."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["history_compacted"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    trigger: str | None
    """`manual`, `auto`, or the runner's own word."""
    tokens_before: int | None
    """Tokens of context before."""
    tokens_after: int | None
    """Tokens of context after."""
    summary: str | None
    """The summary."""


class LogEmittedEvent(TypedDict):
    """Something worth telling that has no word of its own."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["log_emitted"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    level: Literal["debug", "info", "warn", "error"]
    """How loud."""
    message: str
    """The text."""


class OutputTextCompletedEvent(TypedDict):
    """The whole text of a block: the concatenation of its deltas."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["output_text_completed"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    message_id: str
    """The message that the block belongs to."""
    block_index: int
    """The block's place in the message."""
    text: str
    """The text."""


class OutputTextDeltaEvent(TypedDict):
    """A piece of the assistant's text."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["output_text_delta"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    message_id: str
    """The message that the block belongs to."""
    block_index: int
    """The block's place in the message."""
    delta: str
    """The piece."""


class PlanUpdatedEventEntriesItem(TypedDict):
    content: str
    """What is to be done."""
    status: str
    """`pending`, `in_progress`, `completed`, or the runner's own word."""
    priority: str | None
    """`high`, `medium`, `low`, or the runner's own word."""


class PlanUpdatedEvent(TypedDict):
    """The whole plan, whenever any of it changed."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["plan_updated"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    entries: list[PlanUpdatedEventEntriesItem]
    """All entries in order."""


class ProviderEventSource(TypedDict):
    """How the record arrived, if its other fields do not reproduce its bytes; absent: an SSE event if it has an event name, otherwise a line."""

    sse: bool
    """Whether the record was an SSE event."""
    block: NotRequired[str]
    """The bytes of the event or of the line; empty if an earlier record has them."""
    block_hex: NotRequired[str]
    """The same in hexadecimal digits, if they are not UTF-8."""
    raw_hex: NotRequired[str]
    """The bytes of `raw` in hexadecimal digits, if they are not UTF-8."""


class ProviderEvent(TypedDict):
    """One upstream record, as it came."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["provider_event"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    provider: str
    """The runner, or the API it speaks."""
    status: Literal["event", "done", "invalid_json"]
    """What the record was."""
    event_name: str | None
    """The SSE `event:` value."""
    data: dict[str, Any] | None
    """The record's JSON object, as it came."""
    raw: str | None
    """The record's text, only where `data` alone cannot give it back."""
    errors: list[str]
    """What is wrong with the record."""
    response_errors: list[str]
    """What is wrong with the response object in the record."""
    redacted_paths: NotRequired[list[str]]
    """JSON pointers into this frame: where a secret was redacted. Elsewhere the record is as it came. Absent where nothing was redacted."""
    source: NotRequired[ProviderEventSource]
    """How the record arrived, if its other fields do not reproduce its bytes; absent: an SSE event if it has an event name, otherwise a line."""


class ReasoningCompletedEvent(TypedDict):
    """The whole reasoning of a block."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["reasoning_completed"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    message_id: str
    """The message that the block belongs to."""
    block_index: int
    """The block's place in the message."""
    text: str
    """The text."""
    opaque: dict[str, Any] | None
    """The provider's encrypted or signed item, untouched."""


class ReasoningDeltaEvent(TypedDict):
    """A piece of the model's reasoning."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["reasoning_delta"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    message_id: str
    """The message that the block belongs to."""
    block_index: int
    """The block's place in the message."""
    delta: str
    """The piece."""


class SessionEndedEvent(TypedDict):
    """A run is over. The last frame of its stream."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["session_ended"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    reason: Literal["completed", "failed", "interrupted"]
    """How it ended."""
    final_text: str | None
    """The main thread's last whole text."""
    error_code: str | None
    """A stable code where the run failed."""
    message: str | None
    """What a person is told where the run failed."""


class SessionStartedEvent(TypedDict):
    """A run begins. The first frame of its stream."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["session_started"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    input: str
    """The prompt if the runner reports it or the proxy sent it, otherwise empty."""
    provider: NotRequired[str]
    """The runner of the stream, as its `provider_event` frames name it."""
    thread_id: NotRequired[str]
    """The session that the run belongs to, which is also the id of its thread stream."""
    thread_name: NotRequired[str]
    """The runner's own name of the session; absent if it never named it."""


class SkillCatalogUpdatedEvent(TypedDict):
    """The list of skills changed."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["skill_catalog_updated"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    count: int
    """How many there are."""
    roots: list[str]
    """Where they were found."""
    collisions: dict[str, Any] | None
    """Names that are there twice."""


class SkillInvokedEvent(TypedDict):
    """A skill was put to use."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["skill_invoked"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    name: str
    """Its name."""
    args: dict[str, Any] | str | None
    """Its arguments."""
    mode: Literal["manual", "auto"]
    """Who asked for it."""
    effective_allowed_tools: list[str] | None
    """The tools that it may use."""


class SkillLoadedEvent(TypedDict):
    """A skill was read."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["skill_loaded"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    name: str
    """Its name."""
    path: str
    """Its path."""
    digest: str
    """The digest of its text."""
    frontmatter: dict[str, Any]
    """Its front matter."""
    warnings: list[str] | None
    """What is odd about it."""


class SkillWarningEvent(TypedDict):
    """Something is odd about a skill."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["skill_warning"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    name: str | None
    """Its name."""
    kind: str
    """What kind of oddity."""
    detail: str
    """What a person is told."""


class StatusChangedEvent(TypedDict):
    """The run went from one state to another."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["status_changed"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    old_status: str
    """The state before."""
    new_status: str
    """The state now."""
    reason: str | None
    """Why."""


class SubagentEndedEvent(TypedDict):
    """A subagent is done."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["subagent_ended"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    subagent_id: str
    """The subagent's id."""
    status: str
    """`completed`, `failed`, `cancelled` or `interrupted`."""
    summary: str | None
    """What it reported."""


class SubagentStartedEvent(TypedDict):
    """A subagent began its work."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["subagent_started"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    subagent_id: str
    """The subagent's id."""
    tool_id: str | None
    """The tool call that started it."""
    agent: str | None
    """The kind of agent."""
    task: str | None
    """What it was told to do."""
    depth: int
    """1 for a child of the main thread."""


class ToolCallProposedEvent(TypedDict):
    """The model wants a tool to run."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_call_proposed"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    tool_id: str
    """UUIDv5 of the runner's own call id."""
    call_id: str
    """The runner's own id of the call."""
    name: str
    """The tool's name, the runner's own; empty where the runner gave none."""
    kind: Literal["shell", "read", "write", "edit", "search", "fetch", "mcp", "plan", "subagent", "other"]
    """How the tool is drawn."""
    args: dict[str, Any] | str
    """The arguments: an object, or a string where the model's arguments were not a JSON object."""


class ToolEndedEvent(TypedDict):
    """A tool ran to its end, well or badly."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_ended"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    tool_id: str
    """UUIDv5 of the runner's own call id."""
    call_id: str
    """The runner's own id of the call."""
    exit_code: int
    """The process's exit code; where there is none, 0 for success and 1 for a reported failure."""
    duration_ms: int
    """Milliseconds."""
    artifacts: dict[str, Any] | None
    """References to stored objects."""


class ToolFailedEvent(TypedDict):
    """A tool never ran, was refused, or was cut off."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_failed"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    tool_id: str
    """UUIDv5 of the runner's own call id."""
    call_id: str
    """The runner's own id of the call."""
    error: str
    """What the runner says of it."""


class ToolInputDeltaEvent(TypedDict):
    """A piece of a tool call's arguments."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_input_delta"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    tool_id: str
    """UUIDv5 of the runner's own call id."""
    call_id: str
    """The runner's own id of the call."""
    name: str
    """The tool's name."""
    delta: str
    """A piece of JSON text."""


class ToolStartedEvent(TypedDict):
    """A tool runs."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_started"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    tool_id: str
    """UUIDv5 of the runner's own call id."""
    call_id: str
    """The runner's own id of the call."""
    name: str
    """The tool's name, the runner's own; empty where the runner gave none."""
    kind: Literal["shell", "read", "write", "edit", "search", "fetch", "mcp", "plan", "subagent", "other"]
    """How the tool is drawn."""
    args: dict[str, Any] | str
    """The arguments: an object, or a string where the model's arguments were not a JSON object."""
    timeout_ms: int | None
    """The runner's own limit in milliseconds."""


class ToolStderrEvent(TypedDict):
    """A piece of a tool's standard error."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_stderr"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    tool_id: str
    """UUIDv5 of the runner's own call id."""
    call_id: str
    """The runner's own id of the call."""
    chunk: str
    """The piece; empty where it says only that nothing followed the pieces before for a while."""


class ToolStdoutEvent(TypedDict):
    """A piece of a tool's standard output, or of its result where it has no streams."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_stdout"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    tool_id: str
    """UUIDv5 of the runner's own call id."""
    call_id: str
    """The runner's own id of the call."""
    chunk: str
    """The piece; empty where it says only that nothing followed the pieces before for a while."""
    position: NotRequired[Literal["front", "tail"]]
    """`front`: the piece belongs before all output that was reported so far. `tail`: the runner may report earlier output later. Absent: the piece follows the previous one."""


class ToolTaskCancelRequestedEvent(TypedDict):
    """Somebody wants background work to stop."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_cancel_requested"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    task_id: str
    """The task."""
    reason: str
    """Why."""


class ToolTaskCancelledEvent(TypedDict):
    """Background work was stopped."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_cancelled"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    task_id: str
    """The task."""
    reason: str
    """Why."""
    wall_time_ms: int | None
    """Milliseconds that it ran."""


class ToolTaskOutputDeltaEvent(TypedDict):
    """A piece of a task's output."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_output_delta"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    task_id: str
    """The task."""
    stream: Literal["stdout", "stderr", "pty"]
    """Where it came from."""
    chunk: str
    """The piece."""
    artifacts: dict[str, Any] | None
    """Where it is stored."""


class ToolTaskResizedEvent(TypedDict):
    """A task's terminal changed its size."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_resized"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    task_id: str
    """The task."""
    rows: int
    """Rows."""
    cols: int
    """Columns."""


class ToolTaskSignalledEvent(TypedDict):
    """A task was sent a signal."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_signalled"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    task_id: str
    """The task."""
    signal: str
    """The signal's name."""


class ToolTaskSpawnedEvent(TypedDict):
    """Background work begins."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_spawned"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    task_id: str
    """The task."""
    tool_name: str
    """The tool that started it."""
    args: dict[str, Any] | str
    """The arguments: an object, or a string where the model's arguments were not a JSON object."""
    cwd: str | None
    """Its working directory."""
    title: str | None
    """A title for people."""
    execution_mode: Literal["pipes", "pty"]
    """How its process is connected."""
    origin_session_id: str | None
    """The run that it came from."""
    artifacts: dict[str, Any] | None
    """References to its logs."""


class ToolTaskStatusEvent(TypedDict):
    """Where background work stands."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_status"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    task_id: str
    """The task."""
    status: Literal["queued", "running", "exited", "cancelled", "failed"]
    """The state."""
    exit_code: int | None
    """The process's exit code."""
    started_at_ms: int | None
    """Unix epoch milliseconds."""
    ended_at_ms: int | None
    """Unix epoch milliseconds."""
    artifacts: dict[str, Any] | None
    """References to its logs."""
    error: str | None
    """What went wrong."""


class ToolTaskStdinWrittenEvent(TypedDict):
    """Something was typed into a task's terminal."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["tool_task_stdin_written"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    task_id: str
    """The task."""
    chunk_b64: str
    """The bytes, in base64 with padding."""


class TurnEndedEvent(TypedDict):
    """A model call, and what it asked for, is over."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["turn_ended"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    turn_index: int
    """The index that its `turn_started` had."""
    stop_reason: str | None
    """Why the model stopped, in the runner's words."""
    duration_ms: int | None
    """Milliseconds."""


class TurnStartedEvent(TypedDict):
    """A model call begins."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["turn_started"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    turn_index: int
    """Counts the run's turns from 0."""
    model: str | None
    """The model that is called."""


class UsageReportedEventMainThread(TypedDict):
    """Of a run's total: the part of the main thread, where that is known. The rest is of subagents."""

    input_tokens: int
    """Tokens read outside the cache."""
    output_tokens: int
    """Tokens written, reasoning among them."""
    cache_read_tokens: int | None
    """Tokens read from the cache."""
    cache_creation_tokens: int | None
    """Tokens written to the cache."""
    cache_creation_1h_tokens: NotRequired[int]
    """The part of `cache_creation_tokens` that was written to entries which live for one hour; absent where no such part was reported."""
    reasoning_tokens: int | None
    """The part of `output_tokens` that was reasoning."""
    cost_usd: float | None
    """US dollars."""


class UsageReportedEvent(TypedDict):
    """Tokens and money, counted once."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["usage_reported"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    scope: Literal["turn", "run"]
    """One model call, or all calls of the run, those of subagents among them."""
    model: str | None
    """The model, where the figures are of one."""
    input_tokens: int
    """Tokens read outside the cache."""
    output_tokens: int
    """Tokens written, reasoning among them."""
    cache_read_tokens: int | None
    """Tokens read from the cache."""
    cache_creation_tokens: int | None
    """Tokens written to the cache."""
    cache_creation_1h_tokens: NotRequired[int]
    """The part of `cache_creation_tokens` that was written to entries which live for one hour; absent where no such part was reported."""
    reasoning_tokens: int | None
    """The part of `output_tokens` that was reasoning."""
    cost_usd: float | None
    """US dollars."""
    main_thread: NotRequired[UsageReportedEventMainThread]
    """Of a run's total: the part of the main thread, where that is known. The rest is of subagents."""


class UserMessageEventAttachmentsItem(TypedDict):
    kind: str
    """`image`, `file`, or the runner's own word."""
    mime: str | None
    """The media type."""
    artifact_id: str | None
    """`sha256:` and the digest of the content."""
    name: str | None
    """A file name or path."""
    bytes: int | None
    """Size of the content."""


class UserMessageEvent(TypedDict):
    """A person, or a program in a person's place, said something."""

    id: str
    """UUIDv5 of `seq` in the namespace of the stream's id."""
    session_id: str
    """The stream's id, for readers of v1."""
    stream_kind: Literal["session", "task", "thread", "artifact"]
    """What the stream is the stream of."""
    stream_id: str
    """The stream's id."""
    timestamp_ms: int
    """Unix epoch milliseconds."""
    seq: int
    """Position in the stream: 0 for its first event, then without a gap."""
    type: Literal["user_message"]
    """The event's type."""
    parent_tool_id: NotRequired[str]
    """The tool call in whose name a subagent caused the frame; absent on the main thread."""
    message_id: str
    """The message's id."""
    text: str
    """Its text."""
    attachments: list[UserMessageEventAttachmentsItem]
    """References to stored objects; never base64."""


FramesV2Event: TypeAlias = (
    ApprovalRequestedEvent
    | ApprovalResolvedEvent
    | ArtifactWrittenEvent
    | CheckpointCreatedEvent
    | CheckpointFailedEvent
    | CheckpointRewoundEvent
    | ErrorReportedEvent
    | FileChangedEvent
    | GapDetectedEvent
    | HistoryCompactedEvent
    | LogEmittedEvent
    | OutputTextCompletedEvent
    | OutputTextDeltaEvent
    | PlanUpdatedEvent
    | ProviderEvent
    | ReasoningCompletedEvent
    | ReasoningDeltaEvent
    | SessionEndedEvent
    | SessionStartedEvent
    | SkillCatalogUpdatedEvent
    | SkillInvokedEvent
    | SkillLoadedEvent
    | SkillWarningEvent
    | StatusChangedEvent
    | SubagentEndedEvent
    | SubagentStartedEvent
    | ToolCallProposedEvent
    | ToolEndedEvent
    | ToolFailedEvent
    | ToolInputDeltaEvent
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
    | TurnEndedEvent
    | TurnStartedEvent
    | UsageReportedEvent
    | UserMessageEvent
)
"""Any event of frames.v2."""
