// The events of pixir.v1, from its JSON Schemas. Written by `framegate schema pixir.v1 --typescript`; do not edit.

/** Any event of pixir.v1: session events with a durable log: canonical history, ephemeral live display. */
export type PixirV1Event = PixirV1Events[PixirV1EventType];

/** The event types of pixir.v1, the values of `type`. */
export type PixirV1EventType = keyof PixirV1Events;

/** Maps each type of pixir.v1 to its event. */
export interface PixirV1Events {
  user_message: UserMessageEvent;
  assistant_message: AssistantMessageEvent;
  reasoning: ReasoningEvent;
  skill_activation: SkillActivationEvent;
  subagent_event: SubagentEvent;
  session_fork: SessionForkEvent;
  branch_summary: BranchSummaryEvent;
  history_compaction: HistoryCompactionEvent;
  provider_usage: ProviderUsageEvent;
  tool_call: ToolCallEvent;
  tool_result: ToolResultEvent;
  permission_decision: PermissionDecisionEvent;
  text_delta: TextDeltaEvent;
  reasoning_delta: ReasoningDeltaEvent;
  status: StatusEvent;
  plan: PlanEvent;
  context_pressure: ContextPressureEvent;
}

/** The properties that all events of pixir.v1 have. */
export interface PixirV1Envelope {
  /**
   * Unique event identifier.
   * @minLength 1
   */
  id: string;
  /**
   * The session.
   * @minLength 1
   */
  session_id: string;
  /**
   * When it happened.
   * @format date-time
   */
  ts: string;
}

/** A person said something; it opens a turn. */
export interface UserMessageEvent extends PixirV1Envelope {
  /**
   * Order within the session, from 0; canonical events only.
   * @minimum 0
   */
  seq: number;
  /** The event's type. */
  type: "user_message";
  /** What the type says. */
  data: {
    /** What was said. */
    text: string;
    /** What is attached, by identity and hash; never its content. */
    resources?: {
      /** image, file, or the runner's own word. */
      kind?: string;
      /** The media type. */
      mime?: string;
      /** A file name or path. */
      name?: string;
      /** sha256: and the digest in hexadecimal digits. */
      hash?: string;
      /**
       * Size of the content.
       * @minimum 0
       */
      bytes?: number;
      [key: string]: unknown;
    }[];
    [key: string]: unknown;
  };
}

/** What the assistant said, whole: the text_delta chunks since the last one. */
export interface AssistantMessageEvent extends PixirV1Envelope {
  /**
   * Order within the session, from 0; canonical events only.
   * @minimum 0
   */
  seq: number;
  /** The event's type. */
  type: "assistant_message";
  /** What the type says. */
  data: {
    /** The whole text. */
    text: string;
    /** How the run ended, where it did not end well. */
    metadata?: {
      /** Whether the text was cut. */
      partial?: boolean;
      /** The word of the terminal status. */
      terminal_status?: string;
      /** A stable word for what went wrong. */
      error_kind?: string;
      /** What a person is told of it. */
      error_message?: string;
      [key: string]: unknown;
    };
    [key: string]: unknown;
  };
}

/** An item of the model's reasoning that only its provider can read; it goes back to the provider as it is. */
export interface ReasoningEvent extends PixirV1Envelope {
  /**
   * Order within the session, from 0; canonical events only.
   * @minimum 0
   */
  seq: number;
  /** The event's type. */
  type: "reasoning";
  /** What the type says. */
  data: {
    /** The provider's own object, untouched. */
    item: {
      [key: string]: unknown;
    };
    /**
     * The model that made it; unknown where the runner does not tell.
     * @minLength 1
     */
    model: string;
    [key: string]: unknown;
  };
}

/** A skill was chosen for the turn. */
export interface SkillActivationEvent extends PixirV1Envelope {
  /**
   * Order within the session, from 0; canonical events only.
   * @minimum 0
   */
  seq: number;
  /** The event's type. */
  type: "skill_activation";
  /** What the type says. */
  data: {
    /** The skill. */
    name: string;
    /** What it was given. */
    args?: unknown;
    /** manual or auto: who chose. */
    mode?: string;
    /** The tools that it may use. */
    effective_allowed_tools?: string[];
    /** Where it comes from. */
    source?: string;
    /** How far it reaches. */
    scope?: string;
    /** Where it lies. */
    path?: string;
    /** The hash of its content. */
    hash?: string;
    /** Its text. */
    content?: string;
    [key: string]: unknown;
  };
}

