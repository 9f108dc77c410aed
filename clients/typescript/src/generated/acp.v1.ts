// The events of acp.v1, from its JSON Schemas. Written by `framegate schema acp.v1 --typescript`; do not edit.

/** Any event of acp.v1: messages of the Agent Client Protocol: session updates, permission requests, the answer of a prompt. */
export type AcpV1Event = AcpV1Events[AcpV1EventType];

/** The event types of acp.v1, the values of `params.update.sessionUpdate|method|result|error`. */
export type AcpV1EventType = keyof AcpV1Events;

/** Maps each type of acp.v1 to its event. */
export interface AcpV1Events {
  agent_message_chunk: AgentMessageChunkEvent;
  agent_thought_chunk: AgentThoughtChunkEvent;
  user_message_chunk: UserMessageChunkEvent;
  tool_call: ToolCallEvent;
  tool_call_update: ToolCallUpdateEvent;
  plan: PlanEvent;
  config_option_update: ConfigOptionUpdateEvent;
  session_info_update: SessionInfoUpdateEvent;
  request_permission: RequestPermissionEvent;
  cancel_request: CancelRequestEvent;
  result: ResultEvent;
  error: ErrorEvent;
}

/** The properties that all events of acp.v1 have. */
export interface AcpV1Envelope {
  /** The version of JSON-RPC. */
  jsonrpc: "2.0";
}

/** A piece of the assistant's text. */
export interface AgentMessageChunkEvent extends AcpV1Envelope {
  /** The message's method. */
  method: "session/update";
  /** The parameters. */
  params: {
    /**
     * The session.
     * @format uuid
     */
    sessionId: string;
    /** The update. */
    update: {
      /** The kind of update. */
      sessionUpdate: "agent_message_chunk";
      /** The piece. */
      content: {
        /** The kind of content. */
        type: "text";
        /** The text. */
        text: string;
      };
      /**
       * The block of text. Pieces of one block have the same id, and no other message of the session has it.
       * @format uuid
       */
      messageId: string;
    };
    /** Data that is not part of the protocol. */
    _meta: {
      /** What framegate adds to the protocol. */
      framegate: {
        /**
         * The run, or the background task.
         * @format uuid
         */
        runId: string;
        /**
         * The message's number in its stream, from 0 without gaps.
         * @minimum 0
         */
        seq: number;
        /** What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`. */
        notice?: {
          /** How serious it is. */
          severity: "info" | "warning" | "error";
          /**
           * The text.
           * @minLength 1
           */
          title: string;
          /** More of it. */
          description?: string;
          /** A stable code. */
          code?: string;
        };
      };
    };
  };
}

/** A piece of the model's reasoning. */
export interface AgentThoughtChunkEvent extends AcpV1Envelope {
  /** The message's method. */
  method: "session/update";
  /** The parameters. */
  params: {
    /**
     * The session.
     * @format uuid
     */
    sessionId: string;
    /** The update. */
    update: {
      /** The kind of update. */
      sessionUpdate: "agent_thought_chunk";
      /** The piece. */
      content: {
        /** The kind of content. */
        type: "text";
        /** The text. */
        text: string;
      };
      /**
       * The block of reasoning. Pieces of one block have the same id, and no other message of the session has it.
       * @format uuid
       */
      messageId: string;
    };
    /** Data that is not part of the protocol. */
    _meta: {
      /** What framegate adds to the protocol. */
      framegate: {
        /**
         * The run, or the background task.
         * @format uuid
         */
        runId: string;
        /**
         * The message's number in its stream, from 0 without gaps.
         * @minimum 0
         */
        seq: number;
        /** What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`. */
        notice?: {
          /** How serious it is. */
          severity: "info" | "warning" | "error";
          /**
           * The text.
           * @minLength 1
           */
          title: string;
          /** More of it. */
          description?: string;
          /** A stable code. */
          code?: string;
        };
      };
    };
  };
}

