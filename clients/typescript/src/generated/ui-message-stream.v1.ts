// The events of ui-message-stream.v1, from its JSON Schemas. Written by `framegate schema ui-message-stream.v1 --typescript`; do not edit.

/** Any event of ui-message-stream.v1: UI message chunks of the AI SDK: one assistant message with text, reasoning, tools, data parts. */
export type UiMessageStreamV1Event = UiMessageStreamV1Events[UiMessageStreamV1EventType];

/** The event types of ui-message-stream.v1, the values of `type`. */
export type UiMessageStreamV1EventType = keyof UiMessageStreamV1Events;

/** Maps each type of ui-message-stream.v1 to its event. */
export interface UiMessageStreamV1Events {
  start: StartEvent;
  "start-step": StartStepEvent;
  "finish-step": FinishStepEvent;
  "text-start": TextStartEvent;
  "text-delta": TextDeltaEvent;
  "text-end": TextEndEvent;
  "reasoning-start": ReasoningStartEvent;
  "reasoning-delta": ReasoningDeltaEvent;
  "reasoning-end": ReasoningEndEvent;
  "tool-input-start": ToolInputStartEvent;
  "tool-input-delta": ToolInputDeltaEvent;
  "tool-input-available": ToolInputAvailableEvent;
  "tool-approval-request": ToolApprovalRequestEvent;
  "tool-approval-response": ToolApprovalResponseEvent;
  "tool-output-available": ToolOutputAvailableEvent;
  "tool-output-error": ToolOutputErrorEvent;
  "tool-output-denied": ToolOutputDeniedEvent;
  "steering-message": SteeringMessageEvent;
  "data-plan": DataPlanEvent;
  "data-file-change": DataFileChangeEvent;
  "data-checkpoint": DataCheckpointEvent;
  "data-task": DataTaskEvent;
  "data-notice": DataNoticeEvent;
  "message-metadata": MessageMetadataEvent;
  error: ErrorEvent;
  finish: FinishEvent;
  abort: AbortEvent;
}

/** The properties that all events of ui-message-stream.v1 have. */
export interface UiMessageStreamV1Envelope {
  /**
   * The run, or the background task. framegate adds it to each chunk.
   * @format uuid
   */
  runId: string;
  /**
   * The chunk's number in its stream, from 0 without gaps. framegate adds it to each chunk.
   * @minimum 0
   */
  seq: number;
}

/** The first chunk of a message. */
export interface StartEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "start";
  /**
   * The message: the run's id, so that a replay rebuilds the same message.
   * @format uuid
   */
  messageId: string;
  /** Where the message comes from. */
  messageMetadata: {
    /**
     * The run; for a background task, the run that started it.
     * @format uuid
     */
    runId?: string;
    /**
     * The background task, if the message is about one.
     * @format uuid
     */
    taskId?: string;
    /**
     * The session of the run.
     * @format uuid
     */
    sessionId?: string;
    /**
     * The runner.
     * @minLength 1
     */
    runner?: string;
    /**
     * The model of the last turn.
     * @minLength 1
     */
    model?: string;
    /** Tokens and money, of subagents too. */
    usage?: {
      /**
       * Tokens read, without cached ones.
       * @minimum 0
       */
      inputTokens: number;
      /**
       * Tokens written, including reasoning.
       * @minimum 0
       */
      outputTokens: number;
      /**
       * Tokens read from the cache. Absent if the runner did not report it.
       * @minimum 0
       */
      cacheReadTokens?: number;
      /**
       * Tokens written to the cache. Absent if the runner did not report it.
       * @minimum 0
       */
      cacheCreationTokens?: number;
      /**
       * The part of outputTokens that was reasoning. Absent if the runner did not report it.
       * @minimum 0
       */
      reasoningTokens?: number;
      /** US dollars. Absent if the runner did not report it. */
      costUsd?: number;
    };
    /**
     * Why the run failed, was interrupted, or reached a limit.
     * @minLength 1
     */
    errorCode?: string;
    /**
     * Which chunk was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A step begins: a call of the model. */
export interface StartStepEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "start-step";
}

/** The step is over, and so is the work that it asked for. */
export interface FinishStepEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "finish-step";
}

/** A part with text of the assistant begins. */
export interface TextStartEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "text-start";
  /**
   * The part. Each part of a message has its own id.
   * @minLength 1
   */
  id: string;
  /** Set in place of a withheld chunk. */
  providerMetadata?: {
    /** What framegate has to say. */
    framegate: {
      /**
       * Which chunk was withheld, and why.
       * @minLength 1
       */
      notice: string;
    };
  };
}

