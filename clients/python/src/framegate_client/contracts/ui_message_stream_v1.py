"""The events of ui-message-stream.v1, from its JSON Schemas."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from .._compat import NotRequired


class AbortEvent(TypedDict):
    """The last chunk of a message whose run was interrupted."""

    type: Literal["abort"]
    """The chunk's type."""
    reason: NotRequired[str]
    """Why."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class DataCheckpointEventData(TypedDict):
    """The checkpoint."""

    status: Literal["created", "rewound", "failed"]
    """What happened."""
    checkpointId: NotRequired[str]
    """The checkpoint."""
    label: NotRequired[str]
    """Its label."""
    files: NotRequired[list[str]]
    """Relative paths."""
    createdAtMs: NotRequired[int]
    """Unix epoch milliseconds."""
    auto: NotRequired[bool]
    """Whether the runner made it automatically."""
    toolName: NotRequired[str]
    """The tool before which it was made."""
    action: NotRequired[Literal["create", "rewind"]]
    """What failed."""
    error: NotRequired[str]
    """What went wrong."""


class DataCheckpointEvent(TypedDict):
    """A checkpoint of the workspace was made or restored, or could not be."""

    type: Literal["data-checkpoint"]
    """The chunk's type."""
    id: NotRequired[str]
    """The checkpoint, so that its last state replaces the one before."""
    data: DataCheckpointEventData
    """The checkpoint."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class DataFileChangeEventData(TypedDict):
    """The change."""

    path: str
    """The path, in the runner's spelling."""
    kind: Literal["add", "modify", "delete", "move"]
    """What happened to the file."""
    toolCallId: NotRequired[str]
    """The call that changed it."""
    diff: NotRequired[str]
    """A unified diff."""
    artifactId: NotRequired[str]
    """The stored object that holds the diff."""


class DataFileChangeEvent(TypedDict):
    """A file of the workspace changed."""

    type: Literal["data-file-change"]
    """The chunk's type."""
    data: DataFileChangeEventData
    """The change."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class DataNoticeEventData(TypedDict):
    """The notice."""

    level: Literal["debug", "info", "warn", "error"]
    """How important it is."""
    code: NotRequired[str]
    """A stable code."""
    message: str
    """The text."""


class DataNoticeEvent(TypedDict):
    """Something worth telling that is no part of the message: a log line, an error that the run survived, a gap, a withheld chunk."""

    type: Literal["data-notice"]
    """The chunk's type."""
    data: DataNoticeEventData
    """The notice."""
    transient: bool
    """Always true: the reader does not keep it."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class DataPlanEventDataEntriesItem(TypedDict):
    """One entry."""

    content: str
    """The text of the entry."""
    status: str
    """`pending`, `in_progress`, `completed`, or the runner's own value."""
    priority: NotRequired[str]
    """`high`, `medium`, `low`, or the runner's own value."""


class DataPlanEventData(TypedDict):
    """The plan."""

    entries: list[DataPlanEventDataEntriesItem]
    """All entries, in order."""


class DataPlanEvent(TypedDict):
    """The whole plan, in place of the plan before."""

    type: Literal["data-plan"]
    """The chunk's type."""
    id: Literal["plan"]
    """The same for every plan of the message."""
    data: DataPlanEventData
    """The plan."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class DataTaskEventDataOutput(TypedDict):
    """What the tool gave."""

    stdout: str
    """Standard output, or the result of a tool without separate streams."""
    stderr: str
    """Standard error."""
    exit_code: NotRequired[int]
    """The exit code; 0 or 1 if the tool is not a process. Absent while the tool runs."""
    duration_ms: NotRequired[int]
    """Milliseconds from start to end. Absent while the tool runs."""
    artifacts: NotRequired[dict[str, Any]]
    """References to stored objects."""
    omitted_bytes: NotRequired[int]
    """How many bytes are left out because the output is too large. Absent if none are."""


class DataTaskEventData(TypedDict):
    """The task."""

    taskId: str
    """The task."""
    status: Literal["queued", "running", "exited", "cancelled", "failed"]
    """Its state."""
    toolName: NotRequired[str]
    """The tool that runs."""
    title: NotRequired[str]
    """A title for people."""
    cwd: NotRequired[str]
    """The working directory."""
    input: NotRequired[Any]
    """The arguments: an object, or a string if the model's arguments are no object."""
    output: DataTaskEventDataOutput
    """What the tool gave."""
    error: NotRequired[str]
    """What went wrong."""


