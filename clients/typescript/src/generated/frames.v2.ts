// The events of frames.v2, from its JSON Schemas. Written by `framegate schema frames.v2 --typescript`; do not edit.

/** Any event of frames.v2: canonical frames with a stream-scoped envelope, all types. */
export type FramesV2Event = FramesV2Events[FramesV2EventType];

/** The event types of frames.v2, the values of `type`. */
export type FramesV2EventType = keyof FramesV2Events;

/** Maps each type of frames.v2 to its event. */
export interface FramesV2Events {
  session_started: SessionStartedEvent;
  session_ended: SessionEndedEvent;
  turn_started: TurnStartedEvent;
  turn_ended: TurnEndedEvent;
  user_message: UserMessageEvent;
  output_text_delta: OutputTextDeltaEvent;
  output_text_completed: OutputTextCompletedEvent;
  reasoning_delta: ReasoningDeltaEvent;
  reasoning_completed: ReasoningCompletedEvent;
  tool_input_delta: ToolInputDeltaEvent;
  tool_call_proposed: ToolCallProposedEvent;
  tool_started: ToolStartedEvent;
  tool_stdout: ToolStdoutEvent;
  tool_stderr: ToolStderrEvent;
  tool_ended: ToolEndedEvent;
  tool_failed: ToolFailedEvent;
  provider_event: ProviderEvent;
  checkpoint_created: CheckpointCreatedEvent;
  checkpoint_rewound: CheckpointRewoundEvent;
  checkpoint_failed: CheckpointFailedEvent;
  file_changed: FileChangedEvent;
  usage_reported: UsageReportedEvent;
  approval_requested: ApprovalRequestedEvent;
  approval_resolved: ApprovalResolvedEvent;
  plan_updated: PlanUpdatedEvent;
  status_changed: StatusChangedEvent;
  log_emitted: LogEmittedEvent;
  error_reported: ErrorReportedEvent;
  subagent_started: SubagentStartedEvent;
  subagent_ended: SubagentEndedEvent;
  history_compacted: HistoryCompactedEvent;
  gap_detected: GapDetectedEvent;
  tool_task_spawned: ToolTaskSpawnedEvent;
  tool_task_status: ToolTaskStatusEvent;
  tool_task_cancel_requested: ToolTaskCancelRequestedEvent;
  tool_task_cancelled: ToolTaskCancelledEvent;
  tool_task_output_delta: ToolTaskOutputDeltaEvent;
  tool_task_stdin_written: ToolTaskStdinWrittenEvent;
  tool_task_resized: ToolTaskResizedEvent;
  tool_task_signalled: ToolTaskSignalledEvent;
  artifact_written: ArtifactWrittenEvent;
  skill_catalog_updated: SkillCatalogUpdatedEvent;
  skill_loaded: SkillLoadedEvent;
  skill_invoked: SkillInvokedEvent;
  skill_warning: SkillWarningEvent;
}

/** The properties that all events of frames.v2 have. */
export interface FramesV2Envelope {
  /**
   * UUIDv5 of `seq` in the namespace of the stream's id.
   * @format uuid
   */
  id: string;
  /**
   * The stream's id, for readers of v1.
   * @format uuid
   */
  session_id: string;
  /** What the stream is the stream of. */
  stream_kind: "session" | "task" | "thread" | "artifact";
  /**
   * The stream's id.
   * @format uuid
   */
  stream_id: string;
  /**
   * Unix epoch milliseconds.
   * @minimum 0
   */
  timestamp_ms: number;
  /**
   * Position in the stream: 0 for its first event, then without a gap.
   * @minimum 0
   */
  seq: number;
  /**
   * The tool call in whose name a subagent caused the frame; absent on the main thread.
   * @format uuid
   */
  parent_tool_id?: string;
}