/** A user's message, or a file of one. Only with the option for user messages. */
export interface UserMessageChunkEvent extends AcpV1Envelope {
  /** The message's method. */
  method: "session/update";
  /** The parameters. */
  params: {
    /**
     * The session.
     * @format uuid
     */
    sessionId: string;
    /** The update. */
    update: {
      /** The kind of update. */
      sessionUpdate: "user_message_chunk";
      /** The text, or the file. */
      content: {
        /** The kind of content. */
        type: "text" | "resource_link";
        /** The text. Absent for a file. */
        text?: string;
        /** The file's digest: `sha256:` and hexadecimal digits. Absent for a text. */
        uri?: string;
        /**
         * The file's name, or what it is. Absent for a text.
         * @minLength 1
         */
        name?: string;
        /** The media type. Absent if unknown. */
        mimeType?: string;
        /**
         * The size in bytes. Absent if unknown.
         * @minimum 0
         */
        size?: number;
      };
      /**
       * The message.
       * @format uuid
       */
      messageId: string;
    };
    /** Data that is not part of the protocol. */
    _meta: {
      /** What framegate adds to the protocol. */
      framegate: {
        /**
         * The run, or the background task.
         * @format uuid
         */
        runId: string;
        /**
         * The message's number in its stream, from 0 without gaps.
         * @minimum 0
         */
        seq: number;
        /** What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`. */
        notice?: {
          /** How serious it is. */
          severity: "info" | "warning" | "error";
          /**
           * The text.
           * @minLength 1
           */
          title: string;
          /** More of it. */
          description?: string;
          /** A stable code. */
          code?: string;
        };
      };
    };
  };
}

/** A call is announced. */
export interface ToolCallEvent extends AcpV1Envelope {
  /** The message's method. */
  method: "session/update";
  /** The parameters. */
  params: {
    /**
     * The session.
     * @format uuid
     */
    sessionId: string;
    /** The update. */
    update: {
      /** The kind of update. */
      sessionUpdate: "tool_call";
      /**
       * The call.
       * @format uuid
       */
      toolCallId: string;
      /**
       * What the call does, for people.
       * @minLength 1
       */
      title: string;
      /**
       * The tool's name. Absent if it is unknown.
       * @minLength 1
       */
      name?: string;
      /** The kind of tool. Absent if it is unknown so far. */
      kind?: "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "other";
      /** The state of the call. */
      status?: "pending" | "in_progress" | "completed" | "failed";
      /**
       * What the call gave so far, or the change that it proposes. It replaces the content before.
       * @minItems 1
       */
      content?: {
        /** The kind of content. */
        type: "content" | "diff";
        /** A text. Absent for a diff. */
        content?: {
          /** The kind of content. */
          type: "text";
          /** The text. */
          text: string;
        };
        /**
         * The absolute path of the file. Absent for a text.
         * @minLength 1
         */
        path?: string;
        /** The text before. Absent for a text and for a new file. */
        oldText?: string;
        /** The text after. Absent for a text. */
        newText?: string;
      }[];
      /**
       * The files that the call is about.
       * @minItems 1
       */
      locations?: {
        /**
         * The absolute path.
         * @minLength 1
         */
        path: string;
        /**
         * The line.
         * @minimum 0
         */
        line?: number;
      }[];
      /** The arguments: an object, or a string if the model gave no object. */
      rawInput?: unknown;
      /** The result. Absent while the call is open. */
      rawOutput?: {
        /** The exit code; 0 or 1 if the tool is not a process. */
        exit_code?: number;
        /**
         * Milliseconds from start to end.
         * @minimum 0
         */
        duration_ms?: number;
        /** The output, if the content is a diff. */
        output?: string;
        /** References to stored objects. */
        artifacts?: {
          [key: string]: unknown;
        };
        /**
         * How many bytes of output are left out because it is too large. Absent if none are.
         * @minimum 1
         */
        omitted_bytes?: number;
      };
    };
    /** Data that is not part of the protocol. */
    _meta: {
      /** What framegate adds to the protocol. */
      framegate: {
        /**
         * The run, or the background task.
         * @format uuid
         */
        runId: string;
        /**
         * The message's number in its stream, from 0 without gaps.
         * @minimum 0
         */
        seq: number;
        /**
         * The runner's own id of the call, or of the subagent.
         * @minLength 1
         */
        callId?: string;
        /**
         * The call whose subagent made this one. Absent for the main thread.
         * @format uuid
         */
        parentToolCallId?: string;
        /**
         * The runner of a background task.
         * @minLength 1
         */
        runner?: string;
        /**
         * The run that started a background task.
         * @format uuid
         */
        originRunId?: string;
        /** What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`. */
        notice?: {
          /** How serious it is. */
          severity: "info" | "warning" | "error";
          /**
           * The text.
           * @minLength 1
           */
          title: string;
          /** More of it. */
          description?: string;
          /** A stable code. */
          code?: string;
        };
      };
    };
  };
}

