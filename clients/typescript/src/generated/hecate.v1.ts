// The events of hecate.v1, from its JSON Schemas. Written by `framegate schema hecate.v1 --typescript`; do not edit.

/** Any event of hecate.v1: typed run events for agent front ends: turns, tools, approvals, cost. */
export type HecateV1Event = HecateV1Events[HecateV1EventType];

/** The event types of hecate.v1, the values of `type`. */
export type HecateV1EventType = keyof HecateV1Events;

/** Maps each type of hecate.v1 to its event. */
export interface HecateV1Events {
  "run.queued": RunQueuedEvent;
  "run.started": RunStartedEvent;
  "run.finished": RunFinishedEvent;
  "run.failed": RunFailedEvent;
  "run.cancelled": RunCancelledEvent;
  "run.resumed_from_event": RunResumedFromEvent;
  "run.checkpoint_saved": RunCheckpointSavedEvent;
  "turn.started": TurnStartedEvent;
  "turn.completed": TurnCompletedEvent;
  "turn.failed": TurnFailedEvent;
  "assistant.text_delta": AssistantTextDeltaEvent;
  "assistant.text_complete": AssistantTextCompleteEvent;
  "assistant.thinking_delta": AssistantThinkingDeltaEvent;
  "assistant.thinking_complete": AssistantThinkingCompleteEvent;
  "assistant.tool_call_proposed": AssistantToolCallProposedEvent;
  "assistant.final_answer": AssistantFinalAnswerEvent;
  "user.message": UserMessageEvent;
  "user.attachment": UserAttachmentEvent;
  "tool.invoked": ToolInvokedEvent;
  "tool.started": ToolStartedEvent;
  "tool.completed": ToolCompletedEvent;
  "tool.failed": ToolFailedEvent;
  "tool.cancelled": ToolCancelledEvent;
  "tool.timed_out": ToolTimedOutEvent;
  "tool.shell.command": ToolShellCommandEvent;
  "tool.shell.output_chunk": ToolShellOutputChunkEvent;
  "tool.shell.exited": ToolShellExitedEvent;
  "tool.edit.proposed": ToolEditProposedEvent;
  "tool.edit.applied": ToolEditAppliedEvent;
  "tool.edit.reverted": ToolEditRevertedEvent;
  "tool.multi_edit.proposed": ToolMultiEditProposedEvent;
  "tool.multi_edit.applied": ToolMultiEditAppliedEvent;
  "tool.multi_edit.reverted": ToolMultiEditRevertedEvent;
  "tool.file_write.proposed": ToolFileWriteProposedEvent;
  "tool.file.patch": ToolFilePatchEvent;
  "tool.file.applied": ToolFileAppliedEvent;
  "tool.file.reverted": ToolFileRevertedEvent;
  "tool.glob.completed": ToolGlobCompletedEvent;
  "tool.grep.completed": ToolGrepCompletedEvent;
  "tool.file_read.completed": ToolFileReadCompletedEvent;
  "tool.todo_write.updated": ToolTodoWriteUpdatedEvent;
  "tool.http.requested": ToolHttpRequestedEvent;
  "tool.http.response": ToolHttpResponseEvent;
  "tool.web_fetch.requested": ToolWebFetchRequestedEvent;
  "tool.web_fetch.response": ToolWebFetchResponseEvent;
  "tool.web_search.requested": ToolWebSearchRequestedEvent;
  "tool.web_search.response": ToolWebSearchResponseEvent;
  "approval.requested": ApprovalRequestedEvent;
  "approval.resolved": ApprovalResolvedEvent;
  "approval.timed_out": ApprovalTimedOutEvent;
  "artifact.created": ArtifactCreatedEvent;
  "artifact.referenced": ArtifactReferencedEvent;
  "artifact.updated": ArtifactUpdatedEvent;
  "cost.tick": CostTickEvent;
  "cost.budget_warning": CostBudgetWarningEvent;
  "cost.budget_exceeded": CostBudgetExceededEvent;
  "policy.tool_blocked": PolicyToolBlockedEvent;
  "policy.model_rewrote": PolicyModelRewroteEvent;
  "error.tool_unavailable": ErrorToolUnavailableEvent;
  "error.model_capability_missing": ErrorModelCapabilityMissingEvent;
  "error.upstream": ErrorUpstreamEvent;
  "gap.events_pruned": GapEventsPrunedEvent;
  "gap.run_disconnected": GapRunDisconnectedEvent;
}

