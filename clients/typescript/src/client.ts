// The client: one method for each request of framegate's own API. What goes over the wire has the names of the wire (`run_id`);
// options of a call have the names of the language (`timeoutMs`).
import { type Artifact, ArtifactDownload } from "./artifact.js";
import { TimeoutError } from "./errors.js";
import type {
  ApprovalAnswer,
  ApprovalResult,
  Catalogue,
  IngestResult,
  InterruptAccepted,
  MessageAccepted,
  RunPage,
  RunStatus,
  StartRun,
  Stats,
  StatsGroup,
  UpstreamList,
} from "./generated/api.js";
import type { ContractEvents, RunContractEvents } from "./generated/contracts.js";
import { type Call, type CallOptions, type ClientOptions, Http, newKey, type Query, sleep } from "./http.js";
import { EventStream, type StreamOptions } from "./stream.js";

export type Runner = RunStatus["runner"];
export type RunState = RunStatus["state"];
export type Upstream = UpstreamList["upstreams"][number];

/** Which runs to list. */
export interface RunFilter {
  state?: RunState;
  runner?: Runner;
  session_id?: string;
  /** Only runs with all of these labels. */
  labels?: Labels;
}

/** What a client says about runs: a value for each key. */
export type Labels = Readonly<Record<string, string>>;

/** Which runs count in figures, and what makes a group of them. */
export interface StatsQuery extends Omit<RunFilter, "state"> {
  /** Default: only the total. */
  by?: readonly StatsGroup[];
  /** Only runs that began then or later; a number is Unix epoch milliseconds. */
  since?: Date | number;
  /** Only runs that began before. */
  until?: Date | number;
  /** Where days begin: an offset from UTC such as `+02:00`. */
  tz?: string;
}

/** A question that a run is waiting for. */
export type PendingApproval = RunStatus["approvals"][number] & { run_id: string; session_id: string; runner: Runner };

/** A run that can be sent again: the same key never starts a second run. */
export interface KeyedOptions extends CallOptions {
  /** The client's name for this request. Default: a new one for each call, the same for its repetitions. */
  idempotencyKey?: string;
}

/** Which events to read, and from where. */
export interface EventOptions<C> extends StreamOptions {
  contract: C;
  /** The id of the last event that was received: `EventStream.cursor`. Default: from the beginning. */
  after?: string | number | undefined;
  /** Also the groups that the contract calls experimental. */
  experimental?: boolean;
  /** Also the user's messages in `hecate.v1`. */
  user_messages?: boolean;
}

/** The same for several runs. `after: "latest"` begins with new events. */
export interface FeedOptions<C> extends EventOptions<C> {
  /** Only events of these types. */
  event_type?: readonly string[];
  /** Only runs of this session. */
  session_id?: string;
}

/** A runner's output: whole, or as it arrives. */
export type IngestBody = string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

export interface IngestOptions extends KeyedOptions {
  /** How records are separated: `application/x-ndjson`, `text/event-stream`. Default: the first bytes show it. */
  contentType?: string;
  /** `gzip` or `zstd`. */
  contentEncoding?: string;
  /** Labels of the runs that begin in the body. */
  labels?: Labels;
}

const ENDED: readonly RunState[] = ["completed", "failed", "interrupted"];
/** Starting a runner takes up to a minute. */
const START_TIMEOUT_MS = 90_000;
/** Pause before a run's status is read again, if its events are over and it is not. */
const SETTLE_MS = 200;

/** A client of one proxy. */
export class Framegate {
  readonly #http: Http;

  constructor(options: ClientOptions) {
    this.#http = new Http(options);
  }

  /** A page of the stored runs, newest first. */
  runPage(query: RunFilter & { limit?: number; skip?: number } = {}, options: CallOptions = {}): Promise<RunPage> {
    const { labels, ...rest } = query;
    return this.#get("/v1/runs", { ...rest, label: labelList(labels) }, options);
  }

  /** All stored runs, newest first, page by page. */
  async *runs(query: RunFilter & { limit?: number } = {}, options: CallOptions = {}): AsyncGenerator<RunStatus, void, undefined> {
    // Runs that begin meanwhile move the others to later pages.
    let previous = new Set<string>();
    for (let skip: number | null = 0; skip !== null; ) {
      const page: RunPage = await this.runPage({ ...query, skip }, options);
      yield* page.data.filter((run) => !previous.has(run.run_id));
      previous = new Set(page.data.map((run) => run.run_id));
      skip = page.next_skip;
    }
  }

  /** A run's status. */
  run(runId: string, options: CallOptions = {}): Promise<RunStatus> {
    return this.#get(`/v1/runs/${encodeURIComponent(runId)}`, {}, options);
  }

