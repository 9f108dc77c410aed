// The source that is a proxy: the typed client, and the requests that the page alone needs.
//
// Every request goes to the page's own origin. A refused token (401) shows in `isTokenWanted`. A lost connection is never final: it is
// opened again after the last frame, at once when the network or the machine comes back.
import { ApiError, ConnectionError, EventStream, Framegate, FramegateError, TimeoutError } from "@framegate/client";
import { type CallOptions as ClientCallOptions, type ClientOptions, type FetchLike, Http, type Query } from "@framegate/client/http";
import { Batches } from "./batches";
import { parseExact } from "./exact";
import type {
  Access,
  ApprovalAnswer,
  CallOptions,
  Connection,
  FollowOptions,
  Frame,
  FramesQuery,
  FrameType,
  IngestOptions,
  IngestResult,
  Run,
  RunChange,
  RunPage,
  RunQuery,
  Source,
  StartRun,
  Stats,
  StatsQuery,
  TextPage,
  TextQuery,
  TracePage,
  TraceQuery,
} from "./source";
import { isTokenWanted, token } from "./token";
import { upload } from "./upload";
import { onWake } from "./wake";

/** All types of `frames.v2`; `event_type` names those that are wanted. A type that is not listed is not asked for. */
const TYPES: readonly FrameType[] = [
  "session_started", "session_ended", "turn_started", "turn_ended", "user_message", "output_text_delta", "output_text_completed",
  "reasoning_delta", "reasoning_completed", "tool_input_delta", "tool_call_proposed", "tool_started", "tool_stdout", "tool_stderr",
  "tool_ended", "tool_failed", "provider_event", "checkpoint_created", "checkpoint_rewound", "checkpoint_failed", "file_changed",
  "usage_reported", "approval_requested", "approval_resolved", "plan_updated", "status_changed", "log_emitted", "error_reported",
  "subagent_started", "subagent_ended", "history_compacted", "gap_detected", "tool_task_spawned", "tool_task_status",
  "tool_task_cancel_requested", "tool_task_cancelled", "tool_task_output_delta", "tool_task_stdin_written", "tool_task_resized",
  "tool_task_signalled", "artifact_written", "skill_catalog_updated", "skill_loaded", "skill_invoked", "skill_warning",
]; // prettier-ignore

const CHANGES: readonly RunChange["type"][] = [
  "session_started", "session_ended", "approval_requested", "approval_resolved", "turn_started", "usage_reported", "tool_ended", "tool_failed",
  "error_reported",
]; // prettier-ignore

/** Silence after the last frame from which a stream counts as read to its end. */
const SETTLED_MS = 150;

/** So long a stream may be read without a picture. */
const UNDRAWN_MS = 100;