/** The properties that all events of hecate.v1 have. */
export interface HecateV1Envelope {
  /** The version of the envelope. */
  schema_version: "1";
  /**
   * Globally unique; sorts by time, and within a run by sequence.
   * @pattern ^evt_[0-9A-HJKMNP-TV-Z]{26}$
   */
  event_id: string;
  /**
   * The run.
   * @pattern ^run_[0-9A-HJKMNP-TV-Z]{26}$
   */
  run_id: string;
  /**
   * The task that the run belongs to.
   * @pattern ^task_[0-9A-HJKMNP-TV-Z]{26}$
   */
  task_id?: string;
  /**
   * The conversation that the run belongs to.
   * @pattern ^chat_[0-9A-HJKMNP-TV-Z]{26}$
   */
  session_id?: string;
  /**
   * Order within the run, from 0, without a gap.
   * @minimum 0
   */
  sequence: number;
  /**
   * When it happened.
   * @format date-time
   */
  occurred_at: string;
}

/** The run was accepted and waits for a worker. */
export interface RunQueuedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "run.queued";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * What runs: agent_loop, shell, git, file.
     * @minLength 1
     */
    kind: string;
    /**
     * The model.
     * @minLength 1
     */
    model: string;
    /**
     * Who serves the model.
     * @minLength 1
     */
    provider: string;
    /** Where it works. */
    workspace_path?: string;
    /** How the workspace was made. */
    workspace_mode?: string;
    /** The run that this one goes on from. */
    prior_run_id?: string | null;
    [key: string]: unknown;
  };
}

/** A worker has claimed the run. */
export interface RunStartedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "run.started";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The worker.
     * @minLength 1
     */
    worker_id: string;
    /**
     * When the worker's claim runs out.
     * @format date-time
     */
    lease_until: string;
    [key: string]: unknown;
  };
}

/** The run went well; terminal. */
export interface RunFinishedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "run.finished";
  /** What the type says; open for additive evolution. */
  data: {
    /** Always completed. */
    final_status: "completed";
    /**
     * How many turns there were.
     * @minimum 0
     */
    turns?: number;
    /**
     * Millionths of a US dollar.
     * @minimum 0
     */
    cost_micros_usd?: number;
    /**
     * Milliseconds from the start.
     * @minimum 0
     */
    duration_ms: number;
    /**
     * Why the answer is not whole, where it is not: max_output_tokens, or another word.
     * @minLength 1
     */
    code?: string;
    /** What a person is told of it. */
    message?: string;
    [key: string]: unknown;
  };
}

/** The run went badly; terminal. */
export interface RunFailedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "run.failed";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * A stable code.
     * @minLength 1
     */
    code: string;
    /**
     * What a person is told.
     * @minLength 1
     */
    message: string;
    /** Whether trying again may help. */
    retriable: boolean;
    /**
     * How many turns there were.
     * @minimum 0
     */
    turns?: number;
    [key: string]: unknown;
  };
}

/** The run was stopped; terminal. */
export interface RunCancelledEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "run.cancelled";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * Who stopped it.
     * @minLength 1
     */
    by: string;
    /** Why. */
    reason: string;
    [key: string]: unknown;
  };
}

/** The first event of a run that goes on from another. */
export interface RunResumedFromEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "run.resumed_from_event";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The other run.
     * @pattern ^run_[0-9A-HJKMNP-TV-Z]{26}$
     */
    from_run_id: string;
    /**
     * The event after which this run goes on.
     * @minimum 0
     */
    from_sequence: number;
    /**
     * What the other run had cost.
     * @minimum 0
     */
    prior_cost_micros_usd?: number;
    [key: string]: unknown;
  };
}

