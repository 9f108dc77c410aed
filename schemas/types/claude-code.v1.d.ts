// The events of claude-code.v1, from its JSON Schemas. Written by `framegate schema claude-code.v1 --typescript`; do not edit.

/** Any event of claude-code.v1: messages of claude -p --output-format stream-json, for the Claude Agent SDK. */
export type ClaudeCodeV1Event = ClaudeCodeV1Events[ClaudeCodeV1EventType];

/** The event types of claude-code.v1, the values of `type`. */
export type ClaudeCodeV1EventType = keyof ClaudeCodeV1Events;

/** Maps each type of claude-code.v1 to its event. */
export interface ClaudeCodeV1Events {
  system: SystemEvent;
  assistant: AssistantEvent;
  user: UserEvent;
  stream_event: StreamEvent;
  control_request: ControlRequestEvent;
  control_cancel_request: ControlCancelRequestEvent;
  result: ResultEvent;
}

/** What happens besides messages of the model and the user. `subtype` decides which fields it has. */
export interface SystemEvent {
  /** The message's type. */
  type: "system";
  /** What happened. */
  subtype: "init" | "informational" | "api_retry" | "status" | "compact_boundary" | "task_started" | "task_updated" | "task_notification";
  /** Of init: empty, because frames do not know it. */
  cwd?: string;
  /**
   * Of init: the model of the first turn, or the runner if it is unknown.
   * @minLength 1
   */
  model?: string;
  /** Of init: always `default`. */
  permissionMode?: "default";
  /** Of init: always `none`. */
  apiKeySource?: "none";
  /** Of init: the release of Claude Code whose messages these are. */
  claude_code_version?: string;
  /** Of init: always `default`. */
  output_style?: "default";
  /** Of init: always empty, because frames do not know them. */
  tools?: unknown[];
  /** Of init: always empty, because frames do not know them. */
  mcp_servers?: unknown[];
  /** Of init: always empty, because frames do not know them. */
  slash_commands?: unknown[];
  /** Of init: always empty, because frames do not know them. */
  agents?: unknown[];
  /** Of init: always empty, because frames do not know them. */
  skills?: unknown[];
  /** Of init: always empty, because frames do not know them. */
  plugins?: unknown[];
  /** Of init: why its content is missing. Absent otherwise. */
  plugin_errors?: {
    /** Always `framegate`. */
    plugin: "framegate";
    /** Always `event_withheld`. */
    type: "event_withheld";
    /** Which message was withheld, and why. */
    message: string;
  }[];
  /** Of informational: the text. */
  content?: string;
  /** Of informational: how severe it is. */
  level?: "info" | "warning";
  /** Of informational: the line replaces a withheld message. Absent otherwise. */
  tag?: "event_withheld";
  /**
   * Of api_retry: which attempt failed, from 1.
   * @minimum 0
   */
  attempt?: number;
  /**
   * Of api_retry: the maximum number of attempts.
   * @minimum 0
   */
  max_retries?: number;
  /**
   * Of api_retry: always 0, because frames do not know it.
   * @minimum 0
   */
  retry_delay_ms?: number;
  /** Of api_retry: the HTTP status; null if unknown. */
  error_status?: number | null;
  /** Of api_retry: what went wrong. */
  error?: "authentication_failed" | "billing_error" | "rate_limit" | "overloaded" | "invalid_request" | "model_not_found" | "server_error" | "max_output_tokens" | "unknown";
  /** Of status: what the runner does; null if it works as usual again. Of task_notification: how the task ended: `completed`, `failed`, `stopped`. */
  status?: "compacting" | "completed" | "failed" | "stopped" | null;
  /** Of status: how the compaction ended. */
  compact_result?: "success" | "failed";
  /** Of status: why it failed. Absent if it did not. */
  compact_error?: string;
  /** Of compact_boundary: what is known about the compaction. */
  compact_metadata?: {
    /** Who asked for it. */
    trigger: "manual" | "auto";
    /**
     * Tokens of context before; 0 if unknown.
     * @minimum 0
     */
    pre_tokens: number;
    /**
     * Tokens of context after. Absent if unknown.
     * @minimum 0
     */
    post_tokens?: number;
  };
  /** Of compact_boundary: always null. */
  logical_parent_uuid?: null;
  /**
   * Of tasks: the subagent's or the background task's id.
   * @minLength 1
   */
  task_id?: string;
  /**
   * Of tasks: the call that started the subagent. Absent if unknown.
   * @minLength 1
   */
  tool_use_id?: string;
  /** Of task_started: the beginning of the subagent's task, or the task's title. */
  description?: string;
  /** Of task_started: a subagent, or a background task. */
  task_type?: "local_agent" | "background";
  /** Of task_started: true for a background task. Absent for a subagent. */
  is_backgrounded?: boolean;
  /** Of task_started: the kind of agent. Absent if unknown. */
  subagent_type?: string;
  /**
   * Of task_started: 1 for a subagent of the main thread, 2 for its subagent.
   * @minimum 0
   */
  spawn_depth?: number;
  /** Of task_started: the subagent's task. Absent if unknown. */
  prompt?: string;
  /** Of task_updated: what changed. */
  patch?: {
    /** How the task ended. */
    status: "completed" | "failed" | "killed";
    /**
     * When it ended, in Unix epoch milliseconds.
     * @minimum 0
     */
    end_time: number;
    /** What went wrong. Absent if nothing did. */
    error?: string;
  };
  /** Of task_notification: always empty. */
  output_file?: string;
  /** Of task_notification: what the subagent reported, or how the task ended. */
  summary?: string;
  /**
   * The session.
   * @format uuid
   */
  session_id: string;
  /**
   * The message's id, derived from the run and the message's number, so that it is the same in a replay.
   * @format uuid
   */
  uuid: string;
}

