// The source that is an exported file: the JSON in its element `framegate-export`. Nothing is fetched and nothing can be done.
import type { Access, Frame, FollowOptions, FramesQuery, Run, RunPage, RunQuery, Source, TraceItem, TracePage, TraceQuery } from "./source";
import { NotAvailable } from "./source";

const ELEMENT = "framegate-export";
const FORMAT = "framegate.export.v1";
/** Frames that are handed on at once, so that a long run appears before all of it was folded. */
const CHUNK = 5_000;

interface Export {
  format: typeof FORMAT;
  generator: string;
  runs: ExportedRun[];
  artifacts: Record<string, { mime_type: string; base64: string }>;
  left_out_artifacts: string[];
}

interface ExportedRun {
  status: Run;
  frames: Frame[];
  /** Frames that the file does not have, because of its size limit. */
  left_out_frames: number;
  trace?: { contract: string; items: (Omit<TraceItem, "frame"> & { seq: number })[] };
}

/** The export within this document; `undefined` if the page is served by a proxy. */
export function exportWithin(document: Document): ExportSource | undefined {
  const text = document.getElementById(ELEMENT)?.textContent;
  if (text === undefined || text === null) return undefined;
  const value = JSON.parse(text) as Partial<Export>;
  if (value.format !== FORMAT) throw new Error(`This file has the format ${String(value.format)}; this page reads ${FORMAT}.`);
  return new ExportSource({
    format: FORMAT,
    generator: value.generator ?? "",
    runs: value.runs ?? [],
    artifacts: value.artifacts ?? {},
    left_out_artifacts: value.left_out_artifacts ?? [],
  });
}

export class ExportSource implements Source {
  readonly kind = "export";
  readonly #export: Export;

  constructor(value: Export) {
    this.#export = value;
  }

  get generator(): string {
    return this.#export.generator;
  }

  /** Frames of a run that the file does not have. */
  leftOutFrames(runId: string): number {
    return this.#run(runId).left_out_frames;
  }

  /** The contract of the trace that the file has of a run. */
  traceContract(runId: string): string | undefined {
    return this.#run(runId).trace?.contract;
  }

  async access(): Promise<Access> {
    return { tokens_required: false, scopes: ["read"], version: this.#export.generator.replace(/^framegate /, "") };
  }

  async runs(query: RunQuery): Promise<RunPage> {
    const { state, runner, session_id, skip = 0, limit = 100 } = query;
    const found = this.#export.runs
      .map((run) => run.status)
      .filter((run) => state === undefined || run.state === state)
      .filter((run) => runner === undefined || run.runner === runner)
      .filter((run) => session_id === undefined || run.session_id === session_id);
    const end = skip + limit;
    return { object: "list", data: found.slice(skip, end), next_skip: end < found.length ? end : null };
  }

  async run(runId: string): Promise<Run> {
    return this.#run(runId).status;
  }

  async follow(runId: string, { after, without = [], signal, onFrames, onConnection }: FollowOptions): Promise<void> {
    const { frames } = this.#run(runId);
    const wanted = frames.filter((frame) => frame.seq > after && !without.includes(frame.type));
    for (let from = 0; from < wanted.length; from += CHUNK) {
      signal.throwIfAborted();
      onFrames(wanted.slice(from, from + CHUNK));
      await new Promise((resolve) => setTimeout(resolve));
    }
    onConnection({ state: "ended" });
  }

  async frames(runId: string, { after, limit, types }: FramesQuery): Promise<Frame[]> {
    const { frames } = this.#run(runId);
    const wanted = types === undefined ? frames : frames.filter((frame) => types.includes(frame.type));
    const first = wanted.findIndex((frame) => frame.seq > after);
    return first < 0 ? [] : wanted.slice(first, first + limit);
  }

  async trace(runId: string, { contract, after = -1, limit = 100 }: TraceQuery): Promise<TracePage> {
    const { trace, frames } = this.#run(runId);
    if (trace === undefined && contract !== "") throw new NotAvailable("This file has no events of a contract. Export the run with --contract NAME.");
    if (trace !== undefined && trace.contract !== contract) throw new NotAvailable(`This file has the events of ${trace.contract} only.`);
    const bySeq = new Map((trace?.items ?? []).map((item) => [item.seq, item]));
    const records = trace === undefined ? recordsOf(frames) : undefined;
    const first = frames.findIndex((frame) => frame.seq > after);
    const chosen = first < 0 ? [] : frames.slice(first, first + limit);
    const data = chosen.map((frame): TraceItem => {
      const { record = records?.get(frame.seq) ?? null, events = [], findings = [] } = bySeq.get(frame.seq) ?? {};
      return { frame, record, events, findings };
    });
    const next_after = chosen.at(-1)?.seq ?? after;
    return { contract, data, has_more: first >= 0 && first + limit < frames.length, next_after };
  }

  async artifact(artifactId: string): Promise<Blob> {
    const { artifacts } = this.#export;
    const found = Object.hasOwn(artifacts, artifactId) ? artifacts[artifactId] : undefined;
    if (found === undefined) throw new NotAvailable("This file does not have the artifact: it was left out because of its size.");
    const bytes = Uint8Array.from(atob(found.base64), (letter) => letter.charCodeAt(0));
    return new Blob([bytes], { type: found.mime_type });
  }

  search = unavailable;
  stats = unavailable;
  statsCsv = unavailable;
  catalogue = unavailable;
  startRun = unavailable;
  interrupt = unavailable;
  answer = unavailable;
  sendMessage = unavailable;
  ingest = unavailable;

  async upstreams() {
    return [];
  }

  async watchRuns(): Promise<void> {}

  #run(runId: string): ExportedRun {
    const found = this.#export.runs.find((run) => run.status.run_id === runId);
    if (found === undefined) throw new NotAvailable("This file does not have that run.");
    return found;
  }
}

const known = new WeakMap<readonly Frame[], Map<number, number>>();

/** The record that each frame came from, by its number: the latest one at that time. Unknown if the first frames are missing. */
function recordsOf(frames: readonly Frame[]): Map<number, number> | undefined {
  if (frames[0]?.seq !== 0) return undefined;
  let records = known.get(frames);
  if (records !== undefined) return records;
  records = new Map();
  let record = -1;
  for (const frame of frames) {
    if (frame.type === "provider_event") record += 1;
    if (record >= 0) records.set(frame.seq, record);
  }
  known.set(frames, records);
  return records;
}

async function unavailable(): Promise<never> {
  throw new NotAvailable("An exported file cannot do this. Open the run in a proxy.");
}