/** The run can be resumed from here. */
export interface RunCheckpointSavedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "run.checkpoint_saved";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The checkpoint.
     * @minLength 1
     */
    checkpoint_id: string;
    [key: string]: unknown;
  };
}

/** A model call is about to begin. */
export interface TurnStartedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "turn.started";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index: number;
    /**
     * The model.
     * @minLength 1
     */
    model?: string;
    /**
     * Who serves it.
     * @minLength 1
     */
    provider?: string;
    /**
     * An estimate.
     * @minimum 0
     */
    input_tokens_estimate?: number;
    [key: string]: unknown;
  };
}

/** A turn is over; its figures are authoritative. */
export interface TurnCompletedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "turn.completed";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index: number;
    /**
     * Tokens read, cached ones among them.
     * @minimum 0
     */
    input_tokens?: number;
    /**
     * Tokens written.
     * @minimum 0
     */
    output_tokens?: number;
    /**
     * The part of `input_tokens` that came from the cache.
     * @minimum 0
     */
    cached_input_tokens?: number;
    /**
     * Millionths of a US dollar.
     * @minimum 0
     */
    cost_micros_usd?: number;
    /**
     * Milliseconds.
     * @minimum 0
     */
    duration_ms?: number;
    /**
     * How many tools the model asked for.
     * @minimum 0
     */
    tool_calls?: number;
    /** Why the model stopped. */
    stop_reason?: string;
    [key: string]: unknown;
  };
}

/** A turn failed; the run may go on. */
export interface TurnFailedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "turn.failed";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index: number;
    /**
     * A stable code.
     * @minLength 1
     */
    code: string;
    /** What a person is told. */
    message: string;
    /** Whether the runtime tries again. */
    will_retry: boolean;
    [key: string]: unknown;
  };
}

/** A piece of the assistant's text. */
export interface AssistantTextDeltaEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "assistant.text_delta";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index: number;
    /**
     * The content block, counted within the turn from 0.
     * @minimum 0
     */
    block_index: number;
    /** The piece. */
    delta: string;
    [key: string]: unknown;
  };
}

/** A whole block of the assistant's text: the concatenation of its deltas. */
export interface AssistantTextCompleteEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "assistant.text_complete";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index: number;
    /**
     * The content block, counted within the turn from 0.
     * @minimum 0
     */
    block_index: number;
    /** The text. */
    text: string;
    [key: string]: unknown;
  };
}

/** A piece of the model's thinking (experimental). */
export interface AssistantThinkingDeltaEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "assistant.thinking_delta";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index: number;
    /**
     * The content block, counted within the turn from 0.
     * @minimum 0
     */
    block_index: number;
    /** The piece. */
    delta: string;
    [key: string]: unknown;
  };
}

/** A whole block of the model's thinking (experimental): the concatenation of its deltas. */
export interface AssistantThinkingCompleteEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "assistant.thinking_complete";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index: number;
    /**
     * The content block, counted within the turn from 0.
     * @minimum 0
     */
    block_index: number;
    /** The text. */
    text: string;
    [key: string]: unknown;
  };
}

/** The model wants a tool to run; nothing ran yet. */
export interface AssistantToolCallProposedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "assistant.tool_call_proposed";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index: number;
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name: string;
    /** The arguments. */
    input: {
      [key: string]: unknown;
    };
    [key: string]: unknown;
  };
}

/** The model is done. */
export interface AssistantFinalAnswerEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "assistant.final_answer";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index: number;
    /** What it says at the end. */
    summary: string;
    [key: string]: unknown;
  };
}

/** The operator or user said something. */
export interface UserMessageEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "user.message";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index: number;
    /** The text. */
    text: string;
    [key: string]: unknown;
  };
}

/** Something was attached to a turn. */
export interface UserAttachmentEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "user.attachment";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index: number;
    /**
     * image, file, …
     * @minLength 1
     */
    kind: string;
    /** The media type. */
    mime?: string;
    /** The stored content. */
    artifact_id?: string;
    /** A file name or path. */
    name?: string;
    [key: string]: unknown;
  };
}

