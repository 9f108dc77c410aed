"""The events of hecate.v1, from its JSON Schemas."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from .._compat import NotRequired


class ApprovalRequestedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    approval_id: str
    """The question."""
    tool_call_id: str
    """The call that waits."""
    kind: str
    """What is asked about."""
    summary: str
    """One line for people."""
    policy_reason: NotRequired[str]
    """Why it is asked."""


class ApprovalRequestedEvent(TypedDict):
    """The run waits for a decision."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["approval.requested"]
    """The event's type."""
    data: ApprovalRequestedEventData
    """What the type says; open for additive evolution."""


class ApprovalResolvedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    approval_id: str
    """The question."""
    decision: Literal["approved", "rejected", "cancelled"]
    """What was decided."""
    by: NotRequired[str]
    """Who decided."""
    comment: NotRequired[str]
    """What they said."""
    scope: NotRequired[str]
    """How far it reaches; advisory."""


class ApprovalResolvedEvent(TypedDict):
    """The decision fell."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["approval.resolved"]
    """The event's type."""
    data: ApprovalResolvedEventData
    """What the type says; open for additive evolution."""


class ApprovalTimedOutEventData(TypedDict):
    """What the type says; open for additive evolution."""

    approval_id: str
    """The question."""
    after_seconds: NotRequired[int]
    """How long it waited."""


class ApprovalTimedOutEvent(TypedDict):
    """Nobody decided in time."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["approval.timed_out"]
    """The event's type."""
    data: ApprovalTimedOutEventData
    """What the type says; open for additive evolution."""


class ArtifactCreatedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    artifact_id: str
    """The artifact."""
    kind: str
    """patch, command_output, image, …"""
    size_bytes: NotRequired[int]
    """Its size."""
    summary: NotRequired[str]
    """One line for people."""
    created_by_event_id: NotRequired[str]
    """The event that it came from."""


class ArtifactCreatedEvent(TypedDict):
    """An artifact was stored (depends on artifacts)."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["artifact.created"]
    """The event's type."""
    data: ArtifactCreatedEventData
    """What the type says; open for additive evolution."""


class ArtifactReferencedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    artifact_id: str
    """The artifact."""
    by_event_id: NotRequired[str]
    """The event."""
    relation: NotRequired[str]
    """How."""


class ArtifactReferencedEvent(TypedDict):
    """An artifact was used (depends on artifacts)."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["artifact.referenced"]
    """The event's type."""
    data: ArtifactReferencedEventData
    """What the type says; open for additive evolution."""


class ArtifactUpdatedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    artifact_id: str
    """The artifact."""
    field: str
    """What changed."""
    old_value: NotRequired[Any]
    """The value before the update, of any type."""
    new_value: NotRequired[Any]
    """The value after the update, of any type."""


class ArtifactUpdatedEvent(TypedDict):
    """An artifact changed (depends on artifacts)."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["artifact.updated"]
    """The event's type."""
    data: ArtifactUpdatedEventData
    """What the type says; open for additive evolution."""


class AssistantFinalAnswerEventData(TypedDict):
    """What the type says; open for additive evolution."""

    turn_index: int
    """The turn, counted from 0."""
    summary: str
    """What it says at the end."""


class AssistantFinalAnswerEvent(TypedDict):
    """The model is done."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["assistant.final_answer"]
    """The event's type."""
    data: AssistantFinalAnswerEventData
    """What the type says; open for additive evolution."""


class AssistantTextCompleteEventData(TypedDict):
    """What the type says; open for additive evolution."""

    turn_index: int
    """The turn, counted from 0."""
    block_index: int
    """The content block, counted within the turn from 0."""
    text: str
    """The text."""


class AssistantTextCompleteEvent(TypedDict):
    """A whole block of the assistant's text: the concatenation of its deltas."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["assistant.text_complete"]
    """The event's type."""
    data: AssistantTextCompleteEventData
    """What the type says; open for additive evolution."""


class AssistantTextDeltaEventData(TypedDict):
    """What the type says; open for additive evolution."""

    turn_index: int
    """The turn, counted from 0."""
    block_index: int
    """The content block, counted within the turn from 0."""
    delta: str
    """The piece."""


class AssistantTextDeltaEvent(TypedDict):
    """A piece of the assistant's text."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["assistant.text_delta"]
    """The event's type."""
    data: AssistantTextDeltaEventData
    """What the type says; open for additive evolution."""


class AssistantThinkingCompleteEventData(TypedDict):
    """What the type says; open for additive evolution."""

    turn_index: int
    """The turn, counted from 0."""
    block_index: int
    """The content block, counted within the turn from 0."""
    text: str
    """The text."""