/** Something in a subagent's life that its parent sees. */
export interface SubagentEvent extends PixirV1Envelope {
  /**
   * Order within the session, from 0; canonical events only.
   * @minimum 0
   */
  seq: number;
  /** The event's type. */
  type: "subagent_event";
  /** What the type says. */
  data: {
    /**
     * The subagent.
     * @minLength 1
     */
    subagent_id: string;
    /**
     * The session that it has for itself.
     * @minLength 1
     */
    child_session_id?: string;
    /** started, ended, or another word. */
    event: string;
    /** running, completed, failed, cancelled, interrupted, or another word. */
    status: string;
    /** The kind of agent. */
    agent?: string;
    /** What it was told to do. */
    task?: string;
    /**
     * 1 for a child of the main thread.
     * @minimum 0
     */
    depth?: number;
    /** Where it works. */
    workspace?: unknown;
    /** What it reported. */
    summary?: string;
    [key: string]: unknown;
  };
}

/** The session was forked from another one: its lineage, which is no part of the conversation. */
export interface SessionForkEvent extends PixirV1Envelope {
  /**
   * Order within the session, from 0; canonical events only.
   * @minimum 0
   */
  seq: number;
  /** The event's type. */
  type: "session_fork";
  /** What the type says. */
  data: {
    [key: string]: unknown;
  };
}

/** A summary of the context that was carried into a fork. */
export interface BranchSummaryEvent extends PixirV1Envelope {
  /**
   * Order within the session, from 0; canonical events only.
   * @minimum 0
   */
  seq: number;
  /** The event's type. */
  type: "branch_summary";
  /** What the type says. */
  data: {
    [key: string]: unknown;
  };
}

/** A part of the history was replaced by a summary. */
export interface HistoryCompactionEvent extends PixirV1Envelope {
  /**
   * Order within the session, from 0; canonical events only.
   * @minimum 0
   */
  seq: number;
  /** The event's type. */
  type: "history_compaction";
  /** What the type says. */
  data: {
    /** The summary. */
    summary?: string;
    /** manual, auto, or the runner's own word. */
    trigger?: string;
    /**
     * Tokens of context before.
     * @minimum 0
     */
    tokens_before?: number;
    /**
     * Tokens of context after.
     * @minimum 0
     */
    tokens_after?: number;
    [key: string]: unknown;
  };
}

/** What one model call used, or what a runner's own total adds to its calls. */
export interface ProviderUsageEvent extends PixirV1Envelope {
  /**
   * Order within the session, from 0; canonical events only.
   * @minimum 0
   */
  seq: number;
  /** The event's type. */
  type: "provider_usage";
  /** What the type says. */
  data: {
    /** The model. */
    model?: string;
    /**
     * Counts the run's model calls from 0; absent on a total.
     * @minimum 0
     */
    call_index?: number;
    /** turn for one model call, run for a total. */
    scope?: string;
    /** Tokens and money; what is not known is absent. */
    usage_summary?: {
      /**
       * Read outside the cache.
       * @minimum 0
       */
      input_tokens?: number;
      /**
       * Written, reasoning included.
       * @minimum 0
       */
      output_tokens?: number;
      /**
       * Read from the cache.
       * @minimum 0
       */
      cache_read_tokens?: number;
      /**
       * Written to the cache.
       * @minimum 0
       */
      cache_creation_tokens?: number;
      /**
       * The part of output_tokens that was reasoning.
       * @minimum 0
       */
      reasoning_tokens?: number;
      /** US dollars. */
      cost_usd?: number;
      [key: string]: unknown;
    };
    /** The subagent that did it; absent where the main thread did. */
    subagent_id?: string;
    [key: string]: unknown;
  };
}

/** The model asked for a tool to run. */
export interface ToolCallEvent extends PixirV1Envelope {
  /**
   * Order within the session, from 0; canonical events only.
   * @minimum 0
   */
  seq: number;
  /** The event's type. */
  type: "tool_call";
  /** What the type says. */
  data: {
    /** The call. */
    call_id: string;
    /** The tool. */
    name: string;
    /** The model's arguments. */
    args: {
      [key: string]: unknown;
    };
    /** The subagent that did it; absent where the main thread did. */
    subagent_id?: string;
    [key: string]: unknown;
  };
}