/** The runtime accepted a call and is about to execute it. */
export interface ToolInvokedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.invoked";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name: string;
    /** The tool's kind: the segment between `tool.` and the last word of its own events. */
    kind: string;
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index?: number;
    /** The call in whose name a subagent made this one. */
    parent_tool_call_id?: string;
    /** The MCP server. */
    mcp_server?: string;
    /** The server's own name of the tool. */
    mcp_tool?: string;
    [key: string]: unknown;
  };
}

/** A tool runs. */
export interface ToolStartedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.started";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name: string;
    /** The tool's kind: the segment between `tool.` and the last word of its own events. */
    kind?: string;
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index?: number;
    /** The call in whose name a subagent made this one. */
    parent_tool_call_id?: string;
    /** The MCP server. */
    mcp_server?: string;
    /** The server's own name of the tool. */
    mcp_tool?: string;
    [key: string]: unknown;
  };
}

/** A tool went well; terminal. */
export interface ToolCompletedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.completed";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name: string;
    /** The tool's kind: the segment between `tool.` and the last word of its own events. */
    kind: string;
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index?: number;
    /** The call in whose name a subagent made this one. */
    parent_tool_call_id?: string;
    /**
     * Milliseconds.
     * @minimum 0
     */
    duration_ms?: number;
    /** One line for people. */
    summary?: string;
    /** The stored result. */
    result_artifact_id?: string;
    /** The MCP server. */
    mcp_server?: string;
    /** The server's own name of the tool. */
    mcp_tool?: string;
    /** What became of a call that was handed on. */
    result?: string;
    [key: string]: unknown;
  };
}

/** A tool ran and failed, or could not run; terminal. */
export interface ToolFailedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.failed";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name: string;
    /** The tool's kind: the segment between `tool.` and the last word of its own events. */
    kind?: string;
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index?: number;
    /** The call in whose name a subagent made this one. */
    parent_tool_call_id?: string;
    /**
     * Milliseconds.
     * @minimum 0
     */
    duration_ms?: number;
    /** One line for people. */
    summary?: string;
    /** The stored result. */
    result_artifact_id?: string;
    /** The MCP server. */
    mcp_server?: string;
    /** The server's own name of the tool. */
    mcp_tool?: string;
    /** What became of a call that was handed on. */
    result?: string;
    /** A stable code. */
    code?: string;
    /** What a person is told. */
    message?: string;
    [key: string]: unknown;
  };
}

/** The operator did not let the tool run, or run on; terminal. */
export interface ToolCancelledEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.cancelled";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name: string;
    /** The tool's kind: the segment between `tool.` and the last word of its own events. */
    kind?: string;
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index?: number;
    /** The call in whose name a subagent made this one. */
    parent_tool_call_id?: string;
    /**
     * Milliseconds.
     * @minimum 0
     */
    duration_ms?: number;
    /** One line for people. */
    summary?: string;
    /** The stored result. */
    result_artifact_id?: string;
    /** The MCP server. */
    mcp_server?: string;
    /** The server's own name of the tool. */
    mcp_tool?: string;
    /** What became of a call that was handed on. */
    result?: string;
    /** A stable code. */
    code?: string;
    /** What a person is told. */
    message?: string;
    [key: string]: unknown;
  };
}

/** A tool took too long or said too much; terminal. */
export interface ToolTimedOutEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.timed_out";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name: string;
    /** The tool's kind: the segment between `tool.` and the last word of its own events. */
    kind?: string;
    /**
     * The turn, counted from 0.
     * @minimum 0
     */
    turn_index?: number;
    /** The call in whose name a subagent made this one. */
    parent_tool_call_id?: string;
    /**
     * Milliseconds.
     * @minimum 0
     */
    duration_ms?: number;
    /** One line for people. */
    summary?: string;
    /** The stored result. */
    result_artifact_id?: string;
    /** The MCP server. */
    mcp_server?: string;
    /** The server's own name of the tool. */
    mcp_tool?: string;
    /** What became of a call that was handed on. */
    result?: string;
    /** A stable code. */
    code?: string;
    /** What a person is told. */
    message?: string;
    [key: string]: unknown;
  };
}

