// The events of agent-manager.v1, from its JSON Schemas. Written by `framegate schema agent-manager.v1 --typescript`; do not edit.

/** Any event of agent-manager.v1: run events for managers and audits: messages, tool calls, metrics, status. */
export type AgentManagerV1Event = AgentManagerV1Events[AgentManagerV1EventType];

/** The event types of agent-manager.v1, the values of `eventType`. */
export type AgentManagerV1EventType = keyof AgentManagerV1Events;

/** Maps each type of agent-manager.v1 to its event. */
export interface AgentManagerV1Events {
  tool_call: ToolCallEvent;
  tool_result: ToolResultEvent;
  message: MessageEvent;
  metric: MetricEvent;
  status: StatusEvent;
  log: LogEvent;
  error: ErrorEvent;
}

/** The properties that all events of agent-manager.v1 have. */
export interface AgentManagerV1Envelope {
  /**
   * Unique event identifier.
   * @format uuid
   */
  id: string;
  /**
   * The run.
   * @format uuid
   */
  runId: string;
  /**
   * Order within the run, from 0.
   * @minimum 0
   */
  sequence: number;
  /**
   * When it happened.
   * @format date-time
   */
  timestamp: string;
}

/** An agent invokes a tool. */
export interface ToolCallEvent extends AgentManagerV1Envelope {
  /** The event's type. */
  eventType: "tool_call";
  /** What the type says. */
  data: {
    /** Name of the tool. */
    toolName: string;
    /** The arguments. */
    input: {
      [key: string]: unknown;
    };
    [key: string]: unknown;
  };
}

/** A tool call is over. */
export interface ToolResultEvent extends AgentManagerV1Envelope {
  /** The event's type. */
  eventType: "tool_result";
  /** What the type says. */
  data: {
    /** Name of the tool. */
    toolName: string;
    /** The call's id. */
    toolCallId?: string;
    /** What it gave. */
    output?: string;
    /** What went wrong. */
    error?: string;
    /** Whether it went well. */
    success: boolean;
    [key: string]: unknown;
  };
}

/** A message of the conversation. */
export interface MessageEvent extends AgentManagerV1Envelope {
  /** The event's type. */
  eventType: "message";
  /** What the type says. */
  data: {
    /** Who speaks. */
    role: "user" | "assistant" | "system";
    /** The text. */
    content: string;
    [key: string]: unknown;
  };
}

/** Tokens and money. */
export interface MetricEvent extends AgentManagerV1Envelope {
  /** The event's type. */
  eventType: "metric";
  /** What the type says. */
  data: {
    /**
     * Input tokens.
     * @minimum 0
     */
    inputTokens: number;
    /**
     * Output tokens.
     * @minimum 0
     */
    outputTokens: number;
    /**
     * Tokens read from the cache.
     * @minimum 0
     */
    cacheReadTokens?: number;
    /**
     * Tokens written to the cache.
     * @minimum 0
     */
    cacheCreationTokens?: number;
    /**
     * US dollars; 0 where the runner does not say.
     * @minimum 0
     */
    totalCostUsd: number;
    /** The model. */
    model?: string;
    [key: string]: unknown;
  };
}

/** The run's status changed. */
export interface StatusEvent extends AgentManagerV1Envelope {
  /** The event's type. */
  eventType: "status";
  /** What the type says. */
  data: {
    /** Before. */
    oldStatus: string;
    /** After. */
    newStatus: string;
    /** Why. */
    reason?: string;
    [key: string]: unknown;
  };
}

/** An informational message. */
export interface LogEvent extends AgentManagerV1Envelope {
  /** The event's type. */
  eventType: "log";
  /** What the type says. */
  data: {
    /** How loud. */
    level: "debug" | "info" | "warn" | "error";
    /** The text. */
    message: string;
    [key: string]: unknown;
  };
}

/** Something went wrong. */
export interface ErrorEvent extends AgentManagerV1Envelope {
  /** The event's type. */
  eventType: "error";
  /** What the type says. */
  data: {
    /**
     * Machine-readable code.
     * @minLength 1
     */
    code: string;
    /** What a person is told. */
    message: string;
    /** Whether trying again may help. */
    retryable: boolean;
    [key: string]: unknown;
  };
}