  /** Figures over the stored runs: how they ended, time, tokens, cost, tools. A figure that no run reported is absent. */
  stats(query: StatsQuery = {}, options: CallOptions = {}): Promise<Stats> {
    const { by, since, until, labels, ...rest } = query;
    const times = { since: since === undefined ? since : Number(since), until: until === undefined ? until : Number(until) };
    return this.#get("/v1/stats", { by: by?.join(","), ...times, ...rest, label: labelList(labels) }, options);
  }

  /** Starts a run. The promise is fulfilled as soon as the runner has begun it. */
  startRun(order: StartRun, options: KeyedOptions = {}): Promise<RunStatus> {
    const headers = { "idempotency-key": options.idempotencyKey ?? newKey() };
    return this.#post("/v1/runs", order, { timeoutMs: START_TIMEOUT_MS, ...options }, { headers, isRepeatable: true });
  }

  /** Waits until a run has ended, and returns its last status. `timeoutMs` limits the wait; by default there is no limit. */
  async waitForRun(runId: string, options: CallOptions = {}): Promise<RunStatus> {
    const { timeoutMs = 0 } = options;
    const own = new AbortController();
    const stop = () => own.abort(options.signal?.reason);
    options.signal?.throwIfAborted();
    options.signal?.addEventListener("abort", stop, { once: true });
    const late = new TimeoutError(`the run ${runId} did not end within ${timeoutMs} ms`);
    const timer = timeoutMs > 0 ? setTimeout(() => own.abort(late), timeoutMs) : undefined;
    try {
      for (;;) {
        const status = await this.run(runId, { signal: own.signal });
        if (ENDED.includes(status.state)) return status;
        // Frames are numbered from 0. What the run has so far need not be read.
        const events = this.events(runId, { contract: "frames.v2", after: status.frames - 1, signal: own.signal });
        for await (const event of events) void event;
        await sleep(SETTLE_MS, own.signal);
      }
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", stop);
    }
  }

  /** Ends a run. Its last event says how it ended. */
  interruptRun(runId: string, options: CallOptions = {}): Promise<InterruptAccepted> {
    return this.#post(`/v1/runs/${encodeURIComponent(runId)}/interrupt`, undefined, options);
  }

  /** Sends the next prompt to a session's runner. The session's events show the run that begins. */
  sendMessage(sessionId: string, prompt: string, options: CallOptions = {}): Promise<MessageAccepted> {
    return this.#post(`/v1/sessions/${encodeURIComponent(sessionId)}/messages`, { prompt }, options);
  }

  /** A run's events: from the beginning or after a cursor, then live, until the run has ended. */
  events<C extends keyof RunContractEvents>(runId: string, options: EventOptions<C>): EventStream<RunContractEvents[C]> {
    return this.#stream(`/v1/runs/${encodeURIComponent(runId)}/events`, options);
  }

  /** The events of a session's runs, including future ones. It never ends by itself. */
  sessionEvents<C extends keyof ContractEvents>(
    sessionId: string,
    options: Omit<FeedOptions<C>, "session_id">,
  ): EventStream<ContractEvents[C]> {
    return this.#stream(`/v1/sessions/${encodeURIComponent(sessionId)}/events`, options);
  }

  /** The events of all runs, including future ones. It never ends by itself. */
  allEvents<C extends keyof ContractEvents>(options: FeedOptions<C>): EventStream<ContractEvents[C]> {
    return this.#stream("/v1/events", options);
  }