class AssistantThinkingCompleteEvent(TypedDict):
    """A whole block of the model's thinking (experimental): the concatenation of its deltas."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["assistant.thinking_complete"]
    """The event's type."""
    data: AssistantThinkingCompleteEventData
    """What the type says; open for additive evolution."""


class AssistantThinkingDeltaEventData(TypedDict):
    """What the type says; open for additive evolution."""

    turn_index: int
    """The turn, counted from 0."""
    block_index: int
    """The content block, counted within the turn from 0."""
    delta: str
    """The piece."""


class AssistantThinkingDeltaEvent(TypedDict):
    """A piece of the model's thinking (experimental)."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["assistant.thinking_delta"]
    """The event's type."""
    data: AssistantThinkingDeltaEventData
    """What the type says; open for additive evolution."""


class AssistantToolCallProposedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    turn_index: int
    """The turn, counted from 0."""
    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: str
    """The tool, as the model calls it."""
    input: dict[str, Any]
    """The arguments."""


class AssistantToolCallProposedEvent(TypedDict):
    """The model wants a tool to run; nothing ran yet."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["assistant.tool_call_proposed"]
    """The event's type."""
    data: AssistantToolCallProposedEventData
    """What the type says; open for additive evolution."""


class CostBudgetExceededEventData(TypedDict):
    """What the type says; open for additive evolution."""

    cumulative_cost_micros_usd: int
    """Cost so far in millionths of a US dollar."""
    task_budget_micros_usd: int
    """The budget in millionths of a US dollar."""
    action: str
    """What is done about it."""


class CostBudgetExceededEvent(TypedDict):
    """The budget is used up."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["cost.budget_exceeded"]
    """The event's type."""
    data: CostBudgetExceededEventData
    """What the type says; open for additive evolution."""


class CostBudgetWarningEventData(TypedDict):
    """What the type says; open for additive evolution."""

    threshold_pct: int
    """The part in percent."""
    cumulative_cost_micros_usd: int
    """Cost so far in millionths of a US dollar."""
    task_budget_micros_usd: int
    """The budget in millionths of a US dollar."""


class CostBudgetWarningEvent(TypedDict):
    """A part of the budget is used up."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["cost.budget_warning"]
    """The event's type."""
    data: CostBudgetWarningEventData
    """What the type says; open for additive evolution."""


class CostTickEventData(TypedDict):
    """What the type says; open for additive evolution."""

    cumulative_input_tokens: NotRequired[int]
    """Tokens read so far, cached ones among them."""
    cumulative_output_tokens: NotRequired[int]
    """Tokens written so far."""
    cumulative_cost_micros_usd: NotRequired[int]
    """Cost so far in millionths of a US dollar."""
    task_budget_micros_usd: NotRequired[int]
    """The budget in millionths of a US dollar."""
    task_budget_remaining_micros_usd: NotRequired[int]
    """What is left of the budget."""


class CostTickEvent(TypedDict):
    """What the run has used so far, at a turn's boundary."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["cost.tick"]
    """The event's type."""
    data: CostTickEventData
    """What the type says; open for additive evolution."""


class ErrorModelCapabilityMissingEventData(TypedDict):
    """What the type says; open for additive evolution."""

    model: str
    """The model."""
    missing_capability: str
    """What it cannot do."""
    fallback_strategy: NotRequired[str]
    """What is done instead."""


class ErrorModelCapabilityMissingEvent(TypedDict):
    """The model cannot do what is needed."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["error.model_capability_missing"]
    """The event's type."""
    data: ErrorModelCapabilityMissingEventData
    """What the type says; open for additive evolution."""


class ErrorToolUnavailableEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_name: str
    """The tool, as the model calls it."""
    reason: str
    """Why."""


class ErrorToolUnavailableEvent(TypedDict):
    """A tool cannot be used."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["error.tool_unavailable"]
    """The event's type."""
    data: ErrorToolUnavailableEventData
    """What the type says; open for additive evolution."""


class ErrorUpstreamEventData(TypedDict):
    """What the type says; open for additive evolution."""

    provider: str
    """Who answered."""
    status: NotRequired[int]
    """The HTTP status."""
    code: NotRequired[str]
    """A stable code."""
    message: str
    """What a person is told."""
    retriable: bool
    """Whether trying again may help."""
    attempt: NotRequired[int]
    """Which attempt failed, from 1."""
    max_attempts: NotRequired[int]
    """How many attempts there will be."""


class ErrorUpstreamEvent(TypedDict):
    """Something upstream went wrong; the run may go on."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["error.upstream"]
    """The event's type."""
    data: ErrorUpstreamEventData
    """What the type says; open for additive evolution."""


class GapEventsPrunedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    first_pruned_sequence: int
    """The first of them."""
    last_pruned_sequence: int
    """The last of them."""
    pruned_at: NotRequired[str]
    """When."""
    reason: str
    """Why."""


class GapEventsPrunedEvent(TypedDict):
    """Events that are no longer kept."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["gap.events_pruned"]
    """The event's type."""
    data: GapEventsPrunedEventData
    """What the type says; open for additive evolution."""


class GapRunDisconnectedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    since_sequence: NotRequired[int]
    """The last event before."""
    since_at: NotRequired[str]
    """When it came."""
    reason: str
    """Why."""


class GapRunDisconnectedEvent(TypedDict):
    """The runtime lost sight of the run for a while, or for good."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["gap.run_disconnected"]
    """The event's type."""
    data: GapRunDisconnectedEventData
    """What the type says; open for additive evolution."""


class PolicyModelRewroteEventData(TypedDict):
    """What the type says; open for additive evolution."""

    from_model: str
    """The model that was asked for."""
    to_model: str
    """The model that is called."""
    reason: NotRequired[str]
    """Why."""


class PolicyModelRewroteEvent(TypedDict):
    """A policy chose another model."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["policy.model_rewrote"]
    """The event's type."""
    data: PolicyModelRewroteEventData
    """What the type says; open for additive evolution."""


class PolicyToolBlockedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: NotRequired[str]
    """The call."""
    tool_name: str
    """The tool, as the model calls it."""
    kind: NotRequired[str]
    """The tool's kind: the segment between `tool.` and the last word of its own events."""
    reason: str
    """Why."""
    policy_id: NotRequired[str]
    """The policy."""
    mcp_server: NotRequired[str]
    """The MCP server."""
    mcp_tool: NotRequired[str]
    """The server's own name of the tool."""
    result: NotRequired[str]
    """What became of the call."""


class PolicyToolBlockedEvent(TypedDict):
    """A policy refused a call."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["policy.tool_blocked"]
    """The event's type."""
    data: PolicyToolBlockedEventData
    """What the type says; open for additive evolution."""


class RunCancelledEventData(TypedDict):
    """What the type says; open for additive evolution."""

    by: str
    """Who stopped it."""
    reason: str
    """Why."""


class RunCancelledEvent(TypedDict):
    """The run was stopped; terminal."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["run.cancelled"]
    """The event's type."""
    data: RunCancelledEventData
    """What the type says; open for additive evolution."""


class RunCheckpointSavedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    checkpoint_id: str
    """The checkpoint."""


class RunCheckpointSavedEvent(TypedDict):
    """The run can be resumed from here."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["run.checkpoint_saved"]
    """The event's type."""
    data: RunCheckpointSavedEventData
    """What the type says; open for additive evolution."""


class RunFailedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    code: str
    """A stable code."""
    message: str
    """What a person is told."""
    retriable: bool
    """Whether trying again may help."""
    turns: NotRequired[int]
    """How many turns there were."""


class RunFailedEvent(TypedDict):
    """The run went badly; terminal."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["run.failed"]
    """The event's type."""
    data: RunFailedEventData
    """What the type says; open for additive evolution."""


class RunFinishedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    final_status: Literal["completed"]
    """Always completed."""
    turns: NotRequired[int]
    """How many turns there were."""
    cost_micros_usd: NotRequired[int]
    """Millionths of a US dollar."""
    duration_ms: int
    """Milliseconds from the start."""
    code: NotRequired[str]
    """Why the answer is not whole, where it is not: max_output_tokens, or another word."""
    message: NotRequired[str]
    """What a person is told of it."""


class RunFinishedEvent(TypedDict):
    """The run went well; terminal."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["run.finished"]
    """The event's type."""
    data: RunFinishedEventData
    """What the type says; open for additive evolution."""


class RunQueuedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    kind: str
    """What runs: agent_loop, shell, git, file."""
    model: str
    """The model."""
    provider: str
    """Who serves the model."""
    workspace_path: NotRequired[str]
    """Where it works."""
    workspace_mode: NotRequired[str]
    """How the workspace was made."""
    prior_run_id: NotRequired[str | None]
    """The run that this one goes on from."""


class RunQueuedEvent(TypedDict):
    """The run was accepted and waits for a worker."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["run.queued"]
    """The event's type."""
    data: RunQueuedEventData
    """What the type says; open for additive evolution."""


class RunResumedFromEventData(TypedDict):
    """What the type says; open for additive evolution."""

    from_run_id: str
    """The other run."""
    from_sequence: int
    """The event after which this run goes on."""
    prior_cost_micros_usd: NotRequired[int]
    """What the other run had cost."""


