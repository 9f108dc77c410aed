// The events of frames.v1, from its JSON Schemas. Written by `framegate schema frames.v1 --typescript`; do not edit.

/** Any event of frames.v1: canonical frames with a session-scoped envelope, limited to the types of phase 1. */
export type FramesV1Event = FramesV1Events[FramesV1EventType];

/** The event types of frames.v1, the values of `type`. */
export type FramesV1EventType = keyof FramesV1Events;

/** Maps each type of frames.v1 to its event. */
export interface FramesV1Events {
  session_started: SessionStartedEvent;
  output_text_delta: OutputTextDeltaEvent;
  session_ended: SessionEndedEvent;
  tool_started: ToolStartedEvent;
  tool_stdout: ToolStdoutEvent;
  tool_stderr: ToolStderrEvent;
  tool_ended: ToolEndedEvent;
  tool_failed: ToolFailedEvent;
  provider_event: ProviderEvent;
  checkpoint_created: CheckpointCreatedEvent;
  checkpoint_rewound: CheckpointRewoundEvent;
  checkpoint_failed: CheckpointFailedEvent;
  tool_task_spawned: ToolTaskSpawnedEvent;
  tool_task_status: ToolTaskStatusEvent;
  tool_task_cancel_requested: ToolTaskCancelRequestedEvent;
  tool_task_cancelled: ToolTaskCancelledEvent;
  tool_task_output_delta: ToolTaskOutputDeltaEvent;
  tool_task_stdin_written: ToolTaskStdinWrittenEvent;
  tool_task_resized: ToolTaskResizedEvent;
  tool_task_signalled: ToolTaskSignalledEvent;
}

/** The properties that all events of frames.v1 have. */
export interface FramesV1Envelope {
  /**
   * The frame's id, a UUID in our own frames.
   * @minLength 1
   */
  id: string;
  /**
   * The stream's id: a run, a task, or the thread of what was said outside any run.
   * @minLength 1
   */
  session_id: string;
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
}

/** A run begins. The first frame of its stream. */
export interface SessionStartedEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "session_started";
  /** The prompt if the runner reports it or the proxy sent it, otherwise empty. */
  input: string;
  [key: string]: unknown;
}

/** A piece of the assistant's text. */
export interface OutputTextDeltaEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "output_text_delta";
  /** The piece. */
  delta: string;
  [key: string]: unknown;
}

/** A run is over. The last frame of its stream. */
export interface SessionEndedEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "session_ended";
  /**
   * How it ended: `completed`, `failed`, `interrupted`, or another writer's own word.
   * @minLength 1
   */
  reason: string;
  [key: string]: unknown;
}

/** A tool runs. */
export interface ToolStartedEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_started";
  /**
   * UUIDv5 of the runner's own call id.
   * @format uuid
   */
  tool_id: string;
  /** The tool's name, the runner's own; empty where the runner gave none. */
  name: string;
  /** The arguments; ones that are no JSON object stand under `raw`. */
  args: {
    [key: string]: unknown;
  };
  /**
   * The runner's own limit in milliseconds.
   * @minimum 0
   */
  timeout_ms?: number | null;
  [key: string]: unknown;
}

/** A piece of a tool's standard output, or of its result where it has no streams. */
export interface ToolStdoutEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_stdout";
  /**
   * UUIDv5 of the runner's own call id.
   * @format uuid
   */
  tool_id: string;
  /** The piece; empty where it says only that nothing followed the pieces before for a while. */
  chunk: string;
  [key: string]: unknown;
}

/** A piece of a tool's standard error. */
export interface ToolStderrEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_stderr";
  /**
   * UUIDv5 of the runner's own call id.
   * @format uuid
   */
  tool_id: string;
  /** The piece; empty where it says only that nothing followed the pieces before for a while. */
  chunk: string;
  [key: string]: unknown;
}

/** A tool ran to its end, well or badly. */
export interface ToolEndedEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_ended";
  /**
   * UUIDv5 of the runner's own call id.
   * @format uuid
   */
  tool_id: string;
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
  artifacts?: {
    [key: string]: unknown;
  } | null;
  [key: string]: unknown;
}

/** A tool never ran, was refused, or was cut off. */
export interface ToolFailedEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_failed";
  /**
   * UUIDv5 of the runner's own call id.
   * @format uuid
   */
  tool_id: string;
  /** What the runner says of it. */
  error: string;
  [key: string]: unknown;
}

