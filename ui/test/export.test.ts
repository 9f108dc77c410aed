import assert from "node:assert/strict";
import { test } from "node:test";
import { ExportSource } from "../src/api/export";
import type { Frame, Run } from "../src/api/source";

const frame = (seq: number, type: string) => ({ seq, type, timestamp_ms: seq }) as unknown as Frame;

function source(frames: Frame[], trace?: { contract: string; items: never[] }): ExportSource {
  const runs = [{ status: { run_id: "r" } as Run, frames, left_out_frames: 0, ...(trace ? { trace } : {}) }];
  return new ExportSource({ format: "framegate.export.v1", generator: "", runs, artifacts: {}, left_out_artifacts: [] });
}

const FRAMES = ["session_started", "provider_event", "turn_started", "provider_event", "session_ended"].map((type, seq) => frame(seq, type));

test("a file without events of a contract has the records of its frames", async () => {
  const page = await source(FRAMES).trace("r", { contract: "" });
  assert.deepEqual(page.data.map(({ record }) => record), [null, 0, 0, 1, 1]);
  assert.deepEqual([page.has_more, page.next_after], [false, 4]);
  const part = await source(FRAMES).trace("r", { contract: "", after: 2, limit: 1 });
  assert.deepEqual([part.data.map(({ record }) => record), part.has_more], [[1], true]);
});

test("records are not numbered if the first frames are missing", async () => {
  const page = await source(FRAMES.slice(1)).trace("r", { contract: "" });
  assert.deepEqual(page.data.map(({ record }) => record), [null, null, null, null]);
});

test("another contract than that of the file is refused", async () => {
  await assert.rejects(source(FRAMES).trace("r", { contract: "sse.v1" }), /no events of a contract/);
  await assert.rejects(source(FRAMES, { contract: "sse.v1", items: [] }).trace("r", { contract: "hecate.v1" }), /sse\.v1 only/);
});
