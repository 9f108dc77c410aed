// The objects of the API, from clients/api.json. Written by scripts/generate.mjs; do not edit.

export interface ApprovalAnswer {
  /** For each question that asks for choices or text: the chosen or written answers. */
  answers?: (string | string[])[];
  /** `cancelled` also ends the runner's current work, if its protocol can express that. */
  decision: "approved" | "approve" | "allow" | "rejected" | "reject" | "deny" | "cancelled" | "cancel";
  /** The reason, which the runner and its model can read. */
  reason?: string;
  /** How far an approval reaches; once by default. */
  scope?: "once" | "session" | "always";
}

export type ApprovalDecision = "approved" | "rejected" | "cancelled";

export interface ApprovalResult {
  approval_id: string;
  /** The token that answered, as in the run's events. */
  by: string;
  decision: "approved" | "rejected" | "cancelled";
  run_id: string;
}

/** How far an approval reaches; once by default. */
export type ApprovalScope = "once" | "session" | "always";

export interface Catalogue {
  contracts: {
    about: string;
    cursor: string | null;
    document: string | null;
    log: boolean;
    media_types: string[];
    name: string;
    schema: string | null;
    sse: "bare" | "named" | "raw";
    type_key: string;
    types: {
      name: string;
      schema: string;
    }[];
    version: string | null;
  }[];
  runners: {
    about: string;
    name: string;
    provider: string;
    surfaces: {
      name: string;
      source: string;
    }[];
  }[];
}

export interface IngestResult {
  /** Records that are not JSON, not UTF-8, or too large. */
  invalid_records: number;
  /** Another runner that the input looks like. */
  looks_like?: string;
  records: number;
  /** The number of runs that were already in the log. */
  repeated_runs: number;
  runs: RunStatus[];
  /** Records of an unknown type or with an unknown part. */
  unknown_records: number;
}

export interface InterruptAccepted {
  run_id: string;
}

export interface MessageAccepted {
  session_id: string;
}

export interface Problem {
  detail: string;
  /** Records that are not JSON, not UTF-8, or too large. */
  invalid_records?: number;
  /** The runner that the input looks like. */
  looks_like?: string;
  /** For an ingest: the number of records that were read. */
  records?: number;
  status: number;
  title: string;
  type: string;
  /** Records of an unknown type or with an unknown part. */
  unknown_records?: number;
}

/** One record of the runner. */
export interface RawRecord {
  /** The record's JSON object, unchanged. */
  data: { [key: string]: unknown } | null;
  /** The `event:` value of a server-sent event. */
  event_name: string | null;
  /** The record's text, if `data` alone does not preserve it. */
  raw: string | null;
  /** The cursor: the record's number in the run. */
  record: number;
  /** The kind of record. */
  status: "event" | "done" | "invalid_json";
}

export interface RunPage {
  data: RunStatus[];
  next_skip: number | null;
  object: "list";
}

export type RunState = "running" | "waiting_approval" | "completed" | "failed" | "interrupted";

export interface RunStatus {
  approvals: {
    approval_id: string;
    reason?: string;
    /** Unix epoch milliseconds. */
    requested_at_ms: number;
    seq: number;
    tool_name: string;
  }[];
  /** The unreadable part of the run; its events end there. */
  damaged?: string;
  drift?: { [key: string]: number };
  /** Unix epoch milliseconds. */
  ended_at_ms?: number;
  error_code?: string;
  events_checked?: { [key: string]: number };
  events_withheld?: { [key: string]: number };
  /** How the program ended: an exit status or a signal. */
  exit?: {
    signal?: number;
    status?: number;
  };
  final_text?: string;
  frames: number;
  invalid_records: number;
  message?: string;
  /** Why the latest frames are not stored. The run does not end before they are. */
  not_kept?: "log_full" | "log_failed";
  pending_approvals: string[];
  pruned_frames?: number;
  records: number;
  records_with_errors: number;
  response_id?: string;
  run_id: string;
  runner: "claude-code" | "codex" | "opencode" | "open-responses";
  session_id: string;
  session_name?: string;
  /** Unix epoch milliseconds. */
  started_at_ms: number;
  state: "running" | "waiting_approval" | "completed" | "failed" | "interrupted";
  tool_calls: number;
  /** Unix epoch milliseconds. */
  updated_at_ms: number;
  /** Figures that no record reported are absent. */
  usage: {
    cache_creation_tokens?: number;
    cache_read_tokens?: number;
    cost_usd?: number;
    input_tokens?: number;
    output_tokens?: number;
    reasoning_tokens?: number;
  };
  validation_failures: { [key: string]: number };
  warnings: { [key: string]: number };
}

export type Runner = "claude-code" | "codex" | "opencode" | "open-responses";

export interface StartRun {
  /** The working directory: one that the upstream allows, or a directory below it. */
  cwd?: string;
  /** Images and files that belong to the prompt, if the runner takes them. */
  files?: {
    /** The content, as base64 with padding. Either this or `url`. */
    data?: string;
    /** The media type. A `data:` URL may have it instead. */
    media_type?: string;
    /** The file name. */
    name?: string;
    /** An `http`, `https` or `data:` URL of the content. The runner's model fetches it, not the proxy. */
    url?: string;
  }[];
  /** A mode of the upstream's runner, as in `GET /v1/upstreams`. Default: the upstream's, else the runner's own. */
  mode?: string;
  /** The model. Default: the upstream's, else the runner's own. */
  model?: string;
  /** The task for the runner. */
  prompt: string;
  /** The session to continue: its id as in `GET /v1/runs`, or in the runner's spelling. */
  session_id?: string;
  /** The name of a configured upstream. */
  upstream: string;
}

export interface UpstreamList {
  upstreams: {
    kind: "command" | "sse" | "responses";
    /** The mode of requests that choose none; absent if the runner chooses. */
    mode?: string;
    /** The modes of the runner that requests may choose. */
    modes: {
      /** What the runner does in this mode; absent if the proxy does not know it. */
      about?: string;
      /** The name by which requests choose it. */
      name: string;
      /** A title for users. */
      title: string;
    }[];
    name: string;
    /** The path at which a POST starts a run; absent if runs only begin elsewhere. */
    path?: string;
    /** Why the last connection attempt failed. */
    reason?: string;
    /** The runner whose output it sends. */
    runner: string;
    /** Unix epoch milliseconds of the last state change. */
    since_ms?: number;
    /** The state of the connection to the feed; absent if there is no feed. */
    state?: "connecting" | "connected" | "lost";
    /** Whether prompts may have images. */
    takes_images: boolean;
    /** Whether runs accept answers and further prompts. */
    takes_messages: boolean;
    /** Whether `POST /v1/runs` starts a run with a prompt. */
    takes_prompts: boolean;
  }[];
}