class DataTaskEvent(TypedDict):
    """The state of a background task, in place of its state before."""

    type: Literal["data-task"]
    """The chunk's type."""
    id: str
    """The task."""
    data: DataTaskEventData
    """The task."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class ErrorEvent(TypedDict):
    """The run failed. In a stream without a start: the run is no longer kept."""

    type: Literal["error"]
    """The chunk's type."""
    errorText: str
    """The message for a person."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class FinishStepEvent(TypedDict):
    """The step is over, and so is the work that it asked for."""

    type: Literal["finish-step"]
    """The chunk's type."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class FinishEventMessageMetadataUsage(TypedDict):
    """Tokens and money, of subagents too."""

    inputTokens: int
    """Tokens read, without cached ones."""
    outputTokens: int
    """Tokens written, including reasoning."""
    cacheReadTokens: NotRequired[int]
    """Tokens read from the cache. Absent if the runner did not report it."""
    cacheCreationTokens: NotRequired[int]
    """Tokens written to the cache. Absent if the runner did not report it."""
    reasoningTokens: NotRequired[int]
    """The part of outputTokens that was reasoning. Absent if the runner did not report it."""
    costUsd: NotRequired[float]
    """US dollars. Absent if the runner did not report it."""


class FinishEventMessageMetadata(TypedDict):
    """What is known at the end."""

    runId: NotRequired[str]
    """The run; for a background task, the run that started it."""
    taskId: NotRequired[str]
    """The background task, if the message is about one."""
    sessionId: NotRequired[str]
    """The session of the run."""
    runner: NotRequired[str]
    """The runner."""
    model: NotRequired[str]
    """The model of the last turn."""
    usage: NotRequired[FinishEventMessageMetadataUsage]
    """Tokens and money, of subagents too."""
    errorCode: NotRequired[str]
    """Why the run failed, was interrupted, or reached a limit."""
    notice: NotRequired[str]
    """Which chunk was withheld, and why."""