/** A piece of text of the assistant. */
export interface TextDeltaEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "text-delta";
  /**
   * The part. Each part of a message has its own id.
   * @minLength 1
   */
  id: string;
  /**
   * The piece.
   * @minLength 1
   */
  delta: string;
}

/** The part with text of the assistant is complete. */
export interface TextEndEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "text-end";
  /**
   * The part. Each part of a message has its own id.
   * @minLength 1
   */
  id: string;
  /** Set in place of a withheld chunk. */
  providerMetadata?: {
    /** What framegate has to say. */
    framegate: {
      /**
       * Which chunk was withheld, and why.
       * @minLength 1
       */
      notice: string;
    };
  };
}

/** A part with the model's reasoning begins. */
export interface ReasoningStartEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "reasoning-start";
  /**
   * The part. Each part of a message has its own id.
   * @minLength 1
   */
  id: string;
  /** Set in place of a withheld chunk. */
  providerMetadata?: {
    /** What framegate has to say. */
    framegate: {
      /**
       * Which chunk was withheld, and why.
       * @minLength 1
       */
      notice: string;
    };
  };
}

/** A piece of the model's reasoning. */
export interface ReasoningDeltaEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "reasoning-delta";
  /**
   * The part. Each part of a message has its own id.
   * @minLength 1
   */
  id: string;
  /**
   * The piece.
   * @minLength 1
   */
  delta: string;
}

/** The part with the model's reasoning is complete. */
export interface ReasoningEndEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "reasoning-end";
  /**
   * The part. Each part of a message has its own id.
   * @minLength 1
   */
  id: string;
  /** Set in place of a withheld chunk. */
  providerMetadata?: {
    /** What framegate has to say. */
    framegate: {
      /**
       * Which chunk was withheld, and why.
       * @minLength 1
       */
      notice: string;
    };
  };
}

/** A call whose input is streamed begins. */
export interface ToolInputStartEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "tool-input-start";
  /**
   * The call: the runner's own id, or `question-` and the id of a question that is about no open call.
   * @minLength 1
   */
  toolCallId: string;
  /** The tool's name as the runner spells it. */
  toolName: string;
  /** Always true: the client has no definition of the tool. */
  dynamic: boolean;
  /** Always true: the client must not run the tool. */
  providerExecuted: boolean;
  /** What else is known about the call. */
  toolMetadata?: {
    /** How a UI displays the tool. */
    kind?: "shell" | "read" | "write" | "edit" | "search" | "fetch" | "mcp" | "plan" | "subagent" | "other";
    /**
     * The call whose subagent made this call; of a question's own call, the call that it is about.
     * @minLength 1
     */
    parentToolCallId?: string;
    /**
     * Which chunk was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** A piece of a call's input. */
export interface ToolInputDeltaEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "tool-input-delta";
  /**
   * The call: the runner's own id, or `question-` and the id of a question that is about no open call.
   * @minLength 1
   */
  toolCallId: string;
  /**
   * A fragment of JSON text.
   * @minLength 1
   */
  inputTextDelta: string;
}

/** The whole input of a call. */
export interface ToolInputAvailableEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "tool-input-available";
  /**
   * The call: the runner's own id, or `question-` and the id of a question that is about no open call.
   * @minLength 1
   */
  toolCallId: string;
  /** The tool's name as the runner spells it. */
  toolName: string;
  /** The arguments: an object, or a string if the model's arguments are no object. */
  input: unknown;
  /** Always true: the client has no definition of the tool. */
  dynamic: boolean;
  /** Always true: the client must not run the tool. */
  providerExecuted: boolean;
  /** What else is known about the call. */
  toolMetadata: {
    /** How a UI displays the tool. */
    kind?: "shell" | "read" | "write" | "edit" | "search" | "fetch" | "mcp" | "plan" | "subagent" | "other";
    /**
     * The call whose subagent made this call; of a question's own call, the call that it is about.
     * @minLength 1
     */
    parentToolCallId?: string;
    /**
     * Which chunk was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** The runner waits for a decision about a call. */
export interface ToolApprovalRequestEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "tool-approval-request";
  /**
   * The question, in the runner's spelling.
   * @minLength 1
   */
  approvalId: string;
  /**
   * The call: the runner's own id, or `question-` and the id of a question that is about no open call.
   * @minLength 1
   */
  toolCallId: string;
  /** Why the runner asks. */
  reason?: string;
}

/** The decision. */
export interface ToolApprovalResponseEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "tool-approval-response";
  /**
   * The question, in the runner's spelling.
   * @minLength 1
   */
  approvalId: string;
  /** Whether the call may run. */
  approved: boolean;
  /** Why; `timed_out` or `cancelled` if it was not decided. */
  reason?: string;
}