/** A call changed: what is absent is as it was. */
export interface ToolCallUpdateEvent extends AcpV1Envelope {
  /** The message's method. */
  method: "session/update";
  /** The parameters. */
  params: {
    /**
     * The session.
     * @format uuid
     */
    sessionId: string;
    /** The update. */
    update: {
      /** The kind of update. */
      sessionUpdate: "tool_call_update";
      /**
       * The call.
       * @format uuid
       */
      toolCallId: string;
      /**
       * What the call does, for people.
       * @minLength 1
       */
      title?: string;
      /**
       * The tool's name. Absent if it is unknown.
       * @minLength 1
       */
      name?: string;
      /** The kind of tool. Absent if it is unknown so far. */
      kind?: "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "other";
      /** The state of the call. */
      status?: "pending" | "in_progress" | "completed" | "failed";
      /**
       * What the call gave so far, or the change that it proposes. It replaces the content before.
       * @minItems 1
       */
      content?: {
        /** The kind of content. */
        type: "content" | "diff";
        /** A text. Absent for a diff. */
        content?: {
          /** The kind of content. */
          type: "text";
          /** The text. */
          text: string;
        };
        /**
         * The absolute path of the file. Absent for a text.
         * @minLength 1
         */
        path?: string;
        /** The text before. Absent for a text and for a new file. */
        oldText?: string;
        /** The text after. Absent for a text. */
        newText?: string;
      }[];
      /**
       * The files that the call is about.
       * @minItems 1
       */
      locations?: {
        /**
         * The absolute path.
         * @minLength 1
         */
        path: string;
        /**
         * The line.
         * @minimum 0
         */
        line?: number;
      }[];
      /** The arguments: an object, or a string if the model gave no object. */
      rawInput?: unknown;
      /** The result. Absent while the call is open. */
      rawOutput?: {
        /** The exit code; 0 or 1 if the tool is not a process. */
        exit_code?: number;
        /**
         * Milliseconds from start to end.
         * @minimum 0
         */
        duration_ms?: number;
        /** The output, if the content is a diff. */
        output?: string;
        /** References to stored objects. */
        artifacts?: {
          [key: string]: unknown;
        };
        /**
         * How many bytes of output are left out because it is too large. Absent if none are.
         * @minimum 1
         */
        omitted_bytes?: number;
      };
    };
    /** Data that is not part of the protocol. */
    _meta: {
      /** What framegate adds to the protocol. */
      framegate: {
        /**
         * The run, or the background task.
         * @format uuid
         */
        runId: string;
        /**
         * The message's number in its stream, from 0 without gaps.
         * @minimum 0
         */
        seq: number;
        /**
         * The runner's own id of the call, or of the subagent.
         * @minLength 1
         */
        callId?: string;
        /**
         * The call whose subagent made this one. Absent for the main thread.
         * @format uuid
         */
        parentToolCallId?: string;
        /** Why a call has no result. Absent if it has one. */
        failure?: "failed" | "denied" | "no_result" | "cancelled";
        /** What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`. */
        notice?: {
          /** How serious it is. */
          severity: "info" | "warning" | "error";
          /**
           * The text.
           * @minLength 1
           */
          title: string;
          /** More of it. */
          description?: string;
          /** A stable code. */
          code?: string;
        };
      };
    };
  };
}