/** What a shell tool executes. */
export interface ToolShellCommandEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.shell.command";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The command: its words, or one script. */
    argv: string[];
    /** Where. */
    cwd?: string;
    /** Names of environment variables. */
    env_keys?: string[];
    /** The sandbox. */
    sandbox_layer?: string;
    [key: string]: unknown;
  };
}

/** A piece of a shell tool's output. */
export interface ToolShellOutputChunkEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.shell.output_chunk";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** Which stream. */
    stream: "stdout" | "stderr";
    /** The piece. */
    data: string;
    /**
     * How many bytes of the stream stand before it. A piece with the position front stands before all pieces that came so far, which are that much further on.
     * @minimum 0
     */
    byte_offset: number;
    [key: string]: unknown;
  };
}

/** A shell tool's process is over. */
export interface ToolShellExitedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.shell.exited";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The exit code. */
    exit_code: number;
    /** The signal that ended it. */
    signal?: string | null;
    /**
     * Bytes of standard output.
     * @minimum 0
     */
    stdout_bytes?: number;
    /**
     * Bytes of standard error.
     * @minimum 0
     */
    stderr_bytes?: number;
    /** Whether output was left out. */
    truncated?: boolean;
    [key: string]: unknown;
  };
}

/** An edit is proposed (depends on artifacts). */
export interface ToolEditProposedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.edit.proposed";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The file. */
    path: string;
    /**
     * The patch.
     * @minLength 1
     */
    patch_artifact_id: string;
    /** One line for people. */
    summary?: string;
    /** Whether it is applied without asking. */
    auto_apply?: boolean;
    [key: string]: unknown;
  };
}

/** An edit was applied (depends on artifacts). */
export interface ToolEditAppliedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.edit.applied";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /**
     * The patch.
     * @minLength 1
     */
    patch_artifact_id: string;
    /**
     * When.
     * @format date-time
     */
    applied_at: string;
    [key: string]: unknown;
  };
}

/** An edit was taken back (depends on artifacts). */
export interface ToolEditRevertedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.edit.reverted";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id?: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /**
     * The patch.
     * @minLength 1
     */
    patch_artifact_id: string;
    /** Who. */
    reverted_by?: string;
    /** Why. */
    reason?: string;
    [key: string]: unknown;
  };
}

/** A batch of edits is proposed (depends on artifacts). */
export interface ToolMultiEditProposedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.multi_edit.proposed";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The files. */
    paths: string[];
    /** The patches of the batch. */
    patch_artifact_ids: string[];
    /** One line for people. */
    summary?: string;
    /** Whether it is applied without asking. */
    auto_apply?: boolean;
    [key: string]: unknown;
  };
}

/** A batch of edits was applied (depends on artifacts). */
export interface ToolMultiEditAppliedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.multi_edit.applied";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The patches of the batch. */
    patch_artifact_ids: string[];
    /**
     * When.
     * @format date-time
     */
    applied_at: string;
    [key: string]: unknown;
  };
}

/** A batch of edits was taken back (depends on artifacts). */
export interface ToolMultiEditRevertedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.multi_edit.reverted";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id?: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The patches of the batch. */
    patch_artifact_ids: string[];
    /** Who. */
    reverted_by?: string;
    /** Why. */
    reason?: string;
    [key: string]: unknown;
  };
}

/** A new file is proposed (depends on artifacts). */
export interface ToolFileWriteProposedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.file_write.proposed";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The file. */
    path: string;
    /**
     * The patch.
     * @minLength 1
     */
    patch_artifact_id?: string;
    /** One line for people. */
    summary?: string;
    /** Whether it is applied without asking. */
    auto_apply?: boolean;
    [key: string]: unknown;
  };
}

