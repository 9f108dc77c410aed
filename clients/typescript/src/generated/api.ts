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

/** What the run's tokens cost by the price table of the proxy: an amount, or the reason why there is none. */
export interface ComputedCost {
  /** Why the amount is not exact; absent if it is. */
  approximate?: ("models_not_reported" | "call_sizes_not_reported")[];
  /** The same for people. */
  message?: string;
  /** The models without a price. */
  models?: string[];
  /** Why there is no amount. */
  unpriced?: "no_usage" | "no_model" | "no_price";
  /** US dollars. */
  usd?: number;
}

export interface IngestResult {
  /** Records that are not JSON, not UTF-8, or too large. */
  invalid_records: number;
  /** Another runner that the input looks like. */
  looks_like?: string;
  records: number;
  /** The number of runs that were already in the log. */
  repeated_runs: number;
  /** The number of runs that replaced shorter ones in the log. */
  replaced_runs?: number;
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

/** Calls of a model whose inputs have a size between the same limits. */
export interface ModelFigures {
  /** The size that the whole input of each of these calls exceeds, in tokens: 32000, 100000, 128000, 200000, 256000, 272000. Absent for smaller calls. */
  above_input_tokens?: number;
  /** The part of `cache_creation_tokens` that was written to entries which live for one hour; absent if there is none. */
  cache_creation_1h_tokens?: number;
  /** Input tokens written to the cache; absent if there are none. */
  cache_creation_tokens?: number;
  /** Input tokens read from the cache; absent if there are none. */
  cache_read_tokens?: number;
  /** Calls that the runner reported one by one. */
  calls: number;
  /** Input tokens read outside the cache. */
  input_tokens: number;
  /** The model as the runner spells it; absent if the runner does not name it. */
  model?: string;
  /** Output tokens, including reasoning. */
  output_tokens: number;
  /** The part of `output_tokens` that was reasoning; absent if there are none. */
  reasoning_tokens?: number;
  /** True in the last entry if it sums what is beyond the first 32 entries of a run; its model is `other`. */
  rest?: boolean;
}

/** The part of a run's total that belongs to one model. */
export interface ModelTotal {
  /** The part of `cache_creation_tokens` that was written to entries which live for one hour; absent if there is none. */
  cache_creation_1h_tokens?: number;
  /** Input tokens written to the cache. */
  cache_creation_tokens: number;
  /** Input tokens read from the cache. */
  cache_read_tokens: number;
  /** Input tokens read outside the cache. */
  input_tokens: number;
  /** The model as the runner spells it. */
  model: string;
  /** Output tokens, including reasoning. */
  output_tokens: number;
  /** The part of `output_tokens` that was reasoning. */
  reasoning_tokens: number;
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
  computed_cost?: ComputedCost;
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
  /** Tool calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0; absent if an older version stored the status. */
  failed_tool_calls?: number;
  final_text?: string;
  frames: number;
  invalid_records: number;
  /** What the client that sent or started the run said about it. At most 16; a key has 1 to 64 of the characters `a-z A-Z 0-9 . _ - /` and begins with a letter or digit, a value has 1 to 256 bytes. */
  labels?: { [key: string]: string };
  message?: string;
  /** The model that the run named last. */
  model?: string;
  /** The model calls that the runner reported one by one, by model; absent if an older version stored the status. */
  models?: ModelFigures[];
  /** Why the latest frames are not stored. The run does not end before they are. */
  not_kept?: "log_full" | "log_failed";
  pending_approvals: string[];
  pruned_frames?: number;
  records: number;
  records_with_errors: number;
  response_id?: string;
  run_id: string;
  runner: "claude-code" | "codex" | "opencode" | "open-responses" | "gemini-cli" | "qwen-code" | "pi" | "copilot" | "acp" | "frames";
  session_id: string;
  session_name?: string;
  /** Unix epoch milliseconds. */
  started_at_ms: number;
  state: "running" | "waiting_approval" | "completed" | "failed" | "interrupted";
  /** The first prompt, on one line. */
  title?: string;
  /** Tool calls that began, including those of subagents. */
  tool_calls: number;
  /** The tool calls by tool, in the order of the first calls; absent if an older version stored the status. */
  tools?: ToolFigures[];
  /** Model calls of the main thread; absent if an older version stored the status. */
  turns?: number;
  /** Unix epoch milliseconds. */
  updated_at_ms: number;
  /** Tokens, and the cost that the runner reported. Figures that no record reported are absent. */
  usage: {
    /** The part of each model, if the runner's own total has several and gives their parts. */
    by_model?: ModelTotal[];
    /** The part of `cache_creation_tokens` that was written to entries which live for one hour. */
    cache_creation_1h_tokens?: number;
    cache_creation_tokens?: number;
    cache_read_tokens?: number;
    /** US dollars, as the runner reported them. */
    cost_usd?: number;
    input_tokens?: number;
    /** The model of all these tokens, if the runner's own total names one. */
    model?: string;
    output_tokens?: number;
    reasoning_tokens?: number;
  };
  validation_failures: { [key: string]: number };
  warnings: { [key: string]: number };
  /** Where the run works, as far as its runner reported it. */
  workspace?: {
    /** The branch. */
    branch?: string;
    /** The working directory, as the runner spells it. */
    directory?: string;
    /** The repository as `host/path`, without scheme, user and `.git`. */
    repository?: string;
  };
}

export type Runner = "claude-code" | "codex" | "opencode" | "open-responses" | "gemini-cli" | "qwen-code" | "pi" | "copilot" | "acp" | "frames";

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
  /** What the client says about the run. At most 16; a key has 1 to 64 of the characters `a-z A-Z 0-9 . _ - /` and begins with a letter or digit, a value has 1 to 256 bytes. */
  labels?: { [key: string]: string };
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

export interface Stats {
  by: ("day" | "runner" | "model" | "session" | "label" | "directory" | "repository" | "branch" | "tool")[];
  data: StatsRow[];
  object: "list";
  /** Runs whose tools are not known, because an older version stored their status; absent if there are none. */
  runs_without_tools?: number;
  tools: ToolFigures[];
  total: StatsFigures;
  /** The runs without a computed cost by the reason, the most frequent first. */
  unpriced?: {
    /** The model without a price; absent with the other reasons. */
    model?: string;
    reason: "no_usage" | "no_model" | "no_price";
    /** True in the last entry if it sums the models beyond the first 100. */
    rest?: boolean;
    /** A run with several models without a price is in the entry of each. */
    runs: number;
  }[];
}

/** Sums over a group of runs. A figure that no run of the group reported is absent. */
export interface StatsFigures {
  /** Input tokens written to the cache. */
  cache_creation_tokens?: number;
  /** Input tokens read from the cache. */
  cache_read_tokens?: number;
  /** Runs that succeeded. */
  completed: number;
  /** The cost in US dollars, computed from tokens and prices. */
  computed_cost_usd?: number;
  /** The cost in US dollars that runners reported. */
  cost_usd?: number;
  /** The time from the first to the last frame of the runs that have ended, in milliseconds. */
  duration_ms?: number;
  /** Runs that failed. */
  failed: number;
  /** Tool calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0. */
  failed_tool_calls?: number;
  /** Input tokens read outside the cache. */
  input_tokens?: number;
  /** Runs that were stopped, or whose stream broke off. */
  interrupted: number;
  /** Runs that have not ended yet. */
  open: number;
  /** Output tokens, including reasoning. */
  output_tokens?: number;
  /** The part of `output_tokens` that was reasoning. */
  reasoning_tokens?: number;
  /** The runs of the group. */
  runs: number;
  /** Those of them whose computed cost is not exact. */
  runs_with_approximate_cost?: number;
  /** The runs with a computed cost. */
  runs_with_computed_cost?: number;
  /** The runs that reported a cost. */
  runs_with_cost?: number;
  /** The runs that reported tokens. */
  runs_with_usage?: number;
  /** Tool calls that began. */
  tool_calls: number;
  /** The time of the tool calls that ran to their end, in milliseconds. Calls at the same time count separately. */
  tool_duration_ms?: number;
  /** Model calls of the main threads. */
  turns?: number;
  /** The runs without a computed cost. */
  unpriced_runs?: number;
  /** Warnings about the runs. */
  warnings?: number;
}

export type StatsGroup = "day" | "runner" | "model" | "session" | "label" | "directory" | "repository" | "branch" | "tool";

/** One group. What its runs do not have, and what none of them reported, is absent. */
export interface StatsRow {
  /** Their branch. */
  branch?: string;
  /** Input tokens written to the cache. */
  cache_creation_tokens?: number;
  /** Input tokens read from the cache. */
  cache_read_tokens?: number;
  /** Runs that succeeded. */
  completed: number;
  /** The cost in US dollars, computed from tokens and prices. */
  computed_cost_usd?: number;
  /** The cost in US dollars that runners reported. */
  cost_usd?: number;
  /** The day on which the runs began, as YYYY-MM-DD. */
  day?: string;
  /** Their working directory. */
  directory?: string;
  /** The time from the first to the last frame of the runs that have ended, in milliseconds. */
  duration_ms?: number;
  /** Runs that failed. */
  failed: number;
  /** Tool calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0. */
  failed_tool_calls?: number;
  /** Input tokens read outside the cache. */
  input_tokens?: number;
  /** Runs that were stopped, or whose stream broke off. */
  interrupted: number;
  /** A label of theirs, as `key:value`. A run is in the group of each of its labels. */
  label?: string;
  /** The last model that they named. */
  model?: string;
  /** Runs that have not ended yet. */
  open: number;
  /** Output tokens, including reasoning. */
  output_tokens?: number;
  /** The part of `output_tokens` that was reasoning. */
  reasoning_tokens?: number;
  /** Their repository, as `host/path`. */
  repository?: string;
  /** True in a row that sums what is beyond a limit: without keys, the groups beyond the first 10000; with keys, the tools beyond the first 64 of a run. */
  rest?: boolean;
  /** Their runner. */
  runner?: string;
  /** The runs of the group. */
  runs: number;
  /** Those of them whose computed cost is not exact. */
  runs_with_approximate_cost?: number;
  /** The runs with a computed cost. */
  runs_with_computed_cost?: number;
  /** The runs that reported a cost. */
  runs_with_cost?: number;
  /** The runs that reported tokens. */
  runs_with_usage?: number;
  /** The id of their session. */
  session?: string;
  /** A tool that they called. Its calls are the only ones in the row, which has no figures of whole runs. */
  tool?: string;
  /** Tool calls that began. */
  tool_calls: number;
  /** The time of the tool calls that ran to their end, in milliseconds. Calls at the same time count separately. */
  tool_duration_ms?: number;
  /** Model calls of the main threads. */
  turns?: number;
  /** The runs without a computed cost. */
  unpriced_runs?: number;
  /** Warnings about the runs. */
  warnings?: number;
}

/** The calls of a tool. */
export interface ToolFigures {
  /** Calls that began. */
  calls: number;
  /** The sum of the durations of `timed_calls`, in milliseconds; absent if there are none. */
  duration_ms?: number;
  /** Calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0. */
  failed: number;
  kind: "shell" | "read" | "write" | "edit" | "search" | "fetch" | "mcp" | "plan" | "subagent" | "other";
  /** The tool's name as the runner spells it, cut after 120 characters. */
  name: string;
  /** True in the last entry if it sums the tools beyond the first 64 of a run, or beyond 500 of an answer; its name is `other`. */
  rest?: boolean;
  /** Calls that ran to their end, successfully or not, and whose duration is known. */
  timed_calls: number;
}

export interface UpstreamList {
  upstreams: {
    kind: "command" | "acp" | "sse" | "responses";
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