/** A run begins. The first frame of its stream. */
export interface SessionStartedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "session_started";
  /** The prompt if the runner reports it or the proxy sent it, otherwise empty. */
  input: string;
  /**
   * The runner of the stream, as its `provider_event` frames name it.
   * @minLength 1
   */
  provider?: string;
  /**
   * The session that the run belongs to, which is also the id of its thread stream.
   * @format uuid
   */
  thread_id?: string;
  /**
   * The runner's own name of the session; absent if it never named it.
   * @minLength 1
   */
  thread_name?: string;
}

/** A run is over. The last frame of its stream. */
export interface SessionEndedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "session_ended";
  /** How it ended. */
  reason: "completed" | "failed" | "interrupted";
  /** The main thread's last whole text. */
  final_text: string | null;
  /** A stable code where the run failed. */
  error_code: string | null;
  /** What a person is told where the run failed. */
  message: string | null;
}

/** A model call begins. */
export interface TurnStartedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "turn_started";
  /**
   * Counts the run's turns from 0.
   * @minimum 0
   */
  turn_index: number;
  /** The model that is called. */
  model: string | null;
}

/** A model call, and what it asked for, is over. */
export interface TurnEndedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "turn_ended";
  /**
   * The index that its `turn_started` had.
   * @minimum 0
   */
  turn_index: number;
  /** Why the model stopped, in the runner's words. */
  stop_reason: string | null;
  /**
   * Milliseconds.
   * @minimum 0
   */
  duration_ms: number | null;
}

/** A person, or a program in a person's place, said something. */
export interface UserMessageEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "user_message";
  /** The message's id. */
  message_id: string;
  /** Its text. */
  text: string;
  /** References to stored objects; never base64. */
  attachments: {
    /** `image`, `file`, or the runner's own word. */
    kind: string;
    /** The media type. */
    mime: string | null;
    /** `sha256:` and the digest of the content. */
    artifact_id: string | null;
    /** A file name or path. */
    name: string | null;
    /**
     * Size of the content.
     * @minimum 0
     */
    bytes: number | null;
  }[];
}

/** A piece of the assistant's text. */
export interface OutputTextDeltaEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "output_text_delta";
  /** The message that the block belongs to. */
  message_id: string;
  /**
   * The block's place in the message.
   * @minimum 0
   */
  block_index: number;
  /** The piece. */
  delta: string;
}

/** The whole text of a block: the concatenation of its deltas. */
export interface OutputTextCompletedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "output_text_completed";
  /** The message that the block belongs to. */
  message_id: string;
  /**
   * The block's place in the message.
   * @minimum 0
   */
  block_index: number;
  /** The text. */
  text: string;
}

/** A piece of the model's reasoning. */
export interface ReasoningDeltaEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "reasoning_delta";
  /** The message that the block belongs to. */
  message_id: string;
  /**
   * The block's place in the message.
   * @minimum 0
   */
  block_index: number;
  /** The piece. */
  delta: string;
}

/** The whole reasoning of a block. */
export interface ReasoningCompletedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "reasoning_completed";
  /** The message that the block belongs to. */
  message_id: string;
  /**
   * The block's place in the message.
   * @minimum 0
   */
  block_index: number;
  /** The text. */
  text: string;
  /** The provider's encrypted or signed item, untouched. */
  opaque: {
    [key: string]: unknown;
  } | null;
}

/** A piece of a tool call's arguments. */
export interface ToolInputDeltaEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_input_delta";
  /**
   * UUIDv5 of the runner's own call id.
   * @format uuid
   */
  tool_id: string;
  /** The runner's own id of the call. */
  call_id: string;
  /** The tool's name. */
  name: string;
  /** A piece of JSON text. */
  delta: string;
}

/** The model wants a tool to run. */
export interface ToolCallProposedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_call_proposed";
  /**
   * UUIDv5 of the runner's own call id.
   * @format uuid
   */
  tool_id: string;
  /** The runner's own id of the call. */
  call_id: string;
  /** The tool's name, the runner's own; empty where the runner gave none. */
  name: string;
  /** How the tool is drawn. */
  kind: "shell" | "read" | "write" | "edit" | "search" | "fetch" | "mcp" | "plan" | "subagent" | "other";
  /** The arguments: an object, or a string where the model's arguments were not a JSON object. */
  args: {
    [key: string]: unknown;
  } | string;
}