/** The first pause before a connection is tried again that could not be opened, and the longest. */
const PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export class ProxySource implements Source {
  readonly kind = "proxy";
  readonly #client: Framegate;
  readonly #http: Http;
  readonly #options: ClientOptions & { fetch: FetchLike };

  constructor(baseUrl: string = location.origin) {
    this.#options = {
      baseUrl,
      // The client calls this before each request; without a token there is no header.
      fetch: async (url: string, init: RequestInit): Promise<Response> => {
        const headers = new Headers(init.headers);
        if (token.value !== undefined) headers.set("authorization", `Bearer ${token.value}`);
        const response = await fetch(url, { ...init, headers, credentials: "omit", cache: "no-store" });
        if (response.status === 401) isTokenWanted.value = true;
        return response;
      },
      maxReconnects: Number.POSITIVE_INFINITY,
      maxBackoffMs: LONGEST_PAUSE_MS,
    };
    this.#client = new Framegate(this.#options);
    this.#http = new Http(this.#options);
  }

  access(options?: CallOptions): Promise<Access> {
    return this.#get("/v1/access", {}, options);
  }

  runs(query: RunQuery, options?: CallOptions): Promise<RunPage> {
    return this.#client.runPage(query, options) as Promise<RunPage>;
  }

  run(runId: string, options?: CallOptions): Promise<Run> {
    return this.#client.run(runId, options) as Promise<Run>;
  }

  async follow(runId: string, options: FollowOptions): Promise<void> {
    const { onFrames, onConnection, without = [] } = options;
    const path = `/v1/runs/${encodeURIComponent(runId)}/events`;
    let wanted = without.length > 0 ? TYPES.filter((type) => !without.includes(type)).join(",") : undefined;
    let after = options.after;
    const batches = new Batches<Frame>(onFrames);
    try {
      await this.#stream<Frame>(
        () => ({ path, query: { contract: "frames.v2", event_type: wanted }, after: after < 0 ? undefined : String(after) }),
        (frames) => {
          for (const { seq } of frames) if (seq > after) after = seq;
          batches.add(frames);
        },
        onConnection,
        options.signal,
        (error) => {
          if (wanted === undefined || !(error instanceof ApiError) || error.status !== 400) return false;
          // A proxy that cannot leave types out sends all.
          wanted = undefined;
          return true;
        },
      );
      batches.flush();
      onConnection({ state: "ended" });
    } finally {
      batches.stop();
    }
  }

  async frames(runId: string, query: FramesQuery, options?: CallOptions): Promise<Frame[]> {
    const path = `/v1/runs/${encodeURIComponent(runId)}/events`;
    const { after, limit, types } = query;
    const page = await this.#get<{ data: Frame[] }>(path, { contract: "frames.v2", after, limit, event_type: types?.join(",") }, options);
    return page.data;
  }

  async trace(runId: string, query: TraceQuery, options: CallOptions = {}): Promise<TracePage> {
    const path = `/v1/runs/${encodeURIComponent(runId)}/trace`;
    const headers = { accept: "application/json" };
    const response = await this.#http.response({ method: "GET", path, query: { ...query }, headers, isRepeatable: true, ...options });
    return parseExact(await response.text()) as TracePage;
  }

  search(query: TextQuery, options?: CallOptions): Promise<TextPage> {
    return this.#get("/v1/search", { ...query }, options);
  }

  stats({ by, ...query }: StatsQuery, options?: CallOptions): Promise<Stats> {
    return this.#get("/v1/stats", { ...query, by: by?.join(",") }, options);
  }

  async statsCsv({ by, ...query }: StatsQuery, options: CallOptions = {}): Promise<string> {
    const all: Query = { ...query, by: by?.join(",") };
    const headers = { accept: "text/csv" };
    const response = await this.#http.response({ method: "GET", path: "/v1/stats", query: all, headers, isRepeatable: true, ...options });
    return response.text();
  }

  catalogue(options?: CallOptions) {
    return this.#client.catalogue(options);
  }

  upstreams(options?: CallOptions) {
    return this.#client.upstreams(options);
  }

  async artifact(artifactId: string, options?: CallOptions): Promise<Blob> {
    const download = await this.#client.downloadArtifact(artifactId, options);
    const bytes = await download.bytes();
    return new Blob([bytes as Uint8Array<ArrayBuffer>], { type: download.contentType });
  }

  async watchRuns(onChange: (change: RunChange) => void, onConnection: (connection: Connection) => void, signal: AbortSignal) {
    let after = "latest";
    await this.#stream<RunChange>(
      () => ({ path: "/v1/events", query: { contract: "frames.v2", event_type: CHANGES.join(",") }, after }),
      (changes, cursor) => {
        after = cursor ?? after;
        changes.forEach(onChange);
      },
      onConnection,
      signal,
    );
  }

  startRun(order: StartRun, options: CallOptions & { idempotencyKey?: string } = {}): Promise<Run> {
    return this.#client.startRun(order, options) as Promise<Run>;
  }

  async interrupt(runId: string): Promise<void> {
    await this.#client.interruptRun(runId);
  }

  async answer(runId: string, approvalId: string, answer: ApprovalAnswer): Promise<void> {
    await this.#client.answerApproval(runId, approvalId, answer);
  }

  async sendMessage(sessionId: string, prompt: string): Promise<void> {
    await this.#client.sendMessage(sessionId, prompt);
  }

  async ingest(runner: string, file: Blob, options: IngestOptions = {}): Promise<IngestResult> {
    const { onProgress, ...call } = options;
    if (onProgress === undefined) return this.#client.ingest(runner as "auto", file, call);
    const headers: Record<string, string> = { accept: "application/json", "content-type": "application/octet-stream" };
    if (token.value !== undefined) headers["authorization"] = `Bearer ${token.value}`;
    if (call.idempotencyKey !== undefined) headers["idempotency-key"] = call.idempotencyKey;
    const { signal } = call;
    const url = `${this.#http.options.baseUrl}/v1/ingest/${encodeURIComponent(runner)}`;
    try {
      return await upload<IngestResult>(url, file, { headers, onProgress, ...(signal === undefined ? {} : { signal }) });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) isTokenWanted.value = true;
      throw error;
    }
  }

  #get<T>(path: string, query: Query, options: ClientCallOptions = {}): Promise<T> {
    return this.#http.json({ method: "GET", path, query, headers: { accept: "application/json" }, isRepeatable: true, ...options });
  }

  /** Reads a stream to its end, over as many connections as that takes. `isAnother`: whether to go on after an error that is final. */
  async #stream<E>(
    request: () => { path: string; query: Query; after: string | undefined },
    onEvents: (events: E[], cursor: string | undefined) => void,
    onConnection: (connection: Connection) => void,
    signal: AbortSignal,
    isAnother: (error: unknown) => boolean = () => false,
  ): Promise<void> {
    let wasOpen = false;
    let failures = 0;
    for (;;) {
      signal.throwIfAborted();
      if (failures === 0) onConnection({ state: "connecting" });
      const attempt = new AbortController();
      const stop = () => attempt.abort();
      signal.addEventListener("abort", stop, { once: true });
      const unhook = onWake(stop);
      let settled: ReturnType<typeof setTimeout> | undefined;
      const settle = () => {
        clearTimeout(settled);
        settled = setTimeout(() => onConnection({ state: "live" }), SETTLED_MS);
      };
      try {
        const { path, query, after } = request();
        // A connection that gives nothing is live too, as soon as it is open.
        const open: FetchLike = async (url, init) => {
          const response = await this.#options.fetch(url, init);
          if (response.ok) {
            wasOpen = true;
            failures = 0;
            settle();
          }
          return response;
        };
        const stream = new EventStream<E>(new Http({ ...this.#options, fetch: open }), { method: "GET", path, query, isRepeatable: true }, after, {
          signal: attempt.signal,
          onReconnect: ({ failures, error }) => {
            clearTimeout(settled);
            // The first end without an error is mostly that of the run.
            if (error === undefined && failures === 1) return;
            onConnection({ state: "reconnecting", failures, reason: error?.message ?? "the stream ended" });
          },
        });
        let drawn = performance.now();
        for await (const events of stream.batches()) {
          onEvents(events, stream.cursor);
          settle();
          // What has arrived meanwhile would be read first otherwise, up to the end of the run.
          if (performance.now() - drawn < UNDRAWN_MS) continue;
          await picture();
          drawn = performance.now();
        }
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        // Waking up ended this attempt.
        if (attempt.signal.aborted) continue;
        if (isAnother(error)) continue;
        // After sleep the network takes its time. What was open once is opened again, however long that takes.
        if (wasOpen && isPassing(error)) {
          failures += 1;
          onConnection({ state: "reconnecting", failures, reason: error instanceof Error ? error.message : "" });
          await pause(Math.min(PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), signal);
          continue;
        }
        throw error instanceof FramegateError ? error : new FramegateError(String(error), { cause: error });
      } finally {
        clearTimeout(settled);
        unhook();
        signal.removeEventListener("abort", stop);
        attempt.abort();
      }
    }
  }
}

/** Waits until the browser draws; less in a hidden page. */
function picture(): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      resolve();
    };
    const frame = requestAnimationFrame(done);
    const timer = setTimeout(done, UNDRAWN_MS);
  });
}

/** Whether the same request may succeed later. */
function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

/** Waits; less if the machine wakes up or the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      unhook();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    const unhook = onWake(done);
    signal.addEventListener("abort", done, { once: true });
  });
}
