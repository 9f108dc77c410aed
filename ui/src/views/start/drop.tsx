// Files that are dropped anywhere on the page are sent in; a dialog shows how that goes.
//
// In: dragged files. Out: uploads, and the conversation of the run if there was exactly one. Never: another page, which is what a browser
// makes of a dropped file that no page takes.
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "@framegate/client";
import type { Run, Source } from "../../api/source";
import { useApp } from "../../app/context";
import { go, paths } from "../../app/router";
import { StateBadge } from "../../components/badge";
import { Dialog } from "../../components/dialog";
import { bytes, plural } from "../../components/format";
import { Icon } from "../../components/icon";
import { messageOf } from "../../components/states";
import { visible } from "../../components/visible";
import { titleOf } from "../runs/model";
import { again, forget, leftOut, MAX_FILES, send, stop, type Upload, uploads } from "./uploads";
import "../../components/controls.css";
import "./start.css";

/** The most runs of a file that are listed. */
const LISTED = 20;

export function DropFiles() {
  const { source, can } = useApp();
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    let depth = 0;
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth += 1;
      if (can.ingest) setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = can.ingest ? "copy" : "none";
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      if (can.ingest && event.dataTransfer) void sendAndShow(source, [...event.dataTransfer.files]);
    };
    const all = { dragenter: enter, dragleave: leave, dragover: over, drop } as const;
    for (const [name, handler] of Object.entries(all)) addEventListener(name, handler as EventListener);
    return () => {
      for (const [name, handler] of Object.entries(all)) removeEventListener(name, handler as EventListener);
    };
  }, [source, can.ingest]);
  return (
    <>
      {isOver && (
        <div class="drop" aria-hidden="true">
          <p>
            <Icon name="file" />
            Drop files with a runner's output to translate them
          </p>
        </div>
      )}
      {uploads.value.length > 0 && <Uploads source={source} />}
    </>
  );
}

/** Sends files; a single file with a single run is shown at once. */
export async function sendAndShow(source: Source, files: readonly File[]): Promise<void> {
  if (files.length === 0) return;
  await send(source, files);
  const [only, ...others] = uploads.value;
  if (only?.now.state !== "done" || others.length > 0) return;
  const { runs, invalid_records, unknown_records, looks_like } = only.now.result;
  const [run, ...more] = runs;
  if (run === undefined || more.length > 0 || invalid_records + unknown_records > 0 || looks_like !== undefined) return;
  forget();
  go(paths.conversation(run.run_id));
}

function Uploads({ source }: { source: Source }) {
  const isBusy = uploads.value.some(({ now }) => now.state === "waiting" || now.state === "sending");
  return (
    <Dialog title={isBusy ? "Sending files" : "Files"} onClose={forget}>
      <ul class="uploads" aria-live="polite">
        {uploads.value.map((upload) => (
          <UploadItem key={upload.id} upload={upload} source={source} />
        ))}
      </ul>
      {leftOut.value > 0 && (
        <p class="problem">
          {plural(leftOut.value, "file")} more {leftOut.value === 1 ? "was" : "were"} left out: at most {MAX_FILES} files are sent at a time.
        </p>
      )}
      <div class="dialog-end">
        <button type="button" class="button" onClick={forget}>
          {isBusy ? "Stop" : "Close"}
        </button>
      </div>
    </Dialog>
  );
}

function UploadItem({ upload, source }: { upload: Upload; source: Source }) {
  const { file, now, id } = upload;
  return (
    <li class="upload">
      <p class="upload-name">
        <span class="truncate" dir="auto">
          {visible(file.name)}
        </span>
        <span class="soft small numeric">{bytes(file.size)}</span>
      </p>
      {now.state === "waiting" && <p class="soft small">Waits</p>}
      {now.state === "sending" && (
        <div class="upload-sending">
          <progress max={Math.max(1, file.size)} value={now.sent} aria-label={`Sending ${file.name}`} />
          <span class="soft small numeric">{now.sent < file.size ? `${bytes(now.sent)} sent` : "sent; the proxy translates it…"}</span>
          <button type="button" class="button button-small" onClick={() => stop(id)}>
            Stop
          </button>
        </div>
      )}
      {now.state === "stopped" && <p class="soft small">Stopped. What was sent before may be stored as a run.</p>}
      {now.state === "failed" && (
        <Failed upload={upload} source={source} error={now.error} />
      )}
      {now.state === "done" && <Result runs={now.result.runs} result={now.result} />}
    </li>
  );
}

/** Why a file was not taken. If its runner was not recognised, the reader may know it. */
function Failed({ upload, source, error }: { upload: Upload; source: Source; error: unknown }) {
  const [runners, setRunners] = useState<readonly string[]>([]);
  const [runner, setRunner] = useState(upload.runner);
  const isUnknown = error instanceof ApiError && error.status === 422;
  useEffect(() => {
    if (!isUnknown) return;
    const controller = new AbortController();
    source.catalogue({ signal: controller.signal }).then(
      (catalogue) => setRunners(catalogue.runners.map(({ name }) => name)),
      () => {},
    );
    return () => controller.abort();
  }, [source, isUnknown]);
  return (
    <>
      <p class="problem" role="alert">
        {messageOf(error)}
      </p>
      <div class="upload-sending">
        {isUnknown && runners.length > 0 && (
          <label class="upload-runner">
            <span class="small soft">Read it as the output of</span>
            <select class="select" value={runner} onChange={(event) => setRunner(event.currentTarget.value)}>
              <option value="auto">whatever it is</option>
              {runners.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <button type="button" class="button button-small" onClick={() => void again(source, upload.id, runner)}>
          Try again
        </button>
      </div>
    </>
  );
}

function Result({ runs, result }: { runs: readonly Run[]; result: { records: number; invalid_records: number; unknown_records: number; repeated_runs: number; looks_like?: string } }) {
  const notes = [plural(result.records, "record")];
  if (result.invalid_records > 0) notes.push(`${plural(result.invalid_records, "record")} could not be read`);
  if (result.unknown_records > 0) notes.push(`${plural(result.unknown_records, "record")} with unknown parts`);
  if (result.repeated_runs > 0) notes.push(`${plural(result.repeated_runs, "run")} already stored`);
  if (result.looks_like !== undefined) notes.push(`it looks like the output of ${result.looks_like}`);
  return (
    <>
      <p class="soft small">{notes.join(" · ")}</p>
      <ul class="upload-runs">
        {runs.slice(0, LISTED).map((run) => (
          <li key={run.run_id}>
            <StateBadge state={run.state} />
            <a class="truncate" href={paths.conversation(run.run_id)} onClick={forget} dir="auto">
              {visible(titleOf(run)) || `Run ${run.run_id.slice(0, 8)}`}
            </a>
          </li>
        ))}
      </ul>
      {runs.length > LISTED && (
        <p class="small">
          <a href={paths.runs()} onClick={forget}>
            and {runs.length - LISTED} more
          </a>
        </p>
      )}
    </>
  );
}
