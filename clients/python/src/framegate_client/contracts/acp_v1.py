"""The events of acp.v1, from its JSON Schemas."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from .._compat import NotRequired


class AgentMessageChunkEventParamsUpdateContent(TypedDict):
    """The piece."""

    type: Literal["text"]
    """The kind of content."""
    text: str
    """The text."""


class AgentMessageChunkEventParamsUpdate(TypedDict):
    """The update."""

    sessionUpdate: Literal["agent_message_chunk"]
    """The kind of update."""
    content: AgentMessageChunkEventParamsUpdateContent
    """The piece."""
    messageId: str
    """The block of text. Pieces of one block have the same id, and no other message of the session has it."""


class AgentMessageChunkEventParamsMetaFramegateNotice(TypedDict):
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""

    severity: Literal["info", "warning", "error"]
    """How serious it is."""
    title: str
    """The text."""
    description: NotRequired[str]
    """More of it."""
    code: NotRequired[str]
    """A stable code."""


class AgentMessageChunkEventParamsMetaFramegate(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The message's number in its stream, from 0 without gaps."""
    notice: NotRequired[AgentMessageChunkEventParamsMetaFramegateNotice]
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""


class AgentMessageChunkEventParamsMeta(TypedDict):
    """Data that is not part of the protocol."""

    framegate: AgentMessageChunkEventParamsMetaFramegate
    """What framegate adds to the protocol."""


class AgentMessageChunkEventParams(TypedDict):
    """The parameters."""

    sessionId: str
    """The session."""
    update: AgentMessageChunkEventParamsUpdate
    """The update."""
    _meta: AgentMessageChunkEventParamsMeta
    """Data that is not part of the protocol."""


class AgentMessageChunkEvent(TypedDict):
    """A piece of the assistant's text."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    method: Literal["session/update"]
    """The message's method."""
    params: AgentMessageChunkEventParams
    """The parameters."""


class AgentThoughtChunkEventParamsUpdateContent(TypedDict):
    """The piece."""

    type: Literal["text"]
    """The kind of content."""
    text: str
    """The text."""


class AgentThoughtChunkEventParamsUpdate(TypedDict):
    """The update."""

    sessionUpdate: Literal["agent_thought_chunk"]
    """The kind of update."""
    content: AgentThoughtChunkEventParamsUpdateContent
    """The piece."""
    messageId: str
    """The block of reasoning. Pieces of one block have the same id, and no other message of the session has it."""


class AgentThoughtChunkEventParamsMetaFramegateNotice(TypedDict):
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""

    severity: Literal["info", "warning", "error"]
    """How serious it is."""
    title: str
    """The text."""
    description: NotRequired[str]
    """More of it."""
    code: NotRequired[str]
    """A stable code."""


