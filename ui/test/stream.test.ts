import assert from "node:assert/strict";
import { test } from "node:test";
import { EventStream } from "@framegate/client";
import { Http } from "@framegate/client/http";

interface Event {
  n: number;
}

const sse = (n: number, id?: number) => `${id === undefined ? "" : `id: ${id}\n`}data: {"n":${n}}\n\n`;

/** A stream over connections, each of which is a list of pieces; then 204. */
function streamOf(...connections: (string | Uint8Array)[][]): { stream: EventStream<Event>; resumed: (string | null)[] } {
  const resumed: (string | null)[] = [];
  const answers = connections.values();
  const fetch = async (_: string, init: RequestInit): Promise<Response> => {
    resumed.push(new Headers(init.headers).get("last-event-id"));
    const { value: pieces, done } = answers.next();
    if (done) return new Response(null, { status: 204 });
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const http = new Http({ baseUrl: "http://proxy.test", fetch, maxBackoffMs: 1 });
  return { stream: new EventStream<Event>(http, { method: "GET", path: "/v1/events", isRepeatable: true }, undefined, {}), resumed };
}

async function batchesOf(stream: EventStream<Event>): Promise<number[][]> {
  const found: number[][] = [];
  for await (const events of stream.batches()) found.push(events.map(({ n }) => n));
  return found;
}

test("events that arrive together are one batch, whatever the pieces are cut into", async () => {
  const text = [0, 1, 2, 3, 4, 5].map((n) => sse(n, n)).join("");
  const third = text.length / 3;
  const { stream, resumed } = streamOf([text.slice(0, third + 3), text.slice(third + 3, 2 * third - 2), text.slice(2 * third - 2)]);
  const batches = await batchesOf(stream);
  assert.deepEqual(batches.flat(), [0, 1, 2, 3, 4, 5]);
  assert.ok(batches.length <= 3 && batches.every((batch) => batch.length > 0), JSON.stringify(batches));
  assert.deepEqual(resumed, [null, "5"]);
});

test("events one by one have the cursor of each, also within a batch", async () => {
  const { stream } = streamOf([sse(0, 7) + sse(1) + sse(2, 9)]);
  const found: [number, string | undefined][] = [];
  for await (const { n } of stream) found.push([n, stream.cursor]);
  assert.deepEqual(found, [[0, "7"], [1, "7"], [2, "9"]]); // prettier-ignore
});

test("what a resumed connection repeats without an id is left out", async () => {
  // A question that came with an id, and an event that is only shown live.
  const { stream, resumed } = streamOf([sse(0, 0) + sse(1, 1) + sse(50)], [sse(1) + sse(50) + sse(2, 2)], [sse(50) + sse(60) + sse(3, 3)]);
  assert.deepEqual((await batchesOf(stream)).flat(), [0, 1, 50, 2, 60, 3]);
  assert.deepEqual(resumed, [null, "1", "2", "3"]);
});

test("a repetition is known after thousands of events, and the memory for that is bounded", async () => {
  const many = (from: number, count: number) => Array.from({ length: count }, (_, index) => sse(from + index, from + index)).join("");
  const { stream } = streamOf([many(0, 10_000)], [sse(9_999) + sse(6_000) + sse(100) + many(10_000, 1)]);
  // The 100th is too long ago; a reader gets it once more rather than never.
  assert.deepEqual((await batchesOf(stream)).flat().slice(10_000), [100, 10_000]);
});

test("what came before an event that is not JSON is given", async () => {
  const { stream } = streamOf([`${sse(0, 0)}data: {oops\n\n${sse(1, 1)}`]);
  const found: number[] = [];
  await assert.rejects(async () => {
    for await (const events of stream.batches()) found.push(...events.map(({ n }) => n));
  }, /not JSON: \{oops/);
  assert.deepEqual(found, [0]);
});