class FinishEvent(TypedDict):
    """The last chunk of a message whose run completed or failed."""

    type: Literal["finish"]
    """The chunk's type."""
    finishReason: Literal["stop", "length", "content-filter", "tool-calls", "error", "other"]
    """Why the run is over."""
    messageMetadata: NotRequired[FinishEventMessageMetadata]
    """What is known at the end."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class MessageMetadataEventMessageMetadataUsage(TypedDict):
    """Tokens and money, of subagents too."""

    inputTokens: int
    """Tokens read, without cached ones."""
    outputTokens: int
    """Tokens written, including reasoning."""
    cacheReadTokens: NotRequired[int]
    """Tokens read from the cache. Absent if the runner did not report it."""
    cacheCreationTokens: NotRequired[int]
    """Tokens written to the cache. Absent if the runner did not report it."""
    reasoningTokens: NotRequired[int]
    """The part of outputTokens that was reasoning. Absent if the runner did not report it."""
    costUsd: NotRequired[float]
    """US dollars. Absent if the runner did not report it."""


class MessageMetadataEventMessageMetadata(TypedDict):
    """What is new."""

    runId: NotRequired[str]
    """The run; for a background task, the run that started it."""
    taskId: NotRequired[str]
    """The background task, if the message is about one."""
    sessionId: NotRequired[str]
    """The session of the run."""
    runner: NotRequired[str]
    """The runner."""
    model: NotRequired[str]
    """The model of the last turn."""
    usage: NotRequired[MessageMetadataEventMessageMetadataUsage]
    """Tokens and money, of subagents too."""
    errorCode: NotRequired[str]
    """Why the run failed, was interrupted, or reached a limit."""
    notice: NotRequired[str]
    """Which chunk was withheld, and why."""


class MessageMetadataEvent(TypedDict):
    """More about the message; it is merged with what is known."""

    type: Literal["message-metadata"]
    """The chunk's type."""
    messageMetadata: MessageMetadataEventMessageMetadata
    """What is new."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class ReasoningDeltaEvent(TypedDict):
    """A piece of the model's reasoning."""

    type: Literal["reasoning-delta"]
    """The chunk's type."""
    id: str
    """The part. Each part of a message has its own id."""
    delta: str
    """The piece."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class ReasoningEndEventProviderMetadataFramegate(TypedDict):
    """What framegate has to say."""

    notice: str
    """Which chunk was withheld, and why."""


class ReasoningEndEventProviderMetadata(TypedDict):
    """Set in place of a withheld chunk."""

    framegate: ReasoningEndEventProviderMetadataFramegate
    """What framegate has to say."""


class ReasoningEndEvent(TypedDict):
    """The part with the model's reasoning is complete."""

    type: Literal["reasoning-end"]
    """The chunk's type."""
    id: str
    """The part. Each part of a message has its own id."""
    providerMetadata: NotRequired[ReasoningEndEventProviderMetadata]
    """Set in place of a withheld chunk."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class ReasoningStartEventProviderMetadataFramegate(TypedDict):
    """What framegate has to say."""

    notice: str
    """Which chunk was withheld, and why."""


class ReasoningStartEventProviderMetadata(TypedDict):
    """Set in place of a withheld chunk."""

    framegate: ReasoningStartEventProviderMetadataFramegate
    """What framegate has to say."""


class ReasoningStartEvent(TypedDict):
    """A part with the model's reasoning begins."""

    type: Literal["reasoning-start"]
    """The chunk's type."""
    id: str
    """The part. Each part of a message has its own id."""
    providerMetadata: NotRequired[ReasoningStartEventProviderMetadata]
    """Set in place of a withheld chunk."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class StartStepEvent(TypedDict):
    """A step begins: a call of the model."""

    type: Literal["start-step"]
    """The chunk's type."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class StartEventMessageMetadataUsage(TypedDict):
    """Tokens and money, of subagents too."""

    inputTokens: int
    """Tokens read, without cached ones."""
    outputTokens: int
    """Tokens written, including reasoning."""
    cacheReadTokens: NotRequired[int]
    """Tokens read from the cache. Absent if the runner did not report it."""
    cacheCreationTokens: NotRequired[int]
    """Tokens written to the cache. Absent if the runner did not report it."""
    reasoningTokens: NotRequired[int]
    """The part of outputTokens that was reasoning. Absent if the runner did not report it."""
    costUsd: NotRequired[float]
    """US dollars. Absent if the runner did not report it."""


class StartEventMessageMetadata(TypedDict):
    """Where the message comes from."""

    runId: NotRequired[str]
    """The run; for a background task, the run that started it."""
    taskId: NotRequired[str]
    """The background task, if the message is about one."""
    sessionId: NotRequired[str]
    """The session of the run."""
    runner: NotRequired[str]
    """The runner."""
    model: NotRequired[str]
    """The model of the last turn."""
    usage: NotRequired[StartEventMessageMetadataUsage]
    """Tokens and money, of subagents too."""
    errorCode: NotRequired[str]
    """Why the run failed, was interrupted, or reached a limit."""
    notice: NotRequired[str]
    """Which chunk was withheld, and why."""