/** The whole plan, which replaces the plan before. */
export interface PlanEvent extends AcpV1Envelope {
  /** The message's method. */
  method: "session/update";
  /** The parameters. */
  params: {
    /**
     * The session.
     * @format uuid
     */
    sessionId: string;
    /** The update. */
    update: {
      /** The kind of update. */
      sessionUpdate: "plan";
      /** All entries, in order. */
      entries: {
        /**
         * The text.
         * @minLength 1
         */
        content: string;
        /** How important it is. */
        priority: "high" | "medium" | "low";
        /** Its state. */
        status: "pending" | "in_progress" | "completed";
      }[];
    };
    /** Data that is not part of the protocol. */
    _meta: {
      /** What framegate adds to the protocol. */
      framegate: {
        /**
         * The run, or the background task.
         * @format uuid
         */
        runId: string;
        /**
         * The message's number in its stream, from 0 without gaps.
         * @minimum 0
         */
        seq: number;
        /** What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`. */
        notice?: {
          /** How serious it is. */
          severity: "info" | "warning" | "error";
          /**
           * The text.
           * @minLength 1
           */
          title: string;
          /** More of it. */
          description?: string;
          /** A stable code. */
          code?: string;
        };
      };
    };
  };
}

/** The model that works, as the configuration of the session. */
export interface ConfigOptionUpdateEvent extends AcpV1Envelope {
  /** The message's method. */
  method: "session/update";
  /** The parameters. */
  params: {
    /**
     * The session.
     * @format uuid
     */
    sessionId: string;
    /** The update. */
    update: {
      /** The kind of update. */
      sessionUpdate: "config_option_update";
      /**
       * The options.
       * @minItems 1
       */
      configOptions: {
        /** The option's id. */
        id: "model";
        /**
         * The option's name.
         * @minLength 1
         */
        name: string;
        /** What the option is about. */
        category: "model";
        /** The kind of option. */
        type: "select";
        /**
         * The model.
         * @minLength 1
         */
        currentValue: string;
        /**
         * The known values: the model itself.
         * @minItems 1
         */
        options: {
          /**
           * The model.
           * @minLength 1
           */
          value: string;
          /**
           * Its name.
           * @minLength 1
           */
          name: string;
        }[];
      }[];
    };
    /** Data that is not part of the protocol. */
    _meta: {
      /** What framegate adds to the protocol. */
      framegate: {
        /**
         * The run, or the background task.
         * @format uuid
         */
        runId: string;
        /**
         * The message's number in its stream, from 0 without gaps.
         * @minimum 0
         */
        seq: number;
        /** What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`. */
        notice?: {
          /** How serious it is. */
          severity: "info" | "warning" | "error";
          /**
           * The text.
           * @minLength 1
           */
          title: string;
          /** More of it. */
          description?: string;
          /** A stable code. */
          code?: string;
        };
      };
    };
  };
}