class RunResumedFromEvent(TypedDict):
    """The first event of a run that goes on from another."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["run.resumed_from_event"]
    """The event's type."""
    data: RunResumedFromEventData
    """What the type says; open for additive evolution."""


class RunStartedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    worker_id: str
    """The worker."""
    lease_until: str
    """When the worker's claim runs out."""


class RunStartedEvent(TypedDict):
    """A worker has claimed the run."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["run.started"]
    """The event's type."""
    data: RunStartedEventData
    """What the type says; open for additive evolution."""


class ToolCancelledEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: str
    """The tool, as the model calls it."""
    kind: NotRequired[str]
    """The tool's kind: the segment between `tool.` and the last word of its own events."""
    turn_index: NotRequired[int]
    """The turn, counted from 0."""
    parent_tool_call_id: NotRequired[str]
    """The call in whose name a subagent made this one."""
    duration_ms: NotRequired[int]
    """Milliseconds."""
    summary: NotRequired[str]
    """One line for people."""
    result_artifact_id: NotRequired[str]
    """The stored result."""
    mcp_server: NotRequired[str]
    """The MCP server."""
    mcp_tool: NotRequired[str]
    """The server's own name of the tool."""
    result: NotRequired[str]
    """What became of a call that was handed on."""
    code: NotRequired[str]
    """A stable code."""
    message: NotRequired[str]
    """What a person is told."""


class ToolCancelledEvent(TypedDict):
    """The operator did not let the tool run, or run on; terminal."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.cancelled"]
    """The event's type."""
    data: ToolCancelledEventData
    """What the type says; open for additive evolution."""


class ToolCompletedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: str
    """The tool, as the model calls it."""
    kind: str
    """The tool's kind: the segment between `tool.` and the last word of its own events."""
    turn_index: NotRequired[int]
    """The turn, counted from 0."""
    parent_tool_call_id: NotRequired[str]
    """The call in whose name a subagent made this one."""
    duration_ms: NotRequired[int]
    """Milliseconds."""
    summary: NotRequired[str]
    """One line for people."""
    result_artifact_id: NotRequired[str]
    """The stored result."""
    mcp_server: NotRequired[str]
    """The MCP server."""
    mcp_tool: NotRequired[str]
    """The server's own name of the tool."""
    result: NotRequired[str]
    """What became of a call that was handed on."""


class ToolCompletedEvent(TypedDict):
    """A tool went well; terminal."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.completed"]
    """The event's type."""
    data: ToolCompletedEventData
    """What the type says; open for additive evolution."""


class ToolEditAppliedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    patch_artifact_id: str
    """The patch."""
    applied_at: str
    """When."""


class ToolEditAppliedEvent(TypedDict):
    """An edit was applied (depends on artifacts)."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.edit.applied"]
    """The event's type."""
    data: ToolEditAppliedEventData
    """What the type says; open for additive evolution."""


class ToolEditProposedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    path: str
    """The file."""
    patch_artifact_id: str
    """The patch."""
    summary: NotRequired[str]
    """One line for people."""
    auto_apply: NotRequired[bool]
    """Whether it is applied without asking."""


class ToolEditProposedEvent(TypedDict):
    """An edit is proposed (depends on artifacts)."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.edit.proposed"]
    """The event's type."""
    data: ToolEditProposedEventData
    """What the type says; open for additive evolution."""


class ToolEditRevertedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: NotRequired[str]
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    patch_artifact_id: str
    """The patch."""
    reverted_by: NotRequired[str]
    """Who."""
    reason: NotRequired[str]
    """Why."""


class ToolEditRevertedEvent(TypedDict):
    """An edit was taken back (depends on artifacts)."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.edit.reverted"]
    """The event's type."""
    data: ToolEditRevertedEventData
    """What the type says; open for additive evolution."""


class ToolFailedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: str
    """The tool, as the model calls it."""
    kind: NotRequired[str]
    """The tool's kind: the segment between `tool.` and the last word of its own events."""
    turn_index: NotRequired[int]
    """The turn, counted from 0."""
    parent_tool_call_id: NotRequired[str]
    """The call in whose name a subagent made this one."""
    duration_ms: NotRequired[int]
    """Milliseconds."""
    summary: NotRequired[str]
    """One line for people."""
    result_artifact_id: NotRequired[str]
    """The stored result."""
    mcp_server: NotRequired[str]
    """The MCP server."""
    mcp_tool: NotRequired[str]
    """The server's own name of the tool."""
    result: NotRequired[str]
    """What became of a call that was handed on."""
    code: NotRequired[str]
    """A stable code."""
    message: NotRequired[str]
    """What a person is told."""