/** A tool runs. */
export interface ToolStartedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_started";
  /**
   * UUIDv5 of the runner's own call id.
   * @format uuid
   */
  tool_id: string;
  /** The runner's own id of the call. */
  call_id: string;
  /** The tool's name, the runner's own; empty where the runner gave none. */
  name: string;
  /** How the tool is drawn. */
  kind: "shell" | "read" | "write" | "edit" | "search" | "fetch" | "mcp" | "plan" | "subagent" | "other";
  /** The arguments: an object, or a string where the model's arguments were not a JSON object. */
  args: {
    [key: string]: unknown;
  } | string;
  /**
   * The runner's own limit in milliseconds.
   * @minimum 0
   */
  timeout_ms: number | null;
}

/** A piece of a tool's standard output, or of its result where it has no streams. */
export interface ToolStdoutEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_stdout";
  /**
   * UUIDv5 of the runner's own call id.
   * @format uuid
   */
  tool_id: string;
  /** The runner's own id of the call. */
  call_id: string;
  /** The piece; empty where it says only that nothing followed the pieces before for a while. */
  chunk: string;
  /** `front`: the piece belongs before all output that was reported so far. `tail`: the runner may report earlier output later. Absent: the piece follows the previous one. */
  position?: "front" | "tail";
}

/** A piece of a tool's standard error. */
export interface ToolStderrEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_stderr";
  /**
   * UUIDv5 of the runner's own call id.
   * @format uuid
   */
  tool_id: string;
  /** The runner's own id of the call. */
  call_id: string;
  /** The piece; empty where it says only that nothing followed the pieces before for a while. */
  chunk: string;
}

/** A tool ran to its end, well or badly. */
export interface ToolEndedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_ended";
  /**
   * UUIDv5 of the runner's own call id.
   * @format uuid
   */
  tool_id: string;
  /** The runner's own id of the call. */
  call_id: string;
  /**
   * The process's exit code; where there is none, 0 for success and 1 for a reported failure.
   * @minimum -2147483648
   * @maximum 2147483647
   */
  exit_code: number;
  /**
   * Milliseconds.
   * @minimum 0
   */
  duration_ms: number;
  /** References to stored objects. */
  artifacts: {
    [key: string]: unknown;
  } | null;
}

/** A tool never ran, was refused, or was cut off. */
export interface ToolFailedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_failed";
  /**
   * UUIDv5 of the runner's own call id.
   * @format uuid
   */
  tool_id: string;
  /** The runner's own id of the call. */
  call_id: string;
  /** What the runner says of it. */
  error: string;
}

/** One upstream record, as it came. */
export interface ProviderEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "provider_event";
  /**
   * The runner, or the API it speaks.
   * @minLength 1
   */
  provider: string;
  /** What the record was. */
  status: "event" | "done" | "invalid_json";
  /** The SSE `event:` value. */
  event_name: string | null;
  /** The record's JSON object, as it came. */
  data: {
    [key: string]: unknown;
  } | null;
  /** The record's text, only where `data` alone cannot give it back. */
  raw: string | null;
  /** What is wrong with the record. */
  errors: string[];
  /** What is wrong with the response object in the record. */
  response_errors: string[];
  /**
   * JSON pointers into this frame: where a secret was redacted. Elsewhere the record is as it came. Absent where nothing was redacted.
   * @minItems 1
   */
  redacted_paths?: string[];
  /** How the record arrived, if its other fields do not reproduce its bytes; absent: an SSE event if it has an event name, otherwise a line. */
  source?: {
    /** Whether the record was an SSE event. */
    sse: boolean;
    /** The bytes of the event or of the line; empty if an earlier record has them. */
    block?: string;
    /** The same in hexadecimal digits, if they are not UTF-8. */
    block_hex?: string;
    /** The bytes of `raw` in hexadecimal digits, if they are not UTF-8. */
    raw_hex?: string;
  };
}

