// Where the page's data comes from: a proxy, or the JSON within an exported file.
//
// Views use a `Source` and never `fetch`. What a source cannot do it says in `can`: a view does not offer it.
import type {
  ApprovalAnswer,
  Catalogue,
  FramesV2,
  IngestResult,
  RunFilter,
  RunPage as ClientRunPage,
  RunStatus,
  StartRun,
  UpstreamList,
} from "@framegate/client";

export type Frame = FramesV2.FramesV2Event;
export type FrameType = Frame["type"];

/** A run's status. */
export type Run = RunStatus & {
  /** The first prompt on one line; absent if unknown. */
  title?: string;
  /** The model that the run named last; absent if unknown. */
  model?: string;
  /** What the client that sent or started the run said about it. */
  labels?: Readonly<Record<string, string>>;
};
export type RunPage = Omit<ClientRunPage, "data"> & { data: Run[] };
export type RunQuery = RunFilter & { limit?: number; skip?: number };
export type Upstream = UpstreamList["upstreams"][number];
export type Scope = "read" | "control" | "ingest" | "admin";
export type { ApprovalAnswer, Catalogue, IngestResult, StartRun };

export interface Access {
  tokens_required: boolean;
  scopes: Scope[];
  version: string;
}

/** What the reader may do here. */
export interface Abilities {
  /** Start runs, answer questions, send prompts, interrupt. */
  control: boolean;
  /** Send in files with a runner's output. */
  ingest: boolean;
  /** Whether anything can change by itself. */
  live: boolean;
}

/** A frame, what it came from and what came of it. */
export interface TraceItem {
  /** The frame's number; for frames that are no longer kept, the first one. */
  seq?: number;
  /** Frames that are no longer kept are one `gap_detected`. */
  frame: Frame;
  /** The number of the upstream record, from 0; null if the frame came from none. */
  record: number | null;
  events: TraceEvent[];
  findings: Finding[];
}

export interface TraceEvent {
  /** Null if the event has no `id:`. */
  cursor: string | null;
  type: string;
  event: unknown;
  /** Whether it stands in for an event that the gate withheld. */
  withheld: boolean;
  /** The type of the withheld event. */
  withheld_type?: string;
  /** `path`: a JSON pointer into the event; of a withheld event, into that. */
  violations: { rule: string; severity?: "error" | "warning"; path: string; message: string }[];
}

export interface Finding {
  kind: "warning" | "drift" | "redaction" | "invalid_record" | "oversized_record" | "unknown_record" | "gap";
  code: string;
  message: string;
  path?: string;
}

export interface TracePage {
  contract: string;
  data: TraceItem[];
  has_more: boolean;
  /** The `after` of the next page; null if there are no frames yet. */
  next_after: number | null;
  /** Whether the contract's rules between events were checked, as they are on pages that begin among the first frames of a run. */
  rules_checked?: boolean;
}

export interface TraceQuery {
  contract: string;
  after?: number;
  limit?: number;
  experimental?: boolean;
  user_messages?: boolean;
}

export interface StatsFigures {
  runs: number;
  completed: number;
  failed: number;
  interrupted: number;
  open: number;
  /** Of the runs that have ended. Rows of tools have neither this nor warnings. */
  duration_ms?: number;
  tool_calls?: number;
  failed_tool_calls?: number;
  /** The time of the tool calls that ran to their end. */
  tool_duration_ms?: number;
  /** Model calls of the main threads. */
  turns?: number;
  warnings?: number;
  /** Figures that no run of the group reported are absent. */
  input_tokens?: number;
  output_tokens?: number;
  cache_read_tokens?: number;
  cache_creation_tokens?: number;
  reasoning_tokens?: number;
  cost_usd?: number;
  runs_with_cost?: number;
}

export type StatsGroup = "day" | "runner" | "model" | "session" | "label" | "tool";
/** `rest`: the row sums what has no row of its own. */
export type StatsRow = StatsFigures & Partial<Record<StatsGroup, string>> & { rest?: boolean };

export interface Stats {
  by: StatsGroup[];
  data: StatsRow[];
  total: StatsFigures;
  tools: { name: string; kind: string; calls: number; failed: number; duration_ms?: number; timed_calls?: number; rest?: boolean }[];
  /** Runs whose tools are not known; absent if there are none. */
  runs_without_tools?: number;
}

export interface StatsQuery {
  by?: StatsGroup[];
  since?: number;
  until?: number;
  runner?: string;
  session_id?: string;
  label?: string;
  tz?: string;
}

