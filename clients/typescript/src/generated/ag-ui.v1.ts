// The events of ag-ui.v1, from its JSON Schemas. Written by `framegate schema ag-ui.v1 --typescript`; do not edit.

/** Any event of ag-ui.v1: AG-UI 1.0 events: text, reasoning, tools with live output, subagents, plan, usage. */
export type AgUiV1Event = AgUiV1Events[AgUiV1EventType];

/** The event types of ag-ui.v1, the values of `type`. */
export type AgUiV1EventType = keyof AgUiV1Events;

/** Maps each type of ag-ui.v1 to its event. */
export interface AgUiV1Events {
  RUN_STARTED: RUNSTARTEDEvent;
  STEP_STARTED: STEPSTARTEDEvent;
  STEP_FINISHED: STEPFINISHEDEvent;
  TEXT_MESSAGE_START: TEXTMESSAGESTARTEvent;
  TEXT_MESSAGE_CONTENT: TEXTMESSAGECONTENTEvent;
  TEXT_MESSAGE_END: TEXTMESSAGEENDEvent;
  REASONING_START: REASONINGSTARTEvent;
  REASONING_MESSAGE_START: REASONINGMESSAGESTARTEvent;
  REASONING_MESSAGE_CONTENT: REASONINGMESSAGECONTENTEvent;
  REASONING_MESSAGE_END: REASONINGMESSAGEENDEvent;
  REASONING_ENCRYPTED_VALUE: REASONINGENCRYPTEDVALUEEvent;
  REASONING_END: REASONINGENDEvent;
  TOOL_CALL_START: TOOLCALLSTARTEvent;
  TOOL_CALL_ARGS: TOOLCALLARGSEvent;
  TOOL_CALL_END: TOOLCALLENDEvent;
  TOOL_CALL_RESULT: TOOLCALLRESULTEvent;
  ACTIVITY_SNAPSHOT: ACTIVITYSNAPSHOTEvent;
  ACTIVITY_DELTA: ACTIVITYDELTAEvent;
  SUBAGENT_STARTED: SUBAGENTSTARTEDEvent;
  SUBAGENT_FINISHED: SUBAGENTFINISHEDEvent;
  SUBAGENT_ERROR: SUBAGENTERROREvent;
  STATE_SNAPSHOT: STATESNAPSHOTEvent;
  CUSTOM: CUSTOMEvent;
  RUN_FINISHED: RUNFINISHEDEvent;
  RUN_ERROR: RUNERROREvent;
}

/** The properties that all events of ag-ui.v1 have. */
export interface AgUiV1Envelope {
  /**
   * Unix epoch milliseconds.
   * @minimum 0
   */
  timestamp: number;
}

/** The first event of a run. */
export interface RUNSTARTEDEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "RUN_STARTED";
  /**
   * The session.
   * @format uuid
   */
  threadId: string;
  /**
   * The run, or the background task.
   * @format uuid
   */
  runId: string;
  /** The version of the protocol. */
  protocolVersion: "1.0";
  /**
   * For a background task, the run that started it.
   * @format uuid
   */
  parentRunId?: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * The runner.
     * @minLength 1
     */
    runner?: string;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A turn of the main thread begins. */
export interface STEPSTARTEDEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "STEP_STARTED";
  /**
   * `turn-` and the index of the turn, from 0.
   * @minLength 1
   */
  stepName: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * The model.
     * @minLength 1
     */
    model?: string;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A turn is over. */
export interface STEPFINISHEDEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "STEP_FINISHED";
  /**
   * `turn-` and the index of the turn, from 0.
   * @minLength 1
   */
  stepName: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /** Why the model stopped, in the runner's own words. */
    stopReason?: string;
    /**
     * Milliseconds since the turn began.
     * @minimum 0
     */
    durationMs?: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A text message begins. */
export interface TEXTMESSAGESTARTEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "TEXT_MESSAGE_START";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The message.
   * @format uuid
   */
  messageId: string;
  /** The user's messages are those in the middle of a run; the prompt is left out. */
  role: "assistant" | "user";
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A piece of a text message. */
export interface TEXTMESSAGECONTENTEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "TEXT_MESSAGE_CONTENT";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The message.
   * @format uuid
   */
  messageId: string;
  /**
   * The piece.
   * @minLength 1
   */
  delta: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A text message is complete. */
export interface TEXTMESSAGEENDEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "TEXT_MESSAGE_END";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The message.
   * @format uuid
   */
  messageId: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A span of reasoning begins. It has one message. */
export interface REASONINGSTARTEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "REASONING_START";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The span, and the message in it.
   * @format uuid
   */
  messageId: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** The message of a span of reasoning begins. */
export interface REASONINGMESSAGESTARTEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "REASONING_MESSAGE_START";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The span, and the message in it.
   * @format uuid
   */
  messageId: string;
  /** Always the same. */
  role: "reasoning";
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A piece of reasoning. */
export interface REASONINGMESSAGECONTENTEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "REASONING_MESSAGE_CONTENT";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The span, and the message in it.
   * @format uuid
   */
  messageId: string;
  /**
   * The piece.
   * @minLength 1
   */
  delta: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** The message of a span of reasoning is complete. */
export interface REASONINGMESSAGEENDEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "REASONING_MESSAGE_END";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The span, and the message in it.
   * @format uuid
   */
  messageId: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** The provider's own form of a message of reasoning. */
export interface REASONINGENCRYPTEDVALUEEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "REASONING_ENCRYPTED_VALUE";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /** It belongs to a message. */
  subtype: "message";
  /**
   * The span, and the message in it.
   * @format uuid
   */
  entityId: string;
  /** The signature or the encrypted content in the provider's item; the whole item if it has neither. */
  encryptedValue: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A span of reasoning is over. */
export interface REASONINGENDEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "REASONING_END";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The span, and the message in it.
   * @format uuid
   */
  messageId: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A tool call begins. Its arguments follow. */
export interface TOOLCALLSTARTEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "TOOL_CALL_START";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The call: framegate's id of it, which no other call has.
   * @format uuid
   */
  toolCallId: string;
  /** The tool's name; empty if the runner did not report it. */
  toolCallName: string;
  /**
   * The text message of the same turn that the call belongs to. Absent if there is none.
   * @format uuid
   */
  parentMessageId?: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * The runner's own id of the call. Absent if it has none.
     * @minLength 1
     */
    callId?: string;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A piece of a call's arguments: JSON text, or the text itself if the tool takes free text. */
export interface TOOLCALLARGSEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "TOOL_CALL_ARGS";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The call: framegate's id of it, which no other call has.
   * @format uuid
   */
  toolCallId: string;
  /**
   * The piece.
   * @minLength 1
   */
  delta: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** The arguments of a call are complete. */
export interface TOOLCALLENDEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "TOOL_CALL_END";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The call: framegate's id of it, which no other call has.
   * @format uuid
   */
  toolCallId: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /** The kind of tool. Absent if the run ended before the arguments were complete. */
    kind?: "shell" | "read" | "write" | "edit" | "search" | "fetch" | "mcp" | "plan" | "subagent" | "other";
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** The result of a call. */
export interface TOOLCALLRESULTEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "TOOL_CALL_RESULT";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The message with the result.
   * @format uuid
   */
  messageId: string;
  /**
   * The call: framegate's id of it, which no other call has.
   * @format uuid
   */
  toolCallId: string;
  /** The standard output, then the standard error; or what went wrong. */
  content: string;
  /** Always the same. */
  role: "tool";
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /** The exit code; 0 or 1 if the tool is not a process. Absent if the tool did not run to its end. */
    exitCode?: number;
    /**
     * Milliseconds from start to end. Absent if the tool did not run to its end.
     * @minimum 0
     */
    durationMs?: number;
    /** How the call failed: `failed`, `denied` if it was refused, `no_result` if the run ended first. Absent if the tool ran to its end. */
    failure?: "failed" | "denied" | "no_result";
    /** References to stored objects. */
    artifacts?: {
      [key: string]: unknown;
    };
    /**
     * How many bytes are left out because the output is too large. Absent if none are.
     * @minimum 1
     */
    omittedBytes?: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** An activity begins: the live output of a tool, or a background task. */
export interface ACTIVITYSNAPSHOTEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "ACTIVITY_SNAPSHOT";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The activity.
   * @format uuid
   */
  messageId: string;
  /** The kind of activity. */
  activityType: "TOOL_OUTPUT" | "TASK";
  /** The activity. Each ACTIVITY_DELTA changes it. */
  content: {
    /**
     * The call whose output it is.
     * @format uuid
     */
    toolCallId?: string;
    /**
     * The background task.
     * @format uuid
     */
    taskId?: string;
    /** The state of the task. */
    status?: "queued" | "running" | "exited" | "cancelled" | "failed";
    /** The tool that the task runs. */
    toolName?: string;
    /** A title of the task for people. */
    title?: string;
    /** The working directory of the task. */
    cwd?: string;
    /** The arguments of the task: an object, or a string if the model's arguments are no object. */
    input?: unknown;
    /** The pieces of output, in order. Each ACTIVITY_DELTA appends to them. */
    output: {
      /** Its stream. */
      stream: "stdout" | "stderr";
      /** Its text. */
      text: string;
    }[];
  };
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A change of an activity, as a JSON Patch. */
export interface ACTIVITYDELTAEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "ACTIVITY_DELTA";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /**
   * The activity.
   * @format uuid
   */
  messageId: string;
  /** The kind of activity. */
  activityType: "TOOL_OUTPUT" | "TASK";
  /**
   * The operations, in order.
   * @minItems 1
   */
  patch: {
    /** It appends to the output, or sets a field. */
    op: "add";
    /** Where. */
    path: "/output/-" | "/status" | "/exitCode" | "/error";
    /** A piece of output, the task's new state, its exit code, or what went wrong. */
    value: unknown;
  }[];
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A subagent begins. */
export interface SUBAGENTSTARTEDEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "SUBAGENT_STARTED";
  /**
   * The invocation of the subagent, which no other one has.
   * @format uuid
   */
  subagentRunId: string;
  /**
   * The kind of agent, or `subagent`.
   * @minLength 1
   */
  name: string;
  /** The task that it was given. */
  description?: string;
  /**
   * The subagent that started it. Absent if the main thread did.
   * @format uuid
   */
  parentSubagentRunId?: string;
  /**
   * The call that started it.
   * @format uuid
   */
  parentToolCallId?: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /** The runner's own id of the subagent. */
    subagentId?: string;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A subagent is done. */
export interface SUBAGENTFINISHEDEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "SUBAGENT_FINISHED";
  /**
   * The invocation of the subagent, which no other one has.
   * @format uuid
   */
  subagentRunId: string;
  /** What it reported. */
  result?: string;
  /** How it ended. */
  outcome: {
    /** Always the same; the runner's own word is in the metadata. */
    type: "success";
  };
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /** How it ended, in the runner's word. */
    status?: string;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A subagent failed, or was stopped. */
export interface SUBAGENTERROREvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "SUBAGENT_ERROR";
  /**
   * The invocation of the subagent, which no other one has.
   * @format uuid
   */
  subagentRunId: string;
  /**
   * What it reported, or how it ended.
   * @minLength 1
   */
  message: string;
  /**
   * How it ended: `failed`, `cancelled`, `interrupted`, or `event_withheld`.
   * @minLength 1
   */
  code: string;
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /** How it ended, in the runner's word. */
    status?: string;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** The state of the run: its plan, in place of the state before. */
export interface STATESNAPSHOTEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "STATE_SNAPSHOT";
  /** The state. */
  snapshot: {
    /** All entries of the plan, in order. */
    plan: {
      /** The text of the entry. */
      content: string;
      /** `pending`, `in_progress`, `completed`, or the runner's own value. */
      status: string;
      /** `high`, `medium`, `low`, or the runner's own value. */
      priority?: string;
    }[];
  };
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** What the protocol has no event for. `name` decides which fields the value has. */
export interface CUSTOMEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "CUSTOM";
  /**
   * The subagent whose event it is. Absent for the main thread.
   * @format uuid
   */
  subagentRunId?: string;
  /** What happened. */
  name: "approval_requested" | "approval_resolved" | "notice" | "usage" | "file_changed" | "checkpoint_created" | "checkpoint_rewound" | "checkpoint_failed" | "history_compacted" | "plan";
  /** The fields of what happened. */
  value: {
    /**
     * The question.
     * @minLength 1
     */
    approvalId?: string;
    /**
     * The call that it is about.
     * @format uuid
     */
    toolCallId?: string;
    /** The tool that wants to run, or before which a checkpoint was made. */
    toolName?: string;
    /** The arguments that need approval. */
    args?: unknown;
    /** Why the runner asks, or why the decision was made. */
    reason?: string;
    /** The decision. */
    decision?: "approved" | "rejected" | "timed_out" | "cancelled";
    /** Who decided. */
    by?: string;
    /** What else the decision holds for, in the runner's words. */
    scope?: string;
    /** How severe the notice is. */
    level?: "debug" | "info" | "warn" | "error";
    /** The kind of problem. */
    code?: string;
    /** The text of the notice. */
    message?: string;
    /** The file. */
    path?: string;
    /** How the file changed. */
    kind?: "add" | "modify" | "delete" | "move";
    /** The change as a unified diff. */
    diff?: string;
    /** The stored object with the change. */
    artifactId?: string;
    /**
     * The checkpoint.
     * @format uuid
     */
    checkpointId?: string;
    /** The label of the checkpoint. */
    label?: string;
    /** The files of the checkpoint. */
    files?: string[];
    /**
     * When the checkpoint was made, in Unix epoch milliseconds.
     * @minimum 0
     */
    createdAtMs?: number;
    /** Whether the runner made the checkpoint automatically. */
    auto?: boolean;
    /** What failed. */
    action?: "create" | "rewind";
    /** What went wrong. */
    error?: string;
    /** `manual`, `auto`, or the runner's own value. */
    trigger?: string;
    /**
     * Tokens of context before.
     * @minimum 0
     */
    tokensBefore?: number;
    /**
     * Tokens of context after.
     * @minimum 0
     */
    tokensAfter?: number;
    /** The summary that replaces a part of the history. */
    summary?: string;
    /** All entries of the plan, in order. */
    plan?: {
      /** The text of the entry. */
      content: string;
      /** `pending`, `in_progress`, `completed`, or the runner's own value. */
      status: string;
      /** `high`, `medium`, `low`, or the runner's own value. */
      priority?: string;
    }[];
    /**
     * The model of all calls so far. Absent if there were several.
     * @minLength 1
     */
    model?: string;
    /**
     * Tokens read, including cached ones.
     * @minimum 0
     */
    inputTokens?: number;
    /**
     * Tokens written, including reasoning.
     * @minimum 0
     */
    outputTokens?: number;
    /**
     * The sum of both.
     * @minimum 0
     */
    totalTokens?: number;
    /**
     * The part of outputTokens that was reasoning. Absent if the runner did not report it.
     * @minimum 0
     */
    reasoningTokens?: number;
    /**
     * The part of inputTokens that was read from the cache. Absent if the runner did not report it.
     * @minimum 0
     */
    cachedInputTokens?: number;
    /**
     * The part of inputTokens that was written to the cache. Absent if the runner did not report it.
     * @minimum 0
     */
    cacheWriteInputTokens?: number;
    /** The price so far in US dollars. */
    costUsd?: number;
  };
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** The last event of a run that did not fail. */
export interface RUNFINISHEDEvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "RUN_FINISHED";
  /**
   * The session.
   * @format uuid
   */
  threadId: string;
  /**
   * The run, or the background task.
   * @format uuid
   */
  runId: string;
  /** How the run ended. */
  outcome: {
    /** `cancelled` if the run was interrupted. */
    type: "success" | "cancelled";
    /**
     * The calls that the runner leaves to its client.
     * @minItems 1
     */
    pendingToolCallIds?: string[];
  };
  /** The tokens of the whole run, of subagents too. Absent if the runner did not report any. */
  usage?: {
    /**
     * The model. Absent if there were several.
     * @minLength 1
     */
    model?: string;
    /**
     * Tokens read, including cached ones.
     * @minimum 0
     */
    inputTokens: number;
    /**
     * Tokens written, including reasoning.
     * @minimum 0
     */
    outputTokens: number;
    /**
     * The sum of both.
     * @minimum 0
     */
    totalTokens: number;
    /**
     * The part of outputTokens that was reasoning. Absent if the runner did not report it.
     * @minimum 0
     */
    reasoningTokens?: number;
    /**
     * The part of inputTokens that was read from the cache. Absent if the runner did not report it.
     * @minimum 0
     */
    cachedInputTokens?: number;
    /**
     * The part of inputTokens that was written to the cache. Absent if the runner did not report it.
     * @minimum 0
     */
    cacheWriteInputTokens?: number;
  }[];
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /**
     * Why the run was interrupted, or which limit it reached.
     * @minLength 1
     */
    errorCode?: string;
    /**
     * The same for people.
     * @minLength 1
     */
    reason?: string;
    /** The price of the whole run in US dollars. Absent if the runner did not report it. */
    costUsd?: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** The last event of a run that failed. */