/** A patch was made; the document names the type and leaves its payload open. */
export interface ToolFilePatchEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.file.patch";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id?: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The file. */
    path?: string;
    /** The patch. */
    patch_artifact_id?: string;
    [key: string]: unknown;
  };
}

/** A patch was applied; the document names the type and leaves its payload open. */
export interface ToolFileAppliedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.file.applied";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id?: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The file. */
    path?: string;
    /** The patch. */
    patch_artifact_id?: string;
    [key: string]: unknown;
  };
}

/** A patch was taken back; the document names the type and leaves its payload open. */
export interface ToolFileRevertedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.file.reverted";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id?: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The file. */
    path?: string;
    /** The patch. */
    patch_artifact_id?: string;
    [key: string]: unknown;
  };
}

/** What a search for paths found. */
export interface ToolGlobCompletedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.glob.completed";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The pattern. */
    pattern: string;
    /** The paths. */
    matches?: string[];
    /**
     * How many there are.
     * @minimum 0
     */
    match_count?: number;
    /** Whether there are more. */
    truncated?: boolean;
    [key: string]: unknown;
  };
}

/** What a search for text found. */
export interface ToolGrepCompletedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.grep.completed";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The pattern. */
    pattern: string;
    /**
     * How many files were read.
     * @minimum 0
     */
    files_searched?: number;
    /** The places. */
    matches?: {
      /** The file. */
      path: string;
      /**
       * The line, from 1.
       * @minimum 0
       */
      line?: number;
      /** The line's text. */
      text?: string;
      [key: string]: unknown;
    }[];
    /**
     * How many there are.
     * @minimum 0
     */
    match_count?: number;
    /** Whether there are more. */
    truncated?: boolean;
    [key: string]: unknown;
  };
}

/** A file was read. */
export interface ToolFileReadCompletedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.file_read.completed";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The file. */
    path: string;
    /**
     * Its size.
     * @minimum 0
     */
    size_bytes?: number;
    /**
     * Its lines.
     * @minimum 0
     */
    lines?: number;
    /** The stored content. */
    snippet_artifact_id?: string;
    [key: string]: unknown;
  };
}

/** The whole todo list, which replaces the one before. */
export interface ToolTodoWriteUpdatedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.todo_write.updated";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** All entries. */
    todos: {
      /** What is to be done. */
      content: string;
      /** pending, in_progress, completed, … */
      status: string;
      [key: string]: unknown;
    }[];
    [key: string]: unknown;
  };
}

/** An HTTP request is made. */
export interface ToolHttpRequestedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.http.requested";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The HTTP method. */
    method?: string;
    /** The URL. */
    url: string;
    /** Names of headers. */
    header_keys?: string[];
    [key: string]: unknown;
  };
}

/** An HTTP request was answered. */
export interface ToolHttpResponseEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.http.response";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /**
     * The HTTP status.
     * @minimum 0
     */
    status?: number;
    /**
     * Milliseconds.
     * @minimum 0
     */
    duration_ms?: number;
    /** The stored body. */
    body_artifact_id?: string;
    /** Whether the body was cut. */
    body_truncated?: boolean;
    [key: string]: unknown;
  };
}

/** A fetch of a web page is made. */
export interface ToolWebFetchRequestedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.web_fetch.requested";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** The HTTP method. */
    method?: string;
    /** The URL. */
    url: string;
    /** Names of headers. */
    header_keys?: string[];
    [key: string]: unknown;
  };
}

/** A fetch of a web page was answered. */
export interface ToolWebFetchResponseEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.web_fetch.response";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /**
     * The HTTP status.
     * @minimum 0
     */
    status?: number;
    /**
     * Milliseconds.
     * @minimum 0
     */
    duration_ms?: number;
    /** The stored body. */
    body_artifact_id?: string;
    /** Whether the body was cut. */
    body_truncated?: boolean;
    /** The stored text. */
    extracted_text_artifact_id?: string;
    [key: string]: unknown;
  };
}

/** A web search is made. */
export interface ToolWebSearchRequestedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.web_search.requested";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /** What is searched for. */
    query: string;
    /** The HTTP method. */
    method?: string;
    /** The URL. */
    url?: string;
    /** Names of headers. */
    header_keys?: string[];
    [key: string]: unknown;
  };
}

