// The events of open-responses.v1, from its JSON Schemas. Written by `framegate schema open-responses.v1 --typescript`; do not edit.

/** Any event of open-responses.v1: a run as one streamed response: text, reasoning, tools with their output, approvals, usage. */
export type OpenResponsesV1Event = OpenResponsesV1Events[OpenResponsesV1EventType];

/** The event types of open-responses.v1, the values of `type`. */
export type OpenResponsesV1EventType = keyof OpenResponsesV1Events;

/** Maps each type of open-responses.v1 to its event. */
export interface OpenResponsesV1Events {
  "response.created": ResponseCreatedEvent;
  "response.in_progress": ResponseInProgressEvent;
  "response.output_item.added": ResponseOutputItemAddedEvent;
  "response.output_item.done": ResponseOutputItemDoneEvent;
  "response.content_part.added": ResponseContentPartAddedEvent;
  "response.content_part.done": ResponseContentPartDoneEvent;
  "response.output_text.delta": ResponseOutputTextDeltaEvent;
  "response.output_text.done": ResponseOutputTextDoneEvent;
  "response.reasoning_summary_part.added": ResponseReasoningSummaryPartAddedEvent;
  "response.reasoning_summary_part.done": ResponseReasoningSummaryPartDoneEvent;
  "response.reasoning_summary_text.delta": ResponseReasoningSummaryTextDeltaEvent;
  "response.reasoning_summary_text.done": ResponseReasoningSummaryTextDoneEvent;
  "response.mcp_call.in_progress": ResponseMcpCallInProgressEvent;
  "response.mcp_call_arguments.delta": ResponseMcpCallArgumentsDeltaEvent;
  "response.mcp_call_arguments.done": ResponseMcpCallArgumentsDoneEvent;
  "response.mcp_call.completed": ResponseMcpCallCompletedEvent;
  "response.mcp_call.failed": ResponseMcpCallFailedEvent;
  "response.completed": ResponseCompletedEvent;
  "response.incomplete": ResponseIncompleteEvent;
  "response.failed": ResponseFailedEvent;
  error: ErrorEvent;
}

/** The properties that all events of open-responses.v1 have. */
export interface OpenResponsesV1Envelope {
  /**
   * The event's number, from 0 without gaps.
   * @minimum 0
   */
  sequence_number: number;
  /**
   * The response: `resp_` and the run's id. framegate adds it to each event.
   * @minLength 1
   */
  response_id: string;
}