class ToolFailedEvent(TypedDict):
    """A tool ran and failed, or could not run; terminal."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.failed"]
    """The event's type."""
    data: ToolFailedEventData
    """What the type says; open for additive evolution."""


class ToolFileAppliedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: NotRequired[str]
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    path: NotRequired[str]
    """The file."""
    patch_artifact_id: NotRequired[str]
    """The patch."""


class ToolFileAppliedEvent(TypedDict):
    """A patch was applied; the document names the type and leaves its payload open."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.file.applied"]
    """The event's type."""
    data: ToolFileAppliedEventData
    """What the type says; open for additive evolution."""


class ToolFilePatchEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: NotRequired[str]
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    path: NotRequired[str]
    """The file."""
    patch_artifact_id: NotRequired[str]
    """The patch."""


class ToolFilePatchEvent(TypedDict):
    """A patch was made; the document names the type and leaves its payload open."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.file.patch"]
    """The event's type."""
    data: ToolFilePatchEventData
    """What the type says; open for additive evolution."""


class ToolFileRevertedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: NotRequired[str]
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    path: NotRequired[str]
    """The file."""
    patch_artifact_id: NotRequired[str]
    """The patch."""


class ToolFileRevertedEvent(TypedDict):
    """A patch was taken back; the document names the type and leaves its payload open."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.file.reverted"]
    """The event's type."""
    data: ToolFileRevertedEventData
    """What the type says; open for additive evolution."""


class ToolFileReadCompletedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    path: str
    """The file."""
    size_bytes: NotRequired[int]
    """Its size."""
    lines: NotRequired[int]
    """Its lines."""
    snippet_artifact_id: NotRequired[str]
    """The stored content."""


class ToolFileReadCompletedEvent(TypedDict):
    """A file was read."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.file_read.completed"]
    """The event's type."""
    data: ToolFileReadCompletedEventData
    """What the type says; open for additive evolution."""


class ToolFileWriteProposedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    path: str
    """The file."""
    patch_artifact_id: NotRequired[str]
    """The patch."""
    summary: NotRequired[str]
    """One line for people."""
    auto_apply: NotRequired[bool]
    """Whether it is applied without asking."""


class ToolFileWriteProposedEvent(TypedDict):
    """A new file is proposed (depends on artifacts)."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.file_write.proposed"]
    """The event's type."""
    data: ToolFileWriteProposedEventData
    """What the type says; open for additive evolution."""


class ToolGlobCompletedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    pattern: str
    """The pattern."""
    matches: NotRequired[list[str]]
    """The paths."""
    match_count: NotRequired[int]
    """How many there are."""
    truncated: NotRequired[bool]
    """Whether there are more."""


class ToolGlobCompletedEvent(TypedDict):
    """What a search for paths found."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.glob.completed"]
    """The event's type."""
    data: ToolGlobCompletedEventData
    """What the type says; open for additive evolution."""


class ToolGrepCompletedEventDataMatchesItem(TypedDict):
    path: str
    """The file."""
    line: NotRequired[int]
    """The line, from 1."""
    text: NotRequired[str]
    """The line's text."""


class ToolGrepCompletedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    pattern: str
    """The pattern."""
    files_searched: NotRequired[int]
    """How many files were read."""
    matches: NotRequired[list[ToolGrepCompletedEventDataMatchesItem]]
    """The places."""
    match_count: NotRequired[int]
    """How many there are."""
    truncated: NotRequired[bool]
    """Whether there are more."""


class ToolGrepCompletedEvent(TypedDict):
    """What a search for text found."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.grep.completed"]
    """The event's type."""
    data: ToolGrepCompletedEventData
    """What the type says; open for additive evolution."""


class ToolHttpRequestedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    method: NotRequired[str]
    """The HTTP method."""
    url: str
    """The URL."""
    header_keys: NotRequired[list[str]]
    """Names of headers."""


class ToolHttpRequestedEvent(TypedDict):
    """An HTTP request is made."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.http.requested"]
    """The event's type."""
    data: ToolHttpRequestedEventData
    """What the type says; open for additive evolution."""


class ToolHttpResponseEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    status: NotRequired[int]
    """The HTTP status."""
    duration_ms: NotRequired[int]
    """Milliseconds."""
    body_artifact_id: NotRequired[str]
    """The stored body."""
    body_truncated: NotRequired[bool]
    """Whether the body was cut."""


class ToolHttpResponseEvent(TypedDict):
    """An HTTP request was answered."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.http.response"]
    """The event's type."""
    data: ToolHttpResponseEventData
    """What the type says; open for additive evolution."""


class ToolInvokedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: str
    """The tool, as the model calls it."""
    kind: str
    """The tool's kind: the segment between `tool.` and the last word of its own events."""
    turn_index: NotRequired[int]
    """The turn, counted from 0."""
    parent_tool_call_id: NotRequired[str]
    """The call in whose name a subagent made this one."""
    mcp_server: NotRequired[str]
    """The MCP server."""
    mcp_tool: NotRequired[str]
    """The server's own name of the tool."""


class ToolInvokedEvent(TypedDict):
    """The runtime accepted a call and is about to execute it."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.invoked"]
    """The event's type."""
    data: ToolInvokedEventData
    """What the type says; open for additive evolution."""


class ToolMultiEditAppliedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    patch_artifact_ids: list[str]
    """The patches of the batch."""
    applied_at: str
    """When."""


class ToolMultiEditAppliedEvent(TypedDict):
    """A batch of edits was applied (depends on artifacts)."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.multi_edit.applied"]
    """The event's type."""
    data: ToolMultiEditAppliedEventData
    """What the type says; open for additive evolution."""


class ToolMultiEditProposedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    paths: list[str]
    """The files."""
    patch_artifact_ids: list[str]
    """The patches of the batch."""
    summary: NotRequired[str]
    """One line for people."""
    auto_apply: NotRequired[bool]
    """Whether it is applied without asking."""


class ToolMultiEditProposedEvent(TypedDict):
    """A batch of edits is proposed (depends on artifacts)."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.multi_edit.proposed"]
    """The event's type."""
    data: ToolMultiEditProposedEventData
    """What the type says; open for additive evolution."""


class ToolMultiEditRevertedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: NotRequired[str]
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    patch_artifact_ids: list[str]
    """The patches of the batch."""
    reverted_by: NotRequired[str]
    """Who."""
    reason: NotRequired[str]
    """Why."""


class ToolMultiEditRevertedEvent(TypedDict):
    """A batch of edits was taken back (depends on artifacts)."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.multi_edit.reverted"]
    """The event's type."""
    data: ToolMultiEditRevertedEventData
    """What the type says; open for additive evolution."""


class ToolShellCommandEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    argv: list[str]
    """The command: its words, or one script."""
    cwd: NotRequired[str]
    """Where."""
    env_keys: NotRequired[list[str]]
    """Names of environment variables."""
    sandbox_layer: NotRequired[str]
    """The sandbox."""


class ToolShellCommandEvent(TypedDict):
    """What a shell tool executes."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.shell.command"]
    """The event's type."""
    data: ToolShellCommandEventData
    """What the type says; open for additive evolution."""


class ToolShellExitedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    exit_code: int
    """The exit code."""
    signal: NotRequired[str | None]
    """The signal that ended it."""
    stdout_bytes: NotRequired[int]
    """Bytes of standard output."""
    stderr_bytes: NotRequired[int]
    """Bytes of standard error."""
    truncated: NotRequired[bool]
    """Whether output was left out."""


class ToolShellExitedEvent(TypedDict):
    """A shell tool's process is over."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.shell.exited"]
    """The event's type."""
    data: ToolShellExitedEventData
    """What the type says; open for additive evolution."""


class ToolShellOutputChunkEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    stream: Literal["stdout", "stderr"]
    """Which stream."""
    data: str
    """The piece."""
    byte_offset: int
    """How many bytes of the stream stand before it. A piece with the position front stands before all pieces that came so far, which are that much further on."""


class ToolShellOutputChunkEvent(TypedDict):
    """A piece of a shell tool's output."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.shell.output_chunk"]
    """The event's type."""
    data: ToolShellOutputChunkEventData
    """What the type says; open for additive evolution."""


class ToolStartedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: str
    """The tool, as the model calls it."""
    kind: NotRequired[str]
    """The tool's kind: the segment between `tool.` and the last word of its own events."""
    turn_index: NotRequired[int]
    """The turn, counted from 0."""
    parent_tool_call_id: NotRequired[str]
    """The call in whose name a subagent made this one."""
    mcp_server: NotRequired[str]
    """The MCP server."""
    mcp_tool: NotRequired[str]
    """The server's own name of the tool."""


class ToolStartedEvent(TypedDict):
    """A tool runs."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.started"]
    """The event's type."""
    data: ToolStartedEventData
    """What the type says; open for additive evolution."""


class ToolTimedOutEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: str
    """The tool, as the model calls it."""
    kind: NotRequired[str]
    """The tool's kind: the segment between `tool.` and the last word of its own events."""
    turn_index: NotRequired[int]
    """The turn, counted from 0."""
    parent_tool_call_id: NotRequired[str]
    """The call in whose name a subagent made this one."""
    duration_ms: NotRequired[int]
    """Milliseconds."""
    summary: NotRequired[str]
    """One line for people."""
    result_artifact_id: NotRequired[str]
    """The stored result."""
    mcp_server: NotRequired[str]
    """The MCP server."""
    mcp_tool: NotRequired[str]
    """The server's own name of the tool."""
    result: NotRequired[str]
    """What became of a call that was handed on."""
    code: NotRequired[str]
    """A stable code."""
    message: NotRequired[str]
    """What a person is told."""


class ToolTimedOutEvent(TypedDict):
    """A tool took too long or said too much; terminal."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.timed_out"]
    """The event's type."""
    data: ToolTimedOutEventData
    """What the type says; open for additive evolution."""


class ToolTodoWriteUpdatedEventDataTodosItem(TypedDict):
    content: str
    """What is to be done."""
    status: str
    """pending, in_progress, completed, …"""


class ToolTodoWriteUpdatedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    todos: list[ToolTodoWriteUpdatedEventDataTodosItem]
    """All entries."""


class ToolTodoWriteUpdatedEvent(TypedDict):
    """The whole todo list, which replaces the one before."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.todo_write.updated"]
    """The event's type."""
    data: ToolTodoWriteUpdatedEventData
    """What the type says; open for additive evolution."""


class ToolWebFetchRequestedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    method: NotRequired[str]
    """The HTTP method."""
    url: str
    """The URL."""
    header_keys: NotRequired[list[str]]
    """Names of headers."""


class ToolWebFetchRequestedEvent(TypedDict):
    """A fetch of a web page is made."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.web_fetch.requested"]
    """The event's type."""
    data: ToolWebFetchRequestedEventData
    """What the type says; open for additive evolution."""


class ToolWebFetchResponseEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    status: NotRequired[int]
    """The HTTP status."""
    duration_ms: NotRequired[int]
    """Milliseconds."""
    body_artifact_id: NotRequired[str]
    """The stored body."""
    body_truncated: NotRequired[bool]
    """Whether the body was cut."""
    extracted_text_artifact_id: NotRequired[str]
    """The stored text."""


class ToolWebFetchResponseEvent(TypedDict):
    """A fetch of a web page was answered."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.web_fetch.response"]
    """The event's type."""
    data: ToolWebFetchResponseEventData
    """What the type says; open for additive evolution."""


class ToolWebSearchRequestedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    query: str
    """What is searched for."""
    method: NotRequired[str]
    """The HTTP method."""
    url: NotRequired[str]
    """The URL."""
    header_keys: NotRequired[list[str]]
    """Names of headers."""


class ToolWebSearchRequestedEvent(TypedDict):
    """A web search is made."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.web_search.requested"]
    """The event's type."""
    data: ToolWebSearchRequestedEventData
    """What the type says; open for additive evolution."""


class ToolWebSearchResponseEventData(TypedDict):
    """What the type says; open for additive evolution."""

    tool_call_id: str
    """The call, by the id that the model's request has."""
    tool_name: NotRequired[str]
    """The tool, as the model calls it."""
    status: NotRequired[int]
    """The HTTP status."""
    duration_ms: NotRequired[int]
    """Milliseconds."""
    body_artifact_id: NotRequired[str]
    """The stored body."""
    body_truncated: NotRequired[bool]
    """Whether the body was cut."""
    hits: NotRequired[list[dict[str, Any]]]
    """What was found."""


class ToolWebSearchResponseEvent(TypedDict):
    """A web search was answered."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["tool.web_search.response"]
    """The event's type."""
    data: ToolWebSearchResponseEventData
    """What the type says; open for additive evolution."""


class TurnCompletedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    turn_index: int
    """The turn, counted from 0."""
    input_tokens: NotRequired[int]
    """Tokens read, cached ones among them."""
    output_tokens: NotRequired[int]
    """Tokens written."""
    cached_input_tokens: NotRequired[int]
    """The part of `input_tokens` that came from the cache."""
    cost_micros_usd: NotRequired[int]
    """Millionths of a US dollar."""
    duration_ms: NotRequired[int]
    """Milliseconds."""
    tool_calls: NotRequired[int]
    """How many tools the model asked for."""
    stop_reason: NotRequired[str]
    """Why the model stopped."""


class TurnCompletedEvent(TypedDict):
    """A turn is over; its figures are authoritative."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["turn.completed"]
    """The event's type."""
    data: TurnCompletedEventData
    """What the type says; open for additive evolution."""


class TurnFailedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    turn_index: int
    """The turn, counted from 0."""
    code: str
    """A stable code."""
    message: str
    """What a person is told."""
    will_retry: bool
    """Whether the runtime tries again."""