/** The result of a call, or its output so far. */
export interface ToolOutputAvailableEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "tool-output-available";
  /**
   * The call: the runner's own id, or `question-` and the id of a question that is about no open call.
   * @minLength 1
   */
  toolCallId: string;
  /** What the tool gave. */
  output: {
    /** Standard output, or the result of a tool without separate streams. */
    stdout: string;
    /** Standard error. */
    stderr: string;
    /** The exit code; 0 or 1 if the tool is not a process. Absent while the tool runs. */
    exit_code?: number;
    /**
     * Milliseconds from start to end. Absent while the tool runs.
     * @minimum 0
     */
    duration_ms?: number;
    /** References to stored objects. */
    artifacts?: {
      [key: string]: unknown;
    };
    /**
     * How many bytes are left out because the output is too large. Absent if none are.
     * @minimum 1
     */
    omitted_bytes?: number;
  };
  /** Always true: the client has no definition of the tool. */
  dynamic: boolean;
  /** Always true: the client must not run the tool. */
  providerExecuted: boolean;
  /** True while the tool runs: a later chunk has more. Absent in the final result. */
  preliminary?: boolean;
}

/** A call has no result: the tool never ran, was interrupted, or the run ended first. */
export interface ToolOutputErrorEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "tool-output-error";
  /**
   * The call: the runner's own id, or `question-` and the id of a question that is about no open call.
   * @minLength 1
   */
  toolCallId: string;
  /**
   * What went wrong.
   * @minLength 1
   */
  errorText: string;
  /** Always true: the client has no definition of the tool. */
  dynamic: boolean;
  /** Always true: the client must not run the tool. */
  providerExecuted: boolean;
}

/** A call was refused. */
export interface ToolOutputDeniedEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "tool-output-denied";
  /**
   * The call: the runner's own id, or `question-` and the id of a question that is about no open call.
   * @minLength 1
   */
  toolCallId: string;
}

/** A user's message in the middle of the run. */
export interface SteeringMessageEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "steering-message";
  /**
   * The message.
   * @minLength 1
   */
  id: string;
  /**
   * Its content.
   * @minItems 1
   */
  parts: {
    /** The kind of the part. */
    type: "text";
    /** The text. */
    text: string;
  }[];
}

/** The whole plan, in place of the plan before. */
export interface DataPlanEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "data-plan";
  /** The same for every plan of the message. */
  id: "plan";
  /** The plan. */
  data: {
    /** All entries, in order. */
    entries: {
      /** The text of the entry. */
      content: string;
      /** `pending`, `in_progress`, `completed`, or the runner's own value. */
      status: string;
      /** `high`, `medium`, `low`, or the runner's own value. */
      priority?: string;
    }[];
  };
}

/** A file of the workspace changed. */
export interface DataFileChangeEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "data-file-change";
  /** The change. */
  data: {
    /** The path, in the runner's spelling. */
    path: string;
    /** What happened to the file. */
    kind: "add" | "modify" | "delete" | "move";
    /**
     * The call that changed it.
     * @minLength 1
     */
    toolCallId?: string;
    /** A unified diff. */
    diff?: string;
    /** The stored object that holds the diff. */
    artifactId?: string;
  };
}

/** A checkpoint of the workspace was made or restored, or could not be. */
export interface DataCheckpointEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "data-checkpoint";
  /**
   * The checkpoint, so that its last state replaces the one before.
   * @format uuid
   */
  id?: string;
  /** The checkpoint. */
  data: {
    /** What happened. */
    status: "created" | "rewound" | "failed";
    /**
     * The checkpoint.
     * @format uuid
     */
    checkpointId?: string;
    /** Its label. */
    label?: string;
    /** Relative paths. */
    files?: string[];
    /**
     * Unix epoch milliseconds.
     * @minimum 0
     */
    createdAtMs?: number;
    /** Whether the runner made it automatically. */
    auto?: boolean;
    /** The tool before which it was made. */
    toolName?: string;
    /** What failed. */
    action?: "create" | "rewind";
    /** What went wrong. */
    error?: string;
  };
}