/** What came of a tool call. */
export interface ToolResultEvent extends PixirV1Envelope {
  /**
   * Order within the session, from 0; canonical events only.
   * @minimum 0
   */
  seq: number;
  /** The event's type. */
  type: "tool_result";
  /** What the type says. */
  data: {
    /** The call. */
    call_id: string;
    /** Whether it went well. */
    ok: boolean;
    /** What it gave, where it went well. */
    output?: unknown;
    /** What went wrong. */
    error?: {
      /** tool_error, tool_failed, permission_denied, orphan_tool_call, or another stable word. */
      kind: string;
      /** What a person is told. */
      message: string;
      /** More of it, such as exit_code and output. */
      details?: {
        [key: string]: unknown;
      };
      [key: string]: unknown;
    };
    /** References to stored objects. */
    artifacts?: {
      [key: string]: unknown;
    };
    /** The subagent that did it; absent where the main thread did. */
    subagent_id?: string;
    [key: string]: unknown;
  };
}

/** It was decided whether a tool may run. */
export interface PermissionDecisionEvent extends PixirV1Envelope {
  /**
   * Order within the session, from 0; canonical events only.
   * @minimum 0
   */
  seq: number;
  /** The event's type. */
  type: "permission_decision";
  /** What the type says. */
  data: {
    /** The call; the question's own id where it names no call. */
    call_id: string;
    /** What was decided. */
    decision: "allow" | "deny";
    /** The tool. */
    tool?: string;
    /** The question. */
    approval_id?: string;
    /** timed_out or cancelled: nobody decided. */
    outcome?: string;
    /** Who decided. */
    by?: string;
    /** Why. */
    reason?: string;
    /** How far it reaches. */
    scope?: string;
    /** The subagent that did it; absent where the main thread did. */
    subagent_id?: string;
    [key: string]: unknown;
  };
}

/** A piece of the assistant's text. */
export interface TextDeltaEvent extends PixirV1Envelope {
  /** Ephemeral events have no number and are not logged. */
  seq: null;
  /** The event's type. */
  type: "text_delta";
  /** What the type says. */
  data: {
    /** The piece. */
    chunk: string;
    [key: string]: unknown;
  };
}

/** A piece of the model's reasoning. */
export interface ReasoningDeltaEvent extends PixirV1Envelope {
  /** Ephemeral events have no number and are not logged. */
  seq: null;
  /** The event's type. */
  type: "reasoning_delta";
  /** What the type says. */
  data: {
    /** The piece. */
    chunk: string;
    [key: string]: unknown;
  };
}

/** The session went from one state to another. done, error and interrupted end the turn. */
export interface StatusEvent extends PixirV1Envelope {
  /** Ephemeral events have no number and are not logged. */
  seq: null;
  /** The event's type. */
  type: "status";
  /** What the type says. */
  data: {
    /** thinking, done, error, interrupted, or another word. */
    status: string;
    /** Why. */
    reason?: string;
    /** A stable word for what went wrong. */
    error_kind?: string;
    /** What a person is told of it. */
    error_message?: string;
    [key: string]: unknown;
  };
}

/** The whole plan, whenever any of it changed. */
export interface PlanEvent extends PixirV1Envelope {
  /** Ephemeral events have no number and are not logged. */
  seq: null;
  /** The event's type. */
  type: "plan";
  /** What the type says. */
  data: {
    /** All entries, in order. */
    entries: {
      /** What is to be done. */
      content: string;
      /** How urgent it is. */
      priority: "high" | "medium" | "low";
      /** How far it is. */
      status: "pending" | "in_progress" | "completed";
      [key: string]: unknown;
    }[];
    [key: string]: unknown;
  };
}

/** The context is getting full. */
export interface ContextPressureEvent extends PixirV1Envelope {
  /** Ephemeral events have no number and are not logged. */
  seq: null;
  /** The event's type. */
  type: "context_pressure";
  /** What the type says. */
  data: {
    /** advisory, warning, recovery, or another word. */
    tier: string;
    /** What a person is told. */
    message?: string;
    /** What can be done. */
    next_actions?: unknown[];
    /**
     * Tokens of context before.
     * @minimum 0
     */
    tokens_before?: number;
    /**
     * Tokens of context after.
     * @minimum 0
     */
    tokens_after?: number;
    [key: string]: unknown;
  };
}