/** A finished block of a model message, or an error in the model's place. */
export interface AssistantEvent {
  /** The message's type. */
  type: "assistant";
  /** The model message with this block. */
  message: {
    /**
     * The model message. All its blocks have the same.
     * @minLength 1
     */
    id: string;
    /** Always `message`. */
    type: "message";
    /** Always the assistant. */
    role: "assistant";
    /**
     * The model, or the runner if the model is unknown; `<synthetic>` if the runner wrote the message.
     * @minLength 1
     */
    model: string;
    /** The block. */
    content: {
      /** The kind of block. */
      type: "text" | "thinking" | "redacted_thinking" | "tool_use";
      /** Of a text: the text. */
      text?: string;
      /** Of thinking: the text. */
      thinking?: string;
      /** Of thinking: the provider's signature; empty if there is none. */
      signature?: string;
      /** Of redacted thinking: the provider's encrypted item. */
      data?: string;
      /**
       * Of a call: the runner's own id.
       * @minLength 1
       */
      id?: string;
      /** Of a call: the tool's name as the runner spells it; empty if the runner gave none. */
      name?: string;
      /** Of a call: the arguments. Text that is no object is in `__unparsedToolInput`. */
      input?: {
        [key: string]: unknown;
      };
    }[];
    /** Null: message_delta and the result have the reason. `stop_sequence` for an error. */
    stop_reason: "stop_sequence" | null;
    /** Always null. */
    stop_sequence: null;
    /** Always 0: the figures come later, in message_delta and in the result. */
    usage: {
      /**
       * Tokens read, without cached ones.
       * @minimum 0
       */
      input_tokens: number;
      /**
       * Tokens written to the cache; 0 if unknown.
       * @minimum 0
       */
      cache_creation_input_tokens: number;
      /**
       * Tokens read from the cache; 0 if unknown.
       * @minimum 0
       */
      cache_read_input_tokens: number;
      /**
       * Tokens written, including reasoning.
       * @minimum 0
       */
      output_tokens: number;
      /** Absent if unknown. */
      output_tokens_details?: {
        /**
         * The part of output_tokens that was reasoning.
         * @minimum 0
         */
        thinking_tokens: number;
      };
    };
  };
  /** The kind of error that the text describes. Absent if the model wrote it. */
  error?: "authentication_failed" | "billing_error" | "rate_limit" | "overloaded" | "invalid_request" | "model_not_found" | "server_error" | "max_output_tokens" | "unknown";
  /** True if the text describes an error. Absent otherwise. */
  is_api_error_message?: boolean;
  /**
   * The HTTP status of the error. Absent if unknown.
   * @minimum 0
   */
  api_error_status?: number;
  /**
   * Which message was withheld, and why. Absent otherwise.
   * @minLength 1
   */
  resume_reason?: string;
  /** The call that started the subagent; null for the main thread. */
  parent_tool_use_id: string | null;
  /**
   * The session.
   * @format uuid
   */
  session_id: string;
  /**
   * The message's id, derived from the run and the message's number, so that it is the same in a replay.
   * @format uuid
   */
  uuid: string;
  /**
   * When it happened.
   * @format date-time
   */
  timestamp: string;
}

