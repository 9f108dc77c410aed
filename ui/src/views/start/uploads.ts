// Files with a runner's output that are sent in.
//
// In: files. Out: the state of each, one sent after another. A file that failed can be sent again under the same key, so that a run is
// stored once. Never: more than MAX_FILES at a time.
import { signal } from "@preact/signals";
import { newKey } from "@framegate/client/http";
import type { IngestResult, Source } from "../../api/source";

export const MAX_FILES = 50;

export type UploadState =
  | { state: "waiting" }
  | { state: "sending"; sent: number }
  | { state: "done"; result: IngestResult }
  | { state: "failed"; error: unknown }
  | { state: "stopped" };

export interface Upload {
  readonly id: number;
  readonly file: File;
  readonly key: string;
  /** The runner whose output it is; `auto`: the proxy recognises it. */
  readonly runner: string;
  readonly controller: AbortController;
  readonly now: UploadState;
}

/** The files of the last drop, and those before that are not done. */
export const uploads = signal<readonly Upload[]>([]);
/** Files that were dropped and not taken. */
export const leftOut = signal(0);

let count = 0;
let isRunning = false;

/** Sends files in. Fulfilled when all of them were tried. */
export function send(source: Source, files: readonly File[]): Promise<void> {
  const taken = files.slice(0, MAX_FILES);
  leftOut.value = files.length - taken.length;
  const added = taken.map((file): Upload => {
    count += 1;
    return { id: count, file, key: newKey(), runner: "auto", controller: new AbortController(), now: { state: "waiting" } };
  });
  uploads.value = [...uploads.value.filter(({ now }) => now.state === "waiting" || now.state === "sending"), ...added];
  return work(source);
}

/** Sends a file again, as the output of that runner. */
export function again(source: Source, id: number, runner: string): Promise<void> {
  const renew = (upload: Upload): Upload => ({ ...upload, runner, controller: new AbortController(), now: { state: "waiting" } });
  uploads.value = uploads.value.map((upload) => (upload.id === id ? renew(upload) : upload));
  return work(source);
}

export function stop(id: number): void {
  uploads.value.find((upload) => upload.id === id)?.controller.abort();
  if (uploads.value.find((upload) => upload.id === id)?.now.state === "waiting") set(id, { state: "stopped" });
}

export function forget(): void {
  for (const { controller } of uploads.value) controller.abort();
  uploads.value = [];
  leftOut.value = 0;
}

async function work(source: Source): Promise<void> {
  if (isRunning) return;
  isRunning = true;
  for (;;) {
    const next = uploads.value.find(({ now }) => now.state === "waiting");
    if (next === undefined) break;
    await one(source, next);
  }
  isRunning = false;
}

async function one(source: Source, { id, file, key, runner, controller }: Upload): Promise<void> {
  set(id, { state: "sending", sent: 0 });
  try {
    const result = await source.ingest(runner, file, {
      // The same file for another runner is another request.
      idempotencyKey: `${key}-${runner}`,
      signal: controller.signal,
      onProgress: (sent) => set(id, { state: "sending", sent }),
    });
    set(id, { state: "done", result });
  } catch (error) {
    set(id, controller.signal.aborted ? { state: "stopped" } : { state: "failed", error });
  }
}

function set(id: number, now: UploadState): void {
  uploads.value = uploads.value.map((upload) => (upload.id === id ? { ...upload, now } : upload));
}
