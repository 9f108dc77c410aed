// The events of sse.v1, from its JSON Schemas. Written by `framegate schema sse.v1 --typescript`; do not edit.

/** Any event of sse.v1: run streaming for chat UIs: text, approvals, tool results. */
export type SseV1Event = SseV1Events[SseV1EventType];

/** The event types of sse.v1, the values of `type`. */
export type SseV1EventType = keyof SseV1Events;

/** Maps each type of sse.v1 to its event. */
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

/** The properties that all events of sse.v1 have. */
export interface SseV1Envelope {
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
  /**
   * UTC.
   * @format date-time
   */
  ts: string;
}

/** A run begins. The first event. */
export interface RunStartedEvent extends SseV1Envelope {
  /** The event's type. */
  type: "run_started";
  /** What the type says. */
  payload: {
    /** The run's status. */
    status: "running";
    [key: string]: unknown;
  };
}

/** A piece of the assistant's text. */
export interface AssistantDeltaEvent extends SseV1Envelope {
  /** The event's type. */
  type: "assistant_delta";
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
export interface ToolCallProposedEvent extends SseV1Envelope {
  /** The event's type. */
  type: "tool_call_proposed";
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
export interface ToolCallApprovedEvent extends SseV1Envelope {
  /** The event's type. */
  type: "tool_call_approved";
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
export interface ToolCallRejectedEvent extends SseV1Envelope {
  /** The event's type. */
  type: "tool_call_rejected";
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
export interface ToolResultEvent extends SseV1Envelope {
  /** The event's type. */
  type: "tool_result";
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
export interface RunInterruptedEvent extends SseV1Envelope {
  /** The event's type. */
  type: "run_interrupted";
  /** What the type says. */
  payload: {
    /** The run's status. */
    status: "interrupted";
    [key: string]: unknown;
  };
}

/** The run went well. The last event. */
export interface RunCompletedEvent extends SseV1Envelope {
  /** The event's type. */
  type: "run_completed";
  /** What the type says. */
  payload: {
    /** The run's status. */
    status: "completed";
    /** The final answer. */
    final_text: string;
    /**
     * Why the answer is not whole, where it is not: max_output_tokens, or another word.
     * @minLength 1
     */
    error_code?: string;
    /** What a person is told of it. */
    message?: string;
    [key: string]: unknown;
  };
}

/** The run failed. The last event. */
export interface RunFailedEvent extends SseV1Envelope {
  /** The event's type. */
  type: "run_failed";
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