/** One upstream record, as it came. */
export interface ProviderEvent extends FramesV1Envelope {
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
  event_name?: string | null;
  /** The record's JSON object, as it came. */
  data?: {
    [key: string]: unknown;
  } | null;
  /** The record's text, only where `data` alone cannot give it back. */
  raw?: string | null;
  /** What is wrong with the record. */
  errors: string[];
  /** What is wrong with the response object in the record. */
  response_errors: string[];
  [key: string]: unknown;
}

/** A checkpoint of the workspace was made. */
export interface CheckpointCreatedEvent extends FramesV1Envelope {
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
  tool_name?: string | null;
  [key: string]: unknown;
}

/** The workspace went back to a checkpoint. */
export interface CheckpointRewoundEvent extends FramesV1Envelope {
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
  [key: string]: unknown;
}

/** A checkpoint could not be made or restored. */
export interface CheckpointFailedEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "checkpoint_failed";
  /** What was tried. */
  action: "create" | "rewind";
  /** What went wrong. */
  error: string;
  [key: string]: unknown;
}

/** Background work begins. */
export interface ToolTaskSpawnedEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_task_spawned";
  /**
   * The task: the stream's id.
   * @minLength 1
   */
  task_id: string;
  /** The tool that started it. */
  tool_name: string;
  /** The arguments: an object, or a string where the model's arguments were not a JSON object. */
  args: unknown;
  /** Its working directory. */
  cwd?: string | null;
  /** A title for people. */
  title?: string | null;
  /** How its process is connected. */
  execution_mode: "pipes" | "pty";
  /** The run that it came from. */
  origin_session_id?: string | null;
  /** References to its logs. */
  artifacts?: unknown;
  [key: string]: unknown;
}

/** Where background work stands. */
export interface ToolTaskStatusEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_task_status";
  /**
   * The task: the stream's id.
   * @minLength 1
   */
  task_id: string;
  /**
   * The state: queued, running, exited, cancelled or failed in our own frames.
   * @minLength 1
   */
  status: string;
  /** The process's exit code. */
  exit_code?: number | null;
  /**
   * Unix epoch milliseconds.
   * @minimum 0
   */
  started_at_ms?: number | null;
  /**
   * Unix epoch milliseconds.
   * @minimum 0
   */
  ended_at_ms?: number | null;
  /** References to its logs. */
  artifacts?: unknown;
  /** What went wrong. */
  error?: string | null;
  [key: string]: unknown;
}

/** Somebody wants background work to stop. */
export interface ToolTaskCancelRequestedEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_task_cancel_requested";
  /**
   * The task: the stream's id.
   * @minLength 1
   */
  task_id: string;
  /** Why. */
  reason: string;
  [key: string]: unknown;
}

/** Background work was stopped. */
export interface ToolTaskCancelledEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_task_cancelled";
  /**
   * The task: the stream's id.
   * @minLength 1
   */
  task_id: string;
  /** Why. */
  reason: string;
  /**
   * Milliseconds that it ran.
   * @minimum 0
   */
  wall_time_ms?: number | null;
  [key: string]: unknown;
}

/** A piece of a task's output. */
export interface ToolTaskOutputDeltaEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_task_output_delta";
  /**
   * The task: the stream's id.
   * @minLength 1
   */
  task_id: string;
  /** Where it came from. */
  stream: "stdout" | "stderr" | "pty";
  /** The piece. */
  chunk: string;
  /** Where it is stored. */
  artifacts?: unknown;
  [key: string]: unknown;
}

/** Something was typed into a task's terminal. */
export interface ToolTaskStdinWrittenEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_task_stdin_written";
  /**
   * The task: the stream's id.
   * @minLength 1
   */
  task_id: string;
  /** The bytes, in base64 with padding. */
  chunk_b64: string;
  [key: string]: unknown;
}

/** A task's terminal changed its size. */
export interface ToolTaskResizedEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_task_resized";
  /**
   * The task: the stream's id.
   * @minLength 1
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
  [key: string]: unknown;
}

/** A task was sent a signal. */
export interface ToolTaskSignalledEvent extends FramesV1Envelope {
  /** The event's type. */
  type: "tool_task_signalled";
  /**
   * The task: the stream's id.
   * @minLength 1
   */
  task_id: string;
  /** The signal's name. */
  signal: string;
  [key: string]: unknown;
}