/** A checkpoint of the workspace was made. */
export interface CheckpointCreatedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "checkpoint_created";
  /**
   * The checkpoint.
   * @format uuid
   */
  checkpoint_id: string;
  /** Its label. */
  label: string;
  /**
   * Unix epoch milliseconds.
   * @minimum 0
   */
  created_at_ms: number;
  /** Relative paths. */
  files: string[];
  /** Whether the runner made it by itself. */
  auto: boolean;
  /** The tool before which it was made. */
  tool_name: string | null;
}

/** The workspace went back to a checkpoint. */
export interface CheckpointRewoundEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "checkpoint_rewound";
  /**
   * The checkpoint.
   * @format uuid
   */
  checkpoint_id: string;
  /** Its label. */
  label: string;
  /** Relative paths. */
  files: string[];
}

/** A checkpoint could not be made or restored. */
export interface CheckpointFailedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "checkpoint_failed";
  /** What was tried. */
  action: "create" | "rewind";
  /** What went wrong. */
  error: string;
}

/** A file of the workspace changed. */
export interface FileChangedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "file_changed";
  /**
   * The call that did it.
   * @format uuid
   */
  tool_id: string | null;
  /** The path, in the runner's spelling. */
  path: string;
  /** What happened to it. */
  kind: "add" | "modify" | "delete" | "move";
  /** A unified diff. */
  diff: string | null;
  /** The stored diff. */
  artifact_id: string | null;
}

/** Tokens and money, counted once. */
export interface UsageReportedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "usage_reported";
  /** One model call, or all calls of the run, those of subagents among them. */
  scope: "turn" | "run";
  /** The model, where the figures are of one. */
  model: string | null;
  /**
   * Tokens read outside the cache.
   * @minimum 0
   */
  input_tokens: number;
  /**
   * Tokens written, reasoning among them.
   * @minimum 0
   */
  output_tokens: number;
  /**
   * Tokens read from the cache.
   * @minimum 0
   */
  cache_read_tokens: number | null;
  /**
   * Tokens written to the cache.
   * @minimum 0
   */
  cache_creation_tokens: number | null;
  /**
   * The part of `cache_creation_tokens` that was written to entries which live for one hour; absent where no such part was reported.
   * @minimum 0
   */
  cache_creation_1h_tokens?: number;
  /**
   * The part of `output_tokens` that was reasoning.
   * @minimum 0
   */
  reasoning_tokens: number | null;
  /** US dollars. */
  cost_usd: number | null;
  /** Of a run's total: the part of the main thread, where that is known. The rest is of subagents. */
  main_thread?: {
    /**
     * Tokens read outside the cache.
     * @minimum 0
     */
    input_tokens: number;
    /**
     * Tokens written, reasoning among them.
     * @minimum 0
     */
    output_tokens: number;
    /**
     * Tokens read from the cache.
     * @minimum 0
     */
    cache_read_tokens: number | null;
    /**
     * Tokens written to the cache.
     * @minimum 0
     */
    cache_creation_tokens: number | null;
    /**
     * The part of `cache_creation_tokens` that was written to entries which live for one hour; absent where no such part was reported.
     * @minimum 0
     */
    cache_creation_1h_tokens?: number;
    /**
     * The part of `output_tokens` that was reasoning.
     * @minimum 0
     */
    reasoning_tokens: number | null;
    /** US dollars. */
    cost_usd: number | null;
  };
}

/** The runner waits for a decision. */
export interface ApprovalRequestedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "approval_requested";
  /**
   * The question's id.
   * @minLength 1
   */
  approval_id: string;
  /**
   * The call that waits.
   * @format uuid
   */
  tool_id: string | null;
  /** The tool's name. */
  tool_name: string;
  /** The arguments: an object, or a string where the model's arguments were not a JSON object. */
  args: {
    [key: string]: unknown;
  } | string;
  /** Why it is asked. */
  reason: string | null;
}

/** The decision fell. */
export interface ApprovalResolvedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "approval_resolved";
  /**
   * The question's id.
   * @minLength 1
   */
  approval_id: string;
  /** What was decided. */
  decision: "approved" | "rejected" | "timed_out" | "cancelled";
  /** Who decided. */
  by: string | null;
  /** Why. */
  reason: string | null;
  /** How far it reaches. */
  scope: string | null;
}