/** A web search was answered. */
export interface ToolWebSearchResponseEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "tool.web_search.response";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The call, by the id that the model's request has.
     * @minLength 1
     */
    tool_call_id: string;
    /** The tool, as the model calls it. */
    tool_name?: string;
    /**
     * The HTTP status.
     * @minimum 0
     */
    status?: number;
    /**
     * Milliseconds.
     * @minimum 0
     */
    duration_ms?: number;
    /** The stored body. */
    body_artifact_id?: string;
    /** Whether the body was cut. */
    body_truncated?: boolean;
    /** What was found. */
    hits?: {
      [key: string]: unknown;
    }[];
    [key: string]: unknown;
  };
}

/** The run waits for a decision. */
export interface ApprovalRequestedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "approval.requested";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The question.
     * @minLength 1
     */
    approval_id: string;
    /** The call that waits. */
    tool_call_id: string;
    /** What is asked about. */
    kind: string;
    /** One line for people. */
    summary: string;
    /** Why it is asked. */
    policy_reason?: string;
    [key: string]: unknown;
  };
}

/** The decision fell. */
export interface ApprovalResolvedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "approval.resolved";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The question.
     * @minLength 1
     */
    approval_id: string;
    /** What was decided. */
    decision: "approved" | "rejected" | "cancelled";
    /** Who decided. */
    by?: string;
    /** What they said. */
    comment?: string;
    /** How far it reaches; advisory. */
    scope?: string;
    [key: string]: unknown;
  };
}

/** Nobody decided in time. */
export interface ApprovalTimedOutEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "approval.timed_out";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The question.
     * @minLength 1
     */
    approval_id: string;
    /**
     * How long it waited.
     * @minimum 0
     */
    after_seconds?: number;
    [key: string]: unknown;
  };
}

/** An artifact was stored (depends on artifacts). */
export interface ArtifactCreatedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "artifact.created";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The artifact.
     * @minLength 1
     */
    artifact_id: string;
    /**
     * patch, command_output, image, …
     * @minLength 1
     */
    kind: string;
    /**
     * Its size.
     * @minimum 0
     */
    size_bytes?: number;
    /** One line for people. */
    summary?: string;
    /** The event that it came from. */
    created_by_event_id?: string;
    [key: string]: unknown;
  };
}

/** An artifact was used (depends on artifacts). */
export interface ArtifactReferencedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "artifact.referenced";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The artifact.
     * @minLength 1
     */
    artifact_id: string;
    /** The event. */
    by_event_id?: string;
    /** How. */
    relation?: string;
    [key: string]: unknown;
  };
}

/** An artifact changed (depends on artifacts). */
export interface ArtifactUpdatedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "artifact.updated";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The artifact.
     * @minLength 1
     */
    artifact_id: string;
    /**
     * What changed.
     * @minLength 1
     */
    field: string;
    /** The value before the update, of any type. */
    old_value?: unknown;
    /** The value after the update, of any type. */
    new_value?: unknown;
    [key: string]: unknown;
  };
}

/** What the run has used so far, at a turn's boundary. */
export interface CostTickEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "cost.tick";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * Tokens read so far, cached ones among them.
     * @minimum 0
     */
    cumulative_input_tokens?: number;
    /**
     * Tokens written so far.
     * @minimum 0
     */
    cumulative_output_tokens?: number;
    /**
     * Cost so far in millionths of a US dollar.
     * @minimum 0
     */
    cumulative_cost_micros_usd?: number;
    /**
     * The budget in millionths of a US dollar.
     * @minimum 0
     */
    task_budget_micros_usd?: number;
    /**
     * What is left of the budget.
     * @minimum 0
     */
    task_budget_remaining_micros_usd?: number;
    [key: string]: unknown;
  };
}