export interface RUNERROREvent extends AgUiV1Envelope {
  /** The event's type. */
  type: "RUN_ERROR";
  /**
   * What went wrong.
   * @minLength 1
   */
  message: string;
  /**
   * What went wrong, for programs.
   * @minLength 1
   */
  code?: string;
  /** The tokens of the whole run, of subagents too. Absent if the runner did not report any. */
  usage?: {
    /**
     * The model. Absent if there were several.
     * @minLength 1
     */
    model?: string;
    /**
     * Tokens read, including cached ones.
     * @minimum 0
     */
    inputTokens: number;
    /**
     * Tokens written, including reasoning.
     * @minimum 0
     */
    outputTokens: number;
    /**
     * The sum of both.
     * @minimum 0
     */
    totalTokens: number;
    /**
     * The part of outputTokens that was reasoning. Absent if the runner did not report it.
     * @minimum 0
     */
    reasoningTokens?: number;
    /**
     * The part of inputTokens that was read from the cache. Absent if the runner did not report it.
     * @minimum 0
     */
    cachedInputTokens?: number;
    /**
     * The part of inputTokens that was written to the cache. Absent if the runner did not report it.
     * @minimum 0
     */
    cacheWriteInputTokens?: number;
  }[];
  /** What framegate adds to the protocol. */
  metadata: {
    /**
     * The run, or the background task.
     * @format uuid
     */
    runId: string;
    /**
     * The event's number in its stream, from 0 without gaps.
     * @minimum 0
     */
    seq: number;
    /** The price of the whole run in US dollars. Absent if the runner did not report it. */
    costUsd?: number;
    /**
     * Which event was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}