/** The result of a call; or a message of the user, or the summary of a compaction. */
export interface UserEvent {
  /** The message's type. */
  type: "user";
  /** The message. */
  message: {
    /** Always the user. */
    role: "user";
    /** One block. */
    content: {
      /** The kind of block. */
      type: "tool_result" | "text";
      /**
       * Of a result: the call.
       * @minLength 1
       */
      tool_use_id?: string;
      /** Of a result: the output, then the standard error, up to 1 MiB of each; or why the tool did not run. */
      content?: string;
      /** Of a result: true if the tool failed or did not run. Absent otherwise. */
      is_error?: boolean;
      /** Of a text: the text. */
      text?: string;
    }[];
  };
  /** Why the tool did not run. Absent if it did. */
  tool_result_meta?: {
    /**
     * The call.
     * @minLength 1
     */
    id: string;
    /** Why it did not run. */
    non_execution_kind: "user-rejected" | "interrupted" | "cancelled";
  }[];
  /** True for a message of the user. Absent otherwise. */
  isReplay?: boolean;
  /** True for a summary. Absent otherwise. */
  isSynthetic?: boolean;
  /** The call that started the subagent; null for the main thread. */
  parent_tool_use_id: string | null;
  /**
   * The session.
   * @format uuid
   */
  session_id: string;
  /**
   * The message's id, derived from the run and the message's number, so that it is the same in a replay.
   * @format uuid
   */
  uuid: string;
  /**
   * When it happened.
   * @format date-time
   */
  timestamp: string;
}

/** A piece of a model message of the main thread, as the Messages API streams it. Experimental: on request only. */
export interface StreamEvent {
  /** The message's type. */
  type: "stream_event";
  /** The event of the API. */
  event: {
    /** What happens. */
    type: "message_start" | "content_block_start" | "content_block_delta" | "content_block_stop" | "message_delta" | "message_stop";
    /** Of message_start: the message without its blocks. */
    message?: {
      /**
       * The model message.
       * @minLength 1
       */
      id: string;
      /** Always `message`. */
      type: "message";
      /** Always the assistant. */
      role: "assistant";
      /**
       * The model, or the runner if the model is unknown.
       * @minLength 1
       */
      model: string;
      /** Always empty. */
      content: unknown[];
      /** Always null. */
      stop_reason: null;
      /** Always null. */
      stop_sequence: null;
      /** Always 0: message_delta has the figures. */
      usage: {
        /**
         * Tokens read, without cached ones.
         * @minimum 0
         */
        input_tokens: number;
        /**
         * Tokens written to the cache; 0 if unknown.
         * @minimum 0
         */
        cache_creation_input_tokens: number;
        /**
         * Tokens read from the cache; 0 if unknown.
         * @minimum 0
         */
        cache_read_input_tokens: number;
        /**
         * Tokens written, including reasoning.
         * @minimum 0
         */
        output_tokens: number;
        /** Absent if unknown. */
        output_tokens_details?: {
          /**
           * The part of output_tokens that was reasoning.
           * @minimum 0
           */
          thinking_tokens: number;
        };
      };
    };
    /**
     * Of a block: its place in the message, from 0 without gaps.
     * @minimum 0
     */
    index?: number;
    /** Of content_block_start: the block, still empty. Redacted thinking is whole. */
    content_block?: {
      /** The kind of block. */
      type: "text" | "thinking" | "redacted_thinking" | "tool_use";
      /** Of a text: the text. */
      text?: string;
      /** Of thinking: the text. */
      thinking?: string;
      /** Of thinking: the provider's signature; empty if there is none. */
      signature?: string;
      /** Of redacted thinking: the provider's encrypted item. */
      data?: string;
      /**
       * Of a call: the runner's own id.
       * @minLength 1
       */
      id?: string;
      /** Of a call: the tool's name as the runner spells it; empty if the runner gave none. */
      name?: string;
      /** Of a call: the arguments. Text that is no object is in `__unparsedToolInput`. */
      input?: {
        [key: string]: unknown;
      };
    };
    /** Of content_block_delta: the piece. Of message_delta: why the model stopped. */
    delta?: {
      [key: string]: unknown;
    };
    /** Of message_delta: the usage of the calls that were reported since the last one; 0 if unknown. */
    usage?: {
      /**
       * Tokens read, without cached ones.
       * @minimum 0
       */
      input_tokens: number;
      /**
       * Tokens written to the cache; 0 if unknown.
       * @minimum 0
       */
      cache_creation_input_tokens: number;
      /**
       * Tokens read from the cache; 0 if unknown.
       * @minimum 0
       */
      cache_read_input_tokens: number;
      /**
       * Tokens written, including reasoning.
       * @minimum 0
       */
      output_tokens: number;
      /** Absent if unknown. */
      output_tokens_details?: {
        /**
         * The part of output_tokens that was reasoning.
         * @minimum 0
         */
        thinking_tokens: number;
      };
    };
  };
  /**
   * The model message.
   * @minLength 1
   */
  api_message_id: string;
  /**
   * Which message was withheld, and why. Absent otherwise.
   * @minLength 1
   */
  resume_reason?: string;
  /** Always null: subagents are not streamed. */
  parent_tool_use_id: null;
  /**
   * The session.
   * @format uuid
   */
  session_id: string;
  /**
   * The message's id, derived from the run and the message's number, so that it is the same in a replay.
   * @format uuid
   */
  uuid: string;
}