/** The whole plan, whenever any of it changed. */
export interface PlanUpdatedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "plan_updated";
  /** All entries in order. */
  entries: {
    /** What is to be done. */
    content: string;
    /** `pending`, `in_progress`, `completed`, or the runner's own word. */
    status: string;
    /** `high`, `medium`, `low`, or the runner's own word. */
    priority: string | null;
  }[];
}

/** The run went from one state to another. */
export interface StatusChangedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "status_changed";
  /** The state before. */
  old_status: string;
  /** The state now. */
  new_status: string;
  /** Why. */
  reason: string | null;
}

/** Something worth telling that has no word of its own. */
export interface LogEmittedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "log_emitted";
  /** How loud. */
  level: "debug" | "info" | "warn" | "error";
  /** The text. */
  message: string;
}

/** Something went wrong; the run may go on. */
export interface ErrorReportedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "error_reported";
  /** How far it reaches. */
  scope: "run" | "turn" | "provider";
  /**
   * A stable, machine-readable word.
   * @minLength 1
   */
  code: string;
  /** What a person is told. */
  message: string;
  /** Whether trying again may help. */
  retryable: boolean;
  /**
   * Which attempt failed, from 1.
   * @minimum 0
   */
  attempt: number | null;
  /**
   * How many attempts there will be.
   * @minimum 0
   */
  max_attempts: number | null;
  /**
   * The provider's HTTP status.
   * @minimum 0
   * @maximum 999
   */
  http_status: number | null;
}

/** A subagent began its work. */
export interface SubagentStartedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "subagent_started";
  /** The subagent's id. */
  subagent_id: string;
  /**
   * The tool call that started it.
   * @format uuid
   */
  tool_id: string | null;
  /** The kind of agent. */
  agent: string | null;
  /** What it was told to do. */
  task: string | null;
  /**
   * 1 for a child of the main thread.
   * @minimum 1
   */
  depth: number;
}

/** A subagent is done. */
export interface SubagentEndedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "subagent_ended";
  /** The subagent's id. */
  subagent_id: string;
  /** `completed`, `failed`, `cancelled` or `interrupted`. */
  status: string;
  /** What it reported. */
  summary: string | null;
}

/** The runner replaced a part of its history by a summary. */
export interface HistoryCompactedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "history_compacted";
  /** `manual`, `auto`, or the runner's own word. */
  trigger: string | null;
  /**
   * Tokens of context before.
   * @minimum 0
   */
  tokens_before: number | null;
  /**
   * Tokens of context after.
   * @minimum 0
   */
  tokens_after: number | null;
  /** The summary. */
  summary: string | null;
}

/** A part of the stream is lost. */
export interface GapDetectedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "gap_detected";
  /**
   * The first sequence that is missing.
   * @minimum 0
   */
  first_seq: number | null;
  /**
   * The last sequence that is missing.
   * @minimum 0
   */
  last_seq: number | null;
  /** Why. */
  reason: string;
}

/** Background work begins. */
export interface ToolTaskSpawnedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_task_spawned";
  /**
   * The task.
   * @format uuid
   */
  task_id: string;
  /** The tool that started it. */
  tool_name: string;
  /** The arguments: an object, or a string where the model's arguments were not a JSON object. */
  args: {
    [key: string]: unknown;
  } | string;
  /** Its working directory. */
  cwd: string | null;
  /** A title for people. */
  title: string | null;
  /** How its process is connected. */
  execution_mode: "pipes" | "pty";
  /**
   * The run that it came from.
   * @format uuid
   */
  origin_session_id: string | null;
  /** References to its logs. */
  artifacts: {
    [key: string]: unknown;
  } | null;
}

