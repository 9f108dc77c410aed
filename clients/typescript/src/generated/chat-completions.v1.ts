// The events of chat-completions.v1, from its JSON Schemas. Written by `framegate schema chat-completions.v1 --typescript`; do not edit.

/** Any event of chat-completions.v1: a run as one streamed chat completion: text, reasoning and tools as reasoning, usage. */
export type ChatCompletionsV1Event = ChatCompletionsV1Events[ChatCompletionsV1EventType];

/** The event types of chat-completions.v1, the values of `object`. */
export type ChatCompletionsV1EventType = keyof ChatCompletionsV1Events;

/** Maps each type of chat-completions.v1 to its event. */
export interface ChatCompletionsV1Events {
  "chat.completion.chunk": ChatCompletionChunkEvent;
  error: ErrorEvent;
}

/** A piece of the answer, its end, or its usage. */
export interface ChatCompletionChunkEvent {
  /**
   * `chatcmpl-` and the run's id; the same in all chunks.
   * @minLength 1
   */
  id: string;
  /** The event's type. */
  object: "chat.completion.chunk";
  /**
   * When the run began, in Unix epoch seconds; the same in all chunks.
   * @minimum 0
   */
  created: number;
  /**
   * The model, or the runner if it does not name one; the same in all chunks.
   * @minLength 1
   */
  model: string;
  /** One choice, or none in the chunk with the usage. */
  choices: {
    /**
     * The only choice.
     * @minimum 0
     */
    index: number;
    /** What is added; empty at the end. */
    delta: {
      /** In the first chunk. */
      role?: "assistant";
      /** A piece of the answer. */
      content?: string;
      /**
       * A piece of the reasoning, or a line about a tool or a question. Not part of the API; many servers send it under this name.
       * @minLength 1
       */
      reasoning_content?: string;
    };
    /** Why the answer ended; null before its end. */
    finish_reason: "stop" | "length" | "content_filter" | null;
  }[];
  /** The usage of the whole run, in the last chunk, whose `choices` are empty. */
  usage?: {
    /**
     * Tokens read, including cached ones.
     * @minimum 0
     */
    prompt_tokens: number;
    /**
     * Tokens written, including reasoning.
     * @minimum 0
     */
    completion_tokens: number;
    /**
     * Their sum.
     * @minimum 0
     */
    total_tokens: number;
    /** Absent if unknown. */
    prompt_tokens_details?: {
      /**
       * Tokens read from the cache.
       * @minimum 0
       */
      cached_tokens: number;
    };
    /** Absent if unknown. */
    completion_tokens_details?: {
      /**
       * The part that was reasoning.
       * @minimum 0
       */
      reasoning_tokens: number;
    };
    /**
     * US dollars; absent if unknown. Not part of the API.
     * @minimum 0
     */
    cost?: number;
  };
}

/** Why the answer is incomplete: the last event of a run that failed or was interrupted. */
export interface ErrorEvent {
  /**
   * The id of the chunks.
   * @minLength 1
   */
  id: string;
  /** The event's type. Not part of the API, whose clients look for `error`. */
  object: "error";
  /** The error. */
  error: {
    /**
     * What happened.
     * @minLength 1
     */
    message: string;
    /** The kind of error. */
    type: "run_error";
    /** Always null. */
    param: null;
    /**
     * A stable code.
     * @minLength 1
     */
    code: string;
  };
}
