// The events of sse.v1, from its JSON Schemas. Written by `framegate schema sse.v1 --typescript`; not to be edited.

/** Any event of sse.v1: run streaming for chat UIs: text, approvals, tool results. */
export type SseV1Event = SseV1Events[SseV1EventType];

/** The types of sse.v1, as `type` has them. */
export type SseV1EventType = keyof SseV1Events;

/** From each type of sse.v1 to its event. */
export interface SseV1Events {
  run_started: RunStartedEvent;
  assistant_delta: AssistantDeltaEvent;
  tool_call_proposed: ToolCallProposedEvent;
  tool_call_approved: ToolCallApprovedEvent;
  tool_call_rejected: ToolCallRejectedEvent;
  tool_result: ToolResultEvent;
  run_interrupted: RunInterruptedEvent;
  run_completed: RunCompletedEvent;
  run_failed: RunFailedEvent;
}

/** A run begins. The first event. */
export interface RunStartedEvent {
  /**
   * Opaque; sorts as a string within a run.
   * @minLength 1
   */
  event_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  session_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  run_id: string;
  /** The event's type. */
  type: "run_started";
  /**
   * UTC.
   * @format date-time
   */
  ts: string;
  /** What the type says. */
  payload: {
    /** The run's status. */
    status: "running";
    [key: string]: unknown;
  };
}

/** A piece of the assistant's text. */
export interface AssistantDeltaEvent {
  /**
   * Opaque; sorts as a string within a run.
   * @minLength 1
   */
  event_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  session_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  run_id: string;
  /** The event's type. */
  type: "assistant_delta";
  /**
   * UTC.
   * @format date-time
   */
  ts: string;
  /** What the type says. */
  payload: {
    /**
     * The piece.
     * @minLength 1
     */
    text: string;
    [key: string]: unknown;
  };
}

/** A tool call waits for a decision. */
export interface ToolCallProposedEvent {
  /**
   * Opaque; sorts as a string within a run.
   * @minLength 1
   */
  event_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  session_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  run_id: string;
  /** The event's type. */
  type: "tool_call_proposed";
  /**
   * UTC.
   * @format date-time
   */
  ts: string;
  /** What the type says. */
  payload: {
    /**
     * The question's id.
     * @minLength 1
     */
    approval_id: string;
    /** The tool's name. */
    tool_name: string;
    /** Its arguments. */
    args: {
      [key: string]: unknown;
    };
    [key: string]: unknown;
  };
}

/** The tool call may run. */
export interface ToolCallApprovedEvent {
  /**
   * Opaque; sorts as a string within a run.
   * @minLength 1
   */
  event_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  session_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  run_id: string;
  /** The event's type. */
  type: "tool_call_approved";
  /**
   * UTC.
   * @format date-time
   */
  ts: string;
  /** What the type says. */
  payload: {
    /**
     * The question's id.
     * @minLength 1
     */
    approval_id: string;
    [key: string]: unknown;
  };
}

/** The tool call may not run. */
export interface ToolCallRejectedEvent {
  /**
   * Opaque; sorts as a string within a run.
   * @minLength 1
   */
  event_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  session_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  run_id: string;
  /** The event's type. */
  type: "tool_call_rejected";
  /**
   * UTC.
   * @format date-time
   */
  ts: string;
  /** What the type says. */
  payload: {
    /**
     * The question's id.
     * @minLength 1
     */
    approval_id: string;
    /** Why. */
    reason: string;
    [key: string]: unknown;
  };
}

/** A tool ran. */
export interface ToolResultEvent {
  /**
   * Opaque; sorts as a string within a run.
   * @minLength 1
   */
  event_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  session_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  run_id: string;
  /** The event's type. */
  type: "tool_result";
  /**
   * UTC.
   * @format date-time
   */
  ts: string;
  /** What the type says. */
  payload: {
    /** The tool's name. */
    tool_name: string;
    /** Whether it went well. */
    success: boolean;
    /** What it gave, or what went wrong. */
    result: string;
    [key: string]: unknown;
  };
}

/** The run was stopped. The last event. */
export interface RunInterruptedEvent {
  /**
   * Opaque; sorts as a string within a run.
   * @minLength 1
   */
  event_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  session_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  run_id: string;
  /** The event's type. */
  type: "run_interrupted";
  /**
   * UTC.
   * @format date-time
   */
  ts: string;
  /** What the type says. */
  payload: {
    /** The run's status. */
    status: "interrupted";
    [key: string]: unknown;
  };
}

/** The run went well. The last event. */
export interface RunCompletedEvent {
  /**
   * Opaque; sorts as a string within a run.
   * @minLength 1
   */
  event_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  session_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  run_id: string;
  /** The event's type. */
  type: "run_completed";
  /**
   * UTC.
   * @format date-time
   */
  ts: string;
  /** What the type says. */
  payload: {
    /** The run's status. */
    status: "completed";
    /** The final answer. */
    final_text: string;
    [key: string]: unknown;
  };
}

/** The run failed. The last event. */
export interface RunFailedEvent {
  /**
   * Opaque; sorts as a string within a run.
   * @minLength 1
   */
  event_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  session_id: string;
  /**
   * The same for the whole stream.
   * @minLength 1
   */
  run_id: string;
  /** The event's type. */
  type: "run_failed";
  /**
   * UTC.
   * @format date-time
   */
  ts: string;
  /** What the type says. */
  payload: {
    /** The run's status. */
    status: "failed";
    /**
     * A stable code.
     * @minLength 1
     */
    error_code: string;
    /** What a person is told. */
    message: string;
    [key: string]: unknown;
  };
}