class TurnFailedEvent(TypedDict):
    """A turn failed; the run may go on."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["turn.failed"]
    """The event's type."""
    data: TurnFailedEventData
    """What the type says; open for additive evolution."""


class TurnStartedEventData(TypedDict):
    """What the type says; open for additive evolution."""

    turn_index: int
    """The turn, counted from 0."""
    model: NotRequired[str]
    """The model."""
    provider: NotRequired[str]
    """Who serves it."""
    input_tokens_estimate: NotRequired[int]
    """An estimate."""


class TurnStartedEvent(TypedDict):
    """A model call is about to begin."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["turn.started"]
    """The event's type."""
    data: TurnStartedEventData
    """What the type says; open for additive evolution."""


class UserAttachmentEventData(TypedDict):
    """What the type says; open for additive evolution."""

    turn_index: int
    """The turn, counted from 0."""
    kind: str
    """image, file, …"""
    mime: NotRequired[str]
    """The media type."""
    artifact_id: NotRequired[str]
    """The stored content."""
    name: NotRequired[str]
    """A file name or path."""


class UserAttachmentEvent(TypedDict):
    """Something was attached to a turn."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["user.attachment"]
    """The event's type."""
    data: UserAttachmentEventData
    """What the type says; open for additive evolution."""


class UserMessageEventData(TypedDict):
    """What the type says; open for additive evolution."""

    turn_index: int
    """The turn, counted from 0."""
    text: str
    """The text."""


class UserMessageEvent(TypedDict):
    """The operator or user said something."""

    schema_version: Literal["1"]
    """The version of the envelope."""
    event_id: str
    """Globally unique; sorts by time, and within a run by sequence."""
    run_id: str
    """The run."""
    task_id: NotRequired[str]
    """The task that the run belongs to."""
    session_id: NotRequired[str]
    """The conversation that the run belongs to."""
    sequence: int
    """Order within the run, from 0, without a gap."""
    occurred_at: str
    """When it happened."""
    type: Literal["user.message"]
    """The event's type."""
    data: UserMessageEventData
    """What the type says; open for additive evolution."""


HecateV1Event: TypeAlias = (
    ApprovalRequestedEvent
    | ApprovalResolvedEvent
    | ApprovalTimedOutEvent
    | ArtifactCreatedEvent
    | ArtifactReferencedEvent
    | ArtifactUpdatedEvent
    | AssistantFinalAnswerEvent
    | AssistantTextCompleteEvent
    | AssistantTextDeltaEvent
    | AssistantThinkingCompleteEvent
    | AssistantThinkingDeltaEvent
    | AssistantToolCallProposedEvent
    | CostBudgetExceededEvent
    | CostBudgetWarningEvent
    | CostTickEvent
    | ErrorModelCapabilityMissingEvent
    | ErrorToolUnavailableEvent
    | ErrorUpstreamEvent
    | GapEventsPrunedEvent
    | GapRunDisconnectedEvent
    | PolicyModelRewroteEvent
    | PolicyToolBlockedEvent
    | RunCancelledEvent
    | RunCheckpointSavedEvent
    | RunFailedEvent
    | RunFinishedEvent
    | RunQueuedEvent
    | RunResumedFromEvent
    | RunStartedEvent
    | ToolCancelledEvent
    | ToolCompletedEvent
    | ToolEditAppliedEvent
    | ToolEditProposedEvent
    | ToolEditRevertedEvent
    | ToolFailedEvent
    | ToolFileAppliedEvent
    | ToolFilePatchEvent
    | ToolFileRevertedEvent
    | ToolFileReadCompletedEvent
    | ToolFileWriteProposedEvent
    | ToolGlobCompletedEvent
    | ToolGrepCompletedEvent
    | ToolHttpRequestedEvent
    | ToolHttpResponseEvent
    | ToolInvokedEvent
    | ToolMultiEditAppliedEvent
    | ToolMultiEditProposedEvent
    | ToolMultiEditRevertedEvent
    | ToolShellCommandEvent
    | ToolShellExitedEvent
    | ToolShellOutputChunkEvent
    | ToolStartedEvent
    | ToolTimedOutEvent
    | ToolTodoWriteUpdatedEvent
    | ToolWebFetchRequestedEvent
    | ToolWebFetchResponseEvent
    | ToolWebSearchRequestedEvent
    | ToolWebSearchResponseEvent
    | TurnCompletedEvent
    | TurnFailedEvent
    | TurnStartedEvent
    | UserAttachmentEvent
    | UserMessageEvent
)
"""Any event of hecate.v1."""