/** A part of the budget is used up. */
export interface CostBudgetWarningEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "cost.budget_warning";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The part in percent.
     * @minimum 0
     */
    threshold_pct: number;
    /**
     * Cost so far in millionths of a US dollar.
     * @minimum 0
     */
    cumulative_cost_micros_usd: number;
    /**
     * The budget in millionths of a US dollar.
     * @minimum 0
     */
    task_budget_micros_usd: number;
    [key: string]: unknown;
  };
}

/** The budget is used up. */
export interface CostBudgetExceededEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "cost.budget_exceeded";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * Cost so far in millionths of a US dollar.
     * @minimum 0
     */
    cumulative_cost_micros_usd: number;
    /**
     * The budget in millionths of a US dollar.
     * @minimum 0
     */
    task_budget_micros_usd: number;
    /**
     * What is done about it.
     * @minLength 1
     */
    action: string;
    [key: string]: unknown;
  };
}

/** A policy refused a call. */
export interface PolicyToolBlockedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "policy.tool_blocked";
  /** What the type says; open for additive evolution. */
  data: {
    /** The call. */
    tool_call_id?: string;
    /** The tool, as the model calls it. */
    tool_name: string;
    /** The tool's kind: the segment between `tool.` and the last word of its own events. */
    kind?: string;
    /** Why. */
    reason: string;
    /** The policy. */
    policy_id?: string;
    /** The MCP server. */
    mcp_server?: string;
    /** The server's own name of the tool. */
    mcp_tool?: string;
    /** What became of the call. */
    result?: string;
    [key: string]: unknown;
  };
}

/** A policy chose another model. */
export interface PolicyModelRewroteEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "policy.model_rewrote";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The model that was asked for.
     * @minLength 1
     */
    from_model: string;
    /**
     * The model that is called.
     * @minLength 1
     */
    to_model: string;
    /** Why. */
    reason?: string;
    [key: string]: unknown;
  };
}

/** A tool cannot be used. */
export interface ErrorToolUnavailableEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "error.tool_unavailable";
  /** What the type says; open for additive evolution. */
  data: {
    /** The tool, as the model calls it. */
    tool_name: string;
    /** Why. */
    reason: string;
    [key: string]: unknown;
  };
}

/** The model cannot do what is needed. */
export interface ErrorModelCapabilityMissingEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "error.model_capability_missing";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The model.
     * @minLength 1
     */
    model: string;
    /**
     * What it cannot do.
     * @minLength 1
     */
    missing_capability: string;
    /** What is done instead. */
    fallback_strategy?: string;
    [key: string]: unknown;
  };
}

/** Something upstream went wrong; the run may go on. */
export interface ErrorUpstreamEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "error.upstream";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * Who answered.
     * @minLength 1
     */
    provider: string;
    /**
     * The HTTP status.
     * @minimum 0
     */
    status?: number;
    /** A stable code. */
    code?: string;
    /** What a person is told. */
    message: string;
    /** Whether trying again may help. */
    retriable: boolean;
    /**
     * Which attempt failed, from 1.
     * @minimum 0
     */
    attempt?: number;
    /**
     * How many attempts there will be.
     * @minimum 0
     */
    max_attempts?: number;
    [key: string]: unknown;
  };
}

/** Events that are no longer kept. */
export interface GapEventsPrunedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "gap.events_pruned";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The first of them.
     * @minimum 0
     */
    first_pruned_sequence: number;
    /**
     * The last of them.
     * @minimum 0
     */
    last_pruned_sequence: number;
    /**
     * When.
     * @format date-time
     */
    pruned_at?: string;
    /** Why. */
    reason: string;
    [key: string]: unknown;
  };
}

/** The runtime lost sight of the run for a while, or for good. */
export interface GapRunDisconnectedEvent extends HecateV1Envelope {
  /** The event's type. */
  type: "gap.run_disconnected";
  /** What the type says; open for additive evolution. */
  data: {
    /**
     * The last event before.
     * @minimum 0
     */
    since_sequence?: number;
    /**
     * When it came.
     * @format date-time
     */
    since_at?: string;
    /**
     * Why.
     * @minLength 1
     */
    reason: string;
    [key: string]: unknown;
  };
}