/** A question about a call. framegate's own endpoints take the decision, under the request's id. */
export interface ControlRequestEvent {
  /** The message's type. */
  type: "control_request";
  /**
   * The approval's id.
   * @minLength 1
   */
  request_id: string;
  /** The question. */
  request: {
    /** Always `can_use_tool`. */
    subtype: "can_use_tool";
    /** The tool. */
    tool_name: string;
    /** The arguments to approve. */
    input: {
      [key: string]: unknown;
    };
    /**
     * The call; the approval's id if the question is about no call.
     * @minLength 1
     */
    tool_use_id: string;
    /** Why the runner asks. Absent if unknown. */
    decision_reason?: string;
    /** The call that started the subagent which asks. Absent for the main thread. */
    agent_id?: string;
  };
}

/** A question was decided, or its run is over. */
export interface ControlCancelRequestEvent {
  /** The message's type. */
  type: "control_cancel_request";
  /**
   * The approval's id.
   * @minLength 1
   */
  request_id: string;
}

/** The end of a run. */
export interface ResultEvent {
  /** The message's type. */
  type: "result";
  /** How it ended. A failed run has `success` and `is_error`, unless it reached a limit. */
  subtype: "success" | "error_during_execution" | "error_max_turns" | "error_max_budget_usd" | "error_max_structured_output_retries";
  /** Whether the run failed or was interrupted. */
  is_error: boolean;
  /** Of success: the last text, or the error. */
  result?: string;
  /** Of other subtypes: what went wrong. */
  errors?: string[];
  /**
   * Milliseconds from the first frame to the last.
   * @minimum 0
   */
  duration_ms: number;
  /**
   * Always 0, because frames do not know it.
   * @minimum 0
   */
  duration_api_ms: number;
  /**
   * One more than the main thread's `user` messages with results.
   * @minimum 0
   */
  num_turns: number;
  /** Why the model stopped last; null if unknown. */
  stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "pause_turn" | "refusal" | "model_context_window_exceeded" | null;
  /**
   * US dollars; 0 if unknown.
   * @minimum 0
   */
  total_cost_usd: number;
  /** The usage of the main thread; of the whole run if the runner does not tell them apart. */
  usage: {
    /**
     * Tokens read, without cached ones.
     * @minimum 0
     */
    input_tokens: number;
    /**
     * Tokens written to the cache; 0 if unknown.
     * @minimum 0
     */
    cache_creation_input_tokens: number;
    /**
     * Tokens read from the cache; 0 if unknown.
     * @minimum 0
     */
    cache_read_input_tokens: number;
    /**
     * Tokens written, including reasoning.
     * @minimum 0
     */
    output_tokens: number;
    /** Absent if unknown. */
    output_tokens_details?: {
      /**
       * The part of output_tokens that was reasoning.
       * @minimum 0
       */
      thinking_tokens: number;
    };
  };
  /** All models of the run, subagents too: `inputTokens`, `outputTokens`, `cacheReadInputTokens`, `cacheCreationInputTokens`, `costUSD` and, if known, `thinkingTokens` by model. The other fields are 0, because frames do not know them. */
  modelUsage: {
    [key: string]: unknown;
  };
  /** The same figures: they are those of this run. Absent if there are none. */
  model_usage_since_last_result?: {
    [key: string]: unknown;
  };
  /** The calls that were refused, up to 100. */
  permission_denials: {
    /** The tool. */
    tool_name: string;
    /**
     * The call.
     * @minLength 1
     */
    tool_use_id: string;
    /** The arguments; empty beyond 1 MiB of all arguments. */
    tool_input: {
      [key: string]: unknown;
    };
  }[];
  /** Why the run ended. Absent for a run that is no longer kept. */
  terminal_reason?: "completed" | "api_error" | "max_turns" | "budget_exhausted" | "structured_output_retry_exhausted" | "model_error" | "aborted_streaming" | "aborted_tools";
  /** The run's own error code. Absent if it has none. */
  api_error_type?: string;
  /**
   * The session.
   * @format uuid
   */
  session_id: string;
  /**
   * The message's id, derived from the run and the message's number, so that it is the same in a replay.
   * @format uuid
   */
  uuid: string;
}