/** The response begins: the first event. */
export interface ResponseCreatedEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.created";
  /** The response, without items. */
  response: {
    /**
     * `resp_` and the run's id.
     * @minLength 1
     */
    id: string;
    /** Always `response`. */
    object: "response";
    /**
     * When the run began, in Unix epoch seconds.
     * @minimum 0
     */
    created_at: number;
    /** Null: the response is not completed. */
    completed_at: null;
    /** How far the response is. */
    status: "in_progress";
    /** Null: it is not incomplete. */
    incomplete_details: null;
    /** Null: it has not failed. */
    error: null;
    /**
     * The model, or the runner if it does not name one; the same in all events.
     * @minLength 1
     */
    model: string;
    /** The items in their order; empty at the beginning. Long texts are cut, and say so. */
    output: {
      /**
       * The item's id, the same in all events.
       * @minLength 1
       */
      id: string;
      /** The kind of item: text, reasoning, a call that the runner executes, a question, or its answer. */
      type: "message" | "reasoning" | "mcp_call" | "mcp_approval_request" | "mcp_approval_response";
      /** How far it is. Approval items have none: they are complete at once. */
      status?: "in_progress" | "completed" | "failed";
      /** Of a message: always the assistant. */
      role?: "assistant";
      /** Of a message: its text, one part. Empty while it is open. */
      content?: {
        /** The kind of part. */
        type: "output_text";
        /** The text; empty while the part is open. */
        text: string;
        /** Always empty. */
        annotations: unknown[];
        /** Always empty. */
        logprobs: unknown[];
      }[];
      /** Of reasoning: its text, one part. Empty while it is open. */
      summary?: {
        /** The kind of part. */
        type: "summary_text";
        /** The text; empty while the part is open. */
        text: string;
      }[];
      /**
       * Of a call or a question: the runner, which executes the tool.
       * @minLength 1
       */
      server_label?: string;
      /** Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none. */
      name?: string;
      /** Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete. */
      arguments?: string;
      /** Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran. */
      output?: string | null;
      /** Of a call: what went wrong; null if nothing did. */
      error?: {
        /** The kind of error. */
        type: "mcp_tool_execution_error";
        /** The message, one part. */
        content: {
          /** The kind of part. */
          type: "text";
          /** The message. */
          text: string;
        }[];
      } | null;
      /** Of a call: the question about it, null if there is none. Of an answer: the question. */
      approval_request_id?: string | null;
      /** Of an answer: whether the call may run. */
      approve?: boolean;
      /** Of an answer: why; null if unknown. */
      reason?: string | null;
      /**
       * Of a call: the runner's own id for it; absent if it has none. framegate adds it.
       * @minLength 1
       */
      call_id?: string;
      /** Of a question: the runner's own id for it, which a decision names. framegate adds it. */
      approval_id?: string;
      /**
       * Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it.
       * @minLength 1
       */
      parent_item_id?: string;
    }[];
    /** The usage of the whole run; null before its end, and if the runner gave none. */
    usage: {
      /**
       * Tokens read, including cached ones.
       * @minimum 0
       */
      input_tokens: number;
      /** What they consist of. */
      input_tokens_details: {
        /**
         * Tokens read from the cache; 0 if unknown.
         * @minimum 0
         */
        cached_tokens: number;
        /**
         * Tokens written to the cache; absent if unknown.
         * @minimum 0
         */
        cache_write_tokens?: number;
      };
      /**
       * Tokens written, including reasoning.
       * @minimum 0
       */
      output_tokens: number;
      /** What they consist of. */
      output_tokens_details: {
        /**
         * The part that was reasoning; 0 if unknown.
         * @minimum 0
         */
        reasoning_tokens: number;
      };
      /**
       * The sum of both.
       * @minimum 0
       */
      total_tokens: number;
      /**
       * US dollars; absent if unknown. Not part of the API.
       * @minimum 0
       */
      cost?: number;
    } | null;
    /** Where the response comes from. */
    metadata: {
      /**
       * The run.
       * @format uuid
       */
      run_id: string;
      /**
       * Its session.
       * @format uuid
       */
      session_id: string;
      /**
       * The runner.
       * @minLength 1
       */
      runner: string;
      /**
       * The run's code for a failure or a limit. Absent if it has none.
       * @minLength 1
       */
      error_code?: string;
      /**
       * How many of the first items are left out of the output because it is too long. Absent if none are.
       * @minLength 1
       */
      omitted_items?: string;
    };
    /** Always null. */
    previous_response_id: null;
    /** Always null: the runner has its own. */
    instructions: null;
    /** Always empty: the client has no tools. */
    tools: unknown[];
    /** The API's default. */
    tool_choice: "auto";
    /** The API's default. */
    truncation: "disabled";
    /** The API's default. */
    parallel_tool_calls: boolean;
    /** The API's default. */
    text: {
      /** The form of the text. */
      format: {
        /** Plain text. */
        type: "text";
      };
    };
    /**
     * The API's default.
     * @minimum 0
     */
    temperature: number;
    /**
     * The API's default.
     * @minimum 0
     */
    top_p: number;
    /** The API's default. */
    presence_penalty: number;
    /** The API's default. */
    frequency_penalty: number;
    /**
     * The API's default.
     * @minimum 0
     */
    top_logprobs: number;
    /** Always null. */
    reasoning: null;
    /** Always null. */
    max_output_tokens: null;
    /** Always null. */
    max_tool_calls: null;
    /** Always false: the API cannot retrieve the response. framegate has the run. */
    store: boolean;
    /** Always false. */
    background: boolean;
    /** The API's default. */
    service_tier: "default";
    /** Always null. */
    safety_identifier: null;
    /** Always null. */
    prompt_cache_key: null;
  };
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** The runner works on the response: the second event. */
export interface ResponseInProgressEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.in_progress";
  /** The response, without items. */
  response: {
    /**
     * `resp_` and the run's id.
     * @minLength 1
     */
    id: string;
    /** Always `response`. */
    object: "response";
    /**
     * When the run began, in Unix epoch seconds.
     * @minimum 0
     */
    created_at: number;
    /** Null: the response is not completed. */
    completed_at: null;
    /** How far the response is. */
    status: "in_progress";
    /** Null: it is not incomplete. */
    incomplete_details: null;
    /** Null: it has not failed. */
    error: null;
    /**
     * The model, or the runner if it does not name one; the same in all events.
     * @minLength 1
     */
    model: string;
    /** The items in their order; empty at the beginning. Long texts are cut, and say so. */
    output: {
      /**
       * The item's id, the same in all events.
       * @minLength 1
       */
      id: string;
      /** The kind of item: text, reasoning, a call that the runner executes, a question, or its answer. */
      type: "message" | "reasoning" | "mcp_call" | "mcp_approval_request" | "mcp_approval_response";
      /** How far it is. Approval items have none: they are complete at once. */
      status?: "in_progress" | "completed" | "failed";
      /** Of a message: always the assistant. */
      role?: "assistant";
      /** Of a message: its text, one part. Empty while it is open. */
      content?: {
        /** The kind of part. */
        type: "output_text";
        /** The text; empty while the part is open. */
        text: string;
        /** Always empty. */
        annotations: unknown[];
        /** Always empty. */
        logprobs: unknown[];
      }[];
      /** Of reasoning: its text, one part. Empty while it is open. */
      summary?: {
        /** The kind of part. */
        type: "summary_text";
        /** The text; empty while the part is open. */
        text: string;
      }[];
      /**
       * Of a call or a question: the runner, which executes the tool.
       * @minLength 1
       */
      server_label?: string;
      /** Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none. */
      name?: string;
      /** Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete. */
      arguments?: string;
      /** Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran. */
      output?: string | null;
      /** Of a call: what went wrong; null if nothing did. */
      error?: {
        /** The kind of error. */
        type: "mcp_tool_execution_error";
        /** The message, one part. */
        content: {
          /** The kind of part. */
          type: "text";
          /** The message. */
          text: string;
        }[];
      } | null;
      /** Of a call: the question about it, null if there is none. Of an answer: the question. */
      approval_request_id?: string | null;
      /** Of an answer: whether the call may run. */
      approve?: boolean;
      /** Of an answer: why; null if unknown. */
      reason?: string | null;
      /**
       * Of a call: the runner's own id for it; absent if it has none. framegate adds it.
       * @minLength 1
       */
      call_id?: string;
      /** Of a question: the runner's own id for it, which a decision names. framegate adds it. */
      approval_id?: string;
      /**
       * Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it.
       * @minLength 1
       */
      parent_item_id?: string;
    }[];
    /** The usage of the whole run; null before its end, and if the runner gave none. */
    usage: {
      /**
       * Tokens read, including cached ones.
       * @minimum 0
       */
      input_tokens: number;
      /** What they consist of. */
      input_tokens_details: {
        /**
         * Tokens read from the cache; 0 if unknown.
         * @minimum 0
         */
        cached_tokens: number;
        /**
         * Tokens written to the cache; absent if unknown.
         * @minimum 0
         */
        cache_write_tokens?: number;
      };
      /**
       * Tokens written, including reasoning.
       * @minimum 0
       */
      output_tokens: number;
      /** What they consist of. */
      output_tokens_details: {
        /**
         * The part that was reasoning; 0 if unknown.
         * @minimum 0
         */
        reasoning_tokens: number;
      };
      /**
       * The sum of both.
       * @minimum 0
       */
      total_tokens: number;
      /**
       * US dollars; absent if unknown. Not part of the API.
       * @minimum 0
       */
      cost?: number;
    } | null;
    /** Where the response comes from. */
    metadata: {
      /**
       * The run.
       * @format uuid
       */
      run_id: string;
      /**
       * Its session.
       * @format uuid
       */
      session_id: string;
      /**
       * The runner.
       * @minLength 1
       */
      runner: string;
      /**
       * The run's code for a failure or a limit. Absent if it has none.
       * @minLength 1
       */
      error_code?: string;
      /**
       * How many of the first items are left out of the output because it is too long. Absent if none are.
       * @minLength 1
       */
      omitted_items?: string;
    };
    /** Always null. */
    previous_response_id: null;
    /** Always null: the runner has its own. */
    instructions: null;
    /** Always empty: the client has no tools. */
    tools: unknown[];
    /** The API's default. */
    tool_choice: "auto";
    /** The API's default. */
    truncation: "disabled";
    /** The API's default. */
    parallel_tool_calls: boolean;
    /** The API's default. */
    text: {
      /** The form of the text. */
      format: {
        /** Plain text. */
        type: "text";
      };
    };
    /**
     * The API's default.
     * @minimum 0
     */
    temperature: number;
    /**
     * The API's default.
     * @minimum 0
     */
    top_p: number;
    /** The API's default. */
    presence_penalty: number;
    /** The API's default. */
    frequency_penalty: number;
    /**
     * The API's default.
     * @minimum 0
     */
    top_logprobs: number;
    /** Always null. */
    reasoning: null;
    /** Always null. */
    max_output_tokens: null;
    /** Always null. */
    max_tool_calls: null;
    /** Always false: the API cannot retrieve the response. framegate has the run. */
    store: boolean;
    /** Always false. */
    background: boolean;
    /** The API's default. */
    service_tier: "default";
    /** Always null. */
    safety_identifier: null;
    /** Always null. */
    prompt_cache_key: null;
  };
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** An item begins. */
export interface ResponseOutputItemAddedEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.output_item.added";
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /** The item so far. */
  item: {
    /**
     * The item's id, the same in all events.
     * @minLength 1
     */
    id: string;
    /** The kind of item: text, reasoning, a call that the runner executes, a question, or its answer. */
    type: "message" | "reasoning" | "mcp_call" | "mcp_approval_request" | "mcp_approval_response";
    /** How far it is. Approval items have none: they are complete at once. */
    status?: "in_progress" | "completed" | "failed";
    /** Of a message: always the assistant. */
    role?: "assistant";
    /** Of a message: its text, one part. Empty while it is open. */
    content?: {
      /** The kind of part. */
      type: "output_text";
      /** The text; empty while the part is open. */
      text: string;
      /** Always empty. */
      annotations: unknown[];
      /** Always empty. */
      logprobs: unknown[];
    }[];
    /** Of reasoning: its text, one part. Empty while it is open. */
    summary?: {
      /** The kind of part. */
      type: "summary_text";
      /** The text; empty while the part is open. */
      text: string;
    }[];
    /**
     * Of a call or a question: the runner, which executes the tool.
     * @minLength 1
     */
    server_label?: string;
    /** Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none. */
    name?: string;
    /** Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete. */
    arguments?: string;
    /** Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran. */
    output?: string | null;
    /** Of a call: what went wrong; null if nothing did. */
    error?: {
      /** The kind of error. */
      type: "mcp_tool_execution_error";
      /** The message, one part. */
      content: {
        /** The kind of part. */
        type: "text";
        /** The message. */
        text: string;
      }[];
    } | null;
    /** Of a call: the question about it, null if there is none. Of an answer: the question. */
    approval_request_id?: string | null;
    /** Of an answer: whether the call may run. */
    approve?: boolean;
    /** Of an answer: why; null if unknown. */
    reason?: string | null;
    /**
     * Of a call: the runner's own id for it; absent if it has none. framegate adds it.
     * @minLength 1
     */
    call_id?: string;
    /** Of a question: the runner's own id for it, which a decision names. framegate adds it. */
    approval_id?: string;
    /**
     * Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it.
     * @minLength 1
     */
    parent_item_id?: string;
  };
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** An item is complete. */
export interface ResponseOutputItemDoneEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.output_item.done";
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /** The whole item. */
  item: {
    /**
     * The item's id, the same in all events.
     * @minLength 1
     */
    id: string;
    /** The kind of item: text, reasoning, a call that the runner executes, a question, or its answer. */
    type: "message" | "reasoning" | "mcp_call" | "mcp_approval_request" | "mcp_approval_response";
    /** How far it is. Approval items have none: they are complete at once. */
    status?: "in_progress" | "completed" | "failed";
    /** Of a message: always the assistant. */
    role?: "assistant";
    /** Of a message: its text, one part. Empty while it is open. */
    content?: {
      /** The kind of part. */
      type: "output_text";
      /** The text; empty while the part is open. */
      text: string;
      /** Always empty. */
      annotations: unknown[];
      /** Always empty. */
      logprobs: unknown[];
    }[];
    /** Of reasoning: its text, one part. Empty while it is open. */
    summary?: {
      /** The kind of part. */
      type: "summary_text";
      /** The text; empty while the part is open. */
      text: string;
    }[];
    /**
     * Of a call or a question: the runner, which executes the tool.
     * @minLength 1
     */
    server_label?: string;
    /** Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none. */
    name?: string;
    /** Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete. */
    arguments?: string;
    /** Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran. */
    output?: string | null;
    /** Of a call: what went wrong; null if nothing did. */
    error?: {
      /** The kind of error. */
      type: "mcp_tool_execution_error";
      /** The message, one part. */
      content: {
        /** The kind of part. */
        type: "text";
        /** The message. */
        text: string;
      }[];
    } | null;
    /** Of a call: the question about it, null if there is none. Of an answer: the question. */
    approval_request_id?: string | null;
    /** Of an answer: whether the call may run. */
    approve?: boolean;
    /** Of an answer: why; null if unknown. */
    reason?: string | null;
    /**
     * Of a call: the runner's own id for it; absent if it has none. framegate adds it.
     * @minLength 1
     */
    call_id?: string;
    /** Of a question: the runner's own id for it, which a decision names. framegate adds it. */
    approval_id?: string;
    /**
     * Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it.
     * @minLength 1
     */
    parent_item_id?: string;
  };
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** The text of a message begins. */
export interface ResponseContentPartAddedEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.content_part.added";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /**
   * The part of the item: it has only one.
   * @minimum 0
   */
  content_index: number;
  /** The part, without text. */
  part: {
    /** The kind of part. */
    type: "output_text";
    /** The text; empty while the part is open. */
    text: string;
    /** Always empty. */
    annotations: unknown[];
    /** Always empty. */
    logprobs: unknown[];
  };
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** The text of a message is complete. */
export interface ResponseContentPartDoneEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.content_part.done";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /**
   * The part of the item: it has only one.
   * @minimum 0
   */
  content_index: number;
  /** The whole part. */
  part: {
    /** The kind of part. */
    type: "output_text";
    /** The text; empty while the part is open. */
    text: string;
    /** Always empty. */
    annotations: unknown[];
    /** Always empty. */
    logprobs: unknown[];
  };
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** A piece of text. */
export interface ResponseOutputTextDeltaEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.output_text.delta";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /**
   * The part of the item: it has only one.
   * @minimum 0
   */
  content_index: number;
  /** The piece. */
  delta: string;
  /** Always empty. */
  logprobs: unknown[];
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** The whole text. */
export interface ResponseOutputTextDoneEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.output_text.done";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /**
   * The part of the item: it has only one.
   * @minimum 0
   */
  content_index: number;
  /** The text: all pieces, joined. */
  text: string;
  /** Always empty. */
  logprobs: unknown[];
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** Reasoning begins. */
export interface ResponseReasoningSummaryPartAddedEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.reasoning_summary_part.added";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /**
   * The part of the item: it has only one.
   * @minimum 0
   */
  summary_index: number;
  /** The part, without text. */
  part: {
    /** The kind of part. */
    type: "summary_text";
    /** The text; empty while the part is open. */
    text: string;
  };
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** Reasoning is complete. */
export interface ResponseReasoningSummaryPartDoneEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.reasoning_summary_part.done";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /**
   * The part of the item: it has only one.
   * @minimum 0
   */
  summary_index: number;
  /** The whole part. */
  part: {
    /** The kind of part. */
    type: "summary_text";
    /** The text; empty while the part is open. */
    text: string;
  };
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** A piece of reasoning. */
export interface ResponseReasoningSummaryTextDeltaEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.reasoning_summary_text.delta";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /**
   * The part of the item: it has only one.
   * @minimum 0
   */
  summary_index: number;
  /** The piece. */
  delta: string;
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** The whole reasoning. */
export interface ResponseReasoningSummaryTextDoneEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.reasoning_summary_text.done";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /**
   * The part of the item: it has only one.
   * @minimum 0
   */
  summary_index: number;
  /** The text: all pieces, joined. */
  text: string;
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** A call begins. */
export interface ResponseMcpCallInProgressEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.mcp_call.in_progress";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** A piece of a call's arguments. */
export interface ResponseMcpCallArgumentsDeltaEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.mcp_call_arguments.delta";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /** The piece of JSON text. */
  delta: string;
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** A call's arguments. */
export interface ResponseMcpCallArgumentsDoneEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.mcp_call_arguments.done";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /** The arguments as JSON text. */
  arguments: string;
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** A call has succeeded. */
export interface ResponseMcpCallCompletedEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.mcp_call.completed";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** A call has failed, was refused, or never ran. */
export interface ResponseMcpCallFailedEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.mcp_call.failed";
  /**
   * The item.
   * @minLength 1
   */
  item_id: string;
  /**
   * The item's place in the output.
   * @minimum 0
   */
  output_index: number;
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** The run went well: the last event. */
export interface ResponseCompletedEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.completed";
  /** The whole response. */
  response: {
    /**
     * `resp_` and the run's id.
     * @minLength 1
     */
    id: string;
    /** Always `response`. */
    object: "response";
    /**
     * When the run began, in Unix epoch seconds.
     * @minimum 0
     */
    created_at: number;
    /**
     * When the run ended, in Unix epoch seconds.
     * @minimum 0
     */
    completed_at: number;
    /** How far the response is. */
    status: "completed";
    /** Null: it is not incomplete. */
    incomplete_details: null;
    /** Null: it has not failed. */
    error: null;
    /**
     * The model, or the runner if it does not name one; the same in all events.
     * @minLength 1
     */
    model: string;
    /** The items in their order; empty at the beginning. Long texts are cut, and say so. */
    output: {
      /**
       * The item's id, the same in all events.
       * @minLength 1
       */
      id: string;
      /** The kind of item: text, reasoning, a call that the runner executes, a question, or its answer. */
      type: "message" | "reasoning" | "mcp_call" | "mcp_approval_request" | "mcp_approval_response";
      /** How far it is. Approval items have none: they are complete at once. */
      status?: "in_progress" | "completed" | "failed";
      /** Of a message: always the assistant. */
      role?: "assistant";
      /** Of a message: its text, one part. Empty while it is open. */
      content?: {
        /** The kind of part. */
        type: "output_text";
        /** The text; empty while the part is open. */
        text: string;
        /** Always empty. */
        annotations: unknown[];
        /** Always empty. */
        logprobs: unknown[];
      }[];
      /** Of reasoning: its text, one part. Empty while it is open. */
      summary?: {
        /** The kind of part. */
        type: "summary_text";
        /** The text; empty while the part is open. */
        text: string;
      }[];
      /**
       * Of a call or a question: the runner, which executes the tool.
       * @minLength 1
       */
      server_label?: string;
      /** Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none. */
      name?: string;
      /** Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete. */
      arguments?: string;
      /** Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran. */
      output?: string | null;
      /** Of a call: what went wrong; null if nothing did. */
      error?: {
        /** The kind of error. */
        type: "mcp_tool_execution_error";
        /** The message, one part. */
        content: {
          /** The kind of part. */
          type: "text";
          /** The message. */
          text: string;
        }[];
      } | null;
      /** Of a call: the question about it, null if there is none. Of an answer: the question. */
      approval_request_id?: string | null;
      /** Of an answer: whether the call may run. */
      approve?: boolean;
      /** Of an answer: why; null if unknown. */
      reason?: string | null;
      /**
       * Of a call: the runner's own id for it; absent if it has none. framegate adds it.
       * @minLength 1
       */
      call_id?: string;
      /** Of a question: the runner's own id for it, which a decision names. framegate adds it. */
      approval_id?: string;
      /**
       * Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it.
       * @minLength 1
       */
      parent_item_id?: string;
    }[];
    /** The usage of the whole run; null before its end, and if the runner gave none. */
    usage: {
      /**
       * Tokens read, including cached ones.
       * @minimum 0
       */
      input_tokens: number;
      /** What they consist of. */
      input_tokens_details: {
        /**
         * Tokens read from the cache; 0 if unknown.
         * @minimum 0
         */
        cached_tokens: number;
        /**
         * Tokens written to the cache; absent if unknown.
         * @minimum 0
         */
        cache_write_tokens?: number;
      };
      /**
       * Tokens written, including reasoning.
       * @minimum 0
       */
      output_tokens: number;
      /** What they consist of. */
      output_tokens_details: {
        /**
         * The part that was reasoning; 0 if unknown.
         * @minimum 0
         */
        reasoning_tokens: number;
      };
      /**
       * The sum of both.
       * @minimum 0
       */
      total_tokens: number;
      /**
       * US dollars; absent if unknown. Not part of the API.
       * @minimum 0
       */
      cost?: number;
    } | null;
    /** Where the response comes from. */
    metadata: {
      /**
       * The run.
       * @format uuid
       */
      run_id: string;
      /**
       * Its session.
       * @format uuid
       */
      session_id: string;
      /**
       * The runner.
       * @minLength 1
       */
      runner: string;
      /**
       * The run's code for a failure or a limit. Absent if it has none.
       * @minLength 1
       */
      error_code?: string;
      /**
       * How many of the first items are left out of the output because it is too long. Absent if none are.
       * @minLength 1
       */
      omitted_items?: string;
    };
    /** Always null. */
    previous_response_id: null;
    /** Always null: the runner has its own. */
    instructions: null;
    /** Always empty: the client has no tools. */
    tools: unknown[];
    /** The API's default. */
    tool_choice: "auto";
    /** The API's default. */
    truncation: "disabled";
    /** The API's default. */
    parallel_tool_calls: boolean;
    /** The API's default. */
    text: {
      /** The form of the text. */
      format: {
        /** Plain text. */
        type: "text";
      };
    };
    /**
     * The API's default.
     * @minimum 0
     */
    temperature: number;
    /**
     * The API's default.
     * @minimum 0
     */
    top_p: number;
    /** The API's default. */
    presence_penalty: number;
    /** The API's default. */
    frequency_penalty: number;
    /**
     * The API's default.
     * @minimum 0
     */
    top_logprobs: number;
    /** Always null. */
    reasoning: null;
    /** Always null. */
    max_output_tokens: null;
    /** Always null. */
    max_tool_calls: null;
    /** Always false: the API cannot retrieve the response. framegate has the run. */
    store: boolean;
    /** Always false. */
    background: boolean;
    /** The API's default. */
    service_tier: "default";
    /** Always null. */
    safety_identifier: null;
    /** Always null. */
    prompt_cache_key: null;
  };
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** The answer was cut off, or the run was interrupted: the last event. */
export interface ResponseIncompleteEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.incomplete";
  /** The whole response. */
  response: {
    /**
     * `resp_` and the run's id.
     * @minLength 1
     */
    id: string;
    /** Always `response`. */
    object: "response";
    /**
     * When the run began, in Unix epoch seconds.
     * @minimum 0
     */
    created_at: number;
    /** Null: the response is not completed. */
    completed_at: null;
    /** How far the response is. */
    status: "incomplete";
    /** Why the answer is incomplete. */
    incomplete_details: {
      /**
       * `max_output_tokens`, `content_filter`, or `interrupted`.
       * @minLength 1
       */
      reason: string;
      /**
       * The message for a person; absent if there is none. framegate adds it.
       * @minLength 1
       */
      message?: string;
    };
    /** Null: it has not failed. */
    error: null;
    /**
     * The model, or the runner if it does not name one; the same in all events.
     * @minLength 1
     */
    model: string;
    /** The items in their order; empty at the beginning. Long texts are cut, and say so. */
    output: {
      /**
       * The item's id, the same in all events.
       * @minLength 1
       */
      id: string;
      /** The kind of item: text, reasoning, a call that the runner executes, a question, or its answer. */
      type: "message" | "reasoning" | "mcp_call" | "mcp_approval_request" | "mcp_approval_response";
      /** How far it is. Approval items have none: they are complete at once. */
      status?: "in_progress" | "completed" | "failed";
      /** Of a message: always the assistant. */
      role?: "assistant";
      /** Of a message: its text, one part. Empty while it is open. */
      content?: {
        /** The kind of part. */
        type: "output_text";
        /** The text; empty while the part is open. */
        text: string;
        /** Always empty. */
        annotations: unknown[];
        /** Always empty. */
        logprobs: unknown[];
      }[];
      /** Of reasoning: its text, one part. Empty while it is open. */
      summary?: {
        /** The kind of part. */
        type: "summary_text";
        /** The text; empty while the part is open. */
        text: string;
      }[];
      /**
       * Of a call or a question: the runner, which executes the tool.
       * @minLength 1
       */
      server_label?: string;
      /** Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none. */
      name?: string;
      /** Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete. */
      arguments?: string;
      /** Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran. */
      output?: string | null;
      /** Of a call: what went wrong; null if nothing did. */
      error?: {
        /** The kind of error. */
        type: "mcp_tool_execution_error";
        /** The message, one part. */
        content: {
          /** The kind of part. */
          type: "text";
          /** The message. */
          text: string;
        }[];
      } | null;
      /** Of a call: the question about it, null if there is none. Of an answer: the question. */
      approval_request_id?: string | null;
      /** Of an answer: whether the call may run. */
      approve?: boolean;
      /** Of an answer: why; null if unknown. */
      reason?: string | null;
      /**
       * Of a call: the runner's own id for it; absent if it has none. framegate adds it.
       * @minLength 1
       */
      call_id?: string;
      /** Of a question: the runner's own id for it, which a decision names. framegate adds it. */
      approval_id?: string;
      /**
       * Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it.
       * @minLength 1
       */
      parent_item_id?: string;
    }[];
    /** The usage of the whole run; null before its end, and if the runner gave none. */
    usage: {
      /**
       * Tokens read, including cached ones.
       * @minimum 0
       */
      input_tokens: number;
      /** What they consist of. */
      input_tokens_details: {
        /**
         * Tokens read from the cache; 0 if unknown.
         * @minimum 0
         */
        cached_tokens: number;
        /**
         * Tokens written to the cache; absent if unknown.
         * @minimum 0
         */
        cache_write_tokens?: number;
      };
      /**
       * Tokens written, including reasoning.
       * @minimum 0
       */
      output_tokens: number;
      /** What they consist of. */
      output_tokens_details: {
        /**
         * The part that was reasoning; 0 if unknown.
         * @minimum 0
         */
        reasoning_tokens: number;
      };
      /**
       * The sum of both.
       * @minimum 0
       */
      total_tokens: number;
      /**
       * US dollars; absent if unknown. Not part of the API.
       * @minimum 0
       */
      cost?: number;
    } | null;
    /** Where the response comes from. */
    metadata: {
      /**
       * The run.
       * @format uuid
       */
      run_id: string;
      /**
       * Its session.
       * @format uuid
       */
      session_id: string;
      /**
       * The runner.
       * @minLength 1
       */
      runner: string;
      /**
       * The run's code for a failure or a limit. Absent if it has none.
       * @minLength 1
       */
      error_code?: string;
      /**
       * How many of the first items are left out of the output because it is too long. Absent if none are.
       * @minLength 1
       */
      omitted_items?: string;
    };
    /** Always null. */
    previous_response_id: null;
    /** Always null: the runner has its own. */
    instructions: null;
    /** Always empty: the client has no tools. */
    tools: unknown[];
    /** The API's default. */
    tool_choice: "auto";
    /** The API's default. */
    truncation: "disabled";
    /** The API's default. */
    parallel_tool_calls: boolean;
    /** The API's default. */
    text: {
      /** The form of the text. */
      format: {
        /** Plain text. */
        type: "text";
      };
    };
    /**
     * The API's default.
     * @minimum 0
     */
    temperature: number;
    /**
     * The API's default.
     * @minimum 0
     */
    top_p: number;
    /** The API's default. */
    presence_penalty: number;
    /** The API's default. */
    frequency_penalty: number;
    /**
     * The API's default.
     * @minimum 0
     */
    top_logprobs: number;
    /** Always null. */
    reasoning: null;
    /** Always null. */
    max_output_tokens: null;
    /** Always null. */
    max_tool_calls: null;
    /** Always false: the API cannot retrieve the response. framegate has the run. */
    store: boolean;
    /** Always false. */
    background: boolean;
    /** The API's default. */
    service_tier: "default";
    /** Always null. */
    safety_identifier: null;
    /** Always null. */
    prompt_cache_key: null;
  };
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** The run failed: the last event. */
export interface ResponseFailedEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "response.failed";
  /** The whole response. */
  response: {
    /**
     * `resp_` and the run's id.
     * @minLength 1
     */
    id: string;
    /** Always `response`. */
    object: "response";
    /**
     * When the run began, in Unix epoch seconds.
     * @minimum 0
     */
    created_at: number;
    /** Null: the response is not completed. */
    completed_at: null;
    /** How far the response is. */
    status: "failed";
    /** Null: it is not incomplete. */
    incomplete_details: null;
    /** Why the run failed. */
    error: {
      /**
       * A stable code.
       * @minLength 1
       */
      code: string;
      /**
       * The message for a person.
       * @minLength 1
       */
      message: string;
    };
    /**
     * The model, or the runner if it does not name one; the same in all events.
     * @minLength 1
     */
    model: string;
    /** The items in their order; empty at the beginning. Long texts are cut, and say so. */
    output: {
      /**
       * The item's id, the same in all events.
       * @minLength 1
       */
      id: string;
      /** The kind of item: text, reasoning, a call that the runner executes, a question, or its answer. */
      type: "message" | "reasoning" | "mcp_call" | "mcp_approval_request" | "mcp_approval_response";
      /** How far it is. Approval items have none: they are complete at once. */
      status?: "in_progress" | "completed" | "failed";
      /** Of a message: always the assistant. */
      role?: "assistant";
      /** Of a message: its text, one part. Empty while it is open. */
      content?: {
        /** The kind of part. */
        type: "output_text";
        /** The text; empty while the part is open. */
        text: string;
        /** Always empty. */
        annotations: unknown[];
        /** Always empty. */
        logprobs: unknown[];
      }[];
      /** Of reasoning: its text, one part. Empty while it is open. */
      summary?: {
        /** The kind of part. */
        type: "summary_text";
        /** The text; empty while the part is open. */
        text: string;
      }[];
      /**
       * Of a call or a question: the runner, which executes the tool.
       * @minLength 1
       */
      server_label?: string;
      /** Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none. */
      name?: string;
      /** Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete. */
      arguments?: string;
      /** Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran. */
      output?: string | null;
      /** Of a call: what went wrong; null if nothing did. */
      error?: {
        /** The kind of error. */
        type: "mcp_tool_execution_error";
        /** The message, one part. */
        content: {
          /** The kind of part. */
          type: "text";
          /** The message. */
          text: string;
        }[];
      } | null;
      /** Of a call: the question about it, null if there is none. Of an answer: the question. */
      approval_request_id?: string | null;
      /** Of an answer: whether the call may run. */
      approve?: boolean;
      /** Of an answer: why; null if unknown. */
      reason?: string | null;
      /**
       * Of a call: the runner's own id for it; absent if it has none. framegate adds it.
       * @minLength 1
       */
      call_id?: string;
      /** Of a question: the runner's own id for it, which a decision names. framegate adds it. */
      approval_id?: string;
      /**
       * Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it.
       * @minLength 1
       */
      parent_item_id?: string;
    }[];
    /** The usage of the whole run; null before its end, and if the runner gave none. */
    usage: {
      /**
       * Tokens read, including cached ones.
       * @minimum 0
       */
      input_tokens: number;
      /** What they consist of. */
      input_tokens_details: {
        /**
         * Tokens read from the cache; 0 if unknown.
         * @minimum 0
         */
        cached_tokens: number;
        /**
         * Tokens written to the cache; absent if unknown.
         * @minimum 0
         */
        cache_write_tokens?: number;
      };
      /**
       * Tokens written, including reasoning.
       * @minimum 0
       */
      output_tokens: number;
      /** What they consist of. */
      output_tokens_details: {
        /**
         * The part that was reasoning; 0 if unknown.
         * @minimum 0
         */
        reasoning_tokens: number;
      };
      /**
       * The sum of both.
       * @minimum 0
       */
      total_tokens: number;
      /**
       * US dollars; absent if unknown. Not part of the API.
       * @minimum 0
       */
      cost?: number;
    } | null;
    /** Where the response comes from. */
    metadata: {
      /**
       * The run.
       * @format uuid
       */
      run_id: string;
      /**
       * Its session.
       * @format uuid
       */
      session_id: string;
      /**
       * The runner.
       * @minLength 1
       */
      runner: string;
      /**
       * The run's code for a failure or a limit. Absent if it has none.
       * @minLength 1
       */
      error_code?: string;
      /**
       * How many of the first items are left out of the output because it is too long. Absent if none are.
       * @minLength 1
       */
      omitted_items?: string;
    };
    /** Always null. */
    previous_response_id: null;
    /** Always null: the runner has its own. */
    instructions: null;
    /** Always empty: the client has no tools. */
    tools: unknown[];
    /** The API's default. */
    tool_choice: "auto";
    /** The API's default. */
    truncation: "disabled";
    /** The API's default. */
    parallel_tool_calls: boolean;
    /** The API's default. */
    text: {
      /** The form of the text. */
      format: {
        /** Plain text. */
        type: "text";
      };
    };
    /**
     * The API's default.
     * @minimum 0
     */
    temperature: number;
    /**
     * The API's default.
     * @minimum 0
     */
    top_p: number;
    /** The API's default. */
    presence_penalty: number;
    /** The API's default. */
    frequency_penalty: number;
    /**
     * The API's default.
     * @minimum 0
     */
    top_logprobs: number;
    /** Always null. */
    reasoning: null;
    /** Always null. */
    max_output_tokens: null;
    /** Always null. */
    max_tool_calls: null;
    /** Always false: the API cannot retrieve the response. framegate has the run. */
    store: boolean;
    /** Always false. */
    background: boolean;
    /** The API's default. */
    service_tier: "default";
    /** Always null. */
    safety_identifier: null;
    /** Always null. */
    prompt_cache_key: null;
  };
  /**
   * Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise.
   * @minLength 1
   */
  notice?: string;
}

/** The run is no longer kept: no more events follow. */
export interface ErrorEvent extends OpenResponsesV1Envelope {
  /** The event's type. */
  type: "error";
  /** The error. */
  error: {
    /** The kind of error. */
    type: "run_error";
    /**
     * A stable code.
     * @minLength 1
     */
    code: string;
    /**
     * The message for a person.
     * @minLength 1
     */
    message: string;
    /** Always null. */
    param: null;
  };
}