/** How a stream of frames is doing. */
export type Connection =
  | { state: "connecting" }
  /** All that there is was read; more may come. */
  | { state: "live" }
  /** The connection was lost and is opened again. `failures`: attempts in a row. */
  | { state: "reconnecting"; failures: number; reason: string }
  /** The run has ended, and all of it was read. */
  | { state: "ended" };

export interface FollowOptions {
  /** Strictly after this `seq`; -1 for the beginning. */
  after: number;
  /** Leave out these types if the source can. The frames that arrive may have them still. */
  without?: readonly FrameType[];
  signal: AbortSignal;
  /** Frames in order of arrival, many at once while a long run is read. */
  onFrames(frames: Frame[]): void;
  onConnection(connection: Connection): void;
}

/** A change to a run that a list of runs shows. */
export type RunChange = Extract<
  Frame,
  {
    type:
      | "session_started" | "session_ended" | "approval_requested" | "approval_resolved"
      | "turn_started" | "usage_reported" | "tool_ended" | "tool_failed" | "error_reported";
  }
>; // prettier-ignore

export interface FramesQuery {
  /** Strictly after this `seq`; -1 for the beginning. */
  after: number;
  limit: number;
  types?: readonly FrameType[];
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface IngestOptions extends CallOptions {
  idempotencyKey?: string;
  onProgress?: (sent: number) => void;
}

export const TEXT_KINDS = ["prompt", "answer", "reasoning", "tool_input", "tool_output", "error"] as const;
export type TextKind = (typeof TEXT_KINDS)[number];

export interface TextHit {
  kind: TextKind;
  run_id: string | null;
  stream_kind: "session" | "task";
  stream_id: string;
  runner: string;
  title?: string;
  first_frame: number;
  last_frame: number;
  timestamp_ms: number;
  excerpt: { text: string; is_match: boolean }[];
}

export interface TextPage {
  data: TextHit[];
  next: string | null;
  is_complete: boolean;
}

export interface TextQuery {
  q: string;
  kind?: TextKind;
  runner?: string;
  after?: string;
  limit?: number;
}

export interface Source {
  readonly kind: "proxy" | "export";

  access(options?: CallOptions): Promise<Access>;
  runs(query: RunQuery, options?: CallOptions): Promise<RunPage>;
  run(runId: string, options?: CallOptions): Promise<Run>;
  /** Reads a run's frames, then follows it. Fulfilled when the run has ended and all of it was read; rejected if reading is hopeless. */
  follow(runId: string, options: FollowOptions): Promise<void>;
  /** Some frames, provider events included, in order; at most `limit`, and all if there are none. `types`: only these. */
  frames(runId: string, query: FramesQuery, options?: CallOptions): Promise<Frame[]>;
  trace(runId: string, query: TraceQuery, options?: CallOptions): Promise<TracePage>;
  stats(query: StatsQuery, options?: CallOptions): Promise<Stats>;
  /** Texts of all runs that have the words, newest first. */
  search(query: TextQuery, options?: CallOptions): Promise<TextPage>;
  /** The rows of `stats` as CSV. */
  statsCsv(query: StatsQuery, options?: CallOptions): Promise<string>;
  catalogue(options?: CallOptions): Promise<Catalogue>;
  upstreams(options?: CallOptions): Promise<Upstream[]>;
  /** The bytes of an artifact, with the media type under which they are safe to show. */
  artifact(artifactId: string, options?: CallOptions): Promise<Blob>;
  /** Calls back when a run begins, ends, waits for something, or has new figures, until the signal aborts. */
  watchRuns(onChange: (change: RunChange) => void, onConnection: (connection: Connection) => void, signal: AbortSignal): Promise<void>;

  /** The same key never starts a second run. */
  startRun(order: StartRun, options?: CallOptions & { idempotencyKey?: string }): Promise<Run>;
  interrupt(runId: string): Promise<void>;
  answer(runId: string, approvalId: string, answer: ApprovalAnswer): Promise<void>;
  sendMessage(sessionId: string, prompt: string): Promise<void>;
  /** Sends a runner's output in. `onProgress` gets the number of bytes that were sent. */
  ingest(runner: string, file: Blob, options?: IngestOptions): Promise<IngestResult>;
}

/** Something that this source does not have. */
export class NotAvailable extends Error {
  override name = "NotAvailable";
}