/** The run begins, or something that the protocol tells only some clients. */
export interface SessionInfoUpdateEvent extends AcpV1Envelope {
  /** The message's method. */
  method: "session/update";
  /** The parameters. */
  params: {
    /**
     * The session.
     * @format uuid
     */
    sessionId: string;
    /** The update. */
    update: {
      /** The kind of update. */
      sessionUpdate: "session_info_update";
      /**
       * When the run began.
       * @format date-time
       */
      updatedAt?: string;
    };
    /** Data that is not part of the protocol. */
    _meta: {
      /** What framegate adds to the protocol. */
      framegate: {
        /**
         * The run, or the background task.
         * @format uuid
         */
        runId: string;
        /**
         * The message's number in its stream, from 0 without gaps.
         * @minimum 0
         */
        seq: number;
        /**
         * The runner. Only at the start.
         * @minLength 1
         */
        runner?: string;
        /** The tokens of all model calls so far, of subagents too. */
        usage?: {
          /**
           * All tokens, including cached ones.
           * @minimum 0
           */
          totalTokens: number;
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
           * The part of outputTokens that was reasoning. Absent if the runner did not report it.
           * @minimum 0
           */
          thoughtTokens?: number;
          /**
           * Tokens read from the cache. Absent if the runner did not report it.
           * @minimum 0
           */
          cachedReadTokens?: number;
          /**
           * Tokens written to the cache. Absent if the runner did not report it.
           * @minimum 0
           */
          cachedWriteTokens?: number;
        };
        /** The price in US dollars. Absent if the runner did not report it. */
        costUsd?: number;
        /** A checkpoint of the workspace. */
        checkpoint?: {
          /** What happened. */
          status: "created" | "rewound" | "failed";
          /**
           * The checkpoint.
           * @format uuid
           */
          checkpointId?: string;
          /** Its label. */
          label?: string;
          /** The files, as relative paths. */
          files?: string[];
          /**
           * When it was made, in Unix epoch milliseconds.
           * @minimum 0
           */
          createdAtMs?: number;
          /** Whether the runner made it by itself. */
          auto?: boolean;
          /** The tool before which it was made. */
          toolName?: string;
          /** What failed. */
          action?: "create" | "rewind";
          /** Why it failed. */
          error?: string;
        };
        /** The runner replaced a part of its history with a summary. */
        compaction?: {
          /**
           * The compaction.
           * @format uuid
           */
          compactionId: string;
          /** `manual`, `auto`, or the word of the runner. */
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
          /** The summary. */
          summary?: string;
        };
        /** What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`. */
        notice?: {
          /** How serious it is. */
          severity: "info" | "warning" | "error";
          /**
           * The text.
           * @minLength 1
           */
          title: string;
          /** More of it. */
          description?: string;
          /** A stable code. */
          code?: string;
        };
      };
    };
  };
}

/** The runner asks whether a call may run. */
export interface RequestPermissionEvent extends AcpV1Envelope {
  /** The approval that the answer decides. */
  id: string;
  /** The message's method. */
  method: "session/request_permission";
  /** The parameters. */
  params: {
    /**
     * The session.
     * @format uuid
     */
    sessionId: string;
    /** The call. */
    toolCall: {
      /**
       * The call.
       * @format uuid
       */
      toolCallId: string;
      /**
       * What the call does, for people.
       * @minLength 1
       */
      title: string;
      /**
       * The tool's name. Absent if it is unknown.
       * @minLength 1
       */
      name?: string;
      /** The arguments: an object, or a string if the model gave no object. */
      rawInput?: unknown;
    };
    /**
     * The possible answers.
     * @minItems 1
     */
    options: {
      /** Its id, which is its kind. */
      optionId: "allow_once" | "allow_always" | "reject_once";
      /**
       * Its name for people.
       * @minLength 1
       */
      name: string;
      /** Its kind. */
      kind: "allow_once" | "allow_always" | "reject_once";
    }[];
    /** Data that is not part of the protocol. */
    _meta: {
      /** What framegate adds to the protocol. */
      framegate: {
        /**
         * The run, or the background task.
         * @format uuid
         */
        runId: string;
        /**
         * The message's number in its stream, from 0 without gaps.
         * @minimum 0
         */
        seq: number;
        /**
         * Why the runner asks.
         * @minLength 1
         */
        reason?: string;
        /**
         * The call whose subagent made this one. Absent for the main thread.
         * @format uuid
         */
        parentToolCallId?: string;
        /** What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`. */
        notice?: {
          /** How serious it is. */
          severity: "info" | "warning" | "error";
          /**
           * The text.
           * @minLength 1
           */
          title: string;
          /** More of it. */
          description?: string;
          /** A stable code. */
          code?: string;
        };
      };
    };
  };
}

/** A question was decided, or is withdrawn. */
export interface CancelRequestEvent extends AcpV1Envelope {
  /** The message's method. */
  method: "$/cancel_request";
  /** The parameters. */
  params: {
    /** The id of the question. */
    requestId: string;
    /** Data that is not part of the protocol. */
    _meta: {
      /** What framegate adds to the protocol. */
      framegate: {
        /**
         * The run, or the background task.
         * @format uuid
         */
        runId: string;
        /**
         * The message's number in its stream, from 0 without gaps.
         * @minimum 0
         */
        seq: number;
        /** What was decided. */
        decision?: "approved" | "rejected" | "timed_out" | "cancelled";
        /** Who decided. */
        by?: string;
        /** Why. */
        reason?: string;
        /** How far the decision reaches: `once`, `session`, `always`, or the word of the runner. */
        scope?: string;
        /** What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`. */
        notice?: {
          /** How serious it is. */
          severity: "info" | "warning" | "error";
          /**
           * The text.
           * @minLength 1
           */
          title: string;
          /** More of it. */
          description?: string;
          /** A stable code. */
          code?: string;
        };
      };
    };
  };
}