/** Where background work stands. */
export interface ToolTaskStatusEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_task_status";
  /**
   * The task.
   * @format uuid
   */
  task_id: string;
  /** The state. */
  status: "queued" | "running" | "exited" | "cancelled" | "failed";
  /** The process's exit code. */
  exit_code: number | null;
  /**
   * Unix epoch milliseconds.
   * @minimum 0
   */
  started_at_ms: number | null;
  /**
   * Unix epoch milliseconds.
   * @minimum 0
   */
  ended_at_ms: number | null;
  /** References to its logs. */
  artifacts: {
    [key: string]: unknown;
  } | null;
  /** What went wrong. */
  error: string | null;
}

/** Somebody wants background work to stop. */
export interface ToolTaskCancelRequestedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_task_cancel_requested";
  /**
   * The task.
   * @format uuid
   */
  task_id: string;
  /** Why. */
  reason: string;
}

/** Background work was stopped. */
export interface ToolTaskCancelledEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_task_cancelled";
  /**
   * The task.
   * @format uuid
   */
  task_id: string;
  /** Why. */
  reason: string;
  /**
   * Milliseconds that it ran.
   * @minimum 0
   */
  wall_time_ms: number | null;
}

/** A piece of a task's output. */
export interface ToolTaskOutputDeltaEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_task_output_delta";
  /**
   * The task.
   * @format uuid
   */
  task_id: string;
  /** Where it came from. */
  stream: "stdout" | "stderr" | "pty";
  /** The piece. */
  chunk: string;
  /** Where it is stored. */
  artifacts: {
    [key: string]: unknown;
  } | null;
}

/** Something was typed into a task's terminal. */
export interface ToolTaskStdinWrittenEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_task_stdin_written";
  /**
   * The task.
   * @format uuid
   */
  task_id: string;
  /** The bytes, in base64 with padding. */
  chunk_b64: string;
}

/** A task's terminal changed its size. */
export interface ToolTaskResizedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_task_resized";
  /**
   * The task.
   * @format uuid
   */
  task_id: string;
  /**
   * Rows.
   * @minimum 0
   * @maximum 65535
   */
  rows: number;
  /**
   * Columns.
   * @minimum 0
   * @maximum 65535
   */
  cols: number;
}

/** A task was sent a signal. */
export interface ToolTaskSignalledEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "tool_task_signalled";
  /**
   * The task.
   * @format uuid
   */
  task_id: string;
  /** The signal's name. */
  signal: string;
}

/** A stored object was written. */
export interface ArtifactWrittenEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "artifact_written";
  /**
   * Its id.
   * @minLength 1
   */
  artifact_id: string;
  /** What it is. */
  kind: string;
  /**
   * Its size.
   * @minimum 0
   */
  bytes: number;
  /** `sha256:` and the lower-case hex digest. */
  digest: string;
  /** The beginning of the content, bounded. */
  preview: string | null;
}

/** The list of skills changed. */
export interface SkillCatalogUpdatedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "skill_catalog_updated";
  /**
   * How many there are.
   * @minimum 0
   */
  count: number;
  /** Where they were found. */
  roots: string[];
  /** Names that are there twice. */
  collisions: {
    [key: string]: unknown;
  } | null;
}

/** A skill was read. */
export interface SkillLoadedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "skill_loaded";
  /** Its name. */
  name: string;
  /** Its path. */
  path: string;
  /** The digest of its text. */
  digest: string;
  /** Its front matter. */
  frontmatter: {
    [key: string]: unknown;
  };
  /** What is odd about it. */
  warnings: string[] | null;
}

/** A skill was put to use. */
export interface SkillInvokedEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "skill_invoked";
  /** Its name. */
  name: string;
  /** Its arguments. */
  args: {
    [key: string]: unknown;
  } | string | null;
  /** Who asked for it. */
  mode: "manual" | "auto";
  /** The tools that it may use. */
  effective_allowed_tools: string[] | null;
}

/** Something is odd about a skill. */
export interface SkillWarningEvent extends FramesV2Envelope {
  /** The event's type. */
  type: "skill_warning";
  /** Its name. */
  name: string | null;
  /** What kind of oddity. */
  kind: string;
  /** What a person is told. */
  detail: string;
}
