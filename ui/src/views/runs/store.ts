// The statuses of all runs of a source, kept up to date.
//
// In: pages of the list of runs, and a feed of what changes. Out: the runs by id, how far the list was read, and a call for each change.
// Changes are collected for REFRESH_MS; a few changed runs are read one by one, many by the first pages of the list. After a connection
// was lost, the first pages are read again. At most MAX_RUNS runs are kept: the rest is announced as `isCut`.
import type { CallOptions, Connection, Run, RunPage, RunQuery } from "../../api/source";

export const MAX_RUNS = 20_000;
const PAGE = 200;
const REFRESH_MS = 700;
/** More changed runs than this are read with the list; of those that are not on its first page, so many at a time. */
const SINGLE = 3;

export interface RunReader {
  runs(query: RunQuery, options?: CallOptions): Promise<RunPage>;
  run(runId: string, options?: CallOptions): Promise<Run>;
  watchRuns(onChange: (change: { stream_id: string }) => void, onConnection: (connection: Connection) => void, signal: AbortSignal): Promise<void>;
}

export class RunStore {
  readonly runs = new Map<string, Run>();
  /** Whether the list was read to its end. */
  isComplete = false;
  /** Whether there are more runs than are kept. */
  isCut = false;
  isLoading = false;
  error: unknown;
  connection: Connection = { state: "connecting" };
  readonly #reader: RunReader;
  readonly #onChange: () => void;
  #stop = new AbortController();
  readonly #changed = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRefreshing = false;
  #isLive = false;

  constructor(reader: RunReader, onChange: () => void) {
    this.#reader = reader;
    this.#onChange = onChange;
  }

  /** Reads the list and follows it until `close`. After that it can be opened again, with what it has. */
  open(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.isLoading = false;
    this.#isRefreshing = false;
    this.#isLive = false;
    const { signal } = this.#stop;
    if (!this.isComplete) void this.load();
    const failed = (error: unknown) => {
      if (signal.aborted) return;
      this.connection = { state: "reconnecting", failures: 1, reason: error instanceof Error ? error.message : String(error) };
      this.#onChange();
    };
    const onConnection = (connection: Connection) => {
      if (signal.aborted) return;
      this.connection = connection;
      const isNew = connection.state === "live" && !this.#isLive;
      this.#isLive = connection.state === "live";
      this.#onChange();
      // What happened before the feed began, or between two connections, is not in it.
      if (isNew) void this.#catchUp();
    };
    this.#reader.watchRuns(({ stream_id }) => this.#note(stream_id), onConnection, signal).catch(failed);
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Reads the list page by page; also again after an error. */
  async load(): Promise<void> {
    if (this.isLoading) return;
    const { signal } = this.#stop;
    this.isLoading = true;
    this.error = undefined;
    this.#onChange();
    try {
      await this.#pages(Infinity, signal);
    } catch (error) {
      if (!signal.aborted) this.error = error;
    }
    if (signal.aborted) return;
    this.isLoading = false;
    this.#onChange();
  }

  /** Reads that many pages, from the newest run on. */
  async #pages(pages: number, signal: AbortSignal): Promise<void> {
    for (let skip: number | null = 0, count = 0; skip !== null && count < pages; count++) {
      const page: RunPage = await this.#reader.runs({ limit: PAGE, skip }, { signal });
      signal.throwIfAborted();
      for (const run of page.data) this.#keep(run);
      skip = page.next_skip;
      if (this.runs.size >= MAX_RUNS) {
        this.isCut = skip !== null;
        skip = null;
      }
      if (skip === null) this.isComplete = true;
      this.#onChange();
    }
  }

  /** Reads the newest runs again, and those that were open. */
  async #catchUp(): Promise<void> {
    const { signal } = this.#stop;
    try {
      await this.#pages(1, signal);
      for (const run of this.runs.values()) if (run.ended_at_ms === undefined && !this.#isInFirstPage(run.run_id)) this.#note(run.run_id);
    } catch (error) {
      if (signal.aborted) return;
      this.error = error;
      this.#onChange();
    }
  }

  #keep(run: Run): void {
    const known = this.runs.get(run.run_id);
    // An answer that was overtaken by a newer one changes nothing.
    if (known && (known.frames > run.frames || (known.ended_at_ms !== undefined && run.ended_at_ms === undefined))) return;
    if (known === undefined && this.runs.size >= MAX_RUNS) {
      this.isCut = true;
      let oldest = run;
      for (const other of this.runs.values()) if (other.started_at_ms < oldest.started_at_ms) oldest = other;
      if (oldest === run) return;
      this.runs.delete(oldest.run_id);
    }
    this.runs.set(run.run_id, run);
  }

  /** Notes that a run changed; it is read soon. */
  #note(runId: string): void {
    this.#changed.add(runId);
    if (this.#timer !== undefined || this.#isRefreshing) return;
    this.#timer = setTimeout(() => void this.#refresh(), REFRESH_MS);
  }

  async #refresh(): Promise<void> {
    this.#timer = undefined;
    this.#isRefreshing = true;
    const changed = [...this.#changed];
    this.#changed.clear();
    const { signal } = this.#stop;
    try {
      if (changed.length > SINGLE) {
        await this.#pages(1, signal);
        const rest = changed.filter((runId) => !this.#isInFirstPage(runId));
        for (const runId of rest.slice(0, SINGLE)) await this.#one(runId, signal);
        for (const runId of rest.slice(SINGLE)) this.#changed.add(runId);
      } else for (const runId of changed) await this.#one(runId, signal);
    } catch {
      // The feed reports a connection that is lost; after that, everything is read again.
    }
    if (signal.aborted) return;
    this.#isRefreshing = false;
    this.#onChange();
    const again = this.#changed.values().next();
    if (!again.done && this.#timer === undefined) this.#note(again.value);
  }

  #isInFirstPage(runId: string): boolean {
    const run = this.runs.get(runId);
    if (run === undefined) return false;
    let newer = 0;
    for (const other of this.runs.values()) if (other.started_at_ms > run.started_at_ms) newer += 1;
    return newer < PAGE;
  }

  async #one(runId: string, signal: AbortSignal): Promise<void> {
    try {
      this.#keep(await this.#reader.run(runId, { signal }));
    } catch (error) {
      // Streams of sessions are in the feed, but they are not runs; and a run may no longer be stored.
      if (!(typeof error === "object" && error !== null && "status" in error && (error.status === 404 || error.status === 410))) throw error;
      this.runs.delete(runId);
    }
  }
}