  /** The questions that runs are waiting for. */
  async *pendingApprovals(
    query: Omit<RunFilter, "state"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<PendingApproval, void, undefined> {
    for await (const { run_id, session_id, runner, approvals } of this.runs({ ...query, state: "waiting_approval" }, options)) {
      for (const approval of approvals) yield { ...approval, run_id, session_id, runner };
    }
  }

  /** Answers a question. The first answer counts: a later one is a `ConflictError`. */
  answerApproval(runId: string, approvalId: string, answer: ApprovalAnswer, options: CallOptions = {}): Promise<ApprovalResult> {
    const path = `/v1/runs/${encodeURIComponent(runId)}/approvals/${encodeURIComponent(approvalId)}`;
    return this.#post(path, answer, options);
  }

  /** Approves, with `answers` if the question asks for choices or text. */
  approve(
    runId: string,
    approvalId: string,
    answer: Omit<ApprovalAnswer, "decision"> = {},
    options: CallOptions = {},
  ): Promise<ApprovalResult> {
    return this.answerApproval(runId, approvalId, { ...answer, decision: "approved" }, options);
  }

  /** Rejects, with a reason that the runner and its model can read. */
  reject(runId: string, approvalId: string, reason?: string, options: CallOptions = {}): Promise<ApprovalResult> {
    const because = reason === undefined ? {} : { reason };
    return this.answerApproval(runId, approvalId, { decision: "rejected", ...because }, options);
  }

  /** What a run has stored so far. */
  async artifacts(runId: string, options: CallOptions = {}): Promise<Artifact[]> {
    const { session_id } = await this.run(runId, options);
    const path = `/v1/sessions/${encodeURIComponent(session_id)}/events`;
    const found: Artifact[] = [];
    for (let after: string | undefined; ; ) {
      const query = { contract: "frames.v2", event_type: "artifact_written", limit: 100, after };
      const page: { data: Artifact[]; next: string | null } = await this.#get(path, query, options);
      found.push(...page.data.filter((artifact) => artifact.stream_id === runId));
      if (page.next === null || page.data.length === 0) return found;
      after = page.next;
    }
  }

  /** The bytes of an artifact, by its id or as `artifacts` lists it. They are checked while they are read. */
  async downloadArtifact(artifact: string | Artifact, options: CallOptions = {}): Promise<ArtifactDownload> {
    const id = typeof artifact === "string" ? artifact : artifact.artifact_id;
    const path = `/v1/artifacts/${encodeURIComponent(id)}`;
    const response = await this.#http.response({ method: "GET", path, isRepeatable: true, ...options });
    return new ArtifactDownload(response, artifact, options.signal);
  }

  /**
   * Sends a runner's output in. The promise is fulfilled when all of it is stored; other clients follow the run meanwhile. A body that
   * is a stream is sent once; any other body is sent again if the connection is lost, and stored once.
   */
  ingest(runner: Runner | "auto", body: IngestBody, options: IngestOptions = {}): Promise<IngestResult> {
    const isWhole = typeof body === "string" || body instanceof Uint8Array || body instanceof Blob;
    const { idempotencyKey = isWhole ? newKey() : undefined, contentType, contentEncoding, labels, ...call } = options;
    const headers: Record<string, string> = { "content-type": contentType ?? "application/octet-stream", accept: "application/json" };
    if (idempotencyKey !== undefined) headers["idempotency-key"] = idempotencyKey;
    if (contentEncoding !== undefined) headers["content-encoding"] = contentEncoding;
    const sent = (isWhole || body instanceof ReadableStream ? body : streamOf(body)) as NonNullable<Call["body"]>;
    const path = `/v1/ingest/${runner}`;
    // A run is sent in for as long as it takes.
    const timeoutMs = call.timeoutMs ?? 0;
    const query = { label: labelList(labels) };
    return this.#http.json({ method: "POST", path, query, headers, body: sent, isRepeatable: isWhole, ...call, timeoutMs });
  }

  /** The configured upstreams. */
  async upstreams(options: CallOptions = {}): Promise<Upstream[]> {
    return (await this.#get<UpstreamList>("/v1/upstreams", {}, options)).upstreams;
  }

  /** The contracts and runners that the proxy has. */
  catalogue(options: CallOptions = {}): Promise<Catalogue> {
    return this.#get("/v1/contracts", {}, options);
  }

  #get<T>(path: string, query: Query, options: CallOptions): Promise<T> {
    return this.#http.json({ method: "GET", path, query, headers: { accept: "application/json" }, isRepeatable: true, ...options });
  }

  #post<T>(path: string, body: unknown, options: CallOptions, more: Partial<Call> = {}): Promise<T> {
    const { signal, timeoutMs } = options;
    const headers: Record<string, string> = { accept: "application/json", ...more.headers };
    const call: Call = { method: "POST", path, isRepeatable: false, ...more, headers, signal, timeoutMs };
    if (body !== undefined) {
      headers["content-type"] = "application/json";
      call.body = JSON.stringify(body);
    }
    return this.#http.json(call);
  }

  #stream<E>(path: string, options: FeedOptions<string>): EventStream<E> {
    const { contract, after, experimental, user_messages, event_type, session_id, ...streaming } = options;
    const query = { contract, experimental, user_messages, event_type: event_type?.join(","), session_id };
    const cursor = after === undefined || String(after) === "-1" ? undefined : String(after);
    return new EventStream<E>(this.#http, { method: "GET", path, query, isRepeatable: true }, cursor, streaming);
  }
}

const labelList = (labels: Labels = {}): string[] => Object.entries(labels).map(([key, value]) => `${key}:${value}`);

function streamOf(pieces: AsyncIterable<Uint8Array | string>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