class StartEvent(TypedDict):
    """The first chunk of a message."""

    type: Literal["start"]
    """The chunk's type."""
    messageId: str
    """The message: the run's id, so that a replay rebuilds the same message."""
    messageMetadata: StartEventMessageMetadata
    """Where the message comes from."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class SteeringMessageEventPartsItem(TypedDict):
    """A part of the message."""

    type: Literal["text"]
    """The kind of the part."""
    text: str
    """The text."""


class SteeringMessageEvent(TypedDict):
    """A user's message in the middle of the run."""

    type: Literal["steering-message"]
    """The chunk's type."""
    id: str
    """The message."""
    parts: list[SteeringMessageEventPartsItem]
    """Its content."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class TextDeltaEvent(TypedDict):
    """A piece of text of the assistant."""

    type: Literal["text-delta"]
    """The chunk's type."""
    id: str
    """The part. Each part of a message has its own id."""
    delta: str
    """The piece."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class TextEndEventProviderMetadataFramegate(TypedDict):
    """What framegate has to say."""

    notice: str
    """Which chunk was withheld, and why."""


class TextEndEventProviderMetadata(TypedDict):
    """Set in place of a withheld chunk."""

    framegate: TextEndEventProviderMetadataFramegate
    """What framegate has to say."""


class TextEndEvent(TypedDict):
    """The part with text of the assistant is complete."""

    type: Literal["text-end"]
    """The chunk's type."""
    id: str
    """The part. Each part of a message has its own id."""
    providerMetadata: NotRequired[TextEndEventProviderMetadata]
    """Set in place of a withheld chunk."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class TextStartEventProviderMetadataFramegate(TypedDict):
    """What framegate has to say."""

    notice: str
    """Which chunk was withheld, and why."""


class TextStartEventProviderMetadata(TypedDict):
    """Set in place of a withheld chunk."""

    framegate: TextStartEventProviderMetadataFramegate
    """What framegate has to say."""


class TextStartEvent(TypedDict):
    """A part with text of the assistant begins."""

    type: Literal["text-start"]
    """The chunk's type."""
    id: str
    """The part. Each part of a message has its own id."""
    providerMetadata: NotRequired[TextStartEventProviderMetadata]
    """Set in place of a withheld chunk."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class ToolApprovalRequestEvent(TypedDict):
    """The runner waits for a decision about a call."""

    type: Literal["tool-approval-request"]
    """The chunk's type."""
    approvalId: str
    """The question, in the runner's spelling."""
    toolCallId: str
    """The call: the runner's own id, or `question-` and the id of a question that is about no open call."""
    reason: NotRequired[str]
    """Why the runner asks."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class ToolApprovalResponseEvent(TypedDict):
    """The decision."""

    type: Literal["tool-approval-response"]
    """The chunk's type."""
    approvalId: str
    """The question, in the runner's spelling."""
    approved: bool
    """Whether the call may run."""
    reason: NotRequired[str]
    """Why; `timed_out` or `cancelled` if it was not decided."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class ToolInputAvailableEventToolMetadata(TypedDict):
    """What else is known about the call."""

    kind: NotRequired[Literal["shell", "read", "write", "edit", "search", "fetch", "mcp", "plan", "subagent", "other"]]
    """How a UI displays the tool."""
    parentToolCallId: NotRequired[str]
    """The call whose subagent made this call; of a question's own call, the call that it is about."""
    notice: NotRequired[str]
    """Which chunk was withheld, and why."""


class ToolInputAvailableEvent(TypedDict):
    """The whole input of a call."""

    type: Literal["tool-input-available"]
    """The chunk's type."""
    toolCallId: str
    """The call: the runner's own id, or `question-` and the id of a question that is about no open call."""
    toolName: str
    """The tool's name as the runner spells it."""
    input: Any
    """The arguments: an object, or a string if the model's arguments are no object."""
    dynamic: bool
    """Always true: the client has no definition of the tool."""
    providerExecuted: bool
    """Always true: the client must not run the tool."""
    toolMetadata: ToolInputAvailableEventToolMetadata
    """What else is known about the call."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class ToolInputDeltaEvent(TypedDict):
    """A piece of a call's input."""

    type: Literal["tool-input-delta"]
    """The chunk's type."""
    toolCallId: str
    """The call: the runner's own id, or `question-` and the id of a question that is about no open call."""
    inputTextDelta: str
    """A fragment of JSON text."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class ToolInputStartEventToolMetadata(TypedDict):
    """What else is known about the call."""

    kind: NotRequired[Literal["shell", "read", "write", "edit", "search", "fetch", "mcp", "plan", "subagent", "other"]]
    """How a UI displays the tool."""
    parentToolCallId: NotRequired[str]
    """The call whose subagent made this call; of a question's own call, the call that it is about."""
    notice: NotRequired[str]
    """Which chunk was withheld, and why."""