/** The state of a background task, in place of its state before. */
export interface DataTaskEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "data-task";
  /**
   * The task.
   * @format uuid
   */
  id: string;
  /** The task. */
  data: {
    /**
     * The task.
     * @format uuid
     */
    taskId: string;
    /** Its state. */
    status: "queued" | "running" | "exited" | "cancelled" | "failed";
    /** The tool that runs. */
    toolName?: string;
    /** A title for people. */
    title?: string;
    /** The working directory. */
    cwd?: string;
    /** The arguments: an object, or a string if the model's arguments are no object. */
    input?: unknown;
    /** What the tool gave. */
    output: {
      /** Standard output, or the result of a tool without separate streams. */
      stdout: string;
      /** Standard error. */
      stderr: string;
      /** The exit code; 0 or 1 if the tool is not a process. Absent while the tool runs. */
      exit_code?: number;
      /**
       * Milliseconds from start to end. Absent while the tool runs.
       * @minimum 0
       */
      duration_ms?: number;
      /** References to stored objects. */
      artifacts?: {
        [key: string]: unknown;
      };
      /**
       * How many bytes are left out because the output is too large. Absent if none are.
       * @minimum 1
       */
      omitted_bytes?: number;
    };
    /** What went wrong. */
    error?: string;
  };
}

/** Something worth telling that is no part of the message: a log line, an error that the run survived, a gap, a withheld chunk. */
export interface DataNoticeEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "data-notice";
  /** The notice. */
  data: {
    /** How important it is. */
    level: "debug" | "info" | "warn" | "error";
    /** A stable code. */
    code?: string;
    /** The text. */
    message: string;
  };
  /** Always true: the reader does not keep it. */
  transient: boolean;
}

/** More about the message; it is merged with what is known. */
export interface MessageMetadataEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "message-metadata";
  /** What is new. */
  messageMetadata: {
    /**
     * The run; for a background task, the run that started it.
     * @format uuid
     */
    runId?: string;
    /**
     * The background task, if the message is about one.
     * @format uuid
     */
    taskId?: string;
    /**
     * The session of the run.
     * @format uuid
     */
    sessionId?: string;
    /**
     * The runner.
     * @minLength 1
     */
    runner?: string;
    /**
     * The model of the last turn.
     * @minLength 1
     */
    model?: string;
    /** Tokens and money, of subagents too. */
    usage?: {
      /**
       * Tokens read, without cached ones.
       * @minimum 0
       */
      inputTokens: number;
      /**
       * Tokens written, including reasoning.
       * @minimum 0
       */
      outputTokens: number;
      /**
       * Tokens read from the cache. Absent if the runner did not report it.
       * @minimum 0
       */
      cacheReadTokens?: number;
      /**
       * Tokens written to the cache. Absent if the runner did not report it.
       * @minimum 0
       */
      cacheCreationTokens?: number;
      /**
       * The part of outputTokens that was reasoning. Absent if the runner did not report it.
       * @minimum 0
       */
      reasoningTokens?: number;
      /** US dollars. Absent if the runner did not report it. */
      costUsd?: number;
    };
    /**
     * Why the run failed, was interrupted, or reached a limit.
     * @minLength 1
     */
    errorCode?: string;
    /**
     * Which chunk was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** The run failed. In a stream without a start: the run is no longer kept. */
export interface ErrorEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "error";
  /**
   * The message for a person.
   * @minLength 1
   */
  errorText: string;
}

/** The last chunk of a message whose run completed or failed. */
export interface FinishEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "finish";
  /** Why the run is over. */
  finishReason: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";
  /** What is known at the end. */
  messageMetadata?: {
    /**
     * The run; for a background task, the run that started it.
     * @format uuid
     */
    runId?: string;
    /**
     * The background task, if the message is about one.
     * @format uuid
     */
    taskId?: string;
    /**
     * The session of the run.
     * @format uuid
     */
    sessionId?: string;
    /**
     * The runner.
     * @minLength 1
     */
    runner?: string;
    /**
     * The model of the last turn.
     * @minLength 1
     */
    model?: string;
    /** Tokens and money, of subagents too. */
    usage?: {
      /**
       * Tokens read, without cached ones.
       * @minimum 0
       */
      inputTokens: number;
      /**
       * Tokens written, including reasoning.
       * @minimum 0
       */
      outputTokens: number;
      /**
       * Tokens read from the cache. Absent if the runner did not report it.
       * @minimum 0
       */
      cacheReadTokens?: number;
      /**
       * Tokens written to the cache. Absent if the runner did not report it.
       * @minimum 0
       */
      cacheCreationTokens?: number;
      /**
       * The part of outputTokens that was reasoning. Absent if the runner did not report it.
       * @minimum 0
       */
      reasoningTokens?: number;
      /** US dollars. Absent if the runner did not report it. */
      costUsd?: number;
    };
    /**
     * Why the run failed, was interrupted, or reached a limit.
     * @minLength 1
     */
    errorCode?: string;
    /**
     * Which chunk was withheld, and why.
     * @minLength 1
     */
    notice?: string;
  };
}

/** The last chunk of a message whose run was interrupted. */
export interface AbortEvent extends UiMessageStreamV1Envelope {
  /** The chunk's type. */
  type: "abort";
  /** Why. */
  reason?: string;
}
