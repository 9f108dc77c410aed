"""The events of ag-ui.v1, from its JSON Schemas."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from .._compat import NotRequired


class ACTIVITYDELTAEventPatchItem(TypedDict):
    """One operation."""

    op: Literal["add"]
    """It appends to the output, or sets a field."""
    path: Literal["/output/-", "/status", "/exitCode", "/error"]
    """Where."""
    value: Any
    """A piece of output, the task's new state, its exit code, or what went wrong."""


class ACTIVITYDELTAEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class ACTIVITYDELTAEvent(TypedDict):
    """A change of an activity, as a JSON Patch."""

    type: Literal["ACTIVITY_DELTA"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    messageId: str
    """The activity."""
    activityType: Literal["TOOL_OUTPUT", "TASK"]
    """The kind of activity."""
    patch: list[ACTIVITYDELTAEventPatchItem]
    """The operations, in order."""
    metadata: ACTIVITYDELTAEventMetadata
    """What framegate adds to the protocol."""


class ACTIVITYSNAPSHOTEventContentOutputItem(TypedDict):
    """A piece of output."""

    stream: Literal["stdout", "stderr"]
    """Its stream."""
    text: str
    """Its text."""


class ACTIVITYSNAPSHOTEventContent(TypedDict):
    """The activity. Each ACTIVITY_DELTA changes it."""

    toolCallId: NotRequired[str]
    """The call whose output it is."""
    taskId: NotRequired[str]
    """The background task."""
    status: NotRequired[Literal["queued", "running", "exited", "cancelled", "failed"]]
    """The state of the task."""
    toolName: NotRequired[str]
    """The tool that the task runs."""
    title: NotRequired[str]
    """A title of the task for people."""
    cwd: NotRequired[str]
    """The working directory of the task."""
    input: NotRequired[Any]
    """The arguments of the task: an object, or a string if the model's arguments are no object."""
    output: list[ACTIVITYSNAPSHOTEventContentOutputItem]
    """The pieces of output, in order. Each ACTIVITY_DELTA appends to them."""


class ACTIVITYSNAPSHOTEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class ACTIVITYSNAPSHOTEvent(TypedDict):
    """An activity begins: the live output of a tool, or a background task."""

    type: Literal["ACTIVITY_SNAPSHOT"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    messageId: str
    """The activity."""
    activityType: Literal["TOOL_OUTPUT", "TASK"]
    """The kind of activity."""
    content: ACTIVITYSNAPSHOTEventContent
    """The activity. Each ACTIVITY_DELTA changes it."""
    metadata: ACTIVITYSNAPSHOTEventMetadata
    """What framegate adds to the protocol."""


class CUSTOMEventValuePlanItem(TypedDict):
    """One entry."""

    content: str
    """The text of the entry."""
    status: str
    """`pending`, `in_progress`, `completed`, or the runner's own value."""
    priority: NotRequired[str]
    """`high`, `medium`, `low`, or the runner's own value."""


class CUSTOMEventValue(TypedDict):
    """The fields of what happened."""

    approvalId: NotRequired[str]
    """The question."""
    toolCallId: NotRequired[str]
    """The call that it is about."""
    toolName: NotRequired[str]
    """The tool that wants to run, or before which a checkpoint was made."""
    args: NotRequired[Any]
    """The arguments that need approval."""
    reason: NotRequired[str]
    """Why the runner asks, or why the decision was made."""
    decision: NotRequired[Literal["approved", "rejected", "timed_out", "cancelled"]]
    """The decision."""
    by: NotRequired[str]
    """Who decided."""
    scope: NotRequired[str]
    """What else the decision holds for, in the runner's words."""
    level: NotRequired[Literal["debug", "info", "warn", "error"]]
    """How severe the notice is."""
    code: NotRequired[str]
    """The kind of problem."""
    message: NotRequired[str]
    """The text of the notice."""
    path: NotRequired[str]
    """The file."""
    kind: NotRequired[Literal["add", "modify", "delete", "move"]]
    """How the file changed."""
    diff: NotRequired[str]
    """The change as a unified diff."""
    artifactId: NotRequired[str]
    """The stored object with the change."""
    checkpointId: NotRequired[str]
    """The checkpoint."""
    label: NotRequired[str]
    """The label of the checkpoint."""
    files: NotRequired[list[str]]
    """The files of the checkpoint."""
    createdAtMs: NotRequired[int]
    """When the checkpoint was made, in Unix epoch milliseconds."""
    auto: NotRequired[bool]
    """Whether the runner made the checkpoint automatically."""
    action: NotRequired[Literal["create", "rewind"]]
    """What failed."""
    error: NotRequired[str]
    """What went wrong."""
    trigger: NotRequired[str]
    """`manual`, `auto`, or the runner's own value."""
    tokensBefore: NotRequired[int]
    """Tokens of context before."""
    tokensAfter: NotRequired[int]
    """Tokens of context after."""
    summary: NotRequired[str]
    """The summary that replaces a part of the history."""
    plan: NotRequired[list[CUSTOMEventValuePlanItem]]
    """All entries of the plan, in order."""
    model: NotRequired[str]
    """The model of all calls so far. Absent if there were several."""
    inputTokens: NotRequired[int]
    """Tokens read, including cached ones."""
    outputTokens: NotRequired[int]
    """Tokens written, including reasoning."""
    totalTokens: NotRequired[int]
    """The sum of both."""
    reasoningTokens: NotRequired[int]
    """The part of outputTokens that was reasoning. Absent if the runner did not report it."""
    cachedInputTokens: NotRequired[int]
    """The part of inputTokens that was read from the cache. Absent if the runner did not report it."""
    cacheWriteInputTokens: NotRequired[int]
    """The part of inputTokens that was written to the cache. Absent if the runner did not report it."""
    costUsd: NotRequired[float]
    """The price so far in US dollars."""


class CUSTOMEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class CUSTOMEvent(TypedDict):
    """What the protocol has no event for. `name` decides which fields the value has."""

    type: Literal["CUSTOM"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    name: Literal["approval_requested", "approval_resolved", "notice", "usage", "file_changed", "checkpoint_created", "checkpoint_rewound", "checkpoint_failed", "history_compacted", "plan"]
    """What happened."""
    value: CUSTOMEventValue
    """The fields of what happened."""
    metadata: CUSTOMEventMetadata
    """What framegate adds to the protocol."""


class REASONINGENCRYPTEDVALUEEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class REASONINGENCRYPTEDVALUEEvent(TypedDict):
    """The provider's own form of a message of reasoning."""

    type: Literal["REASONING_ENCRYPTED_VALUE"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    subtype: Literal["message"]
    """It belongs to a message."""
    entityId: str
    """The span, and the message in it."""
    encryptedValue: str
    """The signature or the encrypted content in the provider's item; the whole item if it has neither."""
    metadata: REASONINGENCRYPTEDVALUEEventMetadata
    """What framegate adds to the protocol."""


class REASONINGENDEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class REASONINGENDEvent(TypedDict):
    """A span of reasoning is over."""

    type: Literal["REASONING_END"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    messageId: str
    """The span, and the message in it."""
    metadata: REASONINGENDEventMetadata
    """What framegate adds to the protocol."""


class REASONINGMESSAGECONTENTEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class REASONINGMESSAGECONTENTEvent(TypedDict):
    """A piece of reasoning."""

    type: Literal["REASONING_MESSAGE_CONTENT"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    messageId: str
    """The span, and the message in it."""
    delta: str
    """The piece."""
    metadata: REASONINGMESSAGECONTENTEventMetadata
    """What framegate adds to the protocol."""


class REASONINGMESSAGEENDEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class REASONINGMESSAGEENDEvent(TypedDict):
    """The message of a span of reasoning is complete."""

    type: Literal["REASONING_MESSAGE_END"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    messageId: str
    """The span, and the message in it."""
    metadata: REASONINGMESSAGEENDEventMetadata
    """What framegate adds to the protocol."""


class REASONINGMESSAGESTARTEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class REASONINGMESSAGESTARTEvent(TypedDict):
    """The message of a span of reasoning begins."""

    type: Literal["REASONING_MESSAGE_START"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    messageId: str
    """The span, and the message in it."""
    role: Literal["reasoning"]
    """Always the same."""
    metadata: REASONINGMESSAGESTARTEventMetadata
    """What framegate adds to the protocol."""


class REASONINGSTARTEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class REASONINGSTARTEvent(TypedDict):
    """A span of reasoning begins. It has one message."""

    type: Literal["REASONING_START"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    messageId: str
    """The span, and the message in it."""
    metadata: REASONINGSTARTEventMetadata
    """What framegate adds to the protocol."""


class RUNERROREventUsageItem(TypedDict):
    """Tokens."""

    model: NotRequired[str]
    """The model. Absent if there were several."""
    inputTokens: int
    """Tokens read, including cached ones."""
    outputTokens: int
    """Tokens written, including reasoning."""
    totalTokens: int
    """The sum of both."""
    reasoningTokens: NotRequired[int]
    """The part of outputTokens that was reasoning. Absent if the runner did not report it."""
    cachedInputTokens: NotRequired[int]
    """The part of inputTokens that was read from the cache. Absent if the runner did not report it."""
    cacheWriteInputTokens: NotRequired[int]
    """The part of inputTokens that was written to the cache. Absent if the runner did not report it."""


class RUNERROREventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    costUsd: NotRequired[float]
    """The price of the whole run in US dollars. Absent if the runner did not report it."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class RUNERROREvent(TypedDict):
    """The last event of a run that failed."""

    type: Literal["RUN_ERROR"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    message: str
    """What went wrong."""
    code: NotRequired[str]
    """What went wrong, for programs."""
    usage: NotRequired[list[RUNERROREventUsageItem]]
    """The tokens of the whole run, of subagents too. Absent if the runner did not report any."""
    metadata: RUNERROREventMetadata
    """What framegate adds to the protocol."""


class RUNFINISHEDEventOutcome(TypedDict):
    """How the run ended."""

    type: Literal["success", "cancelled"]
    """`cancelled` if the run was interrupted."""
    pendingToolCallIds: NotRequired[list[str]]
    """The calls that the runner leaves to its client."""


class RUNFINISHEDEventUsageItem(TypedDict):
    """Tokens."""

    model: NotRequired[str]
    """The model. Absent if there were several."""
    inputTokens: int
    """Tokens read, including cached ones."""
    outputTokens: int
    """Tokens written, including reasoning."""
    totalTokens: int
    """The sum of both."""
    reasoningTokens: NotRequired[int]
    """The part of outputTokens that was reasoning. Absent if the runner did not report it."""
    cachedInputTokens: NotRequired[int]
    """The part of inputTokens that was read from the cache. Absent if the runner did not report it."""
    cacheWriteInputTokens: NotRequired[int]
    """The part of inputTokens that was written to the cache. Absent if the runner did not report it."""


class RUNFINISHEDEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    errorCode: NotRequired[str]
    """Why the run was interrupted, or which limit it reached."""
    reason: NotRequired[str]
    """The same for people."""
    costUsd: NotRequired[float]
    """The price of the whole run in US dollars. Absent if the runner did not report it."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class RUNFINISHEDEvent(TypedDict):
    """The last event of a run that did not fail."""

    type: Literal["RUN_FINISHED"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    threadId: str
    """The session."""
    runId: str
    """The run, or the background task."""
    outcome: RUNFINISHEDEventOutcome
    """How the run ended."""
    usage: NotRequired[list[RUNFINISHEDEventUsageItem]]
    """The tokens of the whole run, of subagents too. Absent if the runner did not report any."""
    metadata: RUNFINISHEDEventMetadata
    """What framegate adds to the protocol."""


class RUNSTARTEDEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    runner: NotRequired[str]
    """The runner."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class RUNSTARTEDEvent(TypedDict):
    """The first event of a run."""

    type: Literal["RUN_STARTED"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    threadId: str
    """The session."""
    runId: str
    """The run, or the background task."""
    protocolVersion: Literal["1.0"]
    """The version of the protocol."""
    parentRunId: NotRequired[str]
    """For a background task, the run that started it."""
    metadata: RUNSTARTEDEventMetadata
    """What framegate adds to the protocol."""


class STATESNAPSHOTEventSnapshotPlanItem(TypedDict):
    """One entry."""

    content: str
    """The text of the entry."""
    status: str
    """`pending`, `in_progress`, `completed`, or the runner's own value."""
    priority: NotRequired[str]
    """`high`, `medium`, `low`, or the runner's own value."""


class STATESNAPSHOTEventSnapshot(TypedDict):
    """The state."""

    plan: list[STATESNAPSHOTEventSnapshotPlanItem]
    """All entries of the plan, in order."""


class STATESNAPSHOTEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class STATESNAPSHOTEvent(TypedDict):
    """The state of the run: its plan, in place of the state before."""

    type: Literal["STATE_SNAPSHOT"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    snapshot: STATESNAPSHOTEventSnapshot
    """The state."""
    metadata: STATESNAPSHOTEventMetadata
    """What framegate adds to the protocol."""


class STEPFINISHEDEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    stopReason: NotRequired[str]
    """Why the model stopped, in the runner's own words."""
    durationMs: NotRequired[int]
    """Milliseconds since the turn began."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class STEPFINISHEDEvent(TypedDict):
    """A turn is over."""

    type: Literal["STEP_FINISHED"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    stepName: str
    """`turn-` and the index of the turn, from 0."""
    metadata: STEPFINISHEDEventMetadata
    """What framegate adds to the protocol."""


class STEPSTARTEDEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    model: NotRequired[str]
    """The model."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class STEPSTARTEDEvent(TypedDict):
    """A turn of the main thread begins."""

    type: Literal["STEP_STARTED"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    stepName: str
    """`turn-` and the index of the turn, from 0."""
    metadata: STEPSTARTEDEventMetadata
    """What framegate adds to the protocol."""


class SUBAGENTERROREventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    status: NotRequired[str]
    """How it ended, in the runner's word."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class SUBAGENTERROREvent(TypedDict):
    """A subagent failed, or was stopped."""

    type: Literal["SUBAGENT_ERROR"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: str
    """The invocation of the subagent, which no other one has."""
    message: str
    """What it reported, or how it ended."""
    code: str
    """How it ended: `failed`, `cancelled`, `interrupted`, or `event_withheld`."""
    metadata: SUBAGENTERROREventMetadata
    """What framegate adds to the protocol."""


class SUBAGENTFINISHEDEventOutcome(TypedDict):
    """How it ended."""

    type: Literal["success"]
    """Always the same; the runner's own word is in the metadata."""


class SUBAGENTFINISHEDEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    status: NotRequired[str]
    """How it ended, in the runner's word."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class SUBAGENTFINISHEDEvent(TypedDict):
    """A subagent is done."""

    type: Literal["SUBAGENT_FINISHED"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: str
    """The invocation of the subagent, which no other one has."""
    result: NotRequired[str]
    """What it reported."""
    outcome: SUBAGENTFINISHEDEventOutcome
    """How it ended."""
    metadata: SUBAGENTFINISHEDEventMetadata
    """What framegate adds to the protocol."""


class SUBAGENTSTARTEDEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    subagentId: NotRequired[str]
    """The runner's own id of the subagent."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class SUBAGENTSTARTEDEvent(TypedDict):
    """A subagent begins."""

    type: Literal["SUBAGENT_STARTED"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: str
    """The invocation of the subagent, which no other one has."""
    name: str
    """The kind of agent, or `subagent`."""
    description: NotRequired[str]
    """The task that it was given."""
    parentSubagentRunId: NotRequired[str]
    """The subagent that started it. Absent if the main thread did."""
    parentToolCallId: NotRequired[str]
    """The call that started it."""
    metadata: SUBAGENTSTARTEDEventMetadata
    """What framegate adds to the protocol."""


class TEXTMESSAGECONTENTEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class TEXTMESSAGECONTENTEvent(TypedDict):
    """A piece of a text message."""

    type: Literal["TEXT_MESSAGE_CONTENT"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    messageId: str
    """The message."""
    delta: str
    """The piece."""
    metadata: TEXTMESSAGECONTENTEventMetadata
    """What framegate adds to the protocol."""


class TEXTMESSAGEENDEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class TEXTMESSAGEENDEvent(TypedDict):
    """A text message is complete."""

    type: Literal["TEXT_MESSAGE_END"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    messageId: str
    """The message."""
    metadata: TEXTMESSAGEENDEventMetadata
    """What framegate adds to the protocol."""


class TEXTMESSAGESTARTEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class TEXTMESSAGESTARTEvent(TypedDict):
    """A text message begins."""

    type: Literal["TEXT_MESSAGE_START"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    messageId: str
    """The message."""
    role: Literal["assistant", "user"]
    """The user's messages are those in the middle of a run; the prompt is left out."""
    metadata: TEXTMESSAGESTARTEventMetadata
    """What framegate adds to the protocol."""


class TOOLCALLARGSEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class TOOLCALLARGSEvent(TypedDict):
    """A piece of a call's arguments: JSON text, or the text itself if the tool takes free text."""

    type: Literal["TOOL_CALL_ARGS"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    toolCallId: str
    """The call: framegate's id of it, which no other call has."""
    delta: str
    """The piece."""
    metadata: TOOLCALLARGSEventMetadata
    """What framegate adds to the protocol."""


class TOOLCALLENDEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    kind: NotRequired[Literal["shell", "read", "write", "edit", "search", "fetch", "mcp", "plan", "subagent", "other"]]
    """The kind of tool. Absent if the run ended before the arguments were complete."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class TOOLCALLENDEvent(TypedDict):
    """The arguments of a call are complete."""

    type: Literal["TOOL_CALL_END"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    toolCallId: str
    """The call: framegate's id of it, which no other call has."""
    metadata: TOOLCALLENDEventMetadata
    """What framegate adds to the protocol."""


class TOOLCALLRESULTEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    exitCode: NotRequired[int]
    """The exit code; 0 or 1 if the tool is not a process. Absent if the tool did not run to its end."""
    durationMs: NotRequired[int]
    """Milliseconds from start to end. Absent if the tool did not run to its end."""
    failure: NotRequired[Literal["failed", "denied", "no_result"]]
    """How the call failed: `failed`, `denied` if it was refused, `no_result` if the run ended first. Absent if the tool ran to its end."""
    artifacts: NotRequired[dict[str, Any]]
    """References to stored objects."""
    omittedBytes: NotRequired[int]
    """How many bytes are left out because the output is too large. Absent if none are."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class TOOLCALLRESULTEvent(TypedDict):
    """The result of a call."""

    type: Literal["TOOL_CALL_RESULT"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    messageId: str
    """The message with the result."""
    toolCallId: str
    """The call: framegate's id of it, which no other call has."""
    content: str
    """The standard output, then the standard error; or what went wrong."""
    role: Literal["tool"]
    """Always the same."""
    metadata: TOOLCALLRESULTEventMetadata
    """What framegate adds to the protocol."""


class TOOLCALLSTARTEventMetadata(TypedDict):
    """What framegate adds to the protocol."""

    runId: str
    """The run, or the background task."""
    seq: int
    """The event's number in its stream, from 0 without gaps."""
    callId: NotRequired[str]
    """The runner's own id of the call. Absent if it has none."""
    notice: NotRequired[str]
    """Which event was withheld, and why."""


class TOOLCALLSTARTEvent(TypedDict):
    """A tool call begins. Its arguments follow."""

    type: Literal["TOOL_CALL_START"]
    """The event's type."""
    timestamp: int
    """Unix epoch milliseconds."""
    subagentRunId: NotRequired[str]
    """The subagent whose event it is. Absent for the main thread."""
    toolCallId: str
    """The call: framegate's id of it, which no other call has."""
    toolCallName: str
    """The tool's name; empty if the runner did not report it."""
    parentMessageId: NotRequired[str]
    """The text message of the same turn that the call belongs to. Absent if there is none."""
    metadata: TOOLCALLSTARTEventMetadata
    """What framegate adds to the protocol."""


AgUiV1Event: TypeAlias = (
    ACTIVITYDELTAEvent
    | ACTIVITYSNAPSHOTEvent
    | CUSTOMEvent
    | REASONINGENCRYPTEDVALUEEvent
    | REASONINGENDEvent
    | REASONINGMESSAGECONTENTEvent
    | REASONINGMESSAGEENDEvent
    | REASONINGMESSAGESTARTEvent
    | REASONINGSTARTEvent
    | RUNERROREvent
    | RUNFINISHEDEvent
    | RUNSTARTEDEvent
    | STATESNAPSHOTEvent
    | STEPFINISHEDEvent
    | STEPSTARTEDEvent
    | SUBAGENTERROREvent
    | SUBAGENTFINISHEDEvent
    | SUBAGENTSTARTEDEvent
    | TEXTMESSAGECONTENTEvent
    | TEXTMESSAGEENDEvent
    | TEXTMESSAGESTARTEvent
    | TOOLCALLARGSEvent
    | TOOLCALLENDEvent
    | TOOLCALLRESULTEvent
    | TOOLCALLSTARTEvent
)
"""Any event of ag-ui.v1."""