class ToolInputStartEvent(TypedDict):
    """A call whose input is streamed begins."""

    type: Literal["tool-input-start"]
    """The chunk's type."""
    toolCallId: str
    """The call: the runner's own id, or `question-` and the id of a question that is about no open call."""
    toolName: str
    """The tool's name as the runner spells it."""
    dynamic: bool
    """Always true: the client has no definition of the tool."""
    providerExecuted: bool
    """Always true: the client must not run the tool."""
    toolMetadata: NotRequired[ToolInputStartEventToolMetadata]
    """What else is known about the call."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class ToolOutputAvailableEventOutput(TypedDict):
    """What the tool gave."""

    stdout: str
    """Standard output, or the result of a tool without separate streams."""
    stderr: str
    """Standard error."""
    exit_code: NotRequired[int]
    """The exit code; 0 or 1 if the tool is not a process. Absent while the tool runs."""
    duration_ms: NotRequired[int]
    """Milliseconds from start to end. Absent while the tool runs."""
    artifacts: NotRequired[dict[str, Any]]
    """References to stored objects."""
    omitted_bytes: NotRequired[int]
    """How many bytes are left out because the output is too large. Absent if none are."""


class ToolOutputAvailableEvent(TypedDict):
    """The result of a call, or its output so far."""

    type: Literal["tool-output-available"]
    """The chunk's type."""
    toolCallId: str
    """The call: the runner's own id, or `question-` and the id of a question that is about no open call."""
    output: ToolOutputAvailableEventOutput
    """What the tool gave."""
    dynamic: bool
    """Always true: the client has no definition of the tool."""
    providerExecuted: bool
    """Always true: the client must not run the tool."""
    preliminary: NotRequired[bool]
    """True while the tool runs: a later chunk has more. Absent in the final result."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class ToolOutputDeniedEvent(TypedDict):
    """A call was refused."""

    type: Literal["tool-output-denied"]
    """The chunk's type."""
    toolCallId: str
    """The call: the runner's own id, or `question-` and the id of a question that is about no open call."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


class ToolOutputErrorEvent(TypedDict):
    """A call has no result: the tool never ran, was interrupted, or the run ended first."""

    type: Literal["tool-output-error"]
    """The chunk's type."""
    toolCallId: str
    """The call: the runner's own id, or `question-` and the id of a question that is about no open call."""
    errorText: str
    """What went wrong."""
    dynamic: bool
    """Always true: the client has no definition of the tool."""
    providerExecuted: bool
    """Always true: the client must not run the tool."""
    runId: str
    """The run, or the background task. framegate adds it to each chunk."""
    seq: int
    """The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk."""


UiMessageStreamV1Event: TypeAlias = (
    AbortEvent
    | DataCheckpointEvent
    | DataFileChangeEvent
    | DataNoticeEvent
    | DataPlanEvent
    | DataTaskEvent
    | ErrorEvent
    | FinishStepEvent
    | FinishEvent
    | MessageMetadataEvent
    | ReasoningDeltaEvent
    | ReasoningEndEvent
    | ReasoningStartEvent
    | StartStepEvent
    | StartEvent
    | SteeringMessageEvent
    | TextDeltaEvent
    | TextEndEvent
    | TextStartEvent
    | ToolApprovalRequestEvent
    | ToolApprovalResponseEvent
    | ToolInputAvailableEvent
    | ToolInputDeltaEvent
    | ToolInputStartEvent
    | ToolOutputAvailableEvent
    | ToolOutputDeniedEvent
    | ToolOutputErrorEvent
)
"""Any event of ui-message-stream.v1."""