/** The answer of the prompt: the run is over. */
export interface ResultEvent extends AcpV1Envelope {
  /**
   * The run.
   * @format uuid
   */
  id: string;
  /** The result. */
  result: {
    /** Why the run is over. */
    stopReason: "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";
    /** The tokens of the whole run, of subagents too. Absent if the runner did not report any. */
    usage?: {
      /**
       * All tokens, including cached ones.
       * @minimum 0
       */
      totalTokens: number;
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
       * The part of outputTokens that was reasoning. Absent if the runner did not report it.
       * @minimum 0
       */
      thoughtTokens?: number;
      /**
       * Tokens read from the cache. Absent if the runner did not report it.
       * @minimum 0
       */
      cachedReadTokens?: number;
      /**
       * Tokens written to the cache. Absent if the runner did not report it.
       * @minimum 0
       */
      cachedWriteTokens?: number;
    };
    /** Data that is not part of the protocol. */
    _meta: {
      /** What framegate adds to the protocol. */
      framegate: {
        /**
         * The run, or the background task.
         * @format uuid
         */
        runId: string;
        /**
         * The message's number in its stream, from 0 without gaps.
         * @minimum 0
         */
        seq: number;
        /** The price in US dollars. Absent if the runner did not report it. */
        costUsd?: number;
        /**
         * The code of a run that was stopped or reached a limit.
         * @minLength 1
         */
        code?: string;
        /**
         * The same for people.
         * @minLength 1
         */
        message?: string;
        /** What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`. */
        notice?: {
          /** How serious it is. */
          severity: "info" | "warning" | "error";
          /**
           * The text.
           * @minLength 1
           */
          title: string;
          /** More of it. */
          description?: string;
          /** A stable code. */
          code?: string;
        };
      };
    };
  };
}

/** The answer of a prompt that failed: the run is over. */
export interface ErrorEvent extends AcpV1Envelope {
  /**
   * The run.
   * @format uuid
   */
  id: string;
  /** The error. */
  error: {
    /** The protocol's code: -32603 for a run that failed, -32002 for one that is no longer kept. */
    code: number;
    /** The message for people. */
    message: string;
    /** Details. */
    data: {
      /**
       * The code of the error.
       * @minLength 1
       */
      code?: string;
      /** The tokens of the whole run, of subagents too. Absent if the runner did not report any. */
      usage?: {
        /**
         * All tokens, including cached ones.
         * @minimum 0
         */
        totalTokens: number;
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
         * The part of outputTokens that was reasoning. Absent if the runner did not report it.
         * @minimum 0
         */
        thoughtTokens?: number;
        /**
         * Tokens read from the cache. Absent if the runner did not report it.
         * @minimum 0
         */
        cachedReadTokens?: number;
        /**
         * Tokens written to the cache. Absent if the runner did not report it.
         * @minimum 0
         */
        cachedWriteTokens?: number;
      };
      /** What framegate adds to the protocol. */
      framegate: {
        /**
         * The run, or the background task.
         * @format uuid
         */
        runId: string;
        /**
         * The message's number in its stream, from 0 without gaps.
         * @minimum 0
         */
        seq: number;
        /** The price in US dollars. Absent if the runner did not report it. */
        costUsd?: number;
        /** What a person should know: an error that the run survived, a log line, lost events, or a withheld message. The fields are those of the update `notice`. */
        notice?: {
          /** How serious it is. */
          severity: "info" | "warning" | "error";
          /**
           * The text.
           * @minLength 1
           */
          title: string;
          /** More of it. */
          description?: string;
          /** A stable code. */
          code?: string;
        };
      };
    };
  };
}