class AgentThoughtChunkEventParamsMetaFramegate(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The message's number in its stream, from 0 without gaps."""
    notice: NotRequired[AgentThoughtChunkEventParamsMetaFramegateNotice]
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""


class AgentThoughtChunkEventParamsMeta(TypedDict):
    """Data that is not part of the protocol."""

    framegate: AgentThoughtChunkEventParamsMetaFramegate
    """What framegate adds to the protocol."""


class AgentThoughtChunkEventParams(TypedDict):
    """The parameters."""

    sessionId: str
    """The session."""
    update: AgentThoughtChunkEventParamsUpdate
    """The update."""
    _meta: AgentThoughtChunkEventParamsMeta
    """Data that is not part of the protocol."""


class AgentThoughtChunkEvent(TypedDict):
    """A piece of the model's reasoning."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    method: Literal["session/update"]
    """The message's method."""
    params: AgentThoughtChunkEventParams
    """The parameters."""


class CancelRequestEventParamsMetaFramegateNotice(TypedDict):
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""

    severity: Literal["info", "warning", "error"]
    """How serious it is."""
    title: str
    """The text."""
    description: NotRequired[str]
    """More of it."""
    code: NotRequired[str]
    """A stable code."""


class CancelRequestEventParamsMetaFramegate(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The message's number in its stream, from 0 without gaps."""
    decision: NotRequired[Literal["approved", "rejected", "timed_out", "cancelled"]]
    """What was decided."""
    by: NotRequired[str]
    """Who decided."""
    reason: NotRequired[str]
    """Why."""
    scope: NotRequired[str]
    """How far the decision reaches: `once`, `session`, `always`, or the word of the runner."""
    notice: NotRequired[CancelRequestEventParamsMetaFramegateNotice]
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""


class CancelRequestEventParamsMeta(TypedDict):
    """Data that is not part of the protocol."""

    framegate: CancelRequestEventParamsMetaFramegate
    """What framegate adds to the protocol."""


class CancelRequestEventParams(TypedDict):
    """The parameters."""

    requestId: str
    """The id of the question."""
    _meta: CancelRequestEventParamsMeta
    """Data that is not part of the protocol."""


class CancelRequestEvent(TypedDict):
    """A question was decided, or is withdrawn."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    method: Literal["$/cancel_request"]
    """The message's method."""
    params: CancelRequestEventParams
    """The parameters."""


class ConfigOptionUpdateEventParamsUpdateConfigOptionsItemOptionsItem(TypedDict):
    """A value."""

    value: str
    """The model."""
    name: str
    """Its name."""


class ConfigOptionUpdateEventParamsUpdateConfigOptionsItem(TypedDict):
    """An option."""

    id: Literal["model"]
    """The option's id."""
    name: str
    """The option's name."""
    category: Literal["model"]
    """What the option is about."""
    type: Literal["select"]
    """The kind of option."""
    currentValue: str
    """The model."""
    options: list[ConfigOptionUpdateEventParamsUpdateConfigOptionsItemOptionsItem]
    """The known values: the model itself."""


class ConfigOptionUpdateEventParamsUpdate(TypedDict):
    """The update."""

    sessionUpdate: Literal["config_option_update"]
    """The kind of update."""
    configOptions: list[ConfigOptionUpdateEventParamsUpdateConfigOptionsItem]
    """The options."""


class ConfigOptionUpdateEventParamsMetaFramegateNotice(TypedDict):
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""

    severity: Literal["info", "warning", "error"]
    """How serious it is."""
    title: str
    """The text."""
    description: NotRequired[str]
    """More of it."""
    code: NotRequired[str]
    """A stable code."""


class ConfigOptionUpdateEventParamsMetaFramegate(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The message's number in its stream, from 0 without gaps."""
    notice: NotRequired[ConfigOptionUpdateEventParamsMetaFramegateNotice]
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""


class ConfigOptionUpdateEventParamsMeta(TypedDict):
    """Data that is not part of the protocol."""

    framegate: ConfigOptionUpdateEventParamsMetaFramegate
    """What framegate adds to the protocol."""


class ConfigOptionUpdateEventParams(TypedDict):
    """The parameters."""

    sessionId: str
    """The session."""
    update: ConfigOptionUpdateEventParamsUpdate
    """The update."""
    _meta: ConfigOptionUpdateEventParamsMeta
    """Data that is not part of the protocol."""


class ConfigOptionUpdateEvent(TypedDict):
    """The model that works, as the configuration of the session."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    method: Literal["session/update"]
    """The message's method."""
    params: ConfigOptionUpdateEventParams
    """The parameters."""


class ErrorEventErrorDataUsage(TypedDict):
    """The tokens of the whole run, of subagents too. Absent if the runner did not report any."""

    totalTokens: int
    """All tokens, including cached ones."""
    inputTokens: int
    """Tokens read, without cached ones."""
    outputTokens: int
    """Tokens written, including reasoning."""
    thoughtTokens: NotRequired[int]
    """The part of outputTokens that was reasoning. Absent if the runner did not report it."""
    cachedReadTokens: NotRequired[int]
    """Tokens read from the cache. Absent if the runner did not report it."""
    cachedWriteTokens: NotRequired[int]
    """Tokens written to the cache. Absent if the runner did not report it."""


class ErrorEventErrorDataFramegateNotice(TypedDict):
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""

    severity: Literal["info", "warning", "error"]
    """How serious it is."""
    title: str
    """The text."""
    description: NotRequired[str]
    """More of it."""
    code: NotRequired[str]
    """A stable code."""


class ErrorEventErrorDataFramegate(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The message's number in its stream, from 0 without gaps."""
    costUsd: NotRequired[float]
    """The price in US dollars. Absent if the runner did not report it."""
    notice: NotRequired[ErrorEventErrorDataFramegateNotice]
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""


class ErrorEventErrorData(TypedDict):
    """Details."""

    code: NotRequired[str]
    """The code of the error."""
    usage: NotRequired[ErrorEventErrorDataUsage]
    """The tokens of the whole run, of subagents too. Absent if the runner did not report any."""
    framegate: ErrorEventErrorDataFramegate
    """What framegate adds to the protocol."""


class ErrorEventError(TypedDict):
    """The error."""

    code: int
    """The protocol's code: -32603 for a run that failed, -32002 for one that is no longer kept."""
    message: str
    """The message for people."""
    data: ErrorEventErrorData
    """Details."""


class ErrorEvent(TypedDict):
    """The answer of a prompt that failed: the run is over."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    id: str
    """The run."""
    error: ErrorEventError
    """The error."""


class PlanEventParamsUpdateEntriesItem(TypedDict):
    """An entry."""

    content: str
    """The text."""
    priority: Literal["high", "medium", "low"]
    """How important it is."""
    status: Literal["pending", "in_progress", "completed"]
    """Its state."""


class PlanEventParamsUpdate(TypedDict):
    """The update."""

    sessionUpdate: Literal["plan"]
    """The kind of update."""
    entries: list[PlanEventParamsUpdateEntriesItem]
    """All entries, in order."""


class PlanEventParamsMetaFramegateNotice(TypedDict):
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""

    severity: Literal["info", "warning", "error"]
    """How serious it is."""
    title: str
    """The text."""
    description: NotRequired[str]
    """More of it."""
    code: NotRequired[str]
    """A stable code."""


class PlanEventParamsMetaFramegate(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The message's number in its stream, from 0 without gaps."""
    notice: NotRequired[PlanEventParamsMetaFramegateNotice]
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""


class PlanEventParamsMeta(TypedDict):
    """Data that is not part of the protocol."""

    framegate: PlanEventParamsMetaFramegate
    """What framegate adds to the protocol."""


class PlanEventParams(TypedDict):
    """The parameters."""

    sessionId: str
    """The session."""
    update: PlanEventParamsUpdate
    """The update."""
    _meta: PlanEventParamsMeta
    """Data that is not part of the protocol."""


class PlanEvent(TypedDict):
    """The whole plan, which replaces the plan before."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    method: Literal["session/update"]
    """The message's method."""
    params: PlanEventParams
    """The parameters."""


class RequestPermissionEventParamsToolCall(TypedDict):
    """The call."""

    toolCallId: str
    """The call."""
    title: str
    """What the call does, for people."""
    name: NotRequired[str]
    """The tool's name. Absent if it is unknown."""
    rawInput: NotRequired[Any]
    """The arguments: an object, or a string if the model gave no object."""


class RequestPermissionEventParamsOptionsItem(TypedDict):
    """An answer."""

    optionId: Literal["allow_once", "allow_always", "reject_once"]
    """Its id, which is its kind."""
    name: str
    """Its name for people."""
    kind: Literal["allow_once", "allow_always", "reject_once"]
    """Its kind."""


class RequestPermissionEventParamsMetaFramegateNotice(TypedDict):
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""

    severity: Literal["info", "warning", "error"]
    """How serious it is."""
    title: str
    """The text."""
    description: NotRequired[str]
    """More of it."""
    code: NotRequired[str]
    """A stable code."""


class RequestPermissionEventParamsMetaFramegate(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The message's number in its stream, from 0 without gaps."""
    reason: NotRequired[str]
    """Why the runner asks."""
    parentToolCallId: NotRequired[str]
    """The call whose subagent made this one. Absent for the main thread."""
    notice: NotRequired[RequestPermissionEventParamsMetaFramegateNotice]
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""


class RequestPermissionEventParamsMeta(TypedDict):
    """Data that is not part of the protocol."""

    framegate: RequestPermissionEventParamsMetaFramegate
    """What framegate adds to the protocol."""


class RequestPermissionEventParams(TypedDict):
    """The parameters."""

    sessionId: str
    """The session."""
    toolCall: RequestPermissionEventParamsToolCall
    """The call."""
    options: list[RequestPermissionEventParamsOptionsItem]
    """The possible answers."""
    _meta: RequestPermissionEventParamsMeta
    """Data that is not part of the protocol."""


class RequestPermissionEvent(TypedDict):
    """The runner asks whether a call may run."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    id: str
    """The approval that the answer decides."""
    method: Literal["session/request_permission"]
    """The message's method."""
    params: RequestPermissionEventParams
    """The parameters."""


class ResultEventResultUsage(TypedDict):
    """The tokens of the whole run, of subagents too. Absent if the runner did not report any."""

    totalTokens: int
    """All tokens, including cached ones."""
    inputTokens: int
    """Tokens read, without cached ones."""
    outputTokens: int
    """Tokens written, including reasoning."""
    thoughtTokens: NotRequired[int]
    """The part of outputTokens that was reasoning. Absent if the runner did not report it."""
    cachedReadTokens: NotRequired[int]
    """Tokens read from the cache. Absent if the runner did not report it."""
    cachedWriteTokens: NotRequired[int]
    """Tokens written to the cache. Absent if the runner did not report it."""


class ResultEventResultMetaFramegateNotice(TypedDict):
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""

    severity: Literal["info", "warning", "error"]
    """How serious it is."""
    title: str
    """The text."""
    description: NotRequired[str]
    """More of it."""
    code: NotRequired[str]
    """A stable code."""


class ResultEventResultMetaFramegate(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The message's number in its stream, from 0 without gaps."""
    costUsd: NotRequired[float]
    """The price in US dollars. Absent if the runner did not report it."""
    code: NotRequired[str]
    """The code of a run that was stopped or reached a limit."""
    message: NotRequired[str]
    """The same for people."""
    notice: NotRequired[ResultEventResultMetaFramegateNotice]
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""


class ResultEventResultMeta(TypedDict):
    """Data that is not part of the protocol."""

    framegate: ResultEventResultMetaFramegate
    """What framegate adds to the protocol."""


class ResultEventResult(TypedDict):
    """The result."""

    stopReason: Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
    """Why the run is over."""
    usage: NotRequired[ResultEventResultUsage]
    """The tokens of the whole run, of subagents too. Absent if the runner did not report any."""
    _meta: ResultEventResultMeta
    """Data that is not part of the protocol."""


class ResultEvent(TypedDict):
    """The answer of the prompt: the run is over."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    id: str
    """The run."""
    result: ResultEventResult
    """The result."""


class SessionInfoUpdateEventParamsUpdate(TypedDict):
    """The update."""

    sessionUpdate: Literal["session_info_update"]
    """The kind of update."""
    updatedAt: NotRequired[str]
    """When the run began."""


class SessionInfoUpdateEventParamsMetaFramegateUsage(TypedDict):
    """The tokens of all model calls so far, of subagents too."""

    totalTokens: int
    """All tokens, including cached ones."""
    inputTokens: int
    """Tokens read, without cached ones."""
    outputTokens: int
    """Tokens written, including reasoning."""
    thoughtTokens: NotRequired[int]
    """The part of outputTokens that was reasoning. Absent if the runner did not report it."""
    cachedReadTokens: NotRequired[int]
    """Tokens read from the cache. Absent if the runner did not report it."""
    cachedWriteTokens: NotRequired[int]
    """Tokens written to the cache. Absent if the runner did not report it."""


class SessionInfoUpdateEventParamsMetaFramegateCheckpoint(TypedDict):
    """A checkpoint of the workspace."""

    status: Literal["created", "rewound", "failed"]
    """What happened."""
    checkpointId: NotRequired[str]
    """The checkpoint."""
    label: NotRequired[str]
    """Its label."""
    files: NotRequired[list[str]]
    """The files, as relative paths."""
    createdAtMs: NotRequired[int]
    """When it was made, in Unix epoch milliseconds."""
    auto: NotRequired[bool]
    """Whether the runner made it by itself."""
    toolName: NotRequired[str]
    """The tool before which it was made."""
    action: NotRequired[Literal["create", "rewind"]]
    """What failed."""
    error: NotRequired[str]
    """Why it failed."""


class SessionInfoUpdateEventParamsMetaFramegateCompaction(TypedDict):
    """The runner replaced a part of its history with a summary."""

    compactionId: str
    """The compaction."""
    trigger: NotRequired[str]
    """`manual`, `auto`, or the word of the runner."""
    tokensBefore: NotRequired[int]
    """Tokens of context before."""
    tokensAfter: NotRequired[int]
    """Tokens of context after."""
    summary: NotRequired[str]
    """The summary."""


class SessionInfoUpdateEventParamsMetaFramegateNotice(TypedDict):
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""

    severity: Literal["info", "warning", "error"]
    """How serious it is."""
    title: str
    """The text."""
    description: NotRequired[str]
    """More of it."""
    code: NotRequired[str]
    """A stable code."""


class SessionInfoUpdateEventParamsMetaFramegate(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The message's number in its stream, from 0 without gaps."""
    runner: NotRequired[str]
    """The runner. Only at the start."""
    usage: NotRequired[SessionInfoUpdateEventParamsMetaFramegateUsage]
    """The tokens of all model calls so far, of subagents too."""
    costUsd: NotRequired[float]
    """The price in US dollars. Absent if the runner did not report it."""
    checkpoint: NotRequired[SessionInfoUpdateEventParamsMetaFramegateCheckpoint]
    """A checkpoint of the workspace."""
    compaction: NotRequired[SessionInfoUpdateEventParamsMetaFramegateCompaction]
    """The runner replaced a part of its history with a summary."""
    notice: NotRequired[SessionInfoUpdateEventParamsMetaFramegateNotice]
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""


class SessionInfoUpdateEventParamsMeta(TypedDict):
    """Data that is not part of the protocol."""

    framegate: SessionInfoUpdateEventParamsMetaFramegate
    """What framegate adds to the protocol."""


class SessionInfoUpdateEventParams(TypedDict):
    """The parameters."""

    sessionId: str
    """The session."""
    update: SessionInfoUpdateEventParamsUpdate
    """The update."""
    _meta: SessionInfoUpdateEventParamsMeta
    """Data that is not part of the protocol."""


class SessionInfoUpdateEvent(TypedDict):
    """The run begins, or something that the protocol tells only some clients."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    method: Literal["session/update"]
    """The message's method."""
    params: SessionInfoUpdateEventParams
    """The parameters."""


class ToolCallEventParamsUpdateContentItemContent(TypedDict):
    """A text. Absent for a diff."""

    type: Literal["text"]
    """The kind of content."""
    text: str
    """The text."""


class ToolCallEventParamsUpdateContentItem(TypedDict):
    """A text or a diff."""

    type: Literal["content", "diff"]
    """The kind of content."""
    content: NotRequired[ToolCallEventParamsUpdateContentItemContent]
    """A text. Absent for a diff."""
    path: NotRequired[str]
    """The absolute path of the file. Absent for a text."""
    oldText: NotRequired[str]
    """The text before. Absent for a text and for a new file."""
    newText: NotRequired[str]
    """The text after. Absent for a text."""


class ToolCallEventParamsUpdateLocationsItem(TypedDict):
    """A place in a file."""

    path: str
    """The absolute path."""
    line: NotRequired[int]
    """The line."""


class ToolCallEventParamsUpdateRawOutput(TypedDict):
    """The result. Absent while the call is open."""

    exit_code: NotRequired[int]
    """The exit code; 0 or 1 if the tool is not a process."""
    duration_ms: NotRequired[int]
    """Milliseconds from start to end."""
    output: NotRequired[str]
    """The output, if the content is a diff."""
    artifacts: NotRequired[dict[str, Any]]
    """References to stored objects."""
    omitted_bytes: NotRequired[int]
    """How many bytes of output are left out because it is too large. Absent if none are."""


class ToolCallEventParamsUpdate(TypedDict):
    """The update."""

    sessionUpdate: Literal["tool_call"]
    """The kind of update."""
    toolCallId: str
    """The call."""
    title: str
    """What the call does, for people."""
    name: NotRequired[str]
    """The tool's name. Absent if it is unknown."""
    kind: NotRequired[Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"]]
    """The kind of tool. Absent if it is unknown so far."""
    status: NotRequired[Literal["pending", "in_progress", "completed", "failed"]]
    """The state of the call."""
    content: NotRequired[list[ToolCallEventParamsUpdateContentItem]]
    """What the call gave so far, or the change that it proposes. It replaces the content before."""
    locations: NotRequired[list[ToolCallEventParamsUpdateLocationsItem]]
    """The files that the call is about."""
    rawInput: NotRequired[Any]
    """The arguments: an object, or a string if the model gave no object."""
    rawOutput: NotRequired[ToolCallEventParamsUpdateRawOutput]
    """The result. Absent while the call is open."""


class ToolCallEventParamsMetaFramegateNotice(TypedDict):
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""

    severity: Literal["info", "warning", "error"]
    """How serious it is."""
    title: str
    """The text."""
    description: NotRequired[str]
    """More of it."""
    code: NotRequired[str]
    """A stable code."""


class ToolCallEventParamsMetaFramegate(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The message's number in its stream, from 0 without gaps."""
    callId: NotRequired[str]
    """The runner's own id of the call, or of the subagent."""
    parentToolCallId: NotRequired[str]
    """The call whose subagent made this one. Absent for the main thread."""
    runner: NotRequired[str]
    """The runner of a background task."""
    originRunId: NotRequired[str]
    """The run that started a background task."""
    notice: NotRequired[ToolCallEventParamsMetaFramegateNotice]
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""


class ToolCallEventParamsMeta(TypedDict):
    """Data that is not part of the protocol."""

    framegate: ToolCallEventParamsMetaFramegate
    """What framegate adds to the protocol."""


class ToolCallEventParams(TypedDict):
    """The parameters."""

    sessionId: str
    """The session."""
    update: ToolCallEventParamsUpdate
    """The update."""
    _meta: ToolCallEventParamsMeta
    """Data that is not part of the protocol."""


class ToolCallEvent(TypedDict):
    """A call is announced."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    method: Literal["session/update"]
    """The message's method."""
    params: ToolCallEventParams
    """The parameters."""


class ToolCallUpdateEventParamsUpdateContentItemContent(TypedDict):
    """A text. Absent for a diff."""

    type: Literal["text"]
    """The kind of content."""
    text: str
    """The text."""


class ToolCallUpdateEventParamsUpdateContentItem(TypedDict):
    """A text or a diff."""

    type: Literal["content", "diff"]
    """The kind of content."""
    content: NotRequired[ToolCallUpdateEventParamsUpdateContentItemContent]
    """A text. Absent for a diff."""
    path: NotRequired[str]
    """The absolute path of the file. Absent for a text."""
    oldText: NotRequired[str]
    """The text before. Absent for a text and for a new file."""
    newText: NotRequired[str]
    """The text after. Absent for a text."""


class ToolCallUpdateEventParamsUpdateLocationsItem(TypedDict):
    """A place in a file."""

    path: str
    """The absolute path."""
    line: NotRequired[int]
    """The line."""


class ToolCallUpdateEventParamsUpdateRawOutput(TypedDict):
    """The result. Absent while the call is open."""

    exit_code: NotRequired[int]
    """The exit code; 0 or 1 if the tool is not a process."""
    duration_ms: NotRequired[int]
    """Milliseconds from start to end."""
    output: NotRequired[str]
    """The output, if the content is a diff."""
    artifacts: NotRequired[dict[str, Any]]
    """References to stored objects."""
    omitted_bytes: NotRequired[int]
    """How many bytes of output are left out because it is too large. Absent if none are."""


class ToolCallUpdateEventParamsUpdate(TypedDict):
    """The update."""

    sessionUpdate: Literal["tool_call_update"]
    """The kind of update."""
    toolCallId: str
    """The call."""
    title: NotRequired[str]
    """What the call does, for people."""
    name: NotRequired[str]
    """The tool's name. Absent if it is unknown."""
    kind: NotRequired[Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"]]
    """The kind of tool. Absent if it is unknown so far."""
    status: NotRequired[Literal["pending", "in_progress", "completed", "failed"]]
    """The state of the call."""
    content: NotRequired[list[ToolCallUpdateEventParamsUpdateContentItem]]
    """What the call gave so far, or the change that it proposes. It replaces the content before."""
    locations: NotRequired[list[ToolCallUpdateEventParamsUpdateLocationsItem]]
    """The files that the call is about."""
    rawInput: NotRequired[Any]
    """The arguments: an object, or a string if the model gave no object."""
    rawOutput: NotRequired[ToolCallUpdateEventParamsUpdateRawOutput]
    """The result. Absent while the call is open."""


class ToolCallUpdateEventParamsMetaFramegateNotice(TypedDict):
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""

    severity: Literal["info", "warning", "error"]
    """How serious it is."""
    title: str
    """The text."""
    description: NotRequired[str]
    """More of it."""
    code: NotRequired[str]
    """A stable code."""


class ToolCallUpdateEventParamsMetaFramegate(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The message's number in its stream, from 0 without gaps."""
    callId: NotRequired[str]
    """The runner's own id of the call, or of the subagent."""
    parentToolCallId: NotRequired[str]
    """The call whose subagent made this one. Absent for the main thread."""
    failure: NotRequired[Literal["failed", "denied", "no_result", "cancelled"]]
    """Why a call has no result. Absent if it has one."""
    notice: NotRequired[ToolCallUpdateEventParamsMetaFramegateNotice]
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""


class ToolCallUpdateEventParamsMeta(TypedDict):
    """Data that is not part of the protocol."""

    framegate: ToolCallUpdateEventParamsMetaFramegate
    """What framegate adds to the protocol."""


class ToolCallUpdateEventParams(TypedDict):
    """The parameters."""

    sessionId: str
    """The session."""
    update: ToolCallUpdateEventParamsUpdate
    """The update."""
    _meta: ToolCallUpdateEventParamsMeta
    """Data that is not part of the protocol."""


class ToolCallUpdateEvent(TypedDict):
    """A call changed: what is absent is as it was."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    method: Literal["session/update"]
    """The message's method."""
    params: ToolCallUpdateEventParams
    """The parameters."""


class UserMessageChunkEventParamsUpdateContent(TypedDict):
    """The text, or the file."""

    type: Literal["text", "resource_link"]
    """The kind of content."""
    text: NotRequired[str]
    """The text. Absent for a file."""
    uri: NotRequired[str]
    """The file's digest: `sha256:` and hexadecimal digits. Absent for a text."""
    name: NotRequired[str]
    """The file's name, or what it is. Absent for a text."""
    mimeType: NotRequired[str]
    """The media type. Absent if unknown."""
    size: NotRequired[int]
    """The size in bytes. Absent if unknown."""


class UserMessageChunkEventParamsUpdate(TypedDict):
    """The update."""

    sessionUpdate: Literal["user_message_chunk"]
    """The kind of update."""
    content: UserMessageChunkEventParamsUpdateContent
    """The text, or the file."""
    messageId: str
    """The message."""


class UserMessageChunkEventParamsMetaFramegateNotice(TypedDict):
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""

    severity: Literal["info", "warning", "error"]
    """How serious it is."""
    title: str
    """The text."""
    description: NotRequired[str]
    """More of it."""
    code: NotRequired[str]
    """A stable code."""


class UserMessageChunkEventParamsMetaFramegate(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The message's number in its stream, from 0 without gaps."""
    notice: NotRequired[UserMessageChunkEventParamsMetaFramegateNotice]
    """What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`."""


class UserMessageChunkEventParamsMeta(TypedDict):
    """Data that is not part of the protocol."""

    framegate: UserMessageChunkEventParamsMetaFramegate
    """What framegate adds to the protocol."""


class UserMessageChunkEventParams(TypedDict):
    """The parameters."""

    sessionId: str
    """The session."""
    update: UserMessageChunkEventParamsUpdate
    """The update."""
    _meta: UserMessageChunkEventParamsMeta
    """Data that is not part of the protocol."""


class UserMessageChunkEvent(TypedDict):
    """A user's message, or a file of one. Only with the option for user messages."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""
    method: Literal["session/update"]
    """The message's method."""
    params: UserMessageChunkEventParams
    """The parameters."""


AcpV1Event: TypeAlias = (
    AgentMessageChunkEvent
    | AgentThoughtChunkEvent
    | CancelRequestEvent
    | ConfigOptionUpdateEvent
    | ErrorEvent
    | PlanEvent
    | RequestPermissionEvent
    | ResultEvent
    | SessionInfoUpdateEvent
    | ToolCallEvent
    | ToolCallUpdateEvent
    | UserMessageChunkEvent
)
"""Any event of acp.v1."""
